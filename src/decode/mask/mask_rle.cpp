// SPDX-License-Identifier: Apache-2.0
// Run lengths: to and from pixels, text, and set operations on two lists of runs.
#include <algorithm>
#include <limits>

#include "base/region.h"
#include "base/text/format_error.h"
#include "halyard/rle.h"

namespace halyard {
namespace {

constexpr std::uint64_t max_rle_pixels = std::numeric_limits<std::uint32_t>::max();

Result<std::uint64_t> pixels_of(Size size) {
  if (size.width <= 0 || size.height <= 0) {
    return fail(Errc::invalid_argument, "size: width and height must be above 0", "{}x{}",
                size.width, size.height);
  }
  const std::uint64_t pixels =
      static_cast<std::uint64_t>(size.width) * static_cast<std::uint64_t>(size.height);
  if (pixels <= max_rle_pixels) return pixels;
  return fail(Errc::invalid_argument, "size: must be at most 2^32 - 1 pixels", "{}x{}", size.width,
              size.height);
}

Status check_runs(const Rle& rle) {
  HALYARD_TRY(const std::uint64_t pixels, pixels_of(rle.size));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < rle.counts.size(); ++i) {
    if (i > 0 && rle.counts[i] == 0)
      return fail(Errc::malformed, "counts: only the first run may be empty", "run {}", i);
    sum += rle.counts[i];
  }
  if (sum == pixels) return {};
  return fail(Errc::malformed, "counts: runs must fill the frame", "{} pixels of {}", sum, pixels);
}

// Appends runs; adjacent runs of the same value are joined.
class Runs {
 public:
  explicit Runs(std::vector<std::uint32_t>& counts) : counts_(counts) { counts_.assign(1, 0); }
  void add(bool value, std::uint64_t length) {
    if (length == 0) return;
    if ((counts_.size() % 2 == 0) != value) counts_.push_back(0);
    counts_.back() += static_cast<std::uint32_t>(length);
  }

 private:
  std::vector<std::uint32_t>& counts_;
};

// Splits the runs of two masks at the borders of both: use(value of a, value of b, length).
template <class Use>
void walk(const Rle& a, const Rle& b, const Use& use) {
  std::size_t i = 0, j = 0;
  std::uint32_t left_a = a.counts[0], left_b = b.counts[0];
  while (i < a.counts.size() && j < b.counts.size()) {
    const std::uint32_t length = std::min(left_a, left_b);
    use(i % 2 == 1, j % 2 == 1, length);
    left_a -= length;
    left_b -= length;
    while (left_a == 0 && ++i < a.counts.size())
      left_a = a.counts[i];
    while (left_b == 0 && ++j < b.counts.size())
      left_b = b.counts[j];
  }
}

Status check_frames(const Rle& a, const Rle& b) {
  HALYARD_RETURN_IF_ERROR(check_runs(a));
  HALYARD_RETURN_IF_ERROR(check_runs(b));
  if (a.size == b.size) return {};
  return fail(Errc::invalid_argument, "masks: must be of one frame", "{}x{}, {}x{}", a.size.width,
              a.size.height, b.size.width, b.size.height);
}

std::uint64_t set_pixels(const Rle& rle) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < rle.counts.size(); i += 2)
    sum += rle.counts[i];
  return sum;
}

}  // namespace

Status rle_encode(const MaskView& mask, Size size, Rle& out) {
  HALYARD_TRY(const std::uint64_t pixels, pixels_of(size));
  const Region& r = mask.region;
  const bool is_empty = r.width <= 0 || r.height <= 0;
  if (!is_empty && !is_inside(r, size)) {
    return fail(Errc::invalid_argument, "mask: its region must lie in the frame",
                "({}, {}) {}x{} in {}x{}", r.x, r.y, r.width, r.height, size.width, size.height);
  }
  out.size = size;
  Runs runs(out.counts);
  if (is_empty) {
    runs.add(false, pixels);
    return {};
  }
  const auto height = static_cast<std::uint64_t>(size.height);
  const auto below = height - static_cast<std::uint64_t>(r.y + r.height);
  runs.add(false, static_cast<std::uint64_t>(r.x) * height);
  for (std::int32_t x = 0; x < r.width; ++x) {
    runs.add(false, static_cast<std::uint64_t>(r.y));
    const std::uint8_t* at = mask.data + x;
    for (std::int32_t y = 0; y < r.height;) {
      const bool value = *at != 0;
      std::int32_t end = y;
      for (; end < r.height && (*at != 0) == value; ++end)
        at += mask.stride_bytes;
      runs.add(value, static_cast<std::uint64_t>(end - y));
      y = end;
    }
    runs.add(false, below);
  }
  runs.add(false, static_cast<std::uint64_t>(size.width - r.x - r.width) * height);
  return {};
}

Status rle_decode(const Rle& rle, std::vector<std::uint8_t>& out) {
  HALYARD_RETURN_IF_ERROR(check_runs(rle));
  const auto width = static_cast<std::size_t>(rle.size.width);
  const auto height = static_cast<std::size_t>(rle.size.height);
  out.assign(width * height, 0);
  std::size_t at = 0;
  for (std::size_t i = 0; i < rle.counts.size(); ++i) {
    const std::size_t end = at + rle.counts[i];
    for (; i % 2 == 1 && at < end; ++at)
      out[at % height * width + at / height] = 255;
    at = end;
  }
  return {};
}

Result<std::string> rle_to_string(const Rle& rle) {
  HALYARD_RETURN_IF_ERROR(check_runs(rle));
  std::string out;
  for (std::size_t i = 0; i < rle.counts.size(); ++i) {
    std::int64_t value = rle.counts[i];
    if (i > 2) value -= rle.counts[i - 2];
    // Five bits at a time, lowest first. 32: more follow; 16 in the last group: the sign.
    for (bool more = true; more;) {
      const std::int64_t bits = value & 31;
      value >>= 5;
      more = (bits & 16) != 0 ? value != -1 : value != 0;
      out += static_cast<char>('0' + (bits | (more ? 32 : 0)));
    }
  }
  return out;
}

Result<Rle> rle_from_string(std::string_view counts, Size size) {
  HALYARD_RETURN_IF_ERROR(pixels_of(size));
  Rle out{size, {}};
  for (std::size_t at = 0; at < counts.size();) {
    std::int64_t value = 0;
    int shift = 0;
    for (bool more = true; more; ++at, shift += 5) {
      const int bits = at < counts.size() ? counts[at] - '0' : -1;
      if (bits < 0 || bits > 63 || shift > 35) {
        return fail(Errc::malformed,
                    "counts: must be characters '0' to 'o' and numbers of at most 32 bits",
                    "character {} of {}", at, counts.size());
      }
      value |= static_cast<std::int64_t>(bits & 31) << shift;
      more = (bits & 32) != 0;
      if (!more && (bits & 16) != 0) value |= std::int64_t{-1} << (shift + 5);
    }
    const std::size_t run = out.counts.size();
    if (run > 2) value += out.counts[run - 2];
    if (value < 0 || static_cast<std::uint64_t>(value) > max_rle_pixels)
      return fail(Errc::malformed, "counts: a run is negative or too long", "run {}", run);
    out.counts.push_back(static_cast<std::uint32_t>(value));
  }
  HALYARD_RETURN_IF_ERROR(check_runs(out));
  return out;
}

Result<std::uint64_t> rle_area(const Rle& rle) {
  HALYARD_RETURN_IF_ERROR(check_runs(rle));
  return set_pixels(rle);
}

Result<Region> rle_bounds(const Rle& rle) {
  HALYARD_RETURN_IF_ERROR(check_runs(rle));
  const auto height = static_cast<std::uint32_t>(rle.size.height);
  std::uint32_t left = 0, right = 0, top = height, bottom = 0, at = 0;
  for (std::size_t i = 0; i < rle.counts.size(); at += rle.counts[i++]) {
    if (i % 2 == 0) continue;
    const std::uint32_t last = at + rle.counts[i] - 1;
    if (bottom == 0) left = at / height;
    right = last / height;
    const bool is_one_column = at / height == right;
    top = std::min(top, is_one_column ? at % height : 0);
    bottom = std::max(bottom, is_one_column ? last % height + 1 : height);
  }
  if (bottom == 0) return Region{};
  return Region{static_cast<std::int32_t>(left), static_cast<std::int32_t>(top),
                static_cast<std::int32_t>(right - left + 1),
                static_cast<std::int32_t>(bottom - top)};
}

Result<double> rle_iou(const Rle& a, const Rle& b, bool is_crowd) {
  HALYARD_RETURN_IF_ERROR(check_frames(a, b));
  std::uint64_t both = 0;
  walk(a, b, [&](bool in_a, bool in_b, std::uint32_t length) {
    if (in_a && in_b) both += length;
  });
  const std::uint64_t area = set_pixels(a);
  const std::uint64_t of = is_crowd ? area : area + set_pixels(b) - both;
  return of == 0 ? 0.0 : static_cast<double>(both) / static_cast<double>(of);
}

Result<Rle> rle_merge(std::span<const Rle> masks, bool intersect) {
  if (masks.empty()) return fail(Errc::invalid_argument, "masks: must not be empty");
  HALYARD_RETURN_IF_ERROR(check_runs(masks[0]));
  Rle out = masks[0];
  for (const Rle& mask : masks.subspan(1)) {
    HALYARD_RETURN_IF_ERROR(check_frames(out, mask));
    Rle merged{out.size, {}};
    Runs runs(merged.counts);
    walk(out, mask, [&](bool in_a, bool in_b, std::uint32_t length) {
      runs.add(intersect ? in_a && in_b : in_a || in_b, length);
    });
    out = std::move(merged);
  }
  return out;
}

}  // namespace halyard
