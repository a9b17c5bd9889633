// SPDX-License-Identifier: Apache-2.0
// The C++ part of halyard.Overlay (python/halyard/_overlay.py): boxes, tags and trails, and maps of
// masks blended onto images.
#include <nanobind/stl/string.h>

#include <array>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "args.h"
#include "bindings.h"
#include "fork_mutex.h"
#include "halyard/draw.h"
#include "halyard/mask_draw.h"
#include "image/processor.h"
#include "tensor/arrays.h"
#include "tensor/tensor.h"

namespace halyard::python {
namespace {

constexpr std::size_t max_colors = 65536;
constexpr DetectionNames overlay_names{"detections.xyxy", "detections.confidence",
                                       "detections.class_id"};

struct OverlayCore {
  OverlayCore(Overlay made, ComputeBackend backend) : overlay(std::move(made)), painter(backend) {}
  Overlay overlay;
  MaskPainter painter;
  PyMutex mutex;
};

OverlayOptions options_from(nb::handle labels, nb::handle color_by, nb::handle line_px,
                            nb::handle text_px, nb::handle show_score, nb::handle trail_length,
                            nb::handle font) {
  OverlayOptions options;
  for_each_item(labels, "labels", "a list of class names", 100000, [&](nb::handle item, auto) {
    options.labels.push_back(text_from(item, "labels"));
  });
  const std::string by = text_from(color_by, "color_by");
  if (by != "class" && by != "track")
    raise(Errc::invalid_argument, "color_by: must be \"class\" or \"track\" (\"" + by + "\")");
  options.color_by = by == "track" ? ColorBy::track : ColorBy::label;
  options.line_px = int_from(line_px, "line_px");
  options.text_px = int_from(text_px, "text_px");
  options.show_score = truth_from(show_score);
  options.trail_length = size_from(trail_length, "trail_length");
  options.font = text_from(font, "font");
  return options;
}

void draw(OverlayCore& self, nb::handle picture, nb::handle boxes, nb::handle scores,
          nb::handle classes) {
  Tensor target = tensor_to_write(picture, "picture");
  std::vector<Detection> found;
  detections_from(boxes, scores, classes, overlay_names, found);
  check(released([&] {
    const std::lock_guard lock(self.mutex);
    return self.overlay.draw(target, found);
  }));
}

std::vector<std::int32_t> numbers_from(nb::handle values, const char* argument, std::size_t count) {
  const auto list = int_list_from(values, argument, count);
  if (list.size() != count)
    raise(Errc::invalid_argument, std::string(argument) + ": must have a value for each box");
  return list;
}

void draw_tracks(OverlayCore& self, nb::handle picture, nb::handle boxes, nb::handle scores,
                 nb::handle classes, nb::handle ids, nb::handle coasting) {
  Tensor target = tensor_to_write(picture, "picture");
  std::vector<Detection> found;
  detections_from(boxes, scores, classes, overlay_names, found);
  const auto numbers = numbers_from(ids, "tracker_id", found.size());
  const auto lost = numbers_from(coasting, "is_coasting", found.size());
  std::vector<Track> tracks(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    tracks[i].id = static_cast<std::uint64_t>(numbers[i]);
    tracks[i].box = found[i].box;
    tracks[i].score = found[i].score;
    tracks[i].label = found[i].label;
    tracks[i].detection = lost[i] != 0 ? -1 : static_cast<std::int32_t>(i);
    tracks[i].state = lost[i] != 0 ? TrackState::lost : TrackState::tracked;
  }
  check(released([&] {
    const std::lock_guard lock(self.mutex);
    return self.overlay.draw(target, tracks);
  }));
}

void text(OverlayCore& self, nb::handle picture, nb::handle x, nb::handle y, nb::handle line,
          nb::handle color) {
  Tensor target = tensor_to_write(picture, "picture");
  const Color background = drawn_color_from(color, "color");
  const std::string words = text_from(line, "text");
  const int left = int_from(x, "x"), top = int_from(y, "y");
  check(released([&] {
    const std::lock_guard lock(self.mutex);
    return self.overlay.text(target, left, top, words, background);
  }));
}

std::vector<Color> colors_from(nb::handle colors) {
  std::vector<Color> out;
  for_each_item(colors, "colors", "a list of colours, R G B A each", max_colors,
                [&](nb::handle item, auto) { out.push_back(drawn_color_from(item, "colors")); });
  return out;
}

// x and y of points, one after the other.
std::vector<Point> points_from(nb::handle numbers) {
  const auto flat = float_list_from(numbers, "points", std::size_t{8} * max_colors);
  std::vector<Point> out;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2)
    out.push_back({flat[i], flat[i + 1]});
  return out;
}

// Four points for each colour.
void outlines(OverlayCore& self, nb::handle picture, nb::handle numbers, nb::handle colors) {
  Tensor target = tensor_to_write(picture, "picture");
  const auto points = points_from(numbers);
  const auto inks = colors_from(colors);
  std::vector<std::array<Point, 4>> quads(points.size() / 4);
  for (std::size_t i = 0; i < 4 * quads.size(); ++i)
    quads[i / 4][i % 4] = points[i];
  check(released([&] {
    const std::lock_guard lock(self.mutex);
    return self.overlay.outlines(target, quads, inks);
  }));
}

void points(OverlayCore& self, nb::handle picture, nb::handle numbers, nb::handle colors) {
  Tensor target = tensor_to_write(picture, "picture");
  const auto places = points_from(numbers);
  const auto inks = colors_from(colors);
  check(released([&] {
    const std::lock_guard lock(self.mutex);
    return self.overlay.points(target, places, inks);
  }));
}

std::string explain_drawing(OverlayCore& self, nb::handle picture) {
  const Tensor target = tensor_to_write(picture, "picture");
  return take(released([&] {
    const std::lock_guard lock(self.mutex);
    return self.overlay.explain(target);
  }));
}

// Colour i is that of value i of the map; value 0 shows the image.
void paint(OverlayCore& self, nb::handle picture, nb::handle map, nb::handle colors,
           FloatArg<"opacity"> opacity) {
  Tensor target = tensor_to_write(picture, "picture");
  const Tensor values = tensor_to_read(map, "map");
  const auto palette = colors_from(colors);
  MaskDrawOptions options;
  options.opacity = opacity;
  options.palette = palette;
  options.ignored_label = 0;
  check(released([&] {
    const std::lock_guard lock(self.mutex);
    return self.painter.draw(target, values, options);
  }));
}

void bind_marks(nb::class_<OverlayCore>& core) {
  core.def("explain", &explain_drawing, nb::arg("picture"),
           nb::sig("def explain(self, picture: Any) -> str"))
      .def("text", &text, nb::arg("picture"), nb::arg("x"), nb::arg("y"), nb::arg("text"),
           nb::arg("color"),
           nb::sig("def text(self, picture: Any, x: int, y: int, text: str, color: Sequence[int]) "
                   "-> None"))
      .def("outlines", &outlines, nb::arg("picture"), nb::arg("points"), nb::arg("colors"),
           nb::sig("def outlines(self, picture: Any, points: Sequence[float], colors: "
                   "Sequence[Sequence[int]]) -> None"))
      .def("points", &points, nb::arg("picture"), nb::arg("points"), nb::arg("colors"),
           nb::sig("def points(self, picture: Any, points: Sequence[float], colors: "
                   "Sequence[Sequence[int]]) -> None"))
      .def("paint", &paint, nb::arg("picture"), nb::arg("map"), nb::arg("colors"),
           nb::arg("opacity"),
           nb::sig("def paint(self, picture: Any, map: Any, colors: Sequence[Sequence[int]], "
                   "opacity: float) -> None"));
}

}  // namespace

void bind_overlay(nb::module_& m) {
  m.def(
      "palette_color",
      [](nb::handle index) {
        const Color c = palette_color(size_from(index, "index"));
        return nb::make_tuple(c.r, c.g, c.b);
      },
      nb::arg("index"), nb::sig("def palette_color(index: int) -> tuple[int, int, int]"),
      "R, G, B of a class or track: the same index has the same colour.");
  nb::class_<OverlayCore> core(m, "_OverlayCore", "The C++ part of halyard.Overlay.");
  core.def(
          "__init__",
          [](OverlayCore* self, nb::handle labels, nb::handle color_by, nb::handle line_px,
             nb::handle text_px, nb::handle show_score, nb::handle trail_length, nb::handle font,
             nb::handle backend) {
            OverlayOptions options =
                options_from(labels, color_by, line_px, text_px, show_score, trail_length, font);
            options.backend = backend_from(backend);
            const ComputeBackend wanted = options.backend;
            new (self) OverlayCore(take(Overlay::create(std::move(options))), wanted);
          },
          nb::arg("labels"), nb::arg("color_by"), nb::arg("line_px"), nb::arg("text_px"),
          nb::arg("show_score"), nb::arg("trail_length"), nb::arg("font"), nb::arg("backend"),
          nb::sig("def __init__(self, labels: Sequence[str], color_by: str, line_px: int, text_px: "
                  "int, show_score: bool, trail_length: int, font: str, backend: str) -> None"))
      .def("draw", &draw, nb::arg("picture"), nb::arg("boxes"), nb::arg("scores"),
           nb::arg("classes"),
           nb::sig("def draw(self, picture: Any, boxes: Any, scores: Any, classes: Any) -> None"))
      .def("draw_tracks", &draw_tracks, nb::arg("picture"), nb::arg("boxes"), nb::arg("scores"),
           nb::arg("classes"), nb::arg("ids"), nb::arg("coasting"),
           nb::sig("def draw_tracks(self, picture: Any, boxes: Any, scores: Any, classes: Any, "
                   "ids: Sequence[int], coasting: Sequence[int]) -> None"));
  bind_marks(core);
}

}  // namespace halyard::python
