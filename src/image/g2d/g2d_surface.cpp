// SPDX-License-Identifier: Apache-2.0
// Computes addresses, pitches and rectangles, and checks the alignments that the i.MX 6 G2D API
// User's Guide (L3.10.17) names: addresses of 16 bytes for RGB and 64 for YUV, pitches of 16 and 8.
#include "image/g2d/g2d_surface.h"

#include <optional>

namespace halyard::image::g2d {
namespace {

/// How pixels of a format lie in memory.
struct Storage {
  std::size_t planes = 1;
  std::size_t pixel_bytes = 1;  ///< of the first plane
  std::size_t address_align = 1;
  std::size_t pitch_align = 1;
  std::size_t step_px = 1;  ///< pixels by which a surface can begin earlier
};

constexpr Storage storage_of(SurfaceFormat format) noexcept {
  switch (format) {
    case SurfaceFormat::nv12:
      return {2, 1, 64, 8, 2};
    case SurfaceFormat::yuyv:
      return {1, 2, 64, 8, 2};
    case SurfaceFormat::rgb888:
      return {1, 3, 16, 16, 1};
    default:
      return {1, 4, 16, 16, 1};
  }
}

/// The reasons for declining, for the source and the destination.
struct Reasons {
  const char* memory[2] = {"the source is not in a DMA-BUF", "the destination is not in a DMA-BUF"};
  const char* linear[2] = {"the source's pixels are not in rows",
                           "the destination's pixels are not in rows"};
  const char* address[2] = {"no physical address of the source's buffer is known",
                            "no physical address of the destination's buffer is known"};
  const char* pitch[2] = {
      "the source's row pitch is not a multiple of 16 bytes (YUV: 8) and of a "
      "pixel",
      "the destination's row pitch is not a multiple of 16 bytes (YUV: 8) and "
      "of a pixel"};
  const char* align[2] = {"the source does not begin at a multiple of 16 bytes (YUV: 64)",
                          "the destination does not begin at a multiple of 16 bytes (YUV: 64)"};
  const char* chroma[2] = {"the source's chroma has another pitch or alignment than its luma",
                           "the destination's chroma has another pitch or alignment than its luma"};
};
constexpr Reasons reasons;

Verdict decline(const char* const (&both)[2], Side side) noexcept {
  return Verdict::decline(both[side == Side::source ? 0 : 1]);
}

/// Bytes of one plane, from the first pixel of the part on.
struct PlaneBytes {
  Buffer* buffer = nullptr;
  std::size_t offset = 0;
  std::size_t stride = 0;
  std::uint64_t address = 0;  ///< physical, of `offset`
};

std::optional<PlaneBytes> plane_bytes(const Tensor& image, std::size_t index) noexcept {
  if (image.is_image()) {
    const auto plane = image.image_plane(index);
    if (!plane) return std::nullopt;
    return PlaneBytes{plane->buffer.get(), plane->offset_bytes, plane->stride_bytes};
  }
  // A plain tensor that is read as an image ends with the axes H, W, C.
  const Layout& layout = image.layout();
  if (image.is_empty() || layout.rank < 3) return std::nullopt;
  return PlaneBytes{image.buffer().get(), image.offset_bytes(),
                    static_cast<std::size_t>(layout.stride_bytes[layout.rank - 3U])};
}

// The pixels by which the surface must begin earlier, so that its address is aligned.
std::optional<std::size_t> pixels_before(const PlaneBytes& plane, const Storage& s) noexcept {
  for (std::size_t px = 0; px <= s.address_align; px += s.step_px) {
    const std::size_t bytes = px * s.pixel_bytes;
    if (bytes > plane.offset) return std::nullopt;
    if ((plane.address - bytes) % s.address_align == 0) return px;
  }
  return std::nullopt;
}

void set_rectangle(const Region& part, const PlaneBytes& first, std::size_t before,
                   const Storage& s, Surface& surface) noexcept {
  const int left = static_cast<int>(before);
  surface.left = left;
  surface.right = left + part.width;
  surface.top = 0;
  surface.bottom = part.height;
  surface.width = left + part.width;
  surface.height = part.height;
  surface.stride_px = static_cast<int>(first.stride / s.pixel_bytes);
}

Verdict find_planes(const std::shared_ptr<G2dDevice>& device, const Tensor& image, const Storage& s,
                    const Region& part, Side side, std::array<PlaneBytes, 2>& planes,
                    PlacedSurface& out) noexcept {
  for (std::size_t i = 0; i < s.planes; ++i) {
    const auto found = plane_bytes(image, i);
    if (!found) return decline(reasons.linear, side);
    PlaneBytes& plane = planes[i] = *found;
    if (plane.buffer->memory() != Memory::dma || plane.buffer->fd() < 0)
      return decline(reasons.memory, side);
    const ReachedMemory memory = reach(device, *plane.buffer);
    if (memory.address == 0) return decline(reasons.address, side);
    // A row of chroma holds as many bytes as one of luma, and serves two.
    const auto row = static_cast<std::size_t>(part.y) >> i;
    plane.offset += row * plane.stride + static_cast<std::size_t>(part.x) * s.pixel_bytes;
    plane.address = memory.address + plane.offset;
    out.buffers[i] = i > 0 && plane.buffer == planes[0].buffer ? nullptr : memory.handle;
  }
  return Verdict::accept();
}

}  // namespace

Verdict place_surface(const std::shared_ptr<G2dDevice>& device, const Tensor& image,
                      SurfaceFormat format, const Region& part, Side side,
                      PlacedSurface& out) noexcept {
  const Storage s = storage_of(format);
  if (!is_linear(image.modifier())) return decline(reasons.linear, side);
  std::array<PlaneBytes, 2> planes;
  if (const Verdict found = find_planes(device, image, s, part, side, planes, out); !found)
    return found;
  const PlaneBytes& first = planes[0];
  if (first.stride % s.pixel_bytes != 0 || first.stride % s.pitch_align != 0)
    return decline(reasons.pitch, side);
  const auto before = pixels_before(first, s);
  if (!before || (*before + static_cast<std::size_t>(part.width)) * s.pixel_bytes > first.stride)
    return decline(reasons.align, side);
  for (std::size_t i = 1; i < s.planes; ++i) {
    if (planes[i].stride != first.stride || pixels_before(planes[i], s) != before)
      return decline(reasons.chroma, side);
  }
  set_rectangle(part, first, *before, s, out.surface);
  out.surface.format = format;
  for (std::size_t i = 0; i < s.planes; ++i)
    out.surface.planes[i] = planes[i].address - *before * s.pixel_bytes;
  return Verdict::accept();
}

}  // namespace halyard::image::g2d
