// SPDX-License-Identifier: Apache-2.0
#include "input/raw_image.h"

#include <fmt/format.h>

#include <cstring>

namespace halyard::tool {
namespace {

void copy_planes(const TensorMap& map, PixelFormat format, DType dtype, Size size,
                 std::span<std::byte> raw, bool to_raw) {
  for (std::size_t i = 0; i < map.plane_count(); ++i) {
    const auto geometry = plane_geometry(format, dtype, static_cast<std::size_t>(size.width),
                                         static_cast<std::size_t>(size.height), 0, i);
    if (!geometry) return;
    const MappedPlane& plane = map.plane(i);
    for (std::size_t row = 0; row < plane.rows; ++row) {
      std::byte* mine = raw.data() + geometry->offset_bytes + row * geometry->stride_bytes;
      if (to_raw)
        std::memcpy(mine, plane.data + row * plane.stride_bytes, plane.row_bytes);
      else
        std::memcpy(plane.writable + row * plane.stride_bytes, mine, plane.row_bytes);
    }
  }
}

}  // namespace

Result<RawImage> raw_image(const Tensor& image) {
  const PixelFormat format = *image.format();
  const DType dtype = image.dtype();
  const std::size_t height = image.height();
  HALYARD_TRY(const auto total, image_bytes(format, dtype, image.width(), height, 0));
  RawImage raw;
  raw.bytes.resize(total);
  const FormatKind kind = info(format).kind;
  if (kind == FormatKind::packed || kind == FormatKind::planar) {
    raw.shape.assign(image.shape().begin(), image.shape().end());
  } else {
    HALYARD_TRY(const auto stride, tight_stride(format, dtype, image.width()));
    raw.shape = {total / stride, stride / size_of(dtype)};
  }
  HALYARD_TRY(const auto map, image.map(Access::read));
  copy_planes(map, format, dtype, image.size(), raw.bytes, true);
  return raw;
}

Result<Tensor> image_from_raw(std::span<const std::byte> bytes, Size size, PixelFormat format,
                              DType dtype) {
  const auto width = static_cast<std::size_t>(size.width);
  const auto height = static_cast<std::size_t>(size.height);
  HALYARD_TRY(const auto total, image_bytes(format, dtype, width, height, 0));
  if (bytes.size() != total)
    return make_error(Errc::invalid_argument, "raw image has another length than its size asks",
                      fmt::format("{} bytes, {} of {}x{} in {} has {}", bytes.size(),
                                  to_string(format), width, height, to_string(dtype), total));
  HALYARD_TRY(auto image, Tensor::create_image(width, height, format, dtype));
  HALYARD_TRY(const auto map, image.map(Access::write));
  std::vector<std::byte> raw(bytes.begin(), bytes.end());
  copy_planes(map, format, dtype, size, raw, false);
  return image;
}

}  // namespace halyard::tool
