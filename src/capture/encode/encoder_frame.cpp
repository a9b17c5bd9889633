// SPDX-License-Identifier: Apache-2.0
// Turns tensors into encoder frames, with or without a copy.
#include "capture/encode/encoder_frame.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <cstring>
#include <utility>

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

struct ChromaPlanes {
  const std::uint8_t* u = nullptr;
  const std::uint8_t* v = nullptr;
  std::size_t u_stride = 0;
  std::size_t v_stride = 0;
  std::size_t step = 1;  // bytes between samples of one row
};

const std::uint8_t* bytes(const MappedPlane& plane) {
  return reinterpret_cast<const std::uint8_t*>(plane.data);
}

ChromaPlanes chroma_of(const TensorMap& map, PixelFormat format) {
  const MappedPlane& first = map.plane(1);
  if (format == PixelFormat::nv12) {
    return {bytes(first), bytes(first) + 1, first.stride_bytes, first.stride_bytes, 2};
  }
  const MappedPlane& second = map.plane(2);
  return {bytes(first), bytes(second), first.stride_bytes, second.stride_bytes, 1};
}

void drop_map(void* opaque, std::uint8_t*) {
  delete static_cast<std::shared_ptr<TensorMap>*>(opaque);
}

// A reference that keeps the map alive until the encoder releases the plane.
AVBufferRef* hold(const std::shared_ptr<TensorMap>& map, const MappedPlane& plane) {
  auto* owner = new std::shared_ptr<TensorMap>(map);
  auto* data = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(plane.data));
  const std::size_t size = (plane.rows - 1) * plane.stride_bytes + plane.row_bytes;
  AVBufferRef* reference =
      ffmpeg().av_buffer_create(data, size, drop_map, owner, AV_BUFFER_FLAG_READONLY);
  if (reference == nullptr) delete owner;
  return reference;
}

Status wrap_planes(AVFrame& frame, const std::shared_ptr<TensorMap>& map) {
  for (std::size_t i = 0; i < map->plane_count(); ++i) {
    const MappedPlane& plane = map->plane(i);
    frame.buf[i] = hold(map, plane);
    if (frame.buf[i] == nullptr) return fail(Errc::no_memory, "video: frame cannot be allocated");
    frame.data[i] = frame.buf[i]->data;
    frame.linesize[i] = static_cast<int>(plane.stride_bytes);
  }
  return {};
}

// Uses the public copy(), which counts copies.
Status copy_plane(const ImagePlane& plane, std::uint8_t* to, int stride_bytes) {
  const auto stride = static_cast<std::size_t>(stride_bytes);
  const std::size_t bytes_to = (plane.rows - 1) * stride + plane.row_bytes;
  HALYARD_TRY(auto buffer, wrap_memory(static_cast<void*>(to), bytes_to, {}));
  const Tensor::PlaneSource source{plane.buffer, plane.offset_bytes, plane.stride_bytes};
  const Tensor::PlaneSource target{std::move(buffer), 0, stride};
  const auto as_grey = [&](const Tensor::PlaneSource& memory) {
    return Tensor::wrap_image({&memory, 1}, plane.row_bytes, plane.rows, PixelFormat::grey);
  };
  HALYARD_TRY(const Tensor from, as_grey(source));
  HALYARD_TRY(Tensor into, as_grey(target));
  return copy(from, into);
}

// Copies the luma of an odd image and repeats its last column and row.
Status copy_luma(AVFrame& frame, const Tensor& image) {
  HALYARD_TRY(const ImagePlane luma, image.image_plane(0));
  HALYARD_RETURN_IF_ERROR(copy_plane(luma, frame.data[0], frame.linesize[0]));
  const auto row = [&](std::size_t y) {
    return frame.data[0] + static_cast<std::ptrdiff_t>(y) * frame.linesize[0];
  };
  const auto width = static_cast<std::size_t>(frame.width);
  if (luma.row_bytes < width) {
    for (std::size_t y = 0; y < luma.rows; ++y)
      row(y)[width - 1] = row(y)[width - 2];
  }
  if (luma.rows < static_cast<std::size_t>(frame.height)) {
    std::memcpy(row(luma.rows), row(luma.rows - 1), width);
  }
  return {};
}

// The sizes of ChromaPlanes are rounded up, so the even-sized frame needs no more chroma than the
// odd image has.
void rearrange_chroma(AVFrame& frame, const ChromaPlanes& chroma) {
  const bool pairs = frame.format == AV_PIX_FMT_NV12;
  const std::size_t to_step = pairs ? 2 : 1;
  const int v_plane = pairs ? 1 : 2;
  const auto columns = static_cast<std::size_t>(frame.width / 2);
  for (int y = 0; y < frame.height / 2; ++y) {
    const auto row = static_cast<std::size_t>(y);
    const std::uint8_t* u = chroma.u + row * chroma.u_stride;
    const std::uint8_t* v = chroma.v + row * chroma.v_stride;
    std::uint8_t* to_u = frame.data[1] + std::ptrdiff_t{y} * frame.linesize[1];
    std::uint8_t* to_v =
        frame.data[v_plane] + std::ptrdiff_t{y} * frame.linesize[v_plane] + (pairs ? 1 : 0);
    for (std::size_t x = 0; x < columns; ++x) {
      to_u[x * to_step] = u[x * chroma.step];
      to_v[x * to_step] = v[x * chroma.step];
    }
  }
}

}  // namespace

Status check_encodable(const Tensor& image) {
  const auto format = image.format();
  if (!format || image.dtype() != DType::u8 ||
      (*format != PixelFormat::i420 && *format != PixelFormat::nv12)) {
    return fail(Errc::unsupported, "image: must be u8 i420 or nv12", "{} {}",
                to_string(image.dtype()), format ? to_string(*format) : "without a format");
  }
  return {};
}

Result<FramePtr> encoder_frame(const Tensor& image, const EncoderInput& input) {
  HALYARD_RETURN_IF_ERROR(check_encodable(image));
  const PixelFormat format = *image.format();
  FramePtr frame(ffmpeg().av_frame_alloc());
  if (!frame) return fail(Errc::no_memory, "video: frame cannot be allocated");
  frame->width = input.width;
  frame->height = input.height;
  frame->format = input.format;
  const bool same_format = pixel_format_of(input.format) == format;
  if (same_format && image.size() == Size{input.width, input.height}) {
    HALYARD_TRY(TensorMap mapped, image.map(Access::read));
    HALYARD_RETURN_IF_ERROR(wrap_planes(*frame, std::make_shared<TensorMap>(std::move(mapped))));
    return frame;
  }
  if (ffmpeg().av_frame_get_buffer(frame.get(), 0) < 0) {
    return fail(Errc::no_memory, "video: frame cannot be allocated", "{}x{}", input.width,
                input.height);
  }
  HALYARD_RETURN_IF_ERROR(copy_luma(*frame, image));
  if (!same_format) {
    HALYARD_TRY(const TensorMap mapped, image.map(Access::read));
    rearrange_chroma(*frame, chroma_of(mapped, format));
    return frame;
  }
  for (std::size_t i = 1; i < image.plane_count(); ++i) {
    HALYARD_TRY(const ImagePlane plane, image.image_plane(i));
    HALYARD_RETURN_IF_ERROR(copy_plane(plane, frame->data[i], frame->linesize[i]));
  }
  return frame;
}

}  // namespace halyard::capture

#endif
