// SPDX-License-Identifier: Apache-2.0
// Blends runs of pixels with loops of fixed length, which compilers vectorize.
#include "compat/target.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text/format_error.h"

namespace halyard::compat {
namespace {

struct Order {
  PixelFormat format;
  std::array<std::size_t, 4> colors;
};
constexpr std::array<Order, 6> orders{{{PixelFormat::rgb, {0, 1, 2, 0}},
                                       {PixelFormat::bgr, {2, 1, 0, 0}},
                                       {PixelFormat::rgba, {0, 1, 2, 3}},
                                       {PixelFormat::bgra, {2, 1, 0, 3}},
                                       {PixelFormat::planar_rgb, {0, 1, 2, 0}},
                                       {PixelFormat::planar_rgba, {0, 1, 2, 3}}}};

const Order* order_of(const Tensor& image) noexcept {
  const auto format = image.format();
  const auto found = std::find_if(orders.begin(), orders.end(),
                                  [&](const Order& each) { return format == each.format; });
  return found == orders.end() ? nullptr : &*found;
}

void blend_bytes(std::uint8_t* at, std::size_t count, const Paint& paint) noexcept {
  const auto mix = [&](std::size_t i) {
    const auto sum = static_cast<std::uint16_t>(paint.add[i] + at[i] * paint.keep[i] + 127);
    // This equals sum / 255, rounded down, for every 16-bit sum except 65535.
    at[i] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(sum + 1 + (sum >> 8)) >> 8);
  };
  for (; count >= Paint::block; count -= Paint::block, at += Paint::block) {
    for (std::size_t i = 0; i < Paint::block; ++i)
      mix(i);
  }
  for (std::size_t i = 0; i < count; ++i)
    mix(i);
}

// As above, for opaque paint.
void store_bytes(std::uint8_t* at, std::size_t count, const Paint& paint) noexcept {
  const auto put = [&](std::size_t i) {
    at[i] = static_cast<std::uint8_t>((at[i] & paint.mask[i]) | paint.value[i]);
  };
  for (; count >= Paint::block; count -= Paint::block, at += Paint::block) {
    for (std::size_t i = 0; i < Paint::block; ++i)
      put(i);
  }
  for (std::size_t i = 0; i < count; ++i)
    put(i);
}

// Stores rows of `count` bytes: the sides of outlines. The bytes stay in registers.
template <std::size_t count>
void store_column(std::uint8_t* at, std::size_t stride_bytes, std::size_t rows,
                  const Paint& paint) noexcept {
  std::array<std::uint8_t, count> value, mask;
  std::memcpy(value.data(), paint.value.data(), count);
  std::memcpy(mask.data(), paint.mask.data(), count);
  for (; rows > 0; --rows, at += stride_bytes) {
    for (std::size_t i = 0; i < count; ++i)
      at[i] = static_cast<std::uint8_t>((at[i] & mask[i]) | value[i]);
  }
}

void store_rows(std::uint8_t* at, std::size_t stride_bytes, std::size_t rows, std::size_t count,
                const Paint& paint) noexcept {
  // Three pixels of 4 bytes, of 3 bytes and of 1 byte.
  if (count == 12) return store_column<12>(at, stride_bytes, rows, paint);
  if (count == 9) return store_column<9>(at, stride_bytes, rows, paint);
  if (count == 3) return store_column<3>(at, stride_bytes, rows, paint);
  for (; rows > 0; --rows, at += stride_bytes)
    store_bytes(at, count, paint);
}

}  // namespace

Status check_target(const Tensor& image) {
  if (!image.is_image()) return make_error(Errc::invalid_argument, "dst: must be an image");
  if (image.dtype() != DType::u8 || order_of(image) == nullptr)
    return fail(Errc::unsupported,
                "dst: must be u8 rgb, bgr, rgba, bgra, planar_rgb or planar_rgba", "{} {}",
                to_string(image.dtype()), to_string(*image.format()));
  if (image.orientation() != Orientation{})
    return make_error(Errc::invalid_argument,
                      "dst: carries an orientation; convert it into an upright image first");
  return {};
}

Result<Target> Target::open(Tensor& image) {
  HALYARD_RETURN_IF_ERROR(check_target(image));
  Target out;
  HALYARD_TRY(out.map_, image.map(Access::read_write));
  out.size_ = image.size();
  out.colors_ = order_of(image)->colors;
  const FormatInfo& format = info(*image.format());
  const bool is_packed = format.kind == FormatKind::packed;
  out.pixel_bytes_ = is_packed ? format.channels : 1;
  out.plane_count_ = is_packed ? 1 : format.channels;
  for (std::size_t i = 0; i < out.plane_count_; ++i) {
    const MappedPlane& plane = out.map_.plane(i);
    out.planes_[i] = {plane.writable, plane.stride_bytes};
  }
  return out;
}

void Target::clear() noexcept {
  start_rows(nullptr, {0, size_.height});
}

void Target::start_rows(const TensorMap* from, RowRange rows) noexcept {
  const std::size_t row_bytes = static_cast<std::size_t>(size_.width) * pixel_bytes_;
  for (std::size_t i = 0; i < plane_count_; ++i) {
    for (auto y = static_cast<std::size_t>(rows.begin); y < static_cast<std::size_t>(rows.end);
         ++y) {
      std::byte* const row = planes_[i].data + y * planes_[i].stride_bytes;
      if (from == nullptr) {
        std::memset(row, 0, row_bytes);
      } else {
        const MappedPlane& plane = from->plane(i);
        std::memcpy(row, plane.data + y * plane.stride_bytes, row_bytes);
      }
    }
  }
}

void Target::blend(std::int32_t row, std::int32_t begin, std::int32_t end,
                   const std::array<Paint, 4>& paints) noexcept {
  const std::size_t first = static_cast<std::size_t>(begin) * pixel_bytes_;
  const std::size_t count = static_cast<std::size_t>(end - begin) * pixel_bytes_;
  for (std::size_t i = 0; i < std::min<std::size_t>(plane_count_, 3); ++i) {
    std::byte* const at =
        planes_[i].data + static_cast<std::size_t>(row) * planes_[i].stride_bytes + first;
    const auto run = paints[i].is_opaque ? store_bytes : blend_bytes;
    run(reinterpret_cast<std::uint8_t*>(at), count, paints[i]);
  }
}

void Target::fill(RowRange rows, std::int32_t begin, std::int32_t end,
                  const std::array<Paint, 4>& paints) noexcept {
  const auto count = static_cast<std::size_t>(rows.end - rows.begin);
  for (std::size_t i = 0; i < std::min<std::size_t>(plane_count_, 3); ++i) {
    std::byte* const at = planes_[i].data +
                          static_cast<std::size_t>(rows.begin) * planes_[i].stride_bytes +
                          static_cast<std::size_t>(begin) * pixel_bytes_;
    store_rows(reinterpret_cast<std::uint8_t*>(at), planes_[i].stride_bytes, count,
               static_cast<std::size_t>(end - begin) * pixel_bytes_, paints[i]);
  }
}

std::array<Paint, 4> Target::paints_of(const MaskColor& color, unsigned alpha) const noexcept {
  std::array<Paint, 4> out{};
  for (std::size_t plane = 0; plane < plane_count_; ++plane) {
    out[plane].is_opaque = alpha == 255;
    for (std::size_t i = 0; i < Paint::block; ++i) {
      const std::size_t channel = colors_[pixel_bytes_ == 1 ? plane : i % pixel_bytes_];
      const unsigned a = channel == 3 ? 0 : alpha;
      out[plane].add[i] = static_cast<std::uint16_t>(color[channel] * a);
      out[plane].keep[i] = static_cast<std::uint16_t>(255 - a);
      out[plane].value[i] = channel == 3 ? std::uint8_t{0} : color[channel];
      out[plane].mask[i] = channel == 3 ? std::uint8_t{255} : std::uint8_t{0};
    }
  }
  return out;
}

std::optional<PixelBox> pixels_of(const Box& box, Size image, std::int32_t width) noexcept {
  if (!std::isfinite(box.x1) || !std::isfinite(box.y1) || !std::isfinite(box.x2) ||
      !std::isfinite(box.y2))
    return std::nullopt;
  const auto pixel = [width](float v, std::int32_t maximum) {
    return static_cast<std::int32_t>(std::lround(
        std::clamp(v, -static_cast<float>(width), static_cast<float>(maximum + width))));
  };
  const auto [left, right] = std::minmax(box.x1, box.x2);
  const auto [top, bottom] = std::minmax(box.y1, box.y2);
  return PixelBox{pixel(left, image.width), pixel(top, image.height), pixel(right, image.width),
                  pixel(bottom, image.height)};
}

void draw_outline(Target& target, const PixelBox& box, std::int32_t width,
                  const std::array<Paint, 4>& paints, RowRange rows) noexcept {
  rows = {std::max({rows.begin, box.top - width, 0}),
          std::min({rows.end, box.bottom + width, target.size().height})};
  if (rows.begin >= rows.end) return;
  const auto part = [&](std::int32_t y1, std::int32_t y2, std::int32_t x1, std::int32_t x2) {
    y1 = std::max(y1, rows.begin);
    y2 = std::min(y2, rows.end);
    x1 = std::max(x1, 0);
    x2 = std::min(x2, target.size().width);
    if (y1 < y2 && x1 < x2) target.fill({y1, y2}, x1, x2, paints);
  };
  part(box.top - width, box.top, box.left - width, box.right + width);
  part(box.top, box.bottom, box.left - width, box.left);
  part(box.top, box.bottom, box.right, box.right + width);
  part(box.bottom, box.bottom + width, box.left - width, box.right + width);
}

}  // namespace halyard::compat
