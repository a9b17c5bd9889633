// SPDX-License-Identifier: Apache-2.0
// Access for this layer to the private parts of lists of masks and of prototypes.
#pragma once

#include <span>
#include <utility>

#include "base/local.h"
#include "halyard/compat/decode.h"

namespace halyard::compat {

struct HALYARD_LOCAL SegmentationAccess {
  /// Clears the list and returns memory for `bytes` of its masks.
  static std::uint8_t* reset(SegmentationList& list, std::size_t bytes, std::size_t masks);
  static void add(SegmentationList& list, const Segmentation& view) { list.views_.push_back(view); }
  /// Copies the bytes of all masks.
  static void assign(SegmentationList& list, const MaskSet& masks);
};

struct HALYARD_LOCAL ProtoAccess {
  static ProtoData make(MaskPrototypes masks);
  static const MaskPrototypes& masks(const ProtoData& data) noexcept { return data.masks_; }
};

/// Converts a semantic head's scores of one image to bytes [height, width, channels]. The order of
/// scores is kept, except that different scores may become equal: integers are shifted to 8 bits,
/// floats are scaled to 0..255. Errors: unsupported (dtype), invalid_argument (batch beyond the
/// tensor), those of mapping.
Status score_bytes(const Tensor& scores, const OutputDescription& output, std::size_t batch,
                   SegmentationList& out);

}  // namespace halyard::compat
