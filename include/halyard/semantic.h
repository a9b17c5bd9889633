// SPDX-License-Identifier: Apache-2.0
// Semantic segmentation: from scores per class, or ready class maps, to a class id per pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

namespace decode {
struct SemanticWorkspace;
}

/// What a semantic head gives, each with or without a batch axis in front.
enum class SemanticLayout : std::uint8_t {
  classes_first = 0,  ///< scores [C, H, W]
  classes_last = 1,   ///< scores [H, W, C]; ModelPack's
  class_map = 2,      ///< class ids [H, W], [1, H, W] or [H, W, 1]
};

/// - accurate: scores interpolated (bilinear, half-pixel centres, clamped at the border), then the
///   best class: equal to resizing all score planes and taking the largest.
/// - fast: the best class at the head's resolution, then the nearest pixel.
/// Class maps are always resampled by nearest.
enum class SemanticMode : std::uint8_t { accurate = 0, fast = 1 };

/// What the confidence plane holds: a value per pixel of the head, interpolated to the target.
/// - score: the best class's score as a real value.
/// - softmax: its probability among all classes, for scores that are logits.
enum class SemanticConfidence : std::uint8_t { score = 0, softmax = 1 };

struct SemanticOptions {
  SemanticLayout layout = SemanticLayout::classes_first;
  SemanticMode mode = SemanticMode::accurate;
  SemanticConfidence confidence = SemanticConfidence::score;
  std::size_t batch = 0;  ///< element of the batch axis
  /// Extent of the network's input, which `content` counts in. Unset: the head's own extent.
  std::optional<Size> input = {};
  /// The part of the input that the target shows: Placement::content() for a target that is the
  /// image. Unset: all of it.
  std::optional<RegionF> content = {};
};

/// Makes class maps. Keeps its memory and tables: a second frame of the same kind allocates
/// nothing. Move-only; one thread at a time.
///
/// Scores: f32, f16, bf16, i8, u8, i16, u16. One scale per tensor does not change which class is
/// largest and is not needed; scales per class are applied. Of equal scores the first class wins;
/// NaN counts as the lowest score. One class alone means background and foreground: 1 where the
/// score is at least half: 0.5 of floats, the middle of an integer type's range (128 of u8, 0 of
/// i8), whatever the quantization.
/// Class maps: every integer type.
///
/// Pixels between four scores of one and the same best class are not computed: weights are not
/// negative, so no other class can overtake it there. Elsewhere only classes that can win are: a
/// class whose largest corner is below the largest smallest corner of any other cannot.
class SemanticMapper {
 public:
  SemanticMapper() noexcept;
  SemanticMapper(SemanticMapper&&) noexcept;
  SemanticMapper& operator=(SemanticMapper&&) noexcept;
  ~SemanticMapper();

  /// Fills `out`, u8 or u16, [H, W] or [H, W, 1] of any size, pixels side by side; and `confidence`
  /// of the same extent, f32, or u8 as round(255 x value clamped to 0..1). Errors:
  /// invalid_argument (shapes, extents of 0, more classes than out can tell apart, a class id that
  /// out cannot hold or that is negative, content outside the input, integer scores without
  /// quantization where values matter: for confidence), unsupported (dtype; confidence of class
  /// maps), those of mapping.
  Status map(const Tensor& scores, const SemanticOptions& options, Tensor& out,
             Tensor* confidence = nullptr);

 private:
  std::unique_ptr<decode::SemanticWorkspace> workspace_;
};

/// A mapper for one frame.
Status semantic_map(const Tensor& scores, const SemanticOptions& options, Tensor& out,
                    Tensor* confidence = nullptr);

}  // namespace halyard
HALYARD_EXPORTS_END
