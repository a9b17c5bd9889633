// SPDX-License-Identifier: Apache-2.0
// Tiles for halyard/_tiling.py, whose value classes are passed as tuples of numbers.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "args.h"
#include "bindings.h"
#include "enums.h"
#include "halyard/compat/tile.h"
#include "kept.h"
#include "results/box_units.h"
#include "results/tiles.h"
#include "tensor/arrays.h"

namespace halyard::python {
namespace {

nb::tuple triple(std::span<const Detection> detections) {
  const DetectionArrays arrays = detection_arrays(detections);
  return nb::make_tuple(arrays.boxes, arrays.scores, arrays.classes);
}

Size tile_size_from(nb::handle width, const char* wide, nb::handle height, const char* high) {
  return {extent_from(width, wide), extent_from(height, high)};
}

nb::list tile_grid(nb::handle frame_w, nb::handle frame_h, nb::handle tile_w, nb::handle tile_h,
                   FloatArg<"overlap"> overlap) {
  const auto tiles =
      take(compat::tile_grid(tile_size_from(frame_w, "frame_w", frame_h, "frame_h"),
                             tile_size_from(tile_w, "tile_w", tile_h, "tile_h"), overlap));
  nb::list list;
  for (const auto& tile : tiles) {
    const Region& at = tile.source;
    list.append(nb::make_tuple(at.x, at.y, at.width, at.height, tile.index, tile.row, tile.col));
  }
  return list;
}

float float_of(nb::handle config, const char* attribute) {
  return static_cast<float>(
      number_from(config.attr(attribute), (std::string("cfg.") + attribute).c_str()));
}

compat::MergeConfig merge_config(nb::handle config) {
  return {.metric = enum_from<MergeMetric>(config.attr("metric"), "cfg.metric"),
          .threshold = float_of(config, "threshold"),
          .class_agnostic = truth_from(config.attr("class_agnostic")),
          .max_det = count_from(config.attr("max_det"), "cfg.max_det"),
          .score_threshold = float_of(config, "score_threshold")};
}

nb::tuple lift(nb::handle bbox, nb::handle scores, nb::handle classes, nb::handle placement,
               nb::handle input_dims) {
  std::vector<Detection> detections;
  std::vector<Detection> lifted;
  fractions_from(bbox, scores, classes, {}, input_dims, detections);
  compat::lift_tile_boxes(detections, placement_from(placement), lifted);
  return triple(lifted);
}

nb::tuple merge(nb::handle bbox, nb::handle scores, nb::handle classes, nb::handle config) {
  std::vector<Detection> detections;
  detections_from(bbox, scores, classes, {}, detections);
  const compat::MergeConfig options = merge_config(config);
  return triple(
      take(released([&] { return compat::merge_tiled_detections(detections, options); })));
}

// The reference's accumulator cannot be used after finalize().
struct PyAccumulator {
  std::optional<compat::TileAccumulator> value;
  compat::TileAccumulator& open() {
    if (!value) raise(Errc::cancelled, "the accumulator is finalized already");
    return *value;
  }
};

void add_pushing(nb::class_<PyAccumulator>& cls) {
  cls.def(
         "__init__",
         [](PyAccumulator* self, nb::handle frame_dims, nb::handle tiles_total, nb::handle cfg,
            nb::handle est_per_tile) {
           std::array<float, 2> frame{};
           floats_from(frame_dims, "frame_dims", frame);
           auto made = take(compat::TileAccumulator::create(
               frame, count_from(tiles_total, "tiles_total"), merge_config(cfg),
               count_from(est_per_tile, "est_per_tile")));
           new (self) PyAccumulator{std::move(made)};
         },
         nb::arg("frame_dims"), nb::arg("tiles_total"), nb::arg("cfg"),
         nb::arg("est_per_tile") = 16,
         nb::sig("def __init__(self, frame_dims: Sequence[float], tiles_total: int, cfg: "
                 "halyard._tiling.MergeConfig, est_per_tile: int = 16) -> None"),
         "Args:\n    frame_dims: (width, height) of the frame in pixels.\n"
         "    tiles_total: tiles of the frame.\n    cfg: a MergeConfig.\n"
         "    est_per_tile: detections of a tile for which memory is allocated at once.")
      .def(
          "push_tile",
          [](PyAccumulator& self, nb::handle bbox, nb::handle scores, nb::handle classes,
             nb::handle placement, nb::handle input_dims) {
            std::vector<Detection> detections;
            fractions_from(bbox, scores, classes, {}, input_dims, detections);
            // First, because Python code that runs in it may finalize the accumulator.
            const compat::TilePlacement where = placement_from(placement);
            return self.open().push_tile(detections, where);
          },
          nb::arg("bbox"), nb::arg("scores").none(), nb::arg("classes").none(),
          nb::arg("placement"), nb::arg("input_dims").none() = nb::none(),
          nb::sig("def push_tile(self, bbox: Any, scores: Any, classes: Any, placement: "
                  "halyard._tiling.TilePlacement, input_dims: tuple[int, int] | None = None) -> "
                  "bool"),
          "Adds the detections of one tile: the result of a Decoder, with None for scores and\n"
          "classes; or boxes (N, 4) in fractions of the network's input, or in its pixels if\n"
          "input_dims is given.\n\n"
          "False, with nothing changed, for a tile that was added before or is not of this frame.");
}

void add_merging(nb::class_<PyAccumulator>& cls) {
  cls.def(
         "is_complete", [](PyAccumulator& self) { return self.open().is_complete(); },
         "True if every tile was added.")
      .def(
          "remaining", [](PyAccumulator& self) { return self.open().remaining(); },
          "Count of tiles that are still missing.")
      .def(
          "finalize",
          [](PyAccumulator& self) {
            const auto found = self.open().finalize();
            self.value.reset();
            return triple(found);
          },
          "Merges the added tiles: (boxes, scores, classes), boxes in frame pixels, best first.")
      .def(
          "finalize_normalized",
          [](PyAccumulator& self) {
            const auto found = self.open().finalize_normalized();
            self.value.reset();
            return triple(found);
          },
          "The same with boxes in fractions of the frame.");
}

void bind_accumulator(nb::module_& m) {
  nb::class_<PyAccumulator> cls(
      m, "TiledFrameAccumulator",
      "Collects the detections of the tiles of one frame, in any order, and "
      "merges them.\nAny call after finalize() raises RuntimeError.");
  add_pushing(cls);
  add_merging(cls);
}

}  // namespace

compat::TilePlacement placement_from(nb::handle placement) {
  compat::TilePlacement made;
  if (!has_attribute(placement, "crop_size"))
    raise_wrong_type("placement", "a TilePlacement", placement);
  made.index = count_from(placement.attr("index"), "placement.index");
  made.count = count_from(placement.attr("count"), "placement.count");
  floats_from(placement.attr("origin"), "placement.origin", made.origin);
  floats_from(placement.attr("crop_size"), "placement.crop_size", made.crop_size);
  floats_from(placement.attr("frame_dims"), "placement.frame_dims", made.frame_dims);
  made.letterbox = letterbox_from(placement.attr("letterbox"));
  return made;
}

nb::list placement_list(std::span<const compat::TilePlacement> placements) {
  static PyObject* place = nullptr;
  const nb::handle make = kept_attribute(place, "halyard._tiling", "TilePlacement");
  nb::list list;
  for (const auto& tile : placements) {
    nb::object letterbox = nb::none();
    if (tile.letterbox) letterbox = nb::cast(*tile.letterbox);
    list.append(
        make(tile.index, tile.count, tile.origin, tile.crop_size, tile.frame_dims, letterbox));
  }
  return list;
}

compat::TilingConfig tiling_from(nb::handle config) {
  compat::TilingConfig made;
  if (!has_attribute(config, "tile_w")) raise_wrong_type("cfg", "a TilingConfig", config);
  made.tile =
      tile_size_from(config.attr("tile_w"), "cfg.tile_w", config.attr("tile_h"), "cfg.tile_h");
  made.overlap = float_of(config, "overlap");
  made.fit = enum_from<Fit>(config.attr("fit"), "cfg.fit");
  made.pad = color_from(config.attr("pad"), "cfg.pad");
  return made;
}

void bind_tiles(nb::module_& m) {
  m.def("_tile_grid", &tile_grid);
  m.def("_lift_tile_boxes", &lift, nb::arg("bbox"), nb::arg("scores").none(),
        nb::arg("classes").none(), nb::arg("placement"), nb::arg("input_dims").none());
  m.def("_merge_tiled_detections", &merge);
  bind_accumulator(m);
}

}  // namespace halyard::python
