// SPDX-License-Identifier: Apache-2.0
// Ways in for the layer itself: what fills lists of masks and prototypes.
#pragma once

#include <span>
#include <utility>

#include "base/local.h"
#include "halyard/compat/decode.h"

namespace halyard::compat {

struct HALYARD_LOCAL SegmentationAccess {
  /// Room for `bytes` behind the list's masks; the list is cleared.
  static std::uint8_t* reset(SegmentationList& list, std::size_t bytes, std::size_t masks);
  static void add(SegmentationList& list, const Segmentation& view) { list.views_.push_back(view); }
  /// Copies the bytes of all masks.
  static void assign(SegmentationList& list, const MaskSet& masks);
};

struct HALYARD_LOCAL ProtoAccess {
  static ProtoData make(MaskPrototypes masks);
  static const MaskPrototypes& masks(const ProtoData& data) noexcept { return data.masks_; }
};

/// Bytes [height, width, channels] of one image of a semantic head's scores, in their order but
/// for ties: integers shifted to 8 bits, floats stretched to 0..255. Errors: unsupported (dtype),
/// invalid_argument (batch beyond the tensor), those of mapping.
Status score_bytes(const Tensor& scores, const OutputDescription& output, std::size_t batch,
                   SegmentationList& out);

}  // namespace halyard::compat
