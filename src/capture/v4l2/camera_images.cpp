// SPDX-License-Identifier: Apache-2.0
// A frame's image: the driver's memory itself, or a copy, an expansion or a decoding of it.
#include "capture/v4l2/camera_images.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/copy_count.h"
#include "base/text/format_error.h"
#include "halyard/codec.h"
#include "halyard/enumerators.h"

namespace halyard {

std::string_view to_string(CameraTransfer transfer) noexcept {
  return enumerator_name(transfer, "unknown");
}

namespace capture {
namespace {

// V4L2's default range depends on the format: RGB and Bayer are full range.
Colorimetry colors_of(const DriverFormat& format, const PixelCode& code) {
  Colorimetry found = colorimetry_from_v4l2(format.codes);
  const ColorModel model = code.layout ? info(code.layout->format).model : ColorModel::yuv;
  const bool is_rgb = model == ColorModel::rgb || model == ColorModel::bayer;
  if (is_rgb && format.codes.quantization == V4L2_QUANTIZATION_DEFAULT)
    found.range = ColorRange::full;
  return found;
}

// The bytes from the first pixel of plane 0 to the last of the last plane in the same buffer.
std::size_t bytes_needed(const DriverFormat& format, PixelLayout layout) {
  const std::size_t planes = format.planes.size() == 1 ? info(layout.format).planes : 1;
  const auto last = plane_geometry(layout.format, layout.dtype, format.width, format.height,
                                   format.planes[0].stride_bytes, planes - 1);
  if (!last || last->rows == 0) return 0;
  return last->offset_bytes + (last->rows - 1) * last->stride_bytes + last->row_bytes;
}

// 10 bits abcdefghij become abcdefghijabcdef: 0 stays 0, and all ones stay all ones.
void expand_row(const std::byte* from, std::byte* to, std::size_t samples, int bits) {
  const auto up = static_cast<unsigned>(16 - bits);
  const auto down = static_cast<unsigned>(2 * bits - 16);
  const auto highest = static_cast<std::uint16_t>((1U << static_cast<unsigned>(bits)) - 1);
  for (std::size_t i = 0; i < samples; ++i) {
    std::uint16_t value = 0;
    std::memcpy(&value, from + 2 * i, 2);
    value = std::min(value, highest);
    value = static_cast<std::uint16_t>(value << up | value >> down);
    std::memcpy(to + 2 * i, &value, 2);
  }
}

}  // namespace

void CameraImages::prepare(const CameraStream& stream, const DriverFormat& format,
                           CameraMode& mode) {
  const CameraTransfer raw =
      stream.is_mapped() ? CameraTransfer::copied : CameraTransfer::driver_buffers;
  const bool is_of_caller = stream.has_images() || stream.fills_made_images();
  prepare(is_of_caller ? CameraTransfer::caller_buffers : raw, format, mode);
}

void CameraImages::prepare(CameraTransfer transfer, const DriverFormat& format, CameraMode& mode) {
  format_ = format;
  code_ = pixel_code(format.fourcc).value_or(PixelCode{});
  layout_ = code_.layout.value_or(PixelLayout{PixelFormat::nv12});
  colorimetry_ = colors_of(format, code_);
  if (code_.is_jpeg) {
    transfer_ = CameraTransfer::decoded;
    colorimetry_ = Colorimetry::jpeg();
  } else if (code_.sample_bits != 0) {
    transfer_ = CameraTransfer::expanded;
  } else {
    transfer_ = transfer;
  }
  needed_bytes_ = code_.is_jpeg ? 1 : bytes_needed(format, layout_);
  mode.layout = layout_;
  mode.colorimetry = colorimetry_;
  mode.transfer = transfer_;
  mode.stride_bytes = format.planes[0].stride_bytes;
}

bool CameraImages::is_complete(const FilledBuffer& filled) const noexcept {
  const std::size_t end = filled.end_bytes[0];
  // Some drivers of raw formats leave the count at 0 and mark damage by a flag alone.
  if (end == 0) return !code_.is_jpeg;
  return end >= filled.offset_bytes[0] && end - filled.offset_bytes[0] >= needed_bytes_;
}

Result<Tensor> CameraImages::make(CameraStream& stream, const FilledBuffer& filled) {
  if (stream.fills_made_images()) return taken(stream, filled);
  if (is_lent()) return lent(stream, filled);
  auto image = read(stream, filled);
  // A lent buffer returns with the image, or with the failure to make one.
  HALYARD_RETURN_IF_ERROR(stream.put_back(filled.index));
  return image;
}

Result<Tensor> CameraImages::lent(CameraStream& stream, const FilledBuffer& filled) const {
  const std::shared_ptr<void> lease = stream.lend(filled.index);
  // The same Buffer objects in each frame, so that what is attached to them is found again.
  const auto owned = [&lease](const std::shared_ptr<Buffer>& buffer) {
    return std::shared_ptr<Buffer>(lease, buffer.get());
  };
  std::array<std::shared_ptr<Buffer>, 4> memory;
  std::size_t count = 0;
  if (stream.has_images()) {
    const Tensor& image = stream.image(filled.index);
    for (; count < format_.planes.size(); ++count) {
      HALYARD_TRY(const ImagePlane plane, image.image_plane(count));
      memory[count] = owned(plane.buffer);
    }
  } else {
    for (const auto& buffer : stream.memory(filled.index))
      memory[count++] = owned(buffer);
  }
  return lend(std::span(memory).first(count), filled);
}

Result<Tensor> CameraImages::taken(CameraStream& stream, const FilledBuffer& filled) const {
  Tensor image = stream.take_image(filled.index);
  for (std::size_t p = 0; p < format_.planes.size(); ++p)
    if (filled.offset_bytes[p] != 0)
      return fail(Errc::unsupported, "pool: the camera's driver leaves a gap before the pixels",
                  "plane {}: {} bytes", p, filled.offset_bytes[p]);
  image.set_colorimetry(colorimetry_);
  return image;
}

Result<Tensor> CameraImages::new_image(PixelLayout layout) {
  if (pool_) {
    HALYARD_TRY(Tensor slot,
                pool_->alloc_image(format_.width, format_.height, layout.format, layout.dtype));
    return slot;
  }
  return recycler_.create_image(format_.width, format_.height, layout.format, layout.dtype,
                                memory_);
}

Result<Tensor> CameraImages::lend(std::span<const std::shared_ptr<Buffer>> memory,
                                  const FilledBuffer& filled) const {
  auto image = wrapped(memory, filled);
  if (image) image->set_colorimetry(colorimetry_);
  return image;
}

Result<Tensor> CameraImages::wrapped(std::span<const std::shared_ptr<Buffer>> memory,
                                     const FilledBuffer& filled) const {
  std::array<Tensor::PlaneSource, 4> planes;
  const std::size_t count = std::min(memory.size(), planes.size());
  for (std::size_t i = 0; i < count; ++i)
    planes[i] = {memory[i], filled.offset_bytes[i], format_.planes[i].stride_bytes};
  return Tensor::wrap_image(std::span(planes).first(count), format_.width, format_.height,
                            layout_.format, layout_.dtype);
}

Result<Tensor> CameraImages::mapped(std::span<const std::span<const std::byte>> memory,
                                    const FilledBuffer& filled) const {
  std::array<std::shared_ptr<Buffer>, 4> buffers;
  const std::size_t count = std::min(memory.size(), buffers.size());
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(buffers[i], wrap_memory(memory[i]));
  }
  return wrapped(std::span(buffers).first(count), filled);
}

Result<Tensor> CameraImages::read(const CameraStream& stream, const FilledBuffer& filled) {
  std::array<std::span<const std::byte>, 4> memory;
  const auto& maps = stream.maps(filled.index);
  const std::size_t count = std::min(maps.size(), memory.size());
  for (std::size_t i = 0; i < count; ++i)
    memory[i] = maps[i].bytes();
  return read(std::span(memory).first(count), filled);
}

Result<Tensor> CameraImages::read(std::span<const std::span<const std::byte>> memory,
                                  const FilledBuffer& filled) {
  if (transfer_ == CameraTransfer::decoded) {
    const auto bytes = memory.front();
    const std::size_t end = std::min(filled.end_bytes[0], bytes.size());
    const std::size_t begin = std::min(filled.offset_bytes[0], end);
    return decoded(bytes.subspan(begin, end - begin));
  }
  auto image = changed(memory, filled);
  if (image) image->set_colorimetry(colorimetry_);
  return image;
}

Result<Tensor> CameraImages::changed(std::span<const std::span<const std::byte>> memory,
                                     const FilledBuffer& filled) {
  HALYARD_TRY(const Tensor source, mapped(memory, filled));
  if (transfer_ == CameraTransfer::expanded) return expanded(source);
  HALYARD_TRY(Tensor copied, new_image(layout_));
  HALYARD_RETURN_IF_ERROR(copy(source, copied));
  return copied;
}

Result<Tensor> CameraImages::decoded(std::span<const std::byte> file) {
  HALYARD_TRY(const ImageFileInfo header, peek(file));
  if (header.width != format_.width || header.height != format_.height)
    return fail(Errc::corrupt, "camera: a JPEG has another size than the frames", "{}x{}",
                header.width, header.height);
  HALYARD_TRY(Tensor image, new_image({header.native_format}));
  HALYARD_RETURN_IF_ERROR(load_into(image, file));
  return image;
}

Result<Tensor> CameraImages::expanded(const Tensor& source) {
  HALYARD_TRY(Tensor image, new_image(layout_));
  {
    HALYARD_TRY(const TensorMap from, source.map(Access::read));
    HALYARD_TRY(const TensorMap to, image.map(Access::write));
    const MappedPlane& in = from.plane(0);
    const MappedPlane& out = to.plane(0);
    for (std::size_t row = 0; row < in.rows; ++row)
      expand_row(in.data + row * in.stride_bytes, out.writable + row * out.stride_bytes,
                 in.row_bytes / 2, code_.sample_bits);
  }
  count_copy(image.size_bytes());
  return image;
}

}  // namespace capture
}  // namespace halyard
