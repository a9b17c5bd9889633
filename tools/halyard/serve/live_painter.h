// SPDX-License-Identifier: Apache-2.0
// LivePainter: a frame with what was found in it, as the image that viewers see.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halyard/decode.h"
#include "halyard/draw.h"
#include "halyard/image.h"
#include "halyard/mask_draw.h"
#include "halyard/placement.h"
#include "halyard/track.h"
#include "serve/live_feed.h"

namespace halyard::tool {

/// What is drawn; borrowed for the call.
struct LiveScene {
  const Tensor& image;                    ///< of any orientation
  std::span<const Detection> detections;  ///< in pixels of the upright image
  /// The head's other results, in pixels of the network's input; null: none.
  const Decoded* decoded = nullptr;
  const Placement* placement = nullptr;  ///< to the network's input; null: none
  std::span<const Track> tracks = {};
};

struct LivePainterOptions {
  std::vector<std::string> labels;
  std::string font;  ///< empty: a packaged font is searched for
  bool has_tracker = false;
  int max_side = 1280;  ///< px; larger images are scaled down
  int quality = 80;     ///< of the JPEG, 1..100
};

/// Thread-bound.
class LivePainter {
 public:
  /// Errors: those of Overlay::create() and Processor::create().
  static Result<LivePainter> create(LivePainterOptions options);

  /// The upright image, at most max_side wide and high, of even sides, with the drawings that the
  /// controls ask for. It shares the painter's memory until the next call, unless `is_kept`.
  /// Errors: those of convert() and of drawing.
  Result<Tensor> paint(const LiveScene& scene, const LiveControls& controls, bool is_kept);
  /// Errors: those of encode_jpeg().
  Result<std::string> encode(const Tensor& painted) const;

 private:
  LivePainter(LivePainterOptions options, Processor processor, Overlay by_label, Overlay by_track)
      : options_(std::move(options)),
        processor_(std::move(processor)),
        by_label_(std::move(by_label)),
        by_track_(std::move(by_track)) {}
  Status make_canvas(Size source, bool is_kept);
  Status draw_masks(const LiveScene& scene, bool by_track);
  Status draw_objects(const LiveScene& scene, const LiveControls& controls);
  bool draws_tracks(const LiveScene& scene, const LiveControls& controls) const noexcept;
  void scale_boxes(const LiveScene& scene);
  Box scaled(const Box& box) const noexcept;

  LivePainterOptions options_;
  Processor processor_;
  Overlay by_label_, by_track_;
  MaskPainter masks_;
  Tensor canvas_;
  float scale_x_ = 1, scale_y_ = 1;  ///< from the upright image to the canvas
  std::vector<Detection> detections_, clipped_;
  std::vector<Track> tracks_;
  std::vector<std::uint64_t> track_ids_;
};

}  // namespace halyard::tool
