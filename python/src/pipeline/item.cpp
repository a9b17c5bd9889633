// SPDX-License-Identifier: Apache-2.0
#include "pipeline/item.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "args.h"
#include "halyard/compat/decode.h"
#include "image/processor.h"
#include "results/any_tracker.h"
#include "results/decoder.h"
#include "tensor/arrays.h"
#include "tensor/tensor.h"

namespace halyard::python {

nb::object exception_of(const Error& error) {
  try {
    raise(error);
  } catch (nb::python_error& raised) {
    return nb::borrow(raised.value());
  }
}

namespace {

PipelineFrame& frame_of(const PyItem& self) {
  if (self.frame == nullptr)
    raise(Errc::cancelled, "result: its frame belongs to the pipeline again");
  return *self.frame;
}

const ModelResult& model_of(const PyItem& self, nb::handle model) {
  const PipelineFrame& frame = frame_of(self);
  const std::size_t index = count_from(model, "model");
  if (index >= frame.models.size())
    raise(Errc::invalid_argument, "model: must be below " + std::to_string(frame.models.size()));
  return frame.models[index];
}

nb::tuple frame_tuple(const PyItem& self) {
  const Frame& frame = frame_of(self).frame;
  return nb::make_tuple(tensor_result(Tensor(frame.image)),
                        nb::steal(PyUnicode_DecodeFSDefault(frame.source.c_str())), frame.index,
                        frame.timestamp.count());
}

nb::object drawn_of(const PyItem& self) {
  const Tensor& drawn = frame_of(self).drawn;
  return drawn.is_empty() ? nb::none() : tensor_result(Tensor(drawn));
}

double milliseconds_of(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

nb::list times_of(const PyItem& self) {
  nb::list list;
  for (const StageTime& time : frame_of(self).times)
    list.append(nb::make_tuple(str_of(time.stage), milliseconds_of(time.start),
                               milliseconds_of(time.duration)));
  return list;
}

Status take_masks(const Decoded& decoded, compat::Found& found) {
  MaskSet masks;
  HALYARD_RETURN_IF_ERROR(materialize(decoded.masks, decoded.detections,
                                      {.rule = MaskRule::probability, .size = {}, .content = {}},
                                      masks));
  found.segmentations.assign(masks);
  return {};
}

// What a Decoder gives for the same outputs.
nb::object detections_of(const PyItem& self, nb::handle model) {
  const ModelResult& result = model_of(self, model);
  const PipelineFacts::Model& facts = self.facts->models[count_from(model, "model")];
  const Decoded& decoded = result.decoded;
  compat::Found found;
  if (facts.is_tiled) {
    found.boxes = result.detections;
  } else {
    if (facts.has_instances && !decoded.detections.empty())
      check(released([&] { return take_masks(decoded, found); }));
    found.boxes = decoded.detections;
    found.rotated = decoded.rotated;
    found.is_rotated = facts.has_angles;
    found.keypoints = decoded.keypoints;
    found.keypoints_each = decoded.keypoints_each;
    found.classes = decoded.classes;
  }
  return detections_result(found, {.is_normalized = false,
                                   .input = result.placement.destination(),
                                   .has_instances = facts.has_instances && !facts.is_tiled});
}

nb::object placement_of(const PyItem& self, nb::handle model) {
  const ModelResult& result = model_of(self, model);
  if (result.placement.source() == Size{}) return nb::none();
  return placement_result(result.placement);
}

nb::object tracks_of(const PyItem& self, nb::handle model) {
  if (!self.facts->has_tracker) return nb::none();
  const ModelResult& result = model_of(self, model);
  std::vector<Track> tracks = result.tracks;
  if (result.is_skipped)
    for (Track& track : tracks)
      track.detection = -1;
  const std::size_t seed =
      self.frame->source * self.facts->models.size() + count_from(model, "model");
  return track_arrays(tracks, self.facts->seeds[seed]);
}

}  // namespace

void bind_pipeline_item(nb::module_& m) {
  nb::class_<PyItem>(m, "_PipelineItem", "The C++ part of halyard.PipelineResult.")
      .def_prop_ro(
          "source", [](const PyItem& self) { return frame_of(self).source; },
          nb::sig("def source(self) -> int"))
      .def_prop_ro(
          "ordinal", [](const PyItem& self) { return frame_of(self).ordinal; },
          nb::sig("def ordinal(self) -> int"))
      .def_prop_ro("frame", &frame_tuple,
                   nb::sig("def frame(self) -> tuple[Tensor, str, int, int]"))
      .def_prop_ro("drawn", &drawn_of, nb::sig("def drawn(self) -> Tensor | None"))
      .def_prop_ro("times", &times_of, nb::sig("def times(self) -> list[tuple[str, float, float]]"))
      .def_prop_ro(
          "error",
          [](const PyItem& self) -> nb::object {
            const auto& error = frame_of(self).error;
            return error ? exception_of(*error) : nb::none();
          },
          nb::sig("def error(self) -> Exception | None"))
      .def_prop_ro(
          "failed_stage", [](const PyItem& self) { return str_of(frame_of(self).failed_stage); },
          nb::sig("def failed_stage(self) -> str"))
      .def(
          "is_skipped",
          [](const PyItem& self, nb::handle model) { return model_of(self, model).is_skipped; },
          nb::arg("model"), nb::sig("def is_skipped(self, model: int) -> bool"))
      .def("detections", &detections_of, nb::arg("model"),
           nb::sig("def detections(self, model: int) -> halyard._detections.Detections"))
      .def("placement", &placement_of, nb::arg("model"),
           nb::sig("def placement(self, model: int) -> Placement | None"))
      .def("tracks", &tracks_of, nb::arg("model"),
           nb::sig("def tracks(self, model: int) -> tuple[Any, Any, Any, Any, list[str], Any] | "
                   "None"))
      .def(
          "release", [](PyItem& self) { self.release(); }, nb::sig("def release(self) -> None"),
          "Gives the frame back.");
}

}  // namespace halyard::python
