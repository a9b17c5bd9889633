// SPDX-License-Identifier: Apache-2.0
// What a decoder holds and what one of its calls works in.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/local.h"
#include "base/work_pool.h"
#include "compat/lowered.h"
#include "halyard/compat/decode.h"
#include "halyard/decode.h"
#include "halyard/recycler.h"
#include "halyard/threads.h"
#include "halyard/track.h"

namespace halyard::compat {

/// Memory of one call.
struct DecodeWork {
  Decoded decoded;
  std::vector<Tensor> tensors;  ///< of calls whose tensors come in another order, or are widened
  MaskSet masks;
  std::vector<std::uint32_t> rows;
  std::vector<Track> tracks;
  void release();  ///< gives up what belongs to the caller
};

using DecodeLease = WorkPool<DecodeWork>::Lease;

struct HALYARD_LOCAL Decoder::Impl {
  ModelDescription document;
  Lowered lowered;
  DecoderOptions options;
  std::optional<halyard::Decoder> decoder;  ///< none: class scores alone
  mutable Recycler recycler;                ///< of copies of prototypes
  mutable WorkPool<DecodeWork> pool;

  /// Makes the decoder from options. Errors: those of halyard::Decoder::create().
  Status renew();
  Status set(const DecoderOptions& asked);

  /// What the decoder reads of output `i`: the tensor, or wider numbers. Errors: also
  /// invalid_argument (of native, integers without quantization).
  Result<Tensor> as_read(const Tensor& tensor, std::size_t i) const;
  /// The tensors in the order of the description: `outputs` itself where they have it.
  Result<std::span<const Tensor>> ordered(std::span<const Tensor> outputs, DecodeWork& work) const;
  /// Elements of the batch of ordered tensors. Errors: invalid_argument (they differ).
  Result<std::size_t> batch_of(std::span<const Tensor> ordered) const;
  /// The element that is decoded: `asked`, or the only one. Errors: invalid_argument (there are
  /// several, or more or fewer than described).
  Result<std::size_t> element(std::span<const Tensor> ordered, std::size_t asked) const;
  /// Boxes in the units that are given, and rows of masks: work.decoded.
  Status detect(std::span<const Tensor> ordered, DecodeWork& work, std::size_t max_boxes,
                std::size_t batch) const;
  /// The tracker's tracks in place of the boxes; `live` of them have rows of masks.
  Status track(ByteTrack& tracker, std::uint64_t timestamp, DecodeWork& work,
               std::vector<TrackInfo>& infos, std::vector<std::uint64_t>* ids, std::size_t& live,
               std::size_t max_boxes) const;
  Status track(const AnyTracker& tracker, std::uint64_t timestamp, DecodeWork& work,
               std::vector<TrackInfo>& infos, std::vector<std::uint64_t>* ids, std::size_t& live,
               std::size_t max_boxes) const;
  /// The same of `tracks`, of which the first `live` have been seen.
  Status put(std::span<const Track> tracks, UuidSeed seed, std::size_t live, DecodeWork& work,
             std::vector<TrackInfo>& infos, std::vector<std::uint64_t>* ids) const;
  /// Of a ByteTrack or an AnyTracker: Decoder::decode_tracked().
  template <class AnyOf>
  Status decode_tracked(AnyOf& tracker, std::uint64_t timestamp, std::span<const Tensor> outputs,
                        Found& out, std::size_t max_boxes, std::size_t asked) const;
};

}  // namespace halyard::compat
