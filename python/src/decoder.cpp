// SPDX-License-Identifier: Apache-2.0
// Decoder: from a model's outputs to boxes, scores, classes and masks.
#include "decoder.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "args.h"
#include "arrays.h"
#include "enums.h"
#include "kept.h"
#include "tensor.h"
#include "tracks.h"

namespace halyard::python {
namespace {

using compat::DecoderOptions;

// Result classes of halyard/_results.py; one reference each is kept until the process ends.
// Results of a decode, lent from the decoder so that their memory serves the next frame. Made and
// destroyed under the interpreter's lock.
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

std::optional<Size> size_from(nb::handle dims) {
  if (dims.is_none()) return std::nullopt;
  std::array<std::int32_t, 2> extent{};
  const std::size_t count = for_each_item(
      dims, "input_dims", "(width, height)", extent.size(), [&](nb::handle item, std::size_t i) {
        const auto number = count_from(item, "input_dims");
        if (number > INT32_MAX) raise(Errc::invalid_argument, "input_dims: too large");
        extent[i] = static_cast<std::int32_t>(number);
      });
  if (count != extent.size()) raise_wrong_type("input_dims", "(width, height)", dims);
  return Size{extent[0], extent[1]};
}

compat::Nms nms_from(nb::handle nms) {
  return nms.is_none() ? compat::Nms::none : enum_from<compat::Nms>(nms, "nms");
}

nb::object nms_to(compat::Nms nms) {
  return nms == compat::Nms::none ? nb::none() : enum_to(nms);
}

using Score = FloatArg<"score_threshold">;
using Iou = FloatArg<"iou_threshold">;

DecoderOptions options_from(float score, float iou, nb::handle nms, nb::handle input_dims,
                            nb::handle multi_label) {
  DecoderOptions options;
  options.score_threshold = score;
  options.iou_threshold = iou;
  options.nms = nms_from(nms);
  options.multi_label = !multi_label.is_none() && truth_from(multi_label);
  options.input_dims = size_from(input_dims);
  return options;
}

std::string json_of(nb::handle config) {
  static PyObject* place = nullptr;
  const nb::handle dumps = kept_attribute(place, "halyard._configs", "dumps");
  return text_from(dumps(config), "config");
}

nb::object decode(PyDecoder& self, nb::handle model_output, nb::handle max_boxes) {
  static PyObject* place = nullptr;
  const nb::handle result = kept_attribute(place, "halyard._results", "Detections");
  const std::size_t most = count_from(max_boxes, "max_boxes");
  const auto outputs = outputs_from(model_output);
  const Loan found(self);
  check(released([&] {
    const std::shared_lock lock(self.settings);
    return self.value.decode(outputs, *found, most);
  }));
  const DetectionArrays arrays = detection_arrays(found->boxes);
  return result(arrays.boxes, arrays.scores, arrays.classes,
                mask_list(found->segmentations.views()));
}

nb::object decode_proto(PyDecoder& self, nb::handle model_output, nb::handle max_boxes) {
  static PyObject* place = nullptr;
  const nb::handle result = kept_attribute(place, "halyard._results", "ProtoDetections");
  const auto outputs = outputs_from(model_output);
  // The reference takes it for a hint about memory; max_det alone bounds the result.
  static_cast<void>(count_from(max_boxes, "max_boxes"));
  const Loan found(self);
  std::optional<compat::ProtoData> protos;
  check(released([&] {
    const std::shared_lock lock(self.settings);
    return self.value.decode_proto(outputs, found->boxes, protos);
  }));
  const DetectionArrays arrays = detection_arrays(found->boxes);
  nb::object data = nb::none();
  if (protos) data = make_instance<PyProtoData>(*std::move(protos));
  return result(arrays.boxes, arrays.scores, arrays.classes, data);
}

nb::object decode_tracked(PyDecoder& self, PyByteTrack& tracker, nb::handle timestamp,
                          nb::handle model_output, nb::handle max_boxes) {
  static PyObject* place = nullptr;
  const nb::handle result = kept_attribute(place, "halyard._results", "TrackedDetections");
  const std::uint64_t when = count_from(timestamp, "timestamp");
  const std::size_t most = count_from(max_boxes, "max_boxes");
  const auto outputs = outputs_from(model_output);
  const Loan found(self);
  check(released([&] {
    const std::shared_lock lock(self.settings);
    return self.value.decode_tracked(tracker.value, when, outputs, *found, most);
  }));
  const DetectionArrays arrays = detection_arrays(found->boxes);
  return result(arrays.boxes, arrays.scores, arrays.classes,
                mask_list(found->segmentations.views()), track_list(found->tracks));
}

// Runs a setter while nothing decodes.
template <class F>
void set(PyDecoder& self, F&& change) {
  check(released([&] {
    const std::unique_lock lock(self.settings);
    return change(self.value);
  }));
}

template <class Class>
void def_settings(Class& type) {
  type.def_prop_rw(
          "score_threshold", [](PyDecoder& d) { return d.value.options().score_threshold; },
          [](PyDecoder& d, FloatArg<"score_threshold"> given) {
            set(d, [v = float{given}](auto& to) { return to.set_score_threshold(v); });
          },
          "A box stays when its score is at least this; float.")
      .def_prop_rw(
          "iou_threshold", [](PyDecoder& d) { return d.value.options().iou_threshold; },
          [](PyDecoder& d, FloatArg<"iou_threshold"> given) {
            set(d, [v = float{given}](auto& to) { return to.set_iou_threshold(v); });
          },
          "A box is suppressed when it overlaps a better one by more than this; float.")
      .def_prop_rw(
          "pre_nms_top_k", [](PyDecoder& d) { return d.value.options().pre_nms_top_k; },
          [](PyDecoder& d, nb::handle v) {
            const std::size_t count = count_from(v, "pre_nms_top_k");
            set(d, [count](auto& to) { return to.set_pre_nms_top_k(count); });
          },
          "Best candidates that enter suppression; 0: all.")
      .def_prop_rw(
          "max_det", [](PyDecoder& d) { return d.value.options().max_det; },
          [](PyDecoder& d, nb::handle v) {
            const std::size_t count = count_from(v, "max_det");
            set(d, [count](auto& to) { return to.set_max_det(count); });
          },
          "Most boxes of a decode.")
      .def_prop_ro(
          "nms", [](PyDecoder& d) { return nms_to(d.value.options().nms); },
          "Nms in force, never Auto; None: nothing is suppressed.")
      .def_prop_ro(
          "multi_label", [](PyDecoder& d) { return d.value.options().multi_label; },
          "Whether every class of a box that reaches the threshold counts, not the best alone.")
      .def_prop_ro(
          "normalized_boxes",
          [](PyDecoder& d) -> nb::object {
            const auto known = d.value.normalized_boxes();
            return known ? nb::object(nb::bool_(*known)) : nb::object(nb::none());
          },
          "True: boxes are fractions of the network's input; False: pixels; None: not known.")
      .def_prop_ro(
          "input_dims",
          [](PyDecoder& d) -> nb::object {
            const auto size = d.value.input_dims();
            return size ? nb::object(nb::make_tuple(size->width, size->height))
                        : nb::object(nb::none());
          },
          "(width, height) of the network's input; None: not known.")
      .def_prop_ro(
          "model_type", [](PyDecoder& d) { return d.value.model_type(); },
          "How the model's outputs are arranged: \"yolo_det\", \"modelpack_seg\"...")
      .def_prop_ro(
          "labels",
          [](PyDecoder& d) {
            nb::list labels;
            for (const std::string& label : d.value.description().labels)
              labels.append(str_of(label));
            return labels;
          },
          nb::sig("def labels(self) -> list[str]"),
          "Class names of the configuration; may be empty.");
}

constexpr const char* decode_doc =
    "Decodes one frame's outputs.\n\n"
    "Args:\n    model_output: list or tuple with a tensor for each output: Tensor, NumPy array or\n"
    "        anything with a buffer or DLPack on the CPU; read where it lies.\n"
    "    max_boxes: most boxes given.\n\n"
    "Returns Detections, a tuple (boxes, scores, classes, masks).\n"
    "Raises TypeError (what is no tensor) and RuntimeError (shapes, dtypes).";

template <class Class>
void def_calls(Class& type) {
  type.def("decode", &decode, nb::arg("model_output"), nb::arg("max_boxes") = 100,
           nb::sig("def decode(self, model_output: Sequence[Any], max_boxes: int = 100) -> "
                   "halyard._results.Detections"),
           decode_doc)
      .def("decode_proto", &decode_proto, nb::arg("model_output"), nb::arg("max_boxes") = 100,
           nb::sig("def decode_proto(self, model_output: Sequence[Any], max_boxes: int = 100) -> "
                   "halyard._results.ProtoDetections"),
           "The same boxes, up to max_det of them, and what masks are made from.\n\n"
           "Returns ProtoDetections, a tuple (boxes, scores, classes, ProtoData or None).\n"
           "max_boxes is a hint.")
      .def("decode_tracked", &decode_tracked, nb::arg("tracker"), nb::arg("timestamp"),
           nb::arg("model_output"), nb::arg("max_boxes") = 100,
           nb::sig("def decode_tracked(self, tracker: ByteTrack, timestamp: int, model_output: "
                   "Sequence[Any], max_boxes: int = 100) -> halyard._results.TrackedDetections"),
           "Decodes the frame taken at `timestamp` (ns) and moves the ByteTrack to it.\n\n"
           "Returns TrackedDetections, a tuple (boxes, scores, classes, masks, tracks).");
}

// The arguments that all constructors end with.
struct Tail {
  nb::arg_v score, iou, nms, dims, multi;
  Tail(float score_threshold, float iou_threshold)
      : score(nb::arg("score_threshold") = score_threshold),
        iou(nb::arg("iou_threshold") = iou_threshold),
        nms(nb::arg("nms").none() = enum_to(compat::Nms::automatic)),
        dims(nb::arg("input_dims").none() = nb::none()),
        multi(nb::arg("multi_label").none() = nb::none()) {}
};

nb::object wrap(compat::Decoder made) {
  return make_instance<PyDecoder>(std::move(made));
}

// The tail of a signature, with these defaults.
std::string tail_text(const char* score, const char* iou, const char* between = "") {
  return std::string("score_threshold: float = ") + score + ", iou_threshold: float = " + iou +
         ", nms: halyard._enums.Nms | None = halyard._enums.Nms.Auto, " + between +
         "input_dims: tuple[int, int] | None = None, multi_label: bool | None = None)";
}

using FromText = Result<compat::Decoder> (*)(std::string_view, const DecoderOptions&);

template <class Class>
void def_text(Class& type, const char* name, const char* argument, FromText make, const char* doc) {
  const Tail tail(0.1F, 0.7F);
  const std::string signature = std::string("def ") + name + "(" + argument + ": str, " +
                                tail_text("0.1", "0.7") + " -> Decoder";
  type.def_static(
      name,
      [make, argument](nb::handle text, Score score, Iou iou, nb::handle nms, nb::handle dims,
                       nb::handle multi) {
        const auto options = options_from(score, iou, nms, dims, multi);
        return wrap(take(make(text_from(text, argument), options)));
      },
      nb::arg(argument), tail.score, tail.iou, tail.nms, tail.dims, tail.multi,
      nb::sig(signature.c_str()), doc);
}

std::vector<compat::Output> output_list(nb::handle outputs) {
  constexpr const char* wanted = "a list of Output";
  std::vector<compat::Output> list;
  const std::size_t count = for_each_item(outputs, "outputs", wanted, DocumentLimits::outputs,
                                          [&](nb::handle item, std::size_t) {
                                            const compat::Output* output = nullptr;
                                            if (!nb::try_cast(item, output) || output == nullptr)
                                              raise_wrong_type("outputs", wanted, item);
                                            list.push_back(*output);
                                          });
  if (count > DocumentLimits::outputs)
    raise(Errc::invalid_argument,
          "outputs: must be at most " + std::to_string(DocumentLimits::outputs));
  return list;
}

std::optional<compat::DecoderVersion> version_from(nb::handle version) {
  if (version.is_none()) return std::nullopt;
  return enum_from<compat::DecoderVersion>(version, "decoder_version");
}

template <class Class>
void def_outputs(Class& type) {
  const Tail tail(0.25F, 0.45F);
  const std::string signature =
      "def new_from_outputs(outputs: Sequence[Output], " +
      tail_text("0.25", "0.45", "decoder_version: halyard._enums.DecoderVersion | None = None, ") +
      " -> Decoder";
  type.def_static(
      "new_from_outputs",
      [](nb::handle outputs, Score score, Iou iou, nb::handle nms, nb::handle version,
         nb::handle dims, nb::handle multi) {
        return wrap(
            take(compat::Decoder::from_outputs(output_list(outputs), version_from(version),
                                               options_from(score, iou, nms, dims, multi))));
      },
      nb::arg("outputs"), tail.score, tail.iou, tail.nms,
      nb::arg("decoder_version").none() = nb::none(), tail.dims, tail.multi,
      nb::sig(signature.c_str()),
      "A decoder of a model whose outputs are described one by one: a list of Output.");
}

void bind_class(nb::module_& m) {
  nb::class_<PyDecoder> type(
      m, "Decoder",
      "Decodes the outputs of one model; make it once, use it for every frame, from several\n"
      "threads at once if you like. Thresholds are read and written as attributes.");
  const Tail tail(0.1F, 0.7F);
  const std::string signature =
      "def __init__(self, config: Mapping[str, Any], " + tail_text("0.1", "0.7") + " -> None";
  type.def(
      "__init__",
      [](PyDecoder* self, const nb::object& config, Score score, Iou iou, nb::handle nms,
         nb::handle dims, nb::handle multi) {
        const auto options = options_from(score, iou, nms, dims, multi);
        new (self) PyDecoder(take(compat::Decoder::from_json(json_of(config), options)));
      },
      nb::arg("config"), tail.score, tail.iou, tail.nms, tail.dims, tail.multi,
      nb::sig(signature.c_str()),
      "Args:\n    config: dict that describes the model's outputs, of schema 1 or 2.\n"
      "    score_threshold: a box stays when its score is at least this.\n"
      "    iou_threshold: a box is suppressed when it overlaps a better one by more.\n"
      "    nms: Nms.Auto: as the configuration says, else ClassAgnostic; None: no suppression.\n"
      "    input_dims: (width, height) of the network's input; wins over the configuration.\n"
      "    multi_label: every class of a box that reaches the threshold counts.");
  def_text(type, "new_from_json_str", "json_str", &compat::Decoder::from_json,
           "A decoder from a JSON document of schema 1 or 2.");
  def_text(type, "new_from_yaml_str", "yaml_str", &compat::Decoder::from_yaml,
           "A decoder from a YAML document of schema 1 or 2.");
  def_outputs(type);
  def_settings(type);
  def_calls(type);
}

}  // namespace

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

void bind_decoder(nb::module_& m) {
  bind_class(m);
}

}  // namespace halyard::python
