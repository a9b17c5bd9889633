// SPDX-License-Identifier: Apache-2.0
// ImageProcessor's calls that draw detections and make masks, and those for tiles.
#include "results/drawing.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "args.h"
#include "bindings.h"
#include "enums.h"
#include "image/processor.h"
#include "kept.h"
#include "results/any_tracker.h"
#include "results/box_units.h"
#include "results/decoder.h"
#include "results/tiles.h"
#include "results/tracks.h"
#include "tensor/array_view.h"
#include "tensor/arrays.h"
#include "tensor/tensor.h"
#include "words.h"

namespace halyard::python {
namespace {

using compat::Segmentation;

using Opacity = FloatArg<"opacity">;

// The painter takes at most this many colours of classes.
constexpr std::size_t max_class_colors = 20;

// The arguments of drawing; holds the background while it lives.
class Look {
 public:
  Look(nb::handle background, Opacity opacity, nb::handle letterbox, nb::handle color_mode) {
    const bool is_black =
        nb::isinstance<nb::str>(background) && text_from(background, "background") == "black";
    if (!background.is_none() && !is_black) background_ = tensor_to_read(background, "background");
    options_.background = background_ ? &*background_ : nullptr;
    options_.keep = background.is_none();
    options_.opacity = opacity;
    options_.letterbox = letterbox_from(letterbox);
    options_.color_mode = enum_from<ColorBy>(color_mode, "color_mode");
  }
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;
  const compat::DrawOptions& options() const { return options_; }
  void set_batch(std::size_t batch) { options_.batch = batch; }

 private:
  std::optional<Tensor> background_;
  compat::DrawOptions options_;
};

// Masks passed as arrays, read in place; arrays that are not in C order are copied.
class Masks {
 public:
  Masks(nb::handle seg, std::span<const Detection> boxes) {
    if (seg.is_none()) return;
    if (!PyList_Check(seg.ptr()) && !PyTuple_Check(seg.ptr()))
      raise_wrong_type("seg", "a list of uint8 arrays", seg);
    // All arrays are made first, from a copy of the list: this may run Python code.
    const nb::object fixed = nb::steal(PySequence_Tuple(seg.ptr()));
    if (!fixed.is_valid()) throw nb::python_error();
    std::vector<nb::object> arrays;
    for (const nb::handle item : fixed)
      arrays.push_back(contiguous(item));
    for (const nb::object& array : arrays)
      add(array, boxes);
  }
  Masks(const Masks&) = delete;
  Masks& operator=(const Masks&) = delete;
  std::span<const Segmentation> views() const { return views_; }

 private:
  void add(const nb::object& array, std::span<const Detection> boxes) {
    ArrayView& view = held_.emplace_back();
    if (!view.open(array, "seg", ArrayUse::read) || view.rank() != 3 || view.dtype() != DType::u8 ||
        !view.is_contiguous())
      throw nb::type_error("seg: must be a list of uint8 arrays (h, w, channels)");
    Segmentation mask{.box = {},
                      .height = view.extent(0),
                      .width = view.extent(1),
                      .channels = view.extent(2),
                      .data = reinterpret_cast<const std::uint8_t*>(view.data())};
    const std::size_t i = views_.size();
    mask.box = mask.channels == 1 && i < boxes.size() ? boxes[i].box : Box{0, 0, 1, 1};
    views_.push_back(mask);
  }
  static nb::object contiguous(nb::handle item) {
    static PyObject* place = nullptr;
    const nb::handle convert = kept_attribute(place, "numpy", "ascontiguousarray");
    // NumPy trusts a buffer's description, so it is checked first.
    ArrayView view;
    if (view.open(item, "seg", ArrayUse::read) && view.is_contiguous()) return nb::borrow(item);
    return convert(item);
  }
  std::deque<ArrayView> held_;
  std::vector<Segmentation> views_;
};

void draw_decoded(PyProcessor& self, nb::handle dst, nb::handle bbox, nb::handle scores,
                  nb::handle classes, nb::handle seg, nb::handle background, Opacity opacity,
                  nb::handle letterbox, nb::handle color_mode, nb::handle input_dims) {
  Tensor image = tensor_to_write(dst, "dst");
  std::vector<Detection> boxes;
  fractions_from(bbox, scores, classes, {}, input_dims, boxes);
  const Look look(background, opacity, letterbox, color_mode);
  const nb::object shown = seg.is_none() && is_result(bbox) ? masks_of(bbox) : nb::borrow(seg);
  const Masks masks(shown, boxes);
  check(released([&] {
    const std::lock_guard lock(self.painter.mutex);
    return self.painter.value.draw_decoded_masks(image, boxes, masks.views(), look.options());
  }));
}

nb::object draw_masks(PyProcessor& self, PyDecoder& decoder, nb::handle model_output,
                      nb::handle dst, nb::handle tracker, nb::handle timestamp,
                      nb::handle background, Opacity opacity, nb::handle letterbox,
                      nb::handle color_mode, nb::handle batch) {
  const auto outputs = outputs_from(model_output);
  Tensor image = tensor_to_write(dst, "dst");
  Look look(background, opacity, letterbox, color_mode);
  look.set_batch(batch_element(decoder, outputs, batch));
  std::optional<TrackerArg> tracks;
  if (!tracker.is_none()) tracks.emplace(tracker, timestamp);
  std::vector<Detection> found;
  std::vector<compat::TrackInfo> infos;
  check(released([&] {
    const std::shared_lock settings(decoder.settings);
    const std::lock_guard lock(self.painter.mutex);
    auto& painter = self.painter.value;
    if (!tracks) return painter.draw_masks(decoder.value, outputs, image, found, look.options());
    return tracks->follow([&](auto& each, std::uint64_t when) {
      return painter.draw_masks_tracked(decoder.value, each, when, outputs, image, found, infos,
                                        look.options());
    });
  }));
  const DetectionArrays arrays = detection_arrays(found);
  if (!tracks) return nb::make_tuple(arrays.boxes, arrays.scores, arrays.classes);
  return nb::make_tuple(arrays.boxes, arrays.scores, arrays.classes, track_list(infos));
}

compat::MaskResolution resolution_from(nb::handle resolution) {
  if (resolution.is_none()) return {};
  if (!has_attribute(resolution, "is_proto"))
    raise_wrong_type("resolution", "a MaskResolution", resolution);
  if (truth_from(resolution.attr("is_proto"))) return {};
  return {.scaled = Size{int_from(resolution.attr("width"), "resolution.width"),
                         int_from(resolution.attr("height"), "resolution.height")}};
}

// The processor's list of masks, lent to one call so that the next one reuses its memory; returned
// however the call ends. A call that finds it lent uses its own list.
class MaskLoan {
 public:
  explicit MaskLoan(PyPainter& of) : of_(of) {}
  MaskLoan(const MaskLoan&) = delete;
  MaskLoan& operator=(const MaskLoan&) = delete;
  ~MaskLoan() {
    // Python's lock is held here, so this must not wait: if another call works, memory is freed.
    if (const std::unique_lock lock(of_.mutex, std::try_to_lock); lock)
      of_.masks = std::move(masks_);
  }
  /// With the painter's mutex held.
  void take() { masks_ = std::move(of_.masks); }
  compat::SegmentationList& operator*() { return masks_; }
  compat::SegmentationList* operator->() { return &masks_; }

 private:
  PyPainter& of_;
  compat::SegmentationList masks_;
};

nb::list materialize(PyProcessor& self, nb::handle bbox, nb::handle scores, nb::handle classes,
                     PyProtoData& protos, nb::handle letterbox, nb::handle resolution) {
  std::vector<Detection> boxes;
  detections_from(bbox, scores, classes, {}, boxes);
  const auto content = letterbox_from(letterbox);
  const auto wanted = resolution_from(resolution);
  MaskLoan masks(self.painter);
  check(released([&] {
    const std::lock_guard taking(protos.mutex);
    const std::lock_guard lock(self.painter.mutex);
    masks.take();
    return self.painter.value.materialize_masks(boxes, protos.value, content, wanted, *masks);
  }));
  return mask_list(masks->views());
}

void set_class_colors(PyProcessor& self, const nb::object& colors) {
  std::vector<Color> palette;
  for_each_item(colors, "colors", "a sequence of colours, R G B A each", max_class_colors,
                [&](nb::handle color, std::size_t) {
                  if (!has_attribute(color, "__iter__"))
                    raise(Errc::invalid_argument, "colors: must be four numbers each: R, G, B, A");
                  palette.push_back(drawn_color_from(color, "colors"));
                });
  check(released([&] {
    const std::lock_guard lock(self.painter.mutex);
    return self.painter.value.set_class_colors(palette);
  }));
}

void set_int8_interpolation(PyProcessor&, nb::handle given) {
  constexpr Word<bool> words[] = {{"nearest", true}, {"bilinear", true}, {"twopass", true}};
  word_from(given, "mode", "interpolation", words);
}

// Adds a method to a class that another file has made.
template <class F, class... Extra>
void method(nb::handle type, const char* name, F&& f, const Extra&... extra) {
  nb::cpp_function_def(std::forward<F>(f), nb::scope(type), nb::name(name), nb::is_method(),
                       extra...);
}

void def_drawing(nb::handle type) {
  method(
      type, "draw_decoded_masks", &draw_decoded, nb::arg("dst"), nb::arg("bbox"),
      nb::arg("scores").none() = nb::none(), nb::arg("classes").none() = nb::none(),
      nb::arg("seg").none() = nb::none(), nb::arg("background").none() = nb::none(),
      nb::arg("opacity") = 1.0F, nb::arg("letterbox").none() = nb::none(),
      nb::arg("color_mode") = enum_to(ColorBy::label), nb::arg("input_dims").none() = nb::none(),
      nb::sig(
          "def draw_decoded_masks(self, dst: Tensor, bbox: Any, scores: Any = None, classes: "
          "Any = None, seg: Sequence[Any] | None = None, background: Any | None = None, "
          "opacity: float = 1.0, letterbox: Sequence[float] | None = None, color_mode: "
          "ColorModeLike = ColorMode.Class, input_dims: tuple[int, int] | None = None) -> None"),
      "Draws boxes and masks.\n\n"
      "Args:\n    dst: uint8 image: Rgb, Rgba, Bgra or Bgr.\n"
      "    bbox: the result of a Decoder, with scores, classes and masks; or (N, 4) fractions of\n"
      "        the network's input, or its pixels if input_dims is given.\n"
      "    scores, classes: (N,), (N,); None: those of bbox.\n"
      "    seg: list of uint8 (h, w, 1), one for a box and at most N; or one (h, w, classes)\n"
      "        of the whole image.\n"
      "    background: image of dst's size and format to draw over; None: dst as it is;\n"
      "        \"black\": black, alpha 0.\n"
      "    opacity: of masks, clamped to 0..1.\n"
      "    letterbox: left, top, right, bottom of the part of the input that shows the\n"
      "        image, in fractions: Placement.letterbox.\n"
      "    color_mode: what determines a colour.\n"
      "    input_dims: (width, height) of the network's input.\n\n"
      "Raises ValueError for boxes that are not fractions and whose input is not known.");
}

void def_drawing_of_outputs(nb::handle type) {
  method(
      type, "draw_masks", &draw_masks, nb::arg("decoder"), nb::arg("model_output"), nb::arg("dst"),
      nb::arg("tracker").none() = nb::none(), nb::arg("timestamp").none() = nb::none(),
      nb::arg("background").none() = nb::none(), nb::arg("opacity") = 1.0F,
      nb::arg("letterbox").none() = nb::none(), nb::arg("color_mode") = enum_to(ColorBy::label),
      nb::arg("batch").none() = nb::none(),
      nb::sig("def draw_masks(self, decoder: Decoder, model_output: Sequence[Any], dst: Tensor, "
              "tracker: halyard._tracking.AnyTracker | None = None, timestamp: int | None = None, "
              "background: Any | None = None, opacity: float = 1.0, letterbox: Sequence[float] | "
              "None = None, color_mode: "
              "ColorModeLike = ColorMode.Class, batch: int | None = None) -> tuple[Any, ...]"),
      "Decodes a model's outputs and draws what they hold, in one go: masks, outlines of boxes,\n"
      "rotated boxes with their angle, keypoints of visibility 0.5 and more.\n"
      "\nArgs:\n    decoder, model_output: as Decoder.decode takes them.\n"
      "    tracker: of any kind, to update with this frame of time `timestamp` in ns; None: the "
      "next\n"
      "        frame of a Tracker, of the others now.\n"
      "    batch: the element of the batch; None if the outputs hold one.\n"
      "    The others are those of draw_decoded_masks.\n\n"
      "Returns (boxes, scores, classes), with a tracker also the list of TrackInfo.");
}

void def_masks(nb::handle type) {
  method(type, "materialize_masks", &materialize, nb::arg("bbox"), nb::arg("scores"),
         nb::arg("classes"), nb::arg("proto_data"), nb::arg("letterbox").none() = nb::none(),
         nb::arg("resolution").none() = nb::none(),
         nb::sig("def materialize_masks(self, bbox: Any, scores: Any, classes: Any, proto_data: "
                 "ProtoData, letterbox: Sequence[float] | None = None, resolution: "
                 "halyard._masks.MaskResolution | None = None) -> list[Any]"),
         "Masks from prototypes: a list of uint8 (h, w, 1), one for a box, of 0 and 255.\n\n"
         "Args:\n    bbox, scores, classes, proto_data: as Decoder.decode_proto gives them.\n"
         "    letterbox: the part of the network's input that shows the image, in fractions.\n"
         "    resolution: a MaskResolution; None: Proto().\n\n"
         "Raises ValueError if the counts of coefficients and boxes differ.");
  method(type, "set_class_colors", &set_class_colors, nb::arg("colors"),
         nb::sig("def set_class_colors(self, colors: Sequence[Sequence[int]]) -> None"),
         "Colours of classes, R, G, B, A of 0..255 each; only the first 20 are used.");
  method(type, "set_int8_interpolation", &set_int8_interpolation, nb::arg("mode"),
         nb::sig("def set_int8_interpolation(self, mode: Literal['nearest', 'bilinear', "
                 "'twopass']) -> None"),
         "Takes \"nearest\", \"bilinear\" and \"twopass\", and changes nothing: masks of int8\n"
         "prototypes are always sampled as those of floats.");
}

nb::object alloc_batch(nb::handle self, nb::handle n, nb::handle cfg, nb::handle format,
                       nb::handle dtype, nb::handle memory, nb::handle access) {
  const Size tile = tiling_from(cfg).tile;
  const std::uint64_t count = count_from(n, "n");
  if (count == 0 || count > 65536)
    raise(Errc::invalid_argument, "n: must be in 1..65536 (" + std::to_string(count) + ")");
  const std::uint64_t height = count * static_cast<std::uint64_t>(tile.height);
  if (memory.is_none()) return self.attr("create_image")(tile.width, height, format, dtype, access);
  const bool is_reference = nb::isinstance<PyReferenceProcessor>(self);
  const nb::handle made = is_reference ? nb::type<PyReferenceTensor>() : nb::type<PyNativeTensor>();
  return made.attr("image")(tile.width, height, format, memory, access, dtype);
}

nb::list tile_into(PyProcessor& self, nb::handle src, nb::handle batch, nb::handle cfg) {
  const Tensor source = tensor_to_read(src, "src");
  const Tensor into = tensor_to_write(batch, "dst_batched");
  const auto tiling = tiling_from(cfg);
  return placement_list(take(with_processor(self, SIZE_MAX, [&](Processor& processor) {
    return compat::tile_into(processor, source, into, tiling);
  })));
}

void def_planning(nb::handle type) {
  method(type, "alloc_tile_batch", &alloc_batch, nb::arg("n"), nb::arg("cfg"),
         nb::arg("format") = enum_to(PixelFormat::rgba), nb::arg("dtype") = "uint8",
         nb::arg("memory").none() = nb::none(), nb::arg("access") = "none",
         nb::sig("def alloc_tile_batch(self, n: int, cfg: halyard._tiling.TilingConfig, format: "
                 "PixelFormatLike = PixelFormat.Rgba, dtype: DTypeLike = 'uint8', memory: "
                 "TensorMemoryLike | None = None, access: Literal['none', 'read', 'write', "
                 "'readwrite'] = 'none') -> Tensor"),
         "An image for n tiles, one below the other: tile_w x (n * tile_h) pixels.\n\n"
         "The other arguments are those of create_image; memory None: the most suitable.");
  method(
      type, "plan_tiles",
      [](PyProcessor&, nb::handle width, nb::handle height, nb::handle cfg) {
        const Size frame{extent_from(width, "width"), extent_from(height, "height")};
        return placement_list(take(compat::plan_tiles(frame, tiling_from(cfg))));
      },
      nb::arg("width"), nb::arg("height"), nb::arg("cfg"),
      nb::sig("def plan_tiles(self, width: int, height: int, cfg: halyard._tiling.TilingConfig) "
              "-> list[halyard._tiling.TilePlacement]"),
      "The placements of the tiles of a frame of width x height pixels; reads no pixel.");
  method(type, "tile_into", &tile_into, nb::arg("src"), nb::arg("dst_batched"), nb::arg("cfg"),
         nb::sig("def tile_into(self, src: Any, dst_batched: Tensor, cfg: "
                 "halyard._tiling.TilingConfig) -> list[halyard._tiling.TilePlacement]"),
         "Renders every tile of src into an image of alloc_tile_batch, from the top.\n\n"
         "Returns their placements. Raises ValueError if the image is too short.");
}

void def_tiles(nb::handle type) {
  method(
      type, "tile_one",
      [](PyProcessor& self, nb::handle src, nb::handle slot, nb::handle placement,
         nb::handle config) {
        const Tensor source = tensor_to_read(src, "src");
        const Tensor into = tensor_to_write(slot, "dst_slot");
        const auto where = placement_from(placement);
        const auto tiling = tiling_from(config);
        check(with_processor(self, SIZE_MAX, [&](Processor& processor) {
          return compat::tile_one(processor, source, into, where, tiling);
        }));
      },
      nb::arg("src"), nb::arg("dst_slot"), nb::arg("placement"), nb::arg("cfg"),
      nb::sig("def tile_one(self, src: Any, dst_slot: Tensor, placement: "
              "halyard._tiling.TilePlacement, cfg: halyard._tiling.TilingConfig) -> None"),
      "Renders one tile of src into an image of the tile's size.\n\n"
      "Raises ValueError if the placement is not in src at whole pixels.");
}

}  // namespace

void bind_drawing(nb::module_& m) {
  const nb::object type = m.attr("ImageProcessor");
  def_drawing(type);
  def_drawing_of_outputs(type);
  def_masks(type);
  def_planning(type);
  def_tiles(type);
}

}  // namespace halyard::python
