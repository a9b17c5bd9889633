// SPDX-License-Identifier: Apache-2.0
// Overlays keep trails, so that drawing is in the order of frames. Each model of each source has
// trails of its own.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "halyard/image.h"
#include "halyard/mask_draw.h"
#include "halyard/pipeline_stages.h"
#include "halyard/recycler.h"
#include "pipeline/shown_tracks.h"
#include "pipeline/stages/lane_memory.h"

namespace halyard {
namespace {

Status paint(PipelineFrame& frame, std::optional<Processor>& processor, Recycler& recycler) {
  if (!processor) {
    HALYARD_TRY(processor, Processor::create());
  }
  const Size size = frame.frame.image.upright_size();
  HALYARD_TRY(frame.drawn,
              recycler.create_image(static_cast<std::size_t>(size.width),
                                    static_cast<std::size_t>(size.height), PixelFormat::rgb));
  Convert request;
  request.src = frame.frame.image;
  request.dst = frame.drawn;
  HALYARD_RETURN_IF_ERROR(processor->convert(request));
  return {};
}

/// One for each model: they keep the trails of its tracks.
Result<std::vector<Overlay>> make_overlays(std::span<const OverlayOptions> options) {
  std::vector<Overlay> out;
  for (const OverlayOptions& each : options) {
    HALYARD_TRY(auto overlay, Overlay::create(each));
    out.push_back(std::move(overlay));
  }
  return out;
}

class Drawing {
 public:
  Drawing(std::vector<OverlayOptions> overlays, const DrawStageOptions& options)
      : options_(std::move(overlays)),
        has_tracks_(options.has_tracks),
        opacity_(options.mask_opacity),
        painter_(options.overlay.backend) {}

  Status draw(PipelineFrame& frame) {
    while (sources_.size() <= frame.source) {
      HALYARD_TRY(auto overlays, make_overlays(options_));
      sources_.push_back(std::move(overlays));
    }
    for (std::size_t i = 0; i < frame.models.size() && i < options_.size(); ++i) {
      ModelResult& result = frame.models[i];
      if (opacity_ > 0) HALYARD_RETURN_IF_ERROR(draw_masks(frame.drawn, result));
      Overlay& overlay = sources_[frame.source][i];
      HALYARD_RETURN_IF_ERROR(draw_others(overlay, frame.drawn, result, options_[i].labels));
      const std::span<const Track> tracks(result.tracks);
      const std::span<const Detection> found(result.detections);
      HALYARD_RETURN_IF_ERROR(has_tracks_ ? overlay.draw(frame.drawn, tracks)
                                          : overlay.draw(frame.drawn, found));
    }
    return {};
  }

 private:
  // From prototypes, which the CPU need not make masks of first.
  Status draw_masks(Tensor& image, const ModelResult& result) {
    const MaskPrototypes& masks = result.decoded.masks;
    if (masks.empty() || masks.prototypes.is_empty()) return {};
    MaskDrawOptions drawing;
    drawing.opacity = opacity_;
    drawing.content = RegionF(result.placement.content());
    if (!has_tracks_) return painter_.draw(image, masks, result.decoded.detections, drawing);
    choose_tracked(result);
    HALYARD_RETURN_IF_ERROR(tracked_masks_.select(rows_));
    drawing.color_by = ColorBy::track;
    drawing.track_ids = ids_;
    const Status drawn = painter_.draw(image, tracked_masks_, boxes_, drawing);
    tracked_masks_.prototypes = {};  // the engine's memory
    return drawn;
  }

  Status draw_others(Overlay& overlay, Tensor& image, const ModelResult& result,
                     std::span<const std::string> labels) {
    if (has_tracks_) find_tracks(result);
    const ShapeDrawing shapes{&result.decoded, &result.placement, track_of_};
    HALYARD_RETURN_IF_ERROR(draw_shapes(overlay, image, shapes));
    return draw_classes(overlay, image, result.decoded.classes, labels);
  }

  void find_tracks(const ModelResult& result) {
    track_of_.assign(result.detections.size(), 0);
    pipeline::for_shown_tracks(result, [this](std::size_t detection, const Track& track) {
      track_of_[detection] = track.id;
    });
  }

  // Detections are in the order of rows, best first.
  void choose_tracked(const ModelResult& result) {
    const auto& boxes = result.decoded.detections;
    find_tracks(result);
    tracked_masks_ = result.decoded.masks;
    boxes_.clear();
    rows_.clear();
    ids_.clear();
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (track_of_[i] == 0) continue;  // ids begin at 1
      boxes_.push_back(boxes[i]);
      rows_.push_back(static_cast<std::uint32_t>(i));
      ids_.push_back(track_of_[i]);
    }
  }

  std::vector<OverlayOptions> options_;  ///< by model
  bool has_tracks_;
  float opacity_;
  MaskPainter painter_;
  std::vector<std::vector<Overlay>> sources_;  ///< by source, then by model
  // Of one frame:
  MaskPrototypes tracked_masks_;
  std::vector<Detection> boxes_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::uint64_t> track_of_;  ///< empty without tracks
};

}  // namespace

Result<std::vector<PipelineStage>> draw_stages(std::span<const PipelineModel> models,
                                               const DrawStageOptions& options) {
  if (!(options.mask_opacity >= 0 && options.mask_opacity <= 1))
    return make_error(Errc::invalid_argument, "mask_opacity: must be 0 to 1");
  std::vector<OverlayOptions> overlays;
  for (const PipelineModel& model : models) {
    OverlayOptions& overlay = overlays.emplace_back(options.overlay);
    overlay.labels = model.labels;
    overlay.color_by = options.has_tracks ? ColorBy::track : ColorBy::label;
  }
  // A font that is missing is told before the first frame.
  HALYARD_RETURN_IF_ERROR(make_overlays(overlays));
  auto processors = std::make_shared<pipeline::LaneMemory<std::optional<Processor>>>();
  auto drawing = std::make_shared<Drawing>(std::move(overlays), options);
  std::vector<PipelineStage> out(2);
  out[0].name = "paint";
  out[0].order = StageOrder::any_order;
  // The program may keep what was drawn; its memory is used again after that.
  out[0].run = [processors, recycler = std::make_shared<Recycler>()](PipelineFrame& frame) {
    return paint(frame, processors->of(frame), *recycler);
  };
  out[1].name = "draw";
  out[1].run = [drawing](PipelineFrame& frame) { return drawing->draw(frame); };
  return out;
}

}  // namespace halyard
