// SPDX-License-Identifier: Apache-2.0
// The state of a painter, and the functions that its calls share.
#pragma once

#include <span>
#include <vector>

#include "base/local.h"
#include "compat/decoder_state.h"
#include "compat/painter_boxes.h"
#include "draw/mask/scaled_mask.h"
#include "halyard/compat/draw.h"
#include "halyard/semantic.h"

namespace halyard::compat {

struct HALYARD_LOCAL Painter::Impl {
  Impl();
  std::vector<Color> colors;  ///< of classes
  MaskPainter masks;
  draw::ScaledMask scaled;
  SemanticMapper semantic;
  Tensor class_map;
  MaskSet set;
  SegmentationList scores;
  std::vector<std::uint64_t> ids;

  /// Checks everything that does not depend on masks.
  Result<PaintCall> begin(Tensor& dst, const DrawOptions& options) const;
  Status prototypes(const PaintCall& call, std::span<const Detection> masked,
                    const MaskPrototypes& protos);
  Status instances(const PaintCall& call, std::span<const Detection> boxes,
                   std::span<const Segmentation> segmentations);
  Status classes(const PaintCall& call, const Segmentation& scores);
  /// Draws a decoder's results; the first `live` boxes have rows of masks.
  Status decoded(const PaintCall& asked, const Decoder::Impl& decoder,
                 std::span<const Tensor> tensors, DecodeWork& work, std::size_t live,
                 std::vector<Detection>& found);
  struct Tracked {
    Follower tracker;
    std::uint64_t timestamp;
    std::vector<TrackInfo>& infos;
  };
  /// Painter::draw_masks(); with `tracked`, boxes are those of tracks.
  Status decode_and_draw(const Decoder::Impl& decoder, std::span<const Tensor> outputs, Tensor& dst,
                         std::vector<Detection>& found, const DrawOptions& options,
                         const Tracked* tracked);
};

}  // namespace halyard::compat
