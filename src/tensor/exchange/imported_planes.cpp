// SPDX-License-Identifier: Apache-2.0
// Checks of strides and offsets that come from drivers and other processes.
#include "tensor/exchange/imported_planes.h"

#include <cstdint>
#include <optional>

#include "base/checked.h"
#include "base/text/format_error.h"

namespace halyard {
namespace {

constexpr auto max_bytes = static_cast<std::size_t>(PTRDIFF_MAX);
// Max rows of an image: planar, four channels of 65535 rows.
constexpr std::size_t max_rows = 4 * 65535;

// Stride of the plane's rows. `g` holds the tight stride; `asked` 0 selects it.
Result<std::size_t> row_stride(const ImageLayout& p, const PlaneGeometry& g, std::size_t asked,
                               std::size_t i) {
  const std::size_t stride = asked == 0 ? g.stride_bytes : asked;
  if ((p.linear && stride < g.row_bytes) || stride % size_of(p.dtype) != 0) {
    return fail(Errc::invalid_argument,
                "planes: stride must hold a row and be a multiple of the element size",
                "plane {}: {}, a row has {} bytes of {}", i, stride, g.row_bytes,
                to_string(p.dtype));
  }
  const auto product = checked_mul(stride, max_rows);
  if (!product || *product > max_bytes) {
    return fail(Errc::invalid_argument, "planes: stride times rows overflows", "plane {}: {} bytes",
                i, stride);
  }
  return stride;
}

// Geometry of plane `i`, from its own entry or from the entry of the whole image.
Result<PlaneGeometry> geometry_of(const ImageLayout& p, std::size_t stride, bool own_entry,
                                  std::size_t i) {
  // The image's stride is that of its first plane, and the other planes follow from it.
  const bool follows = p.linear && (!own_entry || i == 0);
  HALYARD_TRY(PlaneGeometry g,
              plane_geometry(p.format, p.dtype, p.width, p.height, follows ? stride : 0, i));
  if (own_entry) g.offset_bytes = 0;
  if (own_entry && i > 0) g.stride_bytes = g.row_bytes;
  HALYARD_TRY(g.stride_bytes, row_stride(p, g, follows ? g.stride_bytes : stride, i));
  return g;
}

// Bytes between the colour planes of a planar image; `g` is the first of them.
Result<std::size_t> planar_stride(const ImageLayout& p, const PlaneGeometry& g, std::size_t asked) {
  if (info(p.format).kind != FormatKind::planar) return std::size_t{0};
  if (asked == 0) return g.rows * g.stride_bytes;
  const std::size_t rows = (g.rows - 1) * g.stride_bytes + g.row_bytes;
  if ((p.linear && asked < rows) || asked > max_bytes / 4 || asked % size_of(p.dtype) != 0) {
    return fail(Errc::invalid_argument,
                "planes: plane_stride must hold a plane and be a multiple of the element size",
                "{} bytes, the rows take {}", asked, rows);
  }
  return asked;
}

// Offset after the last byte; nullopt on overflow.
std::optional<std::size_t> end_of(const ImageLayout& p, const ByteRegion& region,
                                  std::size_t plane_stride) {
  if (!p.linear) return checked_add(region.offset_bytes, 1);
  const std::size_t others = plane_stride == 0 ? 0 : info(p.format).channels - std::size_t{1};
  const auto planes = checked_mul(plane_stride, others);
  const auto rows = checked_mul(region.rows - 1, region.stride_bytes);
  const auto last = planes && rows ? checked_add(*planes, *rows) : std::nullopt;
  const auto size = last ? checked_add(*last, region.row_bytes) : std::nullopt;
  return size ? checked_add(region.offset_bytes, *size) : std::nullopt;
}

bool one_memory(const Buffer& a, const Buffer& b) {
  if (&a == &b) return true;
  const auto identity = a.identity();
  return identity && identity == b.identity();
}

}  // namespace

Result<PlacedPlane> place_plane(const ImageLayout& p, const Tensor::PlaneSource& source,
                                bool own_entry, std::size_t i) {
  if (!source.buffer) return fail(Errc::invalid_argument, "planes: buffer is null", "plane {}", i);
  HALYARD_TRY(const PlaneGeometry g, geometry_of(p, source.stride_bytes, own_entry, i));
  HALYARD_TRY(const std::size_t plane_stride, planar_stride(p, g, source.plane_stride_bytes));
  const auto offset = checked_add(source.offset_bytes, g.offset_bytes);
  const ByteRegion region{offset.value_or(SIZE_MAX), g.row_bytes, g.rows, g.stride_bytes};
  const auto end = end_of(p, region, plane_stride);
  if (!end || *end > source.buffer->size_bytes()) {
    return fail(Errc::invalid_argument, "planes: a plane leaves its buffer",
                "plane {}: offset {}, {} rows of stride {}, the buffer has {} bytes", i,
                source.offset_bytes, g.rows, g.stride_bytes, source.buffer->size_bytes());
  }
  if (region.offset_bytes % size_of(p.dtype) != 0) {
    return fail(Errc::invalid_argument, "planes: offset must be a multiple of the element size",
                "plane {}: {} for {}", i, source.offset_bytes, to_string(p.dtype));
  }
  return PlacedPlane{region, plane_stride};
}

Status check_apart(std::span<const Tensor::PlaneSource> planes,
                   std::span<const PlacedPlane> placed) {
  for (std::size_t i = 1; i < planes.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (overlaps(placed[k].region, placed[i].region) &&
          one_memory(*planes[k].buffer, *planes[i].buffer)) {
        return fail(Errc::invalid_argument, "planes: two planes overlap", "planes {} and {}", k, i);
      }
    }
  }
  return {};
}

}  // namespace halyard
