// SPDX-License-Identifier: Apache-2.0
// Converts colours to the bytes of a format, and fills and blends its planes.
#include "draw/canvas.h"

#include <cmath>
#include <cstring>

#include "base/text/format_error.h"
#include "draw/draw_list.h"
#include "draw/fill_rows.h"

namespace halyard::draw {
namespace {

bool is_drawable(PixelFormat format) noexcept {
  switch (format) {
    case PixelFormat::rgb:
    case PixelFormat::bgr:
    case PixelFormat::rgba:
    case PixelFormat::bgra:
    case PixelFormat::planar_rgb:
    case PixelFormat::planar_rgba:
    case PixelFormat::nv12:
    case PixelFormat::grey:
      return true;
    default:
      return false;
  }
}

std::uint8_t code(double value) noexcept {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

std::array<std::uint8_t, 4> yuv_bytes(const Color& color, const Colorimetry& colors) noexcept {
  const RgbToYuv m = rgb_to_yuv(colors.encoding, colors.range);
  const double luma = m.kr * color.r + m.kg * color.g + m.kb * color.b;
  return {code(m.y_offset + m.y_scale * luma), code(128 + m.u_scale * (color.b - luma)),
          code(128 + m.v_scale * (color.r - luma)), 0};
}

// value / 255, rounded, for values up to 255 * 255.
unsigned divide_by_255(unsigned value) noexcept {
  return (value + 128 + ((value + 128) >> 8U)) >> 8U;
}

std::uint8_t blended(unsigned pixel, unsigned color, unsigned alpha) noexcept {
  return static_cast<std::uint8_t>(divide_by_255(color * alpha + pixel * (255U - alpha)));
}

// Blends `count` pairs side by side. `weight` is the sum of the weights of a block's four pixels,
// 0..1020.
void blend_chroma_run(std::uint8_t* pair, std::size_t count, const Ink& ink,
                      unsigned weight) noexcept {
  const unsigned kept = 1020U - weight;
  const unsigned u = ink.bytes[1] * weight + 510U, v = ink.bytes[2] * weight + 510U;
  for (std::size_t i = 0; i < count; ++i, pair += 2) {
    pair[0] = static_cast<std::uint8_t>((u + pair[0] * kept) / 1020U);
    pair[1] = static_cast<std::uint8_t>((v + pair[1] * kept) / 1020U);
  }
}

// The blocks of 2 x 2 pixels that a rectangle touches.
Rect blocks_of(const Rect& r) noexcept {
  return {r.x0 / 2, r.y0 / 2, (r.x1 + 1) / 2, (r.y1 + 1) / 2};
}

// How many of the two pixels of a block are in [begin, end), along one axis of the image.
int covered(int block, int begin, int end, int extent) noexcept {
  const int first = 2 * block, second = std::min(first + 1, extent - 1);
  return int{first >= begin && first < end} + int{second >= begin && second < end};
}

// Blends `width` pixels of `pixel_bytes` bytes, of which the first `channels` are colours.
template <std::size_t pixel_bytes, std::size_t channels>
void blend_row(std::uint8_t* pixel, const std::uint8_t* coverage, int width,
               const std::uint8_t* color, unsigned ink_alpha) noexcept {
  for (int x = 0; x < width; ++x, pixel += pixel_bytes) {
    const unsigned own = coverage[x];
    if (own == 0) continue;
    const unsigned alpha = ink_alpha == 255 ? own : divide_by_255(own * ink_alpha);
    if (alpha == 255) {
      std::memcpy(pixel, color, channels);
      continue;
    }
    for (std::size_t c = 0; c < channels; ++c)
      pixel[c] = blended(pixel[c], color[c], alpha);
  }
}

constexpr std::size_t max_rects = 4;
constexpr std::size_t ones_width = 1024;
constexpr auto ones = [] {
  std::array<std::uint8_t, ones_width> out{};
  out.fill(255);
  return out;
}();

}  // namespace

Status Canvas::check(const Tensor& image) {
  const auto format = image.format();
  if (!format) return fail(Errc::unsupported, "image: must have a pixel format");
  if (!is_drawable(*format)) {
    return fail(Errc::unsupported,
                "image: format must be rgb, bgr, rgba, bgra, planar_rgb, planar_rgba, nv12 or grey",
                "{}", to_string(*format));
  }
  if (image.dtype() != DType::u8)
    return fail(Errc::unsupported, "image: dtype must be u8", "{}", to_string(image.dtype()));
  if (image.orientation() == Orientation{}) return {};
  return fail(Errc::invalid_argument,
              "image: carries an orientation; convert it into an upright one to draw on");
}

Canvas::Canvas(PixelFormat format, Size size, const Colorimetry& resolved,
               const std::array<PixelRows, 4>& planes) noexcept
    : format_(format),
      size_(size),
      clip_{0, 0, size.width, size.height},
      colorimetry_(resolved),
      planes_(planes) {
  const FormatInfo& facts = info(format);
  const bool is_planar = facts.kind == FormatKind::planar;
  plane_count_ = is_nv12() ? 2 : is_planar ? facts.channels : 1;
  color_planes_ = is_planar ? 3 : 1;
  pixel_bytes_ = is_planar || is_nv12() ? 1 : facts.channels;
}

namespace {

std::array<PixelRows, 4> planes_of(const TensorMap& map) noexcept {
  std::array<PixelRows, 4> out{};
  for (std::size_t i = 0; i < map.plane_count(); ++i) {
    const MappedPlane& plane = map.plane(i);
    out[i] = {reinterpret_cast<std::uint8_t*>(plane.writable),
              static_cast<std::ptrdiff_t>(plane.stride_bytes)};
  }
  return out;
}

}  // namespace

Canvas::Canvas(const Tensor& image, const TensorMap& map) noexcept
    : Canvas(*image.format(), image.size(), resolve(image.colorimetry(), image.height()),
             planes_of(map)) {}

Canvas::Canvas(const Tensor& image, DrawList& list) noexcept
    : Canvas(*image.format(), image.size(), resolve(image.colorimetry(), image.height()), {}) {
  list_ = &list;
}

Canvas Canvas::clipped(const Rect& rect) const noexcept {
  Canvas out = *this;
  out.clip_ = intersect(clip_, rect);
  return out;
}

Ink Canvas::ink(const Color& color, unsigned alpha) const noexcept {
  const auto weight = static_cast<std::uint8_t>(alpha);
  switch (format_) {
    case PixelFormat::nv12:
      return {yuv_bytes(color, colorimetry_), weight};
    case PixelFormat::grey:
      return {{code(0.299 * color.r + 0.587 * color.g + 0.114 * color.b)}, weight};
    case PixelFormat::bgr:
    case PixelFormat::bgra:
      return {{color.b, color.g, color.r, 0}, weight};
    default:
      return {{color.r, color.g, color.b, 0}, weight};
  }
}

PixelRows Canvas::at(std::size_t plane, std::size_t x, std::size_t y) const noexcept {
  const PixelRows& p = planes_[plane];
  return {p.data + static_cast<std::ptrdiff_t>(y) * p.stride + x * pixel_bytes_, p.stride};
}

void Canvas::start_rows(const TensorMap* from, int begin, int end) const noexcept {
  const Ink black = ink({0, 0, 0, 0});
  for (std::size_t i = 0; i < plane_count_; ++i) {
    const bool is_chroma = is_nv12() && i == 1;
    const auto first = static_cast<std::size_t>(is_chroma ? begin / 2 : begin);
    const auto last = static_cast<std::size_t>(is_chroma ? (end + 1) / 2 : end);
    const auto width = static_cast<std::size_t>(size_.width);
    const std::size_t row_bytes = is_chroma ? (width + 1) / 2 * 2 : width * pixel_bytes_;
    for (std::size_t y = first; y < last; ++y) {
      std::uint8_t* const row =
          planes_[i].data + static_cast<std::ptrdiff_t>(y) * planes_[i].stride;
      if (from == nullptr) {
        std::memset(row, is_nv12() ? black.bytes[i] : 0, row_bytes);
      } else {
        const MappedPlane& plane = from->plane(i);
        std::memcpy(row, plane.data + y * plane.stride_bytes, row_bytes);
      }
    }
  }
}

void Canvas::fill(std::span<const Rect> rects, const Ink& ink) const noexcept {
  std::array<Rect, max_rects> inside;
  std::size_t count = 0;
  for (const Rect& rect : rects) {
    const Rect r = intersect(rect, clip_);
    if (!r.empty()) inside[count++] = r;
  }
  if (ink.alpha == 0) return;
  const std::span<const Rect> parts(inside.data(), count);
  if (list_ != nullptr) return list_->fill(parts, ink);
  for (const Rect& r : parts)
    fill_pixels(r, ink);
  if (is_nv12()) fill_blocks(parts, ink);
}

void Canvas::fill_pixels(const Rect& r, const Ink& ink) const noexcept {
  const auto x = static_cast<std::size_t>(r.x0), y = static_cast<std::size_t>(r.y0);
  const auto width = static_cast<std::size_t>(r.width());
  const auto height = static_cast<std::size_t>(r.height());
  if (ink.alpha == 255) {
    for (std::size_t i = 0; i < color_planes_; ++i)
      fill_rows(at(i, x, y), width, height, &ink.bytes[i], pixel_bytes_);
    return;
  }
  for (std::size_t done = 0; done < width; done += ones_width) {
    const std::size_t count = std::min(ones_width, width - done);
    blend_on({ones.data(), 0, count, height}, x + done, y, ink);
  }
}

void Canvas::fill_blocks(std::span<const Rect> rects, const Ink& ink) const noexcept {
  std::array<Rect, max_rects> blocks;
  std::transform(rects.begin(), rects.end(), blocks.begin(), blocks_of);
  for (std::size_t i = 0; i < rects.size(); ++i) {
    const Rect& r = rects[i];
    for (int y = blocks[i].y0; y < blocks[i].y1; ++y) {
      const unsigned weight =
          static_cast<unsigned>(covered(y, r.y0, r.y1, size_.height)) * ink.alpha;
      for (int x = blocks[i].x0; x < blocks[i].x1;) {
        // The end of the blocks from x on that no other rectangle touches.
        int end = blocks[i].x1;
        for (std::size_t k = 0; k < rects.size(); ++k) {
          const Rect& other = blocks[k];
          if (k != i && y >= other.y0 && y < other.y1 && x < other.x1)
            end = std::min(end, std::max(other.x0, x));
        }
        if (end == x) {
          fill_block(rects, i, x++, y, ink);
          continue;
        }
        const bool is_whole = 2 * x >= r.x0 && 2 * x + 2 <= r.x1;
        const int count = is_whole ? std::min(end, r.x1 / 2) - x : 1;
        const int columns = is_whole ? 2 : covered(x, r.x0, r.x1, size_.width);
        blend_chroma_run(chroma(static_cast<std::size_t>(x), static_cast<std::size_t>(y)),
                         static_cast<std::size_t>(count), ink,
                         static_cast<unsigned>(columns) * weight);
        x += count;
      }
    }
  }
}

// A block that several rectangles share belongs to the first of them.
void Canvas::fill_block(std::span<const Rect> rects, std::size_t index, int x, int y,
                        const Ink& ink) const noexcept {
  int pixels = 0;
  for (std::size_t k = 0; k < rects.size(); ++k) {
    const Rect& r = rects[k];
    const int own = covered(x, r.x0, r.x1, size_.width) * covered(y, r.y0, r.y1, size_.height);
    if (k < index && own != 0) return;
    pixels += own;
  }
  blend_chroma_run(chroma(static_cast<std::size_t>(x), static_cast<std::size_t>(y)), 1, ink,
                   static_cast<unsigned>(pixels) * ink.alpha);
}

void Canvas::blend_coverage(int x, int y, const Coverage& coverage, const Ink& ink) const noexcept {
  const Rect r = intersect({x, y, x + coverage.width, y + coverage.height}, clip_);
  if (r.empty() || ink.alpha == 0) return;
  if (list_ != nullptr) return list_->coverage(r, {x, y}, coverage, ink);
  const auto row = pixel_bytes_ == 4   ? blend_row<4, 3>
                   : pixel_bytes_ == 3 ? blend_row<3, 3>
                                       : blend_row<1, 1>;
  const Coverage part{coverage.data + (r.y0 - y) * coverage.stride + (r.x0 - x), r.width(),
                      r.height(), coverage.stride};
  for (std::size_t i = 0; i < color_planes_; ++i) {
    const PixelRows to = at(i, static_cast<std::size_t>(r.x0), static_cast<std::size_t>(r.y0));
    for (int k = 0; k < part.height; ++k)
      row(to.data + k * to.stride, part.data + k * part.stride, part.width, &ink.bytes[i],
          ink.alpha);
  }
  if (is_nv12()) blend_covered_blocks(r, part, ink);
}

void Canvas::blend_covered_blocks(const Rect& r, const Coverage& coverage,
                                  const Ink& ink) const noexcept {
  const Rect blocks = blocks_of(r);
  for (int by = blocks.y0; by < blocks.y1; ++by) {
    const int rows[] = {2 * by, std::min(2 * by + 1, size_.height - 1)};
    for (int bx = blocks.x0; bx < blocks.x1; ++bx) {
      const int columns[] = {2 * bx, std::min(2 * bx + 1, size_.width - 1)};
      unsigned sum = 0;
      for (const int y : rows) {
        if (y < r.y0 || y >= r.y1) continue;
        const std::uint8_t* const row = coverage.data + (y - r.y0) * coverage.stride - r.x0;
        for (const int x : columns)
          if (x >= r.x0 && x < r.x1 && row[x] != 0)
            sum += divide_by_255(row[x] * unsigned{ink.alpha});
      }
      if (sum == 0) continue;
      blend_chroma_run(chroma(static_cast<std::size_t>(bx), static_cast<std::size_t>(by)), 1, ink,
                       sum);
    }
  }
}

void Canvas::blend_mask(const MaskBits& bits, const Ink& ink) const noexcept {
  if (ink.alpha == 0) return;
  blend_on({bits.data, bits.stride, bits.width, bits.height}, bits.x, bits.y, ink);
  if (is_nv12()) blend_blocks(bits, ink);
}

void Canvas::blend_run(std::size_t x, std::size_t y, std::size_t width,
                       const Ink& ink) const noexcept {
  const auto left = static_cast<int>(x), top = static_cast<int>(y);
  fill_pixels({left, top, left + static_cast<int>(width), top + 1}, ink);
}

void Canvas::blend_on(const MaskRows& rows, std::size_t x, std::size_t y,
                      const Ink& ink) const noexcept {
  if (pixel_bytes_ == 3) return blend_packed3(rows, at(0, x, y), ink);
  if (pixel_bytes_ == 4) return blend_packed4(rows, at(0, x, y), ink);
  for (std::size_t i = 0; i < color_planes_; ++i)
    blend_plane(rows, at(i, x, y), ink, i);
}

// A block may extend beyond the mask by a column and a row. These mask bytes are off, or at the
// image's border a copy of the last ones.
void Canvas::blend_blocks(const MaskBits& bits, const Ink& ink) const noexcept {
  const auto width = static_cast<std::size_t>(size_.width);
  const auto height = static_cast<std::size_t>(size_.height);
  const std::size_t before = bits.x % 2, right = bits.x + bits.width;
  const std::size_t blocks = (before + bits.width + 1) / 2;
  const std::size_t top = bits.y - bits.y % 2, bottom = bits.y + bits.height;
  std::uint8_t* const first = bits.data - before;
  for (std::size_t y = 0; y < bits.height; ++y) {
    std::uint8_t* const row = bits.data + y * bits.stride;
    if (before != 0) row[-1] = 0;
    row[bits.width] = right == width ? row[bits.width - 1] : 0;
  }
  if (bits.y % 2 != 0) std::memset(first - bits.stride, 0, 2 * blocks);
  if (bottom % 2 != 0) {
    std::uint8_t* const below = first + bits.height * bits.stride;
    std::memset(below, 0, 2 * blocks);
    if (bottom == height) std::memcpy(below, below - bits.stride, 2 * blocks);
  }
  const std::uint8_t* upper = first - (bits.y - top) * bits.stride;
  for (std::size_t y = top; y < bottom; y += 2, upper += 2 * bits.stride)
    blend_chroma(upper, upper + bits.stride, blocks, chroma(bits.x / 2, y / 2), ink);
}

}  // namespace halyard::draw
