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

/// Rules of one pipeline: what the network sees, which of its boxes stay, and how its masks are
/// made. Scores that others have published are reached with the preset that they were measured by.
struct Preset {
  DecodeOptions decode;
  LetterboxRule letterbox = LetterboxRule::hal;
  /// Converts the image to RGB, with bilinear chroma, before it is resized: what trainers do. Else
  /// one pass does both.
  bool is_rgb_first = false;
  MaskRule mask_rule = MaskRule::logits;

  /// What Ultralytics validates with: images are never enlarged, every class of a box above 0.001,
  /// IoU 0.7, masks thresholded at the network's input.
  static Preset ultralytics_val();
  /// What it predicts with: images are enlarged too, the best class above 0.25, quick masks.
  static Preset ultralytics();
  /// EdgeFirst HAL's letterbox and thresholds, colour and size in one pass, masks by logits.
  static Preset hal();
  /// "ultralytics-val", "ultralytics" or "hal". Unset: no such preset.
  static std::optional<Preset> named(std::string_view name);
};

/// Letterboxes `image` into `input` (the network's input; grey 114 beside the image). `rgb` is
/// memory to reuse for is_rgb_first. One thread at a time for each processor and `rgb`. Errors:
/// those of Processor::convert() and of allocation.
Result<Placement> prepare_input(const Preset& preset, Processor& processor, const Tensor& image,
                                const Tensor& input, Tensor& rgb);

/// Cuts boxes at the network's input, where its masks end: a weak box may reach far beyond.
void clip_boxes(std::span<Detection> found, Size input) noexcept;

/// Makes the masks of `found` for the upright image of placement.source(), with clip_boxes() before
/// it. Errors: those of materialize().
Status prepare_masks(MaskRule rule, const Placement& placement, Decoded& found, MaskSet& out);

}  // namespace halyard
HALYARD_EXPORTS_END
