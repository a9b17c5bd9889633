// SPDX-License-Identifier: Apache-2.0
// The state of a decoder, and the working memory of its calls.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/local.h"
#include "base/system/parallel.h"
#include "base/work_pool.h"
#include "compat/description_defaults.h"
#include "halyard/compat/decode.h"
#include "halyard/compat/track.h"
#include "halyard/decode.h"
#include "halyard/recycler.h"
#include "halyard/track.h"

namespace halyard::compat {

/// Working memory of one call.
struct DecodeWork {
  Decoded decoded;
  std::vector<Tensor> tensors;  ///< used if the tensors must be reordered or widened
  MaskSet masks;
  std::vector<Track> tracks;
  std::vector<std::uint64_t> ids;  ///< of the boxes' tracks
  Parallel beside{2};              ///< copies prototypes while boxes are decoded
  void release();                  ///< releases what belongs to the caller
};

using DecodeLease = WorkPool<DecodeWork>::Lease;

struct HALYARD_LOCAL Decoder::Impl {
  ModelDescription document;
  CompletedModel model;
  DecoderOptions options;
  std::optional<halyard::Decoder> decoder;  ///< nullopt: class scores only
  mutable Recycler recycler;                ///< memory for copies of prototypes
  mutable WorkPool<DecodeWork> pool;

  /// Makes the decoder from options. Errors: those of halyard::Decoder::create().
  Status set(DecoderOptions asked);
  /// Changes one option.
  template <class T>
  Status set(T DecoderOptions::*field, T value) {
    DecoderOptions asked = options;
    asked.*field = value;
    return set(asked);
  }

  /// The tensors in the order of the description; `outputs` itself if it has that order. Errors:
  /// those of OutputMatcher::match() and dequantized().
  Result<std::span<const Tensor>> ordered(std::span<const Tensor> outputs, DecodeWork& work) const;
  /// The batch element to decode: `asked`, or the only one. Errors: invalid_argument (there are
  /// several, or more or fewer than described).
  Result<std::size_t> element(std::span<const Tensor> ordered, std::size_t asked) const;
  /// Decodes boxes in the result's units, and rows of masks, into work.decoded.
  Status detect(std::span<const Tensor> ordered, DecodeWork& work, std::size_t max_boxes,
                std::size_t batch) const;
  /// As detect(), and copies the prototypes.
  Status detect(std::span<const Tensor> ordered, DecodeWork& work, std::size_t max_boxes,
                std::size_t batch, std::optional<ProtoData>& protos) const;
  /// Replaces the boxes by the tracker's tracks; the first `live` of them have rows of masks.
  Status track(const AnyTracker& tracker, std::uint64_t timestamp, DecodeWork& work,
               std::vector<TrackInfo>& infos, std::size_t& live, std::size_t max_boxes) const;
  /// Makes bytes [height, width, channels] of the scores of classes at every pixel by
  /// byte_levels(); nothing if the head has none.
  Status class_scores(std::span<const Tensor> ordered, std::size_t batch,
                      SegmentationList& out) const;

  /// What a call asks for.
  struct Request {
    std::span<const Tensor> outputs;
    std::size_t max_boxes;
    std::size_t batch;
    struct Tracked {
      AnyTracker tracker;
      std::uint64_t timestamp;
    };
    std::optional<Tracked> tracked = {};         ///< boxes are those of tracks
    bool has_masks = true;                       ///< Found::segmentations is wanted
    std::optional<ProtoData>* protos = nullptr;  ///< wanted if not null
  };
  /// What a call has decoded, beside its DecodeWork.
  struct RunResult {
    std::span<const Tensor> tensors;  ///< in the order of the description
    std::size_t batch = 0;            ///< the element that was decoded
    std::size_t live = 0;             ///< the first boxes, which have rows of masks
  };
  /// Decodes boxes, or replaces them by tracks.
  Result<RunResult> run(const Request& asked, DecodeWork& work,
                        std::vector<TrackInfo>& tracks) const;
  Status decode(const Request& asked, Found& out) const;
};

}  // namespace halyard::compat
