// SPDX-License-Identifier: Apache-2.0
// Pipeline stages: ready-made stages for PipelineOptions::stages that draw, write files and
// publish.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/decode.h"
#include "halyard/draw.h"
#include "halyard/export.h"
#include "halyard/pipeline.h"
#include "halyard/placement.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

// Stages belong to one pipeline: they keep memory for each of its lanes. Add those of a vector to
// PipelineOptions::stages one after the other.

struct DrawStageOptions {
  /// overlay.labels and overlay.color_by are set for each model.
  OverlayOptions overlay;
  /// Draws the tracks of models and the masks of tracked objects alone. False: all detections.
  bool has_tracks = false;
  /// In [0, 1]; 0: no masks.
  float mask_opacity = 0.5F;
};

/// What draw_shapes() draws; all of it is borrowed for the call.
struct ShapeDrawing {
  const Decoded* decoded = nullptr;      ///< with its detections
  const Placement* placement = nullptr;  ///< from the upright source to the network's input
  /// By detection: the colour is the track's, and 0 leaves the detection out. Empty: all, in the
  /// colours of their classes.
  std::span<const std::uint64_t> track_ids = {};
};

/// Draws the outlines of rotated boxes, and keypoints with a score of at least 0.3, on an image
/// that shows the whole source at any size. Errors: those of Overlay::outlines() and points().
Status draw_shapes(Overlay& overlay, Tensor& image, const ShapeDrawing& shapes);

/// Writes classes of the whole image into its top left corner, a line each. Errors: those of
/// Overlay::text().
Status draw_classes(Overlay& overlay, Tensor& image, std::span<const ClassScore> classes,
                    std::span<const std::string> labels);

/// "paint" converts the frame to an upright RGB image, PipelineFrame::drawn, which may be kept;
/// "draw" draws on it what all models have found: masks below, then rotated boxes and keypoints,
/// boxes or tracks with their names, ids and trails, and classes of the whole image. Errors:
/// invalid_argument (mask_opacity), those of Overlay::create().
Result<std::vector<PipelineStage>> draw_stages(std::span<const PipelineModel> models,
                                               const DrawStageOptions& options = {});

/// "lines" writes one line of JSON for each frame and model, as to_json() of halyard/frame_record.h
/// returns it, without its line feed. An error of `write` ends the run.
PipelineStage json_lines_stage(std::span<const PipelineModel> models,
                               std::function<Status(std::string_view line)> write);

/// The same into a file, which is emptied now. Each line is there, with its line feed, when its
/// frame has left the stage, so that other programs can follow the file. Errors: invalid_argument
/// (an empty path), not_found (the folder), permission, os.
Result<PipelineStage> json_lines_stage(std::span<const PipelineModel> models,
                                       const std::string& path);

/// "encode" and "write": PipelineFrame::drawn, or the frame where nothing was drawn, as a video
/// file. Frames of other sizes than the first one's are letterboxed into its size. The file appears
/// under its name at the end of the run; an error of writing ends the run. Errors: invalid_argument
/// (the rate), unsupported (the extension), as VideoWriter::create() has them.
Result<std::vector<PipelineStage>> video_stages(const std::string& path, double rate);

/// "publish" sends each frame to the topic `name` as an Image, without a copy where its memory is a
/// pool's or DMA-BUFs, of which subscribers keep two at most (further frames are copied until they
/// have read), and what the models found to the topic `name`/detections, as
/// DetectionMessage of halyard/detection_message.h. An image whose format is no ImageEncoding is
/// converted to RGB. Errors: those of Topic::create().
Result<PipelineStage> topic_stage(const std::string& name, std::span<const PipelineModel> models);

}  // namespace halyard
HALYARD_EXPORTS_END
