// SPDX-License-Identifier: Apache-2.0
// Semantic segmentation: from scores per class, or from finished class maps, to a class id per
// pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "halyard/description.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

namespace decode {
struct SemanticWorkspace;
}

/// The output of a semantic head, each with or without a batch axis in front.
enum class SemanticLayout : std::uint8_t {
  classes_first = 0,  ///< scores [C, H, W]
  classes_last = 1,   ///< scores [H, W, C]; ModelPack uses this
  class_map = 2,      ///< class ids [H, W], [1, H, W] or [H, W, 1]
};

/// One image of a semantic head's output as [height, width, classes]; a class map has 1 class.
struct SemanticView {
  Layout layout;
  std::ptrdiff_t offset_bytes = 0;  ///< of its first element
};
/// Finds the axes of `scores` by their names in the description; where height or width has no name,
/// classes are first in Family::semantic, else last. Thread-safe. Errors: invalid_argument (the
/// rank does not fit; `batch` beyond the tensor).
Result<SemanticView> semantic_view(const Layout& scores, const OutputDescription& output,
                                   std::size_t batch = 0);

/// - accurate: interpolates the scores (bilinear, half-pixel centres, clamped at the border), then
///   chooses the best class: equal to resizing all score planes and choosing the largest.
/// - fast: chooses the best class at the head's resolution, then takes the nearest pixel.
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
  /// Extent of the network's input, in whose pixels `content` counts. Unset: the head's own extent.
  std::optional<Size> input = {};
  /// The part of the input that the target shows: Placement::content() if the target is the image.
  /// Unset: all of it.
  std::optional<RegionF> content = {};
};

/// Makes class maps. Keeps its memory and tables: another frame of the same kind allocates nothing.
/// Move-only; one thread at a time.
///
/// Scores: f32, f16, bf16, i8, u8, i16, u16. One scale per tensor does not change which class is
/// largest and is not needed; scales per class are applied. Of equal scores the first class wins;
/// NaN counts as the lowest score. A single class means background and foreground: 1 where the
/// score is at least half. Half is 0.5 for floats and the middle of the type's range for integers
/// (128 for u8, 0 for i8), whatever the quantization.
/// Class maps: every integer type.
///
/// Pixels between four scores with the same best class are not interpolated: weights are not
/// negative, so no other class can be larger there. Elsewhere only classes that can win are
/// interpolated: a class cannot win if its largest corner score is below the smallest corner score
/// of another class.
class SemanticMapper {
 public:
  SemanticMapper() noexcept;
  SemanticMapper(SemanticMapper&&) noexcept;
  SemanticMapper& operator=(SemanticMapper&&) noexcept;
  ~SemanticMapper();

  /// Fills `out`, u8 or u16, [H, W] or [H, W, 1] of any size, with adjacent pixels; and
  /// `confidence` of the same extent, f32, or u8 as round(255 x value clamped to 0..1). Errors:
  /// invalid_argument (shapes, extents of 0, more classes than `out` can hold, a class id that is
  /// negative or that `out` cannot hold, content outside the input, integer scores without
  /// quantization where confidence needs real values), unsupported (dtype; confidence for class
  /// maps), those of mapping.
  Status map(const Tensor& scores, const SemanticOptions& options, Tensor& out,
             Tensor* confidence = nullptr);

 private:
  std::unique_ptr<decode::SemanticWorkspace> workspace_;
};

/// As SemanticMapper::map(), with a new mapper for this call.
Status semantic_map(const Tensor& scores, const SemanticOptions& options, Tensor& out,
                    Tensor* confidence = nullptr);

}  // namespace halyard
HALYARD_EXPORTS_END
