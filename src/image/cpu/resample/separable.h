// SPDX-License-Identifier: Apache-2.0
// Separable sampler: a vertical and a horizontal pass, in fixed point.
#pragma once

#include <array>
#include <vector>

#include "image/cpu/reader.h"
#include "image/cpu/resample/axes.h"
#include "image/cpu/resample/horizontal.h"
#include "image/cpu/resample/sampler.h"
#include "image/cpu/resample/vertical.h"

namespace halyard::image {

/// The plan decides the order of the two passes. Vertical first: the source rows of each output row
/// are blended, and the blend is resampled. Horizontal first, where source rows are used more than
/// once: each source row is resampled once into a ring of rows, from which output rows are blended.
/// Rows of a Reader, and rows whose weights have fine parts for exact results, are horizontal first
/// too.
class SeparableSampler final : public Sampler {
 public:
  SeparableSampler(const Plan& plan, std::size_t channels);

  std::size_t workspace_bytes() const noexcept override { return lay_out(nullptr).bytes; }
  void begin(std::byte* workspace) const override;
  SampleRows row(const MappedImages& frame, std::int32_t row, std::byte* workspace) const override;

 private:
  struct Channel {
    std::size_t group = 0;
    std::size_t slot = 0;      ///< its row of the split
    std::int32_t samples = 0;  ///< samples of a source row that are read
    AxisRequest axis;
    HorizontalUse use;
    std::size_t like = 0;  ///< the first channel with the same table, which holds it
    HorizontalTable horizontal;
  };
  /// Channels in one plane: their bytes are read together.
  struct Group {
    std::size_t lead = 0;        ///< a channel, whose address leads to the plane's ...
    std::size_t lead_bytes = 0;  ///< ... minus this many bytes
    Split split = Split::whole;
    std::int32_t begin = 0;  ///< first group of bytes that is read
    std::int32_t groups = 0;
    std::array<int, 4> channel_at{-1, -1, -1, -1};  ///< channel of each row of the split; -1: none
    VerticalTable vertical;
  };
  /// State in the workspace, per group.
  struct State {
    std::array<std::int64_t, 4> made{};  ///< id of the output row; -1: none
  };
  struct Workspace {
    Workspace* self = nullptr;
    State* state = nullptr;
    std::int32_t* held = nullptr;  ///< source row of each place of the rings; -1: none
    const void** rows = nullptr;   ///< the rows of one blend
    std::array<std::int16_t*, 4> read{};
    std::array<std::int16_t*, 4> ring{};
    std::array<std::int16_t*, 4> out{};
    std::byte* reader = nullptr;
    std::size_t bytes = 0;
  };

  void bind_group(const Plan& plan, std::size_t channel);
  void bind_reader(const Plan& plan);
  void bind_horizontal(const Plan& plan, std::size_t channel);
  /// The layout is stored first: begin() leaves it there for row().
  Workspace lay_out(std::byte* workspace) const noexcept;
  std::size_t ring_row() const noexcept { return padded_row(columns()); }
  const HorizontalTable& horizontal(std::size_t c) const noexcept {
    return channel_[channel_[c].like].horizontal;
  }
  bool is_identity(std::size_t c) const noexcept {
    return horizontal(c).mode == HorizontalTable::Mode::identity;
  }
  bool takes_bytes(std::size_t c) const noexcept;
  const std::uint8_t* source_row(const MappedImages& frame, const Group& group,
                                 std::int32_t row) const noexcept;
  BlendBytes blend_of(const Group& group, const Workspace& at) const noexcept;

  void vertical_then_horizontal(const MappedImages& frame, std::size_t g, std::int32_t row,
                                const Workspace& at) const;
  void horizontal_then_vertical(const MappedImages& frame, std::size_t g, std::int32_t row,
                                const Workspace& at) const;
  void fetch(const MappedImages& frame, std::size_t g, std::int32_t source,
             const Workspace& at) const;
  std::int16_t* ring_place(std::size_t c, std::int32_t source, const Workspace& at) const noexcept;
  const std::int16_t* result(std::size_t c, std::int32_t row, const Workspace& at) const noexcept;

  std::unique_ptr<const Reader> reader_;  ///< null: the source is bytes
  std::size_t channels_;
  std::size_t groups_ = 0;
  std::int32_t few_;  ///< most taps without fine weights
  bool horizontal_first_;
  std::int32_t ring_rows_ = 0;  ///< rows in each ring
  std::array<Channel, 4> channel_;
  std::array<Group, 4> group_;
};

}  // namespace halyard::image
