// SPDX-License-Identifier: Apache-2.0
// The state of a decoder, and the working memory of its calls.
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

/// Working memory of one call.
struct DecodeWork {
  Decoded decoded;
  std::vector<Tensor> tensors;  ///< used if the tensors must be reordered or widened
  MaskSet masks;
  std::vector<std::uint32_t> rows;
  std::vector<Track> tracks;
  void release();  ///< releases what belongs to the caller
};

using DecodeLease = WorkPool<DecodeWork>::Lease;

struct HALYARD_LOCAL Decoder::Impl {
  ModelDescription document;
  Lowered lowered;
  DecoderOptions options;
  std::optional<halyard::Decoder> decoder;  ///< nullopt: class scores only
  mutable Recycler recycler;                ///< memory for copies of prototypes
  mutable WorkPool<DecodeWork> pool;

  /// Makes the decoder from options. Errors: those of halyard::Decoder::create().
  Status renew();
  Status set(const DecoderOptions& asked);

  /// The tensor that the decoder reads for output `i`: `tensor`, or a copy with wider numbers.
  /// Errors: also invalid_argument (native convention: integers without quantization).
  Result<Tensor> as_read(const Tensor& tensor, std::size_t i) const;
  /// The tensors in the order of the description; `outputs` itself if it has that order.
  Result<std::span<const Tensor>> ordered(std::span<const Tensor> outputs, DecodeWork& work) const;
  /// Batch extent of ordered tensors. Errors: invalid_argument (extents differ).
  Result<std::size_t> batch_of(std::span<const Tensor> ordered) const;
  /// The batch element to decode: `asked`, or the only one. Errors: invalid_argument (there are
  /// several, or more or fewer than described).
  Result<std::size_t> element(std::span<const Tensor> ordered, std::size_t asked) const;
  /// Decodes boxes in the result's units, and rows of masks, into work.decoded.
  Status detect(std::span<const Tensor> ordered, DecodeWork& work, std::size_t max_boxes,
                std::size_t batch) const;
  /// Replaces the boxes by the tracker's tracks; the first `live` of them have rows of masks.
  Status track(ByteTrack& tracker, std::uint64_t timestamp, DecodeWork& work,
               std::vector<TrackInfo>& infos, std::vector<std::uint64_t>* ids, std::size_t& live,
               std::size_t max_boxes) const;
  Status track(const AnyTracker& tracker, std::uint64_t timestamp, DecodeWork& work,
               std::vector<TrackInfo>& infos, std::vector<std::uint64_t>* ids, std::size_t& live,
               std::size_t max_boxes) const;
  /// Stores `tracks` as track() does; the first `live` of them have been seen in this frame.
  Status put(std::span<const Track> tracks, UuidSeed seed, std::size_t live, DecodeWork& work,
             std::vector<TrackInfo>& infos, std::vector<std::uint64_t>* ids) const;
  /// Decoder::decode_tracked() for a ByteTrack or an AnyTracker.
  template <class AnyOf>
  Status decode_tracked(AnyOf& tracker, std::uint64_t timestamp, std::span<const Tensor> outputs,
                        Found& out, std::size_t max_boxes, std::size_t asked) const;
};

}  // namespace halyard::compat
