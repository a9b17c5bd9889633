// SPDX-License-Identifier: Apache-2.0
// The canvas is NV12 in the colours of JPEG: it is drawn on and encoded without a conversion.
#include "serve/live_painter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "halyard/codec.h"
#include "halyard/pipeline_stages.h"
#include "halyard/preset.h"
#include "output/record.h"

namespace halyard::tool {
namespace {

/// The size of the canvas for an image, with its proportions as far as even sides allow.
Size canvas_size(Size source, int max_side) {
  const double scale =
      std::min(1.0, static_cast<double>(max_side) / std::max(source.width, source.height));
  const auto even = [scale](std::int32_t side) {
    return std::max(2, static_cast<std::int32_t>(std::lround(side * scale / 2)) * 2);
  };
  return {even(source.width), even(source.height)};
}

}  // namespace

Result<LivePainter> LivePainter::create(LivePainterOptions options) {
  OverlayOptions drawing;
  drawing.labels = options.labels;
  drawing.font = options.font;
  HALYARD_TRY(auto by_label, Overlay::create(drawing));
  drawing.color_by = ColorBy::track;
  HALYARD_TRY(auto by_track, Overlay::create(std::move(drawing)));
  // A second thread would save less time than it spends on waiting for more work.
  ProcessorOptions converting;
  converting.threads = 1;
  HALYARD_TRY(auto processor, Processor::create(converting));
  return LivePainter(std::move(options), std::move(processor), std::move(by_label),
                     std::move(by_track));
}

Status LivePainter::make_canvas(Size source, bool is_kept) {
  const Size size = canvas_size(source, options_.max_side);
  scale_x_ = static_cast<float>(size.width) / static_cast<float>(source.width);
  scale_y_ = static_cast<float>(size.height) / static_cast<float>(source.height);
  if (!is_kept && !canvas_.is_empty() && canvas_.size() == size) return {};
  HALYARD_TRY(canvas_, Tensor::create_image(static_cast<std::size_t>(size.width),
                                            static_cast<std::size_t>(size.height),
                                            PixelFormat::nv12, DType::u8));
  canvas_.set_colorimetry(Colorimetry::jpeg());
  return {};
}

Result<Tensor> LivePainter::paint(const LiveScene& scene, const LiveControls& controls,
                                  bool is_kept) {
  HALYARD_RETURN_IF_ERROR(make_canvas(scene.image.upright_size(), is_kept));
  Convert request;
  request.src = scene.image;
  request.dst = canvas_;
  HALYARD_RETURN_IF_ERROR(processor_.convert(request));
  scale_boxes(scene);
  const bool by_track = draws_tracks(scene, controls);
  if (controls.has_masks) HALYARD_RETURN_IF_ERROR(draw_masks(scene, by_track));
  HALYARD_RETURN_IF_ERROR(draw_objects(scene, controls));
  Tensor out = canvas_;
  if (is_kept) canvas_ = {};
  return out;
}

/// A tracker's frames are drawn alike, also those without a track.
bool LivePainter::draws_tracks(const LiveScene& scene,
                               const LiveControls& controls) const noexcept {
  return controls.has_tracks && (options_.has_tracker || !scene.tracks.empty());
}

Box LivePainter::scaled(const Box& box) const noexcept {
  return {box.x1 * scale_x_, box.y1 * scale_y_, box.x2 * scale_x_, box.y2 * scale_y_};
}

void LivePainter::scale_boxes(const LiveScene& scene) {
  detections_.assign(scene.detections.begin(), scene.detections.end());
  tracks_.assign(scene.tracks.begin(), scene.tracks.end());
  track_ids_.assign(detections_.size(), 0);
  for (Detection& detection : detections_)
    detection.box = scaled(detection.box);
  for (Track& track : tracks_) {
    track.box = scaled(track.box);
    track.last_box = scaled(track.last_box);
    const auto index = static_cast<std::size_t>(track.detection);
    if (track.detection >= 0 && index < track_ids_.size()) track_ids_[index] = track.id;
  }
}

Status LivePainter::draw_masks(const LiveScene& scene, bool by_track) {
  if (scene.decoded == nullptr || scene.placement == nullptr || scene.decoded->masks.empty())
    return {};
  // The painter wants boxes of the network's input, where its masks end.
  clipped_ = scene.decoded->detections;
  clip_boxes(clipped_, scene.placement->destination());
  MaskDrawOptions drawing;
  drawing.content = RegionF(scene.placement->content());
  if (by_track && track_ids_.size() == clipped_.size()) {
    drawing.color_by = ColorBy::track;
    drawing.track_ids = track_ids_;
  }
  return masks_.draw(canvas_, scene.decoded->masks, clipped_, drawing);
}

Status LivePainter::draw_objects(const LiveScene& scene, const LiveControls& controls) {
  if (!controls.has_boxes) return {};
  if (scene.decoded != nullptr && scene.placement != nullptr) {
    const ShapeDrawing shapes{scene.decoded, scene.placement};
    HALYARD_RETURN_IF_ERROR(draw_shapes(by_label_, canvas_, shapes));
  }
  if (scene.decoded != nullptr)
    HALYARD_RETURN_IF_ERROR(
        draw_classes(by_label_, canvas_, scene.decoded->classes, options_.labels));
  if (draws_tracks(scene, controls))
    return by_track_.draw(canvas_, std::span<const Track>(tracks_));
  return by_label_.draw(canvas_, std::span<const Detection>(detections_));
}

Result<std::string> LivePainter::encode(const Tensor& painted) const {
  HALYARD_TRY(const auto bytes, encode_jpeg(painted, {options_.quality}));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace halyard::tool
