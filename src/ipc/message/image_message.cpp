// SPDX-License-Identifier: Apache-2.0
// Images with metadata, which is checked whenever it comes from outside.
#include "halyard/image_message.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text/format_error.h"
#include "ipc/message/message_storage.h"
#include "ipc/pool/pattern_fill.h"

namespace halyard {
namespace {

// The number of planes in the metadata. A planar image is one plane with a stride between its
// colours.
std::size_t stored_planes(const FormatInfo& f) noexcept {
  return f.kind == FormatKind::planar ? 1 : f.planes;
}

Result<const ImageEncodingInfo*> known_encoding(ImageEncoding encoding) {
  if (const ImageEncodingInfo* const row = encoding_info(encoding)) return row;
  return fail(Errc::invalid_argument, "encoding: is unknown", "{}",
              static_cast<unsigned>(encoding));
}

Status check_colorimetry(const Colorimetry& c) {
  if (c.space <= ColorSpace::smpte170m && c.transfer <= ColorTransfer::linear &&
      c.encoding <= ColorEncoding::bt2020 && c.range <= ColorRange::limited) {
    return {};
  }
  return fail(Errc::malformed, "metadata.colorimetry: has an unknown value",
              "space {}, transfer {}, encoding {}, range {}", static_cast<unsigned>(c.space),
              static_cast<unsigned>(c.transfer), static_cast<unsigned>(c.encoding),
              static_cast<unsigned>(c.range));
}

[[gnu::hot]] Status check_planes(const ImageMetadata& m, const FormatInfo& f) {
  if (m.plane_count != stored_planes(f)) {
    return fail(Errc::malformed, "metadata.plane_count: must equal the encoding's", "{}, {} has {}",
                m.plane_count, to_string(m.encoding), stored_planes(f));
  }
  for (std::size_t i = 0; i < m.planes.size(); ++i) {
    const ImagePlaneLayout& plane = m.planes[i];
    const bool is_used = i < m.plane_count;
    if ((plane.stride_bytes != 0) != is_used || (!is_used && plane.offset_bytes != 0)) {
      return fail(Errc::malformed,
                  "metadata.planes: planes in use must have a stride, others must be zero",
                  "plane {} of {}: offset {}, stride {}", i, m.plane_count, plane.offset_bytes,
                  plane.stride_bytes);
    }
  }
  if ((m.plane_stride_bytes != 0) != (f.kind == FormatKind::planar)) {
    return fail(Errc::malformed,
                "metadata.plane_stride_bytes: must be set for planar encodings, else 0",
                "{} for {}", m.plane_stride_bytes, to_string(m.encoding));
  }
  return {};
}

[[gnu::hot]] Result<const ImageEncodingInfo*> check_metadata(const ImageMetadata& m) {
  HALYARD_RETURN_IF_ERROR(validate(m.header));
  const ImageEncodingInfo* const row = encoding_info(m.encoding);
  if (row == nullptr) {
    return fail(Errc::malformed, "metadata.encoding: is unknown", "{}",
                static_cast<unsigned>(m.encoding));
  }
  if (m.width == 0 || m.height == 0 || m.width > ipc::max_pixels_per_side ||
      m.height > ipc::max_pixels_per_side) {
    return fail(Errc::malformed, "metadata.width, height: must be 1..65535", "{} x {}", m.width,
                m.height);
  }
  if (m.reserved[0] != 0 || m.reserved[1] != 0)
    return fail(Errc::malformed, "metadata.reserved: must be zero");
  HALYARD_RETURN_IF_ERROR(check_colorimetry(m.colorimetry));
  HALYARD_RETURN_IF_ERROR(check_planes(m, info(row->format)));
  return row;
}

// Where a plane begins in the buffer. A negative place is outside the buffer in any case.
Result<std::size_t> place_of(const ImagePlaneLayout& plane, std::size_t tensor_offset) {
  std::int64_t at = 0;
  if (__builtin_add_overflow(static_cast<std::int64_t>(tensor_offset), plane.offset_bytes, &at) ||
      at < 0) {
    return fail(Errc::corrupt, "metadata.planes: a plane begins before the buffer",
                "offset {} from {}", plane.offset_bytes, tensor_offset);
  }
  return static_cast<std::size_t>(at);
}

// Makes an image of a [H, W] tensor, which has one channel and no axis for it.
Result<Tensor> image_of_rows(const Tensor& tensor, const ImageEncodingInfo& row) {
  const Layout& layout = tensor.layout();
  const auto element = static_cast<std::ptrdiff_t>(size_of(layout.dtype));
  if (layout.stride_bytes[0] <= 0 || (layout.stride_bytes[1] != element && layout.shape[1] > 1)) {
    return fail(Errc::unsupported, "tensor: an image cannot have its strides", "{} and {} bytes",
                layout.stride_bytes[0], layout.stride_bytes[1]);
  }
  const Tensor::PlaneSource whole{tensor.buffer(), tensor.offset_bytes(),
                                  static_cast<std::size_t>(layout.stride_bytes[0])};
  HALYARD_TRY(Tensor image, Tensor::wrap_image({&whole, 1}, layout.shape[1], layout.shape[0],
                                               row.format, row.dtype));
  image.set_colorimetry(tensor.colorimetry());
  image.set_orientation(tensor.orientation());
  return image;
}

Result<Tensor> as_image(const Tensor& tensor, const ImageEncodingInfo& row) {
  if (tensor.is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  if (tensor.dtype() != row.dtype || (tensor.format() && tensor.format() != row.format)) {
    return fail(Errc::invalid_argument, "tensor: must have the encoding's dtype and format",
                "{} {}, {} is {} {}", to_string(tensor.dtype()),
                tensor.format() ? to_string(*tensor.format()) : "without a format", row.name,
                to_string(row.dtype), to_string(row.format));
  }
  const FormatInfo& f = info(row.format);
  const bool lacks_channels = tensor.rank() == 2 && f.kind == FormatKind::packed && f.channels == 1;
  if (lacks_channels && !tensor.is_image()) return image_of_rows(tensor, row);
  return tensor.with_format(row.format);
}

// The number of samples that fill() takes. For formats with planes: one for each component, in the
// order of the planes in memory.
std::size_t fill_samples(const FormatInfo& f) noexcept {
  if (f.kind == FormatKind::packed) return f.channels * (std::size_t{1} << f.chroma_shift_x);
  return f.kind == FormatKind::planar ? f.channels : 3;
}

}  // namespace

Result<Image> Image::create(std::size_t width, std::size_t height, ImageEncoding encoding) {
  return create_on(nullptr, width, height, encoding);
}

Result<Image> Image::create_on(const std::shared_ptr<TensorPool>& pool, std::size_t width,
                               std::size_t height, ImageEncoding encoding,
                               std::size_t stride_bytes) {
  HALYARD_TRY(const ImageEncodingInfo* row, known_encoding(encoding));
  HALYARD_TRY(Tensor image,
              ipc::message_image(pool, width, height, row->format, row->dtype, stride_bytes));
  return over(std::move(image), encoding);
}

Result<Image> Image::wrap(const Tensor& tensor, ImageEncoding encoding) {
  HALYARD_TRY(const ImageEncodingInfo* row, known_encoding(encoding));
  HALYARD_TRY(Tensor image, as_image(tensor, *row));
  return over(std::move(image), encoding);
}

Result<Image> Image::wrap(const Tensor& image) {
  if (!image.is_image()) return fail(Errc::invalid_argument, "image: has no pixel format");
  const auto encoding = encoding_of(*image.format(), image.dtype());
  if (!encoding) {
    return fail(Errc::unsupported, "image: no encoding has its format and dtype", "{} {}",
                to_string(*image.format()), to_string(image.dtype()));
  }
  return over(Tensor(image), *encoding);
}

[[gnu::hot]] Result<Image> Image::over(Tensor&& image, ImageEncoding encoding,
                                       const SensorHeader& header) {
  HALYARD_RETURN_IF_ERROR(ipc::check_linear(image));
  const FormatInfo& f = info(*image.format());
  ImageMetadata m;
  m.header = header;
  m.width = static_cast<std::uint32_t>(image.width());
  m.height = static_cast<std::uint32_t>(image.height());
  m.encoding = encoding;
  m.plane_count = static_cast<std::uint8_t>(stored_planes(f));
  m.colorimetry = image.colorimetry();
  for (std::size_t i = 0; i < m.plane_count; ++i) {
    HALYARD_TRY(const ImagePlane plane, image.image_plane(i));
    if (plane.buffer != image.buffer())
      return fail(Errc::unsupported, "image: its planes lie in several buffers");
    m.planes[i].offset_bytes = static_cast<std::int64_t>(plane.offset_bytes) -
                               static_cast<std::int64_t>(image.offset_bytes());
    m.planes[i].stride_bytes = plane.stride_bytes;
  }
  if (f.kind == FormatKind::planar)
    m.plane_stride_bytes = static_cast<std::uint64_t>(image.layout().stride_bytes[0]);
  return Image(std::move(image), m);
}

Result<Image> Image::from_parts(const Tensor& tensor, const ImageMetadata& metadata) {
  if (tensor.is_empty()) return fail(Errc::invalid_argument, "tensor: is empty");
  HALYARD_RETURN_IF_ERROR(ipc::check_linear(tensor));
  HALYARD_TRY(const ImageEncodingInfo* row, check_metadata(metadata));
  if (tensor.dtype() != row->dtype) {
    return fail(Errc::corrupt, "metadata.encoding: the tensor must have its dtype",
                "{}, the tensor {}", row->name, to_string(tensor.dtype()));
  }
  std::array<Tensor::PlaneSource, 3> planes;
  for (std::size_t i = 0; i < metadata.plane_count; ++i) {
    HALYARD_TRY(const std::size_t at, place_of(metadata.planes[i], tensor.offset_bytes()));
    planes[i] = {tensor.buffer(), at, metadata.planes[i].stride_bytes, metadata.plane_stride_bytes};
  }
  auto image = Tensor::wrap_image(std::span(planes).first(metadata.plane_count), metadata.width,
                                  metadata.height, row->format, row->dtype);
  if (!image) {
    return make_error(Errc::corrupt, "metadata.planes: do not fit the tensor",
                      image.error().message());
  }
  image->set_colorimetry(metadata.colorimetry);
  image->set_orientation(tensor.orientation());
  return over(*std::move(image), metadata.encoding, metadata.header);
}

[[gnu::hot]] Result<Image> Image::from_frame(Tensor tensor, const ImageMetadata& metadata) {
  if (!tensor.is_image()) return from_parts(tensor, metadata);
  HALYARD_TRY(const ImageEncodingInfo* row, check_metadata(metadata));
  if (tensor.format() != row->format || tensor.dtype() != row->dtype ||
      tensor.width() != metadata.width || tensor.height() != metadata.height) {
    return fail(Errc::corrupt, "metadata: must match the tensor's image",
                "{} x {} {}, the tensor {} x {} {} {}", metadata.width, metadata.height, row->name,
                tensor.width(), tensor.height(), to_string(*tensor.format()),
                to_string(tensor.dtype()));
  }
  tensor.set_colorimetry(metadata.colorimetry);
  return over(std::move(tensor), metadata.encoding, metadata.header);
}

std::size_t Image::channels() const noexcept {
  const FormatInfo& f = info(format());
  const bool is_yuv_in_planes = f.kind != FormatKind::packed && f.kind != FormatKind::planar;
  return is_yuv_in_planes ? 3 : f.channels;
}

std::size_t Image::bytes_per_pixel() const noexcept {
  const FormatInfo& f = info(format());
  return f.kind == FormatKind::packed ? f.channels * size_of(dtype()) : 0;
}

void Image::set_colorimetry(const Colorimetry& colorimetry) noexcept {
  tensor_.set_colorimetry(colorimetry);
  metadata_.colorimetry = colorimetry;
}

Status Image::check_pixel(std::size_t x, std::size_t y) const {
  if (x >= width() || y >= height()) {
    return fail(Errc::invalid_argument, "x, y: outside the image", "({}, {}), the image is {} x {}",
                x, y, width(), height());
  }
  if (bytes_per_pixel() == 0) {
    return fail(Errc::unsupported, "encoding: its pixels lie in planes; use tensor().map()", "{}",
                to_string(encoding()));
  }
  return {};
}

Result<std::span<const std::byte>> Image::pixel(std::size_t x, std::size_t y) const {
  HALYARD_RETURN_IF_ERROR(check_pixel(x, y));
  HALYARD_TRY(const std::span<const std::byte> bytes, data());
  return bytes.subspan(y * step() + x * bytes_per_pixel(), bytes_per_pixel());
}

Status Image::set_pixel(std::size_t x, std::size_t y, std::span<const std::byte> value) {
  HALYARD_RETURN_IF_ERROR(check_pixel(x, y));
  if (value.size() != bytes_per_pixel()) {
    return fail(Errc::invalid_argument, "value: must have the bytes of one pixel",
                "{} bytes, {} has {}", value.size(), to_string(encoding()), bytes_per_pixel());
  }
  HALYARD_TRY(const std::span<std::byte> bytes, data_mut());
  std::memmove(&bytes[y * step() + x * value.size()], value.data(), value.size());
  return {};
}

Status Image::fill(std::span<const std::byte> value) {
  const FormatInfo& f = info(format());
  const std::size_t element = size_of(dtype());
  if (value.size() != fill_samples(f) * element) {
    return fail(Errc::invalid_argument, "value: must have as many bytes as the encoding takes",
                "{} bytes, {} takes {}", value.size(), to_string(encoding()),
                fill_samples(f) * element);
  }
  // Copies the value, which may be one of the image's own pixels.
  std::array<std::byte, 16> copied{};
  std::copy(value.begin(), value.end(), copied.begin());
  value = std::span<const std::byte>(copied).first(value.size());
  HALYARD_TRY(const TensorMap map, tensor_.map(Access::write));
  if (f.kind == FormatKind::packed) {
    ipc::fill_plane(map.plane(0), value);
    return {};
  }
  // Cr comes before Cb in NV21.
  const std::array<std::byte, 2> chroma = {value[f.format == PixelFormat::nv21 ? 2 : 1],
                                           value[f.format == PixelFormat::nv21 ? 1 : 2]};
  for (std::size_t i = 0; i < map.plane_count(); ++i) {
    const bool is_chroma_pair = f.kind == FormatKind::semi_planar && i == 1;
    ipc::fill_plane(map.plane(i),
                    is_chroma_pair ? std::span(chroma) : value.subspan(i * element, element));
  }
  return {};
}

Result<Image> Image::roi(const Region& region) const {
  HALYARD_TRY(Tensor part, tensor_.slice(region));
  return over(std::move(part), encoding(), metadata_.header);
}

Result<std::vector<std::byte>> Image::copy_roi(const Region& region) const {
  HALYARD_TRY(const Tensor part, tensor_.slice(region));
  std::vector<std::byte> bytes(packed_bytes(part));
  HALYARD_RETURN_IF_ERROR(copy_packed(part, std::span(bytes)));
  return bytes;
}

}  // namespace halyard
