// SPDX-License-Identifier: Apache-2.0
// The state of a painter, and the functions that its calls share.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/local.h"
#include "compat/decoder_state.h"
#include "compat/target.h"
#include "halyard/compat/draw.h"
#include "halyard/semantic.h"

namespace halyard::compat {

constexpr std::int32_t outline_px = 3;

struct HALYARD_LOCAL Painter::Impl {
  Impl();
  std::vector<MaskColor> colors;  ///< colours of classes
  MaskPainter masks;
  SemanticMapper semantic;
  Tensor class_map;
  MaskSet set;
  SegmentationList scores;
  std::vector<std::uint64_t> ids;

  struct Call {
    Tensor& dst;
    const DrawOptions& options;
    float opacity = 1;
    std::span<const std::uint64_t> track_ids = {};
    Size input{1, 1};       ///< boxes are in pixels of this size; 1 x 1: in fractions
    std::size_t batch = 0;  ///< the batch element to decode
  };
  /// Checks everything that does not depend on masks.
  Result<Call> begin(Tensor& dst, const DrawOptions& options) const;
  MaskDrawOptions mask_options(const Call& call) const;
  const MaskColor& color_of(const Call& call, const Detection& box, std::size_t index) const;
  Status base(const Call& call) const;
  /// Outlines in pixels, in drawing order, each with the index of its paints.
  struct Outlines {
    std::vector<std::array<Paint, 4>> paints;
    std::vector<std::pair<PixelBox, std::size_t>> boxes;
    void draw(Target& target, RowRange rows) const noexcept {
      for (const auto& [box, color] : boxes)
        draw_outline(target, box, outline_px, paints[color], rows);
    }
  };
  Outlines outlines_of(const Call& call, const Target& target, std::span<const Detection> boxes,
                       std::size_t first = 0) const;
  /// Draws the outlines of boxes from `first` on.
  Status outlines(const Call& call, std::span<const Detection> boxes, std::size_t first = 0) const;
  /// Draws rotated boxes and points of the boxes that have them, and upright outlines of the
  /// others.
  Status marks(const Call& call, const Decoded& decoded) const;
  /// Draws the base and outlines over it, a few rows at a time, so that the rows stay in the cache.
  Status boxes_alone(const Call& call, std::span<const Detection> boxes) const;
  Status prototypes(const Call& call, std::span<const Detection> masked,
                    const MaskPrototypes& protos);
  Status instances(const Call& call, std::span<const Detection> boxes,
                   std::span<const Segmentation> segmentations);
  Status classes(const Call& call, const Segmentation& scores);
  /// Draws a decoder's results; the first `live` boxes have rows of masks.
  Status decoded(const Call& asked, const Decoder::Impl& decoder, std::span<const Tensor> tensors,
                 DecodeWork& work, std::size_t live, std::vector<Detection>& found);
  /// Painter::draw_masks_tracked() for a ByteTrack or an AnyTracker.
  template <class AnyOf>
  Status draw_tracked(const Decoder::Impl& decoder, AnyOf& tracker, std::uint64_t timestamp,
                      std::span<const Tensor> outputs, Tensor& dst, std::vector<Detection>& found,
                      std::vector<TrackInfo>& tracks, const DrawOptions& options);
};

}  // namespace halyard::compat
