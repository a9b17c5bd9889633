// SPDX-License-Identifier: Apache-2.0
// Copy path: images that are only copied, flipped or rotated, so that bytes only move. Each plane
// is one rectangle of elements.
#include <algorithm>
#include <cstring>
#include <optional>

#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/copy.h"
#include "image/cpu/kernels/transpose.h"
#include "image/cpu/store/pad.h"

namespace halyard::image {
namespace {

/// Where the samples of one plane are copied to. An element is all bytes that belong to one chroma
/// sample of the plane, or to one pixel.
struct PlaneMove {
  std::size_t channel = 0;        ///< channel whose views lead to the planes ...
  std::size_t source_offset = 0;  ///< ... and lie this many bytes behind their beginning
  std::size_t target_offset = 0;
  std::array<std::uint8_t, 4> order{4, 4, 4, 4};  ///< as in RowMove; 4: not known
  std::size_t element_bytes = 0;
  std::uint8_t shift_x = 0;
  std::uint8_t shift_y = 0;
  std::uint8_t source_plane = 0;

  bool keeps_order() const noexcept {
    for (std::size_t k = 0; k < element_bytes; ++k)
      if (order[k] != k) return false;
    return true;
  }
};

struct PlaneMoves {
  std::array<PlaneMove, 4> plane{};  ///< by plane of the destination
  std::size_t count = 0;
};

const ChannelSite& target_site(const Plan& plan, std::size_t c) noexcept {
  return plan.dst.channels->sites[plan.bgr && c != 1 && c != 3 ? 2 - c : c];
}

/// Whether codes mean the same in both images and are stored in the same way.
bool keeps_codes(const Plan& plan) noexcept {
  if (plan.src.channels == nullptr || plan.src.dtype != plan.dst.dtype) return false;
  if (plan.src.channels->count != plan.dst.channels->count) return false;
  if (plan.color.from != plan.color.to || plan.alpha != AlphaStep::keep) return false;
  if (plan.color.from == ColorModel::yuv && !plan.color.same_yuv) return false;
  if (plan.dst.dtype != DType::u16) return plan.values.kind == ValueMap::Kind::identity;
  return plan.source_bits == 16 && plan.values.kind == ValueMap::Kind::affine &&
         plan.values.scale[0] == 257 && plan.values.bias[0] == 0;
}

/// Adds a channel to its plane. Returns false if it shares its element with other channels than in
/// the source.
bool add_channel(const Plan& plan, std::size_t c, PlaneMoves& moves) noexcept {
  const std::size_t sample = size_of(plan.src.dtype);
  const ChannelSite& from = plan.src.channels->sites[c];
  const ChannelSite& to = target_site(plan, c);
  if (from.step != to.step || from.shift_x != to.shift_x || from.shift_y != to.shift_y)
    return false;
  PlaneMove& plane = moves.plane[to.plane];
  if (plane.element_bytes == 0) {
    plane.channel = c;
    plane.source_offset = from.offset * sample;
    plane.target_offset = to.offset * sample;
    plane.source_plane = from.plane;
    moves.count = std::max(moves.count, to.plane + std::size_t{1});
  }
  if (plane.source_plane != from.plane) return false;
  plane.element_bytes = std::max(plane.element_bytes, from.step * sample);
  plane.shift_x = std::max(plane.shift_x, from.shift_x);
  plane.shift_y = std::max(plane.shift_y, from.shift_y);
  return plane.element_bytes <= 4;
}

/// Sets which byte of the source's element each byte of the destination's element comes from.
void set_order(const Plan& plan, std::size_t c, PlaneMoves& moves) noexcept {
  const std::size_t sample = size_of(plan.src.dtype);
  const ChannelSite& from = plan.src.channels->sites[c];
  const ChannelSite& to = target_site(plan, c);
  PlaneMove& plane = moves.plane[to.plane];
  const std::size_t step = from.step * sample;
  const std::size_t held = plane.element_bytes / step;  // two luma samples share a packed pair
  for (std::size_t i = 0; i < held; ++i) {
    const std::size_t other = plan.mirrors_columns() ? held - 1 - i : i;
    for (std::size_t k = 0; k < sample; ++k)
      plane.order[to.offset * sample + i * step + k] =
          static_cast<std::uint8_t>(from.offset * sample + other * step + k);
  }
}

std::optional<PlaneMoves> plane_moves(const Plan& plan) noexcept {
  PlaneMoves moves;
  for (std::size_t c = 0; c < plan.src.channels->count; ++c)
    if (!add_channel(plan, c, moves)) return std::nullopt;
  for (std::size_t c = 0; c < plan.src.channels->count; ++c)
    set_order(plan, c, moves);
  for (std::size_t p = 0; p < moves.count; ++p) {
    const PlaneMove& plane = moves.plane[p];
    for (std::size_t k = 0; k < plane.element_bytes; ++k)
      if (plane.order[k] >= plane.element_bytes) return std::nullopt;
  }
  return moves;
}

/// One axis of the source: where the content begins, and where it begins in the destination.
struct CopyAxis {
  std::int32_t begin = 0;
  std::int32_t length = 0;
  bool mirrored = false;
  std::int32_t target_begin = 0;
  std::int32_t target_length = 0;  ///< of the whole image

  /// Whether blocks of 2^shift pixels stay whole; the end of the image may cut the last one.
  bool keeps_blocks(unsigned shift) const noexcept {
    const std::int32_t within = (1 << shift) - 1;
    const std::int32_t first = mirrored ? begin + length : begin;
    return (first & within) == 0 && (target_begin & within) == 0 &&
           ((length & within) == 0 || target_begin + length == target_length);
  }
  std::int32_t blocks(unsigned shift) const noexcept {
    return (length + (1 << shift) - 1) >> shift;
  }
  std::int32_t first_block(unsigned shift) const noexcept {
    return mirrored ? ((begin + length) >> shift) - blocks(shift) : begin >> shift;
  }
};

/// Both axes of the source, as the plan maps them.
struct Axes {
  explicit Axes(const Plan& plan) noexcept
      : x{whole(plan.crop.x), whole(plan.crop.width), plan.mirrors_columns()},
        y{whole(plan.crop.y), whole(plan.crop.height), plan.mirrors_rows()} {
    CopyAxis& horizontal = plan.swaps_axes() ? y : x;
    CopyAxis& vertical = plan.swaps_axes() ? x : y;
    horizontal.target_begin = plan.content.x;
    horizontal.target_length = plan.dst.size.width;
    vertical.target_begin = plan.content.y;
    vertical.target_length = plan.dst.size.height;
  }
  static std::int32_t whole(double value) noexcept { return static_cast<std::int32_t>(value); }
  CopyAxis x;
  CopyAxis y;
};

bool keeps_blocks(const Plan& plan, const Axes& axes, const PlaneMoves& moves) noexcept {
  for (std::size_t p = 0; p < moves.count; ++p) {
    const PlaneMove& plane = moves.plane[p];
    if (plane.shift_x == 0 && plane.shift_y == 0) continue;
    if (!plan.replicates_chroma) return false;
    if (plan.swaps_axes() && plane.shift_x != plane.shift_y) return false;
    if (!axes.x.keeps_blocks(plane.shift_x) || !axes.y.keeps_blocks(plane.shift_y)) return false;
  }
  return true;
}

class MoveProgram final : public CpuProgram {
 public:
  MoveProgram(const Plan& plan, const PlaneMoves& moves, const Axes& axes)
      : swaps_(plan.swaps_axes()),
        content_(plan.content),
        size_(plan.dst.size),
        axes_(axes),
        moves_(moves) {
    if (plan.pads()) pad_.emplace(plan, content_);
    std::size_t bytes = 0;
    for (std::size_t p = 0; p < moves_.count; ++p) {
      const PlaneMove& plane = moves_.plane[p];
      const std::size_t width = columns(plane) * plane.element_bytes;
      bytes += width * rows(plane);
      row_bytes_ = std::max(row_bytes_, width);
      // Source columns of two cache lines are transposed together.
      if (swaps_) unit_rows_ = std::max(unit_rows_, plane.element_bytes == 4 ? 32 : 64);
    }
    streams_ = bytes > streamed_bytes;
  }

  std::int32_t units() const noexcept override {
    return (size_.height + unit_rows_ - 1) / unit_rows_;
  }
  // About 50 us of work.
  std::int32_t grain() const noexcept override {
    constexpr std::int64_t min_bytes = 400'000;
    const auto unit = static_cast<std::int64_t>(row_bytes_) * unit_rows_;
    return static_cast<std::int32_t>(std::max<std::int64_t>(1, min_bytes / unit));
  }
  std::size_t workspace_bytes() const noexcept override {
    return stride() * static_cast<std::size_t>(swaps_ ? unit_rows_ : 1);
  }

  void run(const MappedImages& frame, std::int32_t begin, std::int32_t end,
           std::byte* workspace) const override {
    // A unit is what is transposed together, or has pads beside it; other rows are copied as one.
    const std::int32_t step = swaps_ || pad_ ? 1 : end - begin;
    for (std::int32_t unit = begin; unit < end; unit += step) {
      const std::int32_t first = unit * unit_rows_;
      const std::int32_t last = std::min((unit + step) * unit_rows_, size_.height);
      if (pad_) pad_->fill(frame, first, last);
      for (std::size_t p = 0; p < moves_.count; ++p)
        move_rows(frame, moves_.plane[p], first - content_.y, last - content_.y, workspace);
    }
    if (streams_) finish_streams();
  }

 private:
  /// More than the second-level cache of one core keeps until the bytes are read again.
  static constexpr std::size_t streamed_bytes = std::size_t{2} << 20;

  /// Rows of elements of one plane: [first, last).
  struct CopiedRows {
    const std::byte* in = nullptr;  ///< the plane's first element that is copied
    std::ptrdiff_t in_stride = 0;
    std::byte* out = nullptr;  ///< of row `first`
    std::size_t out_stride = 0;
    std::size_t first = 0;
    std::size_t last = 0;
  };

  /// Elements of the destination, in one row and in one column.
  std::size_t columns(const PlaneMove& plane) const noexcept {
    return swaps_ ? axes_.y.blocks(plane.shift_y) : axes_.x.blocks(plane.shift_x);
  }
  std::size_t rows(const PlaneMove& plane) const noexcept {
    return swaps_ ? axes_.x.blocks(plane.shift_x) : axes_.y.blocks(plane.shift_y);
  }
  std::size_t stride() const noexcept {
    return (row_bytes_ + transpose_spare_bytes + 63) / 64 * 64;
  }

  /// Copies the plane's part of content rows [begin, end), which may lie outside.
  void move_rows(const MappedImages& frame, const PlaneMove& plane, std::int32_t begin,
                 std::int32_t end, std::byte* workspace) const noexcept {
    const auto row_at = [&](std::int32_t y) {
      return (std::clamp(y, 0, content_.height) + (1 << plane.shift_y) - 1) >> plane.shift_y;
    };
    const std::int32_t first = row_at(begin);
    const std::int32_t last = row_at(end);
    if (first >= last) return;
    const SourceChannel& source = frame.source[plane.channel];
    const TargetChannel& target = frame.target[plane.channel];
    const auto bytes_at = [&](std::int32_t column) {
      return static_cast<std::size_t>(column) * plane.element_bytes;
    };
    CopiedRows r;
    r.in = source.row(axes_.y.first_block(plane.shift_y)) - plane.source_offset +
           bytes_at(axes_.x.first_block(plane.shift_x));
    r.in_stride = static_cast<std::ptrdiff_t>(source.stride_bytes);
    r.out = target.row((content_.y >> plane.shift_y) + first) - plane.target_offset +
            bytes_at(content_.x >> plane.shift_x);
    r.out_stride = target.stride_bytes;
    r.first = static_cast<std::size_t>(first);
    r.last = static_cast<std::size_t>(last);
    swaps_ ? transpose_rows(plane, r, workspace) : copy_rows(plane, r, workspace);
  }

  void put(const std::byte* in, std::size_t bytes, std::byte* out) const noexcept {
    streams_ ? stream_bytes(in, bytes, out) : static_cast<void>(std::memcpy(out, in, bytes));
  }

  void copy_rows(const PlaneMove& plane, const CopiedRows& r, std::byte* workspace) const noexcept {
    const RowMove move{plane.element_bytes, plane.order, axes_.x.mirrored};
    const std::size_t width = columns(plane);
    const std::size_t row_bytes = width * plane.element_bytes;
    const bool keeps = !move.mirrored && plane.keeps_order();
    std::byte* out = r.out;
    if (keeps && !axes_.y.mirrored && r.out_stride == row_bytes &&
        r.in_stride == static_cast<std::ptrdiff_t>(row_bytes)) {
      return put(r.in + r.first * row_bytes, (r.last - r.first) * row_bytes, out);
    }
    for (std::size_t row = r.first; row < r.last; ++row, out += r.out_stride) {
      const std::size_t from = axes_.y.mirrored ? rows(plane) - 1 - row : row;
      const std::byte* in = r.in + static_cast<std::ptrdiff_t>(from) * r.in_stride;
      if (keeps) {
        put(in, row_bytes, out);
      } else if (streams_) {
        move_row(move, in, width, workspace);
        put(workspace, row_bytes, out);
      } else {
        move_row(move, in, width, out);
      }
    }
  }

  // Transposes into the workspace first, so that the destination is written row by row.
  void transpose_rows(const PlaneMove& plane, const CopiedRows& r,
                      std::byte* workspace) const noexcept {
    const std::size_t count = r.last - r.first;
    const std::size_t column = axes_.x.mirrored ? rows(plane) - r.last : r.first;
    TransposeJob job;
    job.in = r.in + column * plane.element_bytes;
    job.in_stride = r.in_stride;
    if (axes_.y.mirrored) {
      job.in += static_cast<std::ptrdiff_t>(columns(plane) - 1) * r.in_stride;
      job.in_stride = -r.in_stride;
    }
    job.out = workspace;
    job.out_stride = static_cast<std::ptrdiff_t>(stride());
    job.in_columns = count;
    job.in_rows = columns(plane);
    job.element_bytes = plane.element_bytes;
    job.order = plane.order;
    transpose_elements(job);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t from = axes_.x.mirrored ? count - 1 - i : i;
      put(workspace + from * stride(), job.in_rows * plane.element_bytes, r.out + i * r.out_stride);
    }
  }

  bool swaps_;
  bool streams_ = false;
  std::int32_t unit_rows_ = 2;  ///< of the destination
  std::size_t row_bytes_ = 0;   ///< the most of any plane's content
  Region content_;
  Size size_;
  Axes axes_;
  PlaneMoves moves_;
  std::optional<PadWriter> pad_;
};

}  // namespace

ProgramPtr compile_copy(const Plan& plan) {
  if (plan.resampled || !keeps_codes(plan)) return nullptr;
  const std::optional<PlaneMoves> moves = plane_moves(plan);
  if (!moves) return nullptr;
  const Axes axes(plan);
  if (!keeps_blocks(plan, axes, *moves)) return nullptr;
  return std::make_unique<MoveProgram>(plan, *moves, axes);
}

}  // namespace halyard::image
