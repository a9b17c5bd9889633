// SPDX-License-Identifier: Apache-2.0
// Tensors into encoder frames, with or without a copy.
#include "capture/encoder_frame.h"

#ifdef HALYARD_HAVE_FFMPEG

extern "C" {
#include <libavutil/buffer.h>
}

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/format_error.h"
#include "tensor/copy_count.h"

namespace halyard::capture {
namespace {

struct Chroma {
  const std::uint8_t* u = nullptr;
  const std::uint8_t* v = nullptr;
  std::size_t u_stride = 0;
  std::size_t v_stride = 0;
  std::size_t step = 1;  // bytes between samples of one row
};

const std::uint8_t* bytes(const MappedPlane& plane) {
  return reinterpret_cast<const std::uint8_t*>(plane.data);
}

Chroma chroma_of(const TensorMap& map, PixelFormat format) {
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

// A reference that keeps the map alive until the encoder has let go of the plane.
AVBufferRef* hold(const std::shared_ptr<TensorMap>& map, const MappedPlane& plane) {
  auto* owner = new std::shared_ptr<TensorMap>(map);
  auto* data = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(plane.data));
  const std::size_t size = (plane.rows - 1) * plane.stride_bytes + plane.row_bytes;
  AVBufferRef* reference = av_buffer_create(data, size, drop_map, owner, AV_BUFFER_FLAG_READONLY);
  if (reference == nullptr) delete owner;
  return reference;
}

Status wrap_planes(AVFrame& frame, const std::shared_ptr<TensorMap>& map) {
  for (std::size_t i = 0; i < map->plane_count(); ++i) {
    const MappedPlane& plane = map->plane(i);
    frame.buf[i] = hold(map, plane);
    if (frame.buf[i] == nullptr) return fail(Errc::no_memory, "video: frame cannot be made");
    frame.data[i] = frame.buf[i]->data;
    frame.linesize[i] = static_cast<int>(plane.stride_bytes);
  }
  return {};
}

void copy_luma(AVFrame& frame, const MappedPlane& luma) {
  const auto height = static_cast<std::size_t>(frame.height);
  const auto width = static_cast<std::size_t>(frame.width);
  for (std::size_t y = 0; y < height; ++y) {
    const std::uint8_t* from = bytes(luma) + std::min(y, luma.rows - 1) * luma.stride_bytes;
    std::uint8_t* to = frame.data[0] + static_cast<std::ptrdiff_t>(y) * frame.linesize[0];
    std::memcpy(to, from, luma.row_bytes);
    if (luma.row_bytes < width) to[width - 1] = from[luma.row_bytes - 1];
  }
}

// Chroma extents round up, so an even-sized frame has no more chroma than the odd picture.
void copy_chroma(AVFrame& frame, const Chroma& chroma) {
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

Status check_encodable(const Tensor& picture) {
  const auto format = picture.format();
  if (!format || picture.dtype() != DType::u8 ||
      (*format != PixelFormat::i420 && *format != PixelFormat::nv12)) {
    return fail(Errc::unsupported, "picture: must be u8 i420 or nv12", "{} {}",
                to_string(picture.dtype()), format ? to_string(*format) : "without a format");
  }
  return {};
}

Result<FramePtr> encoder_frame(const Tensor& picture, const EncoderInput& input) {
  HALYARD_CHECK(check_encodable(picture));
  const PixelFormat format = *picture.format();
  FramePtr frame(av_frame_alloc());
  if (!frame) return fail(Errc::no_memory, "video: frame cannot be made");
  frame->width = input.width;
  frame->height = input.height;
  frame->format = input.format;
  HALYARD_TRY(TensorMap mapped, picture.map(Access::read));
  const bool same_size = picture.size() == Size{input.width, input.height};
  if (same_size && pixel_format_of(input.format) == format) {
    HALYARD_CHECK(wrap_planes(*frame, std::make_shared<TensorMap>(std::move(mapped))));
    return frame;
  }
  if (av_frame_get_buffer(frame.get(), 0) < 0) {
    return fail(Errc::no_memory, "video: frame cannot be made", "{}x{}", input.width, input.height);
  }
  copy_luma(*frame, mapped.plane(0));
  copy_chroma(*frame, chroma_of(mapped, format));
  count_copy(static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.height) * 3 /
             2);
  return frame;
}

}  // namespace halyard::capture

#endif
