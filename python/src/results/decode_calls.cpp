// SPDX-License-Identifier: Apache-2.0
// Decoder's calls: from a model's outputs to boxes, scores, classes, masks and other results.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "args.h"
#include "kept.h"
#include "results/any_tracker.h"
#include "results/decoder.h"
#include "results/tracks.h"
#include "tensor/arrays.h"
#include "tensor/tensor.h"

namespace halyard::python {
namespace {

// Results of a decode, lent from the decoder so that the next frame reuses their memory. Made and
// destroyed with the interpreter's lock held.
class Loan {
 public:
  explicit Loan(PyDecoder& of) : of_(of) {
    of.spare.reserve(max_spare);  // so that giving back cannot fail
    if (of.spare.empty()) {
      found_ = std::make_unique<compat::Found>();
    } else {
      found_ = std::move(of.spare.back());
      of.spare.pop_back();
    }
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    if (of_.spare.size() < max_spare) of_.spare.push_back(std::move(found_));
  }
  compat::Found& operator*() const { return *found_; }
  compat::Found* operator->() const { return found_.get(); }

 private:
  static constexpr std::size_t max_spare = 4;
  PyDecoder& of_;
  std::unique_ptr<compat::Found> found_;
};

// (N, K, 3): x, y, visibility.
nb::object points_array(const compat::Found& found) {
  const std::size_t each = found.keypoints_each;
  void* at = nullptr;
  nb::object array = new_array(
      ArrayType::f32, std::array<std::size_t, 3>{found.keypoints.size() / each, each, 3}, &at);
  auto* to = static_cast<float*>(at);
  for (const Keypoint& point : found.keypoints) {
    *to++ = point.at.x;
    *to++ = point.at.y;
    *to++ = point.score;
  }
  return array;
}

// (N, 5): centre, width, height, angle.
nb::object rotated_array(const std::vector<RotatedBox>& boxes) {
  void* at = nullptr;
  nb::object array = new_array(ArrayType::f32, std::array<std::size_t, 2>{boxes.size(), 5}, &at);
  auto* to = static_cast<float*>(at);
  for (const RotatedBox& box : boxes)
    for (const float v : {box.cx, box.cy, box.width, box.height, box.angle})
      *to++ = v;
  return array;
}

// Classes of the image and their scores.
std::pair<nb::object, nb::object> class_arrays(const std::vector<ClassScore>& found) {
  void* at = nullptr;
  const std::array<std::size_t, 1> shape{found.size()};
  nb::object labels = new_array(ArrayType::uintp, shape, &at);
  auto* label = static_cast<std::size_t*>(at);
  for (const ClassScore& each : found)
    *label++ = static_cast<std::size_t>(each.label);
  nb::object scores = new_array(ArrayType::f32, shape, &at);
  auto* score = static_cast<float*>(at);
  for (const ClassScore& each : found)
    *score++ = each.score;
  return {std::move(labels), std::move(scores)};
}

// The area of the bytes of each instance mask, in the unit of boxes.
nb::object mask_boxes(const DecodeFacts& facts, std::span<const compat::Segmentation> masks) {
  const Size size =
      facts.is_normalized.value_or(true) ? Size{1, 1} : facts.input.value_or(Size{1, 1});
  std::vector<Detection> covered;
  const auto width = static_cast<float>(size.width), height = static_cast<float>(size.height);
  for (const auto& [box, rows, columns, channels, data] : masks)
    covered.push_back({{box.x1 * width, box.y1 * height, box.x2 * width, box.y2 * height}});
  return detection_arrays(covered).boxes;
}

// Made once: a network may have thousands of names.
nb::object names_of(PyDecoder& decoder) {
  if (decoder.names.is_valid()) return decoder.names;
  const nb::list labels = labels_of(decoder);
  decoder.names = nb::len(labels) == 0 ? nb::none() : nb::object(nb::tuple(labels));
  return decoder.names;
}

DecodeFacts facts_of(PyDecoder& decoder) {
  const ModelDescription& description = decoder.value.description();
  return {.is_normalized = decoder.value.normalized_boxes(),
          .input = decoder.value.input_dims(),
          .has_instances = has_instances(description),
          .names = names_of(decoder)};
}

// The unit of a result, and values that heads give beside boxes.
nb::object completed(nb::object result, PyDecoder& decoder, const compat::Found& found) {
  const DecodeFacts facts = facts_of(decoder);
  if (const auto normalized = facts.is_normalized)
    result.attr("unit") = *normalized ? "fractions" : "pixels";
  if (const auto size = facts.input)
    result.attr("input_dims") = nb::make_tuple(size->width, size->height);
  if (facts.has_instances)
    result.attr("mask_boxes") = mask_boxes(facts, found.segmentations.views());
  if (found.keypoints_each != 0) result.attr("keypoints") = points_array(found);
  if (found.is_rotated) result.attr("rotated") = rotated_array(found.rotated);
  if (!found.classes.empty()) {
    const auto [labels, scores] = class_arrays(found.classes);
    result.attr("top_classes") = labels;
    result.attr("top_scores") = scores;
  }
  return result;
}

bool is_native(const PyDecoder& decoder) {
  return decoder.value.options().convention == compat::Convention::native;
}

nb::object decode_one(PyDecoder& self, std::span<const Tensor> outputs, std::size_t maximum,
                      std::size_t batch) {
  const Loan found(self);
  check(released([&] {
    const std::shared_lock lock(self.settings);
    return self.value.decode(outputs, *found, maximum, batch);
  }));
  if (is_native(self)) return detections_result(*found, facts_of(self));
  static PyObject* place = nullptr;
  const nb::handle result = kept_attribute(place, "halyard._results", "Detections");
  const DetectionArrays arrays = detection_arrays(found->boxes);
  return completed(
      result(arrays.boxes, arrays.scores, arrays.classes, mask_list(found->segmentations.views())),
      self, *found);
}

nb::object decode_proto_one(PyDecoder& self, std::span<const Tensor> outputs, std::size_t maximum,
                            std::size_t batch) {
  static PyObject* place = nullptr;
  const nb::handle result = kept_attribute(place, "halyard._results", "ProtoDetections");
  const Loan found(self);
  std::optional<compat::ProtoData> protos;
  check(released([&] {
    const std::shared_lock lock(self.settings);
    return self.value.decode_proto(outputs, *found, protos, maximum, batch);
  }));
  const DetectionArrays arrays = detection_arrays(found->boxes);
  nb::object data = nb::none();
  if (protos)
    data = make_instance<PyProtoData>(
        *std::move(protos), self.value.options().convention == compat::Convention::reference);
  return completed(result(arrays.boxes, arrays.scores, arrays.classes, data), self, *found);
}

nb::object decode_tracked_one(PyDecoder& self, TrackerArg& tracker, std::span<const Tensor> outputs,
                              std::size_t maximum, std::size_t batch) {
  static PyObject* place = nullptr;
  const nb::handle result = kept_attribute(place, "halyard._results", "TrackedDetections");
  const Loan found(self);
  check(released([&] {
    const std::shared_lock lock(self.settings);
    return tracker.follow([&](auto& each, std::uint64_t when) {
      return self.value.decode_tracked(each, when, outputs, *found, maximum, batch);
    });
  }));
  const DetectionArrays arrays = detection_arrays(found->boxes);
  return completed(result(arrays.boxes, arrays.scores, arrays.classes,
                          mask_list(found->segmentations.views()), track_list(found->tracks)),
                   self, *found);
}

// The maximum number of boxes of a call; None: max_det.
std::size_t max_from(nb::handle max_boxes) {
  return max_boxes.is_none() ? SIZE_MAX : count_from(max_boxes, "max_boxes");
}

// One result; for a batch of several a list with one for each element.
template <class F>
nb::object each_element(const PyDecoder& self, std::span<const Tensor> outputs, nb::handle batch,
                        F&& decode_outputs) {
  if (!batch.is_none()) return decode_outputs(count_from(batch, "batch"));
  const std::size_t count = take(self.value.batch_size(outputs));
  if (count <= 1) return decode_outputs(0);
  nb::list results;
  for (std::size_t i = 0; i < count; ++i)
    results.append(decode_outputs(i));
  return results;
}

nb::object decode_outputs(PyDecoder& self, nb::handle model_output, nb::handle max_boxes,
                          nb::handle batch) {
  const std::size_t maximum = max_from(max_boxes);
  const auto outputs = outputs_from(model_output);
  return each_element(self, outputs, batch,
                      [&](std::size_t i) { return decode_one(self, outputs, maximum, i); });
}

nb::object decode_proto(PyDecoder& self, nb::handle model_output, nb::handle max_boxes,
                        nb::handle batch) {
  const std::size_t maximum = max_from(max_boxes);
  const auto outputs = outputs_from(model_output);
  return each_element(self, outputs, batch,
                      [&](std::size_t i) { return decode_proto_one(self, outputs, maximum, i); });
}

nb::object decode_tracked_reference(PyDecoder& self, nb::handle tracker, nb::handle timestamp,
                                    nb::handle model_output, nb::handle max_boxes,
                                    nb::handle batch) {
  TrackerArg follower(tracker, timestamp);
  const std::size_t maximum = max_from(max_boxes);
  const auto outputs = outputs_from(model_output);
  const std::size_t element = batch_element(self, outputs, batch);
  return decode_tracked_one(self, follower, outputs, maximum, element);
}

// Updates a tracker of any kind with the decoder's detections.
nb::object decode_tracked(PyDecoder& self, nb::handle tracker, nb::handle timestamp,
                          nb::handle model_output, nb::handle max_boxes, nb::handle batch,
                          nb::handle coasting) {
  static PyObject* place = nullptr;
  const nb::handle follow = kept_attribute(place, "halyard._tracking", "follow");
  const auto outputs = outputs_from(model_output);
  const std::size_t element = batch_element(self, outputs, batch);
  const nb::object found = decode_one(self, outputs, SIZE_MAX, element);
  const nb::object seen = follow(tracker, found, timestamp, coasting);
  return max_boxes.is_none() ? seen : seen[nb::slice(nb::none(), max_boxes, nb::none())];
}

// The reference decodes only element 0; here a warning reports it.
void warn_of_batch(const PyDecoder& self, std::span<const Tensor> outputs) {
  const std::size_t count = take(self.value.batch_size(outputs));
  if (count <= 1 || count != self.value.described_batch()) return;
  const std::string text = "model_output: element 0 of a batch of " + std::to_string(count) +
                           " is decoded, as EdgeFirst HAL does; halyard.Decoder decodes them all";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw nb::python_error();
}

constexpr const char* decode_doc =
    "Decodes the outputs of one frame, or of a batch of them.\n\n"
    "Args:\n    model_output: list or tuple with a tensor for each output: Tensor, NumPy array or\n"
    "        anything with a buffer or DLPack on the CPU; read without a copy.\n"
    "    max_boxes: maximum number of boxes; None: max_det.\n"
    "    batch: the element of the batch; None: all of them.\n\n"
    "Returns Detections; for a batch of several a list with one for each element.\n"
    "Raises TypeError (not a tensor) and RuntimeError (shapes, dtypes, quantization).";

}  // namespace

bool has_instances(const ModelDescription& description) {
  const auto& outputs = description.outputs;
  return std::any_of(outputs.begin(), outputs.end(), [](const OutputDescription& output) {
    return output.role == OutputRole::prototypes;
  });
}

nb::object detections_result(const compat::Found& found, const DecodeFacts& facts) {
  static PyObject* place = nullptr;
  const nb::handle make = kept_attribute(place, "halyard._detections", "decoded");
  const DetectionArrays arrays = detection_arrays(found.boxes);
  nb::dict also;
  also["boxes"] = arrays.boxes;
  also["scores"] = arrays.scores;
  also["classes"] = arrays.classes;
  also["masks"] = mask_list(found.segmentations.views());
  also["names"] = facts.names;
  also["unit"] = facts.is_normalized
                     ? nb::object(nb::str(*facts.is_normalized ? "fractions" : "pixels"))
                     : nb::none();
  also["input_dims"] = facts.input
                           ? nb::object(nb::make_tuple(facts.input->width, facts.input->height))
                           : nb::object(nb::none());
  if (facts.has_instances) also["mask_boxes"] = mask_boxes(facts, found.segmentations.views());
  if (found.keypoints_each != 0) also["keypoints"] = points_array(found);
  if (found.is_rotated) also["obb"] = rotated_array(found.rotated);
  if (!found.classes.empty()) {
    const auto [classes, scores] = class_arrays(found.classes);
    also["top_classes"] = classes;
    also["top_scores"] = scores;
  }
  return make(**also);
}

nb::list mask_list(std::span<const compat::Segmentation> masks) {
  nb::list list;
  for (const auto& mask : masks) {
    const std::array<std::size_t, 3> shape{mask.height, mask.width, mask.channels};
    void* data = nullptr;
    nb::object array = new_array(ArrayType::u8, shape, &data);
    if (const std::size_t bytes = shape[0] * shape[1] * shape[2]; bytes != 0)
      std::memcpy(data, mask.data, bytes);
    list.append(array);
  }
  return list;
}

std::size_t batch_element(const PyDecoder& decoder, std::span<const Tensor> outputs,
                          nb::handle batch) {
  if (!batch.is_none()) return count_from(batch, "batch");
  if (decoder.value.options().convention == compat::Convention::reference) {
    warn_of_batch(decoder, outputs);
    return 0;
  }
  return compat::only_element;
}

void add_decoding(DecoderClass& type) {
  type.def("decode", &decode_outputs, nb::arg("model_output"),
           nb::arg("max_boxes").none() = nb::none(), nb::arg("batch").none() = nb::none(),
           nb::sig("def decode(self, model_output: Sequence[Any], max_boxes: int | None = None, "
                   "batch: int | None = None) -> Any"),
           decode_doc)
      .def("decode_proto", &decode_proto, nb::arg("model_output"),
           nb::arg("max_boxes").none() = nb::none(), nb::arg("batch").none() = nb::none(),
           nb::sig("def decode_proto(self, model_output: Sequence[Any], max_boxes: int | None = "
                   "None, batch: int | None = None) -> Any"),
           "The same boxes, and the data that masks are made from.\n\n"
           "Returns ProtoDetections, a tuple (boxes, scores, classes, ProtoData or None); for a\n"
           "batch of several a list of these.")
      .def(
          "decode_tracked", &decode_tracked, nb::arg("tracker"), nb::arg("timestamp").none(),
          nb::arg("model_output"), nb::arg("max_boxes").none() = nb::none(),
          nb::arg("batch").none() = nb::none(), nb::arg("coasting") = false,
          nb::sig("def decode_tracked(self, tracker: halyard._tracking.AnyTracker, timestamp: int "
                  "| None, model_output: Sequence[Any], max_boxes: int | None = None, batch: int "
                  "| None = None, coasting: bool = False) -> halyard._detections.Detections"),
          "Decodes the frame of time `timestamp` (ns; None: one frame later by the tracker's rate) "
          "and\n"
          "updates the tracker, of any kind, with it. A batch of several needs `batch`: a tracker\n"
          "follows one camera.\n\n"
          "Returns Detections with tracker_id: those that belong to a track, at its estimated "
          "boxes;\n"
          "with `coasting` the tracks that were not seen in this frame follow.");
}

// Calls of EdgeFirst HAL: 100 boxes by default, element 0.
void add_decoding(ReferenceDecoderClass& type) {
  type.def(
          "decode",
          [](PyReferenceDecoder& self, nb::handle model_output, nb::handle max_boxes,
             nb::handle batch) {
            const std::size_t maximum = max_from(max_boxes);
            const auto outputs = outputs_from(model_output);
            return decode_one(self, outputs, maximum, batch_element(self, outputs, batch));
          },
          nb::arg("model_output"), nb::arg("max_boxes").none() = 100,
          nb::arg("batch").none() = nb::none(),
          nb::sig("def decode(self, model_output: Sequence[Any], max_boxes: int | None = 100, "
                  "batch: int | None = None) -> halyard._results.Detections"),
          "Detections of element 0, as EdgeFirst HAL gives them, or of element `batch`.")
      .def(
          "decode_proto",
          [](PyReferenceDecoder& self, nb::handle model_output, nb::handle max_boxes,
             nb::handle batch) {
            const auto outputs = outputs_from(model_output);
            // The reference uses it as a hint about memory; only max_det limits the result.
            static_cast<void>(max_from(max_boxes));
            return decode_proto_one(self, outputs, SIZE_MAX, batch_element(self, outputs, batch));
          },
          nb::arg("model_output"), nb::arg("max_boxes").none() = 100,
          nb::arg("batch").none() = nb::none(),
          nb::sig("def decode_proto(self, model_output: Sequence[Any], max_boxes: int | None = "
                  "100, batch: int | None = None) -> halyard._results.ProtoDetections"),
          "The same boxes, up to max_det of them, and the data that masks are made from.")
      .def(
          "decode_tracked", &decode_tracked_reference, nb::arg("tracker"), nb::arg("timestamp"),
          nb::arg("model_output"), nb::arg("max_boxes").none() = 100,
          nb::arg("batch").none() = nb::none(),
          nb::sig("def decode_tracked(self, tracker: halyard._tracking.AnyTracker, timestamp: int, "
                  "model_output: Sequence[Any], max_boxes: int | None = 100, batch: int | None = "
                  "None) -> "
                  "halyard._results.TrackedDetections"),
          "Decodes element 0 and updates the tracker with it.");
}

}  // namespace halyard::python
