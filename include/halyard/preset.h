// SPDX-License-Identifier: Apache-2.0
// Preset: everything between an image and its detections that trainers define differently.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "halyard/decode.h"
#include "halyard/export.h"
#include "halyard/image.h"
#include "halyard/mask.h"
#include "halyard/placement.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// The rules of one pipeline: what the network sees, which of its boxes are kept, and how its masks
/// are made. To reproduce published scores, use the preset that they were measured with.
struct Preset {
  DecodeOptions decode;
  LetterboxRule letterbox = LetterboxRule::hal;
  /// Converts the image to RGB, with bilinear chroma, before the resize, as trainers do. False: one
  /// pass does both.
  bool is_rgb_first = false;
  MaskRule mask_rule = MaskRule::logits;
  /// Of heads with angles, instead of decode.suppression.
  Suppression rotated_suppression = Suppression::greedy;

  /// `decode`, for a head of this description.
  DecodeOptions decode_for(const ModelDescription& description) const;

  /// The rules of Ultralytics' validation: images are never enlarged, every class of a box with a
  /// score above 0.001 is kept, IoU is 0.7, masks are thresholded at the size of the network's
  /// input, rotated boxes follow Suppression::fast.
  static Preset ultralytics_val();
  /// The rules of Ultralytics' prediction: images are enlarged too, the best class of a box with a
  /// score above 0.25 is kept, masks follow MaskRule::ultralytics_quick, rotated boxes
  /// Suppression::fast.
  static Preset ultralytics();
  /// The rules of EdgeFirst HAL: its letterbox and thresholds, colour and size in one pass, masks
  /// by logits.
  static Preset hal();
  /// The preset "ultralytics-val", "ultralytics" or "hal". nullopt for any other name.
  static std::optional<Preset> named(std::string_view name);
};

/// Letterboxes `image` into `input`, the network's input; the pad is grey 114. Fit::cover instead
/// shows the middle of the image, as classifiers are trained. `rgb` is memory to reuse for
/// is_rgb_first. One thread at a time for each processor and each `rgb`. Errors: those of
/// Processor::convert() and of allocation.
Result<Placement> prepare_input(const Preset& preset, Processor& processor, const Tensor& image,
                                const Tensor& input, Tensor& rgb, Fit fit = Fit::letterbox);

/// Clips boxes to the network's input, where its masks end: a weak box may reach far beyond it.
void clip_boxes(std::span<Detection> found, Size input) noexcept;

/// Makes the masks of `found` for the upright image of placement.source(), after clip_boxes().
/// Errors: those of materialize().
Status prepare_masks(MaskRule rule, const Placement& placement, Decoded& found, MaskSet& out);

}  // namespace halyard
HALYARD_EXPORTS_END
