// SPDX-License-Identifier: Apache-2.0
// Decoder: its constructors and settings.
#include "results/decoder.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <optional>
#include <shared_mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "args.h"
#include "enums.h"
#include "kept.h"
#include "results/box_units.h"
#include "tensor/arrays.h"

namespace halyard::python {
namespace {

using compat::DecoderOptions;

compat::Nms nms_from(nb::handle nms) {
  return nms.is_none() ? compat::Nms::none : enum_from<compat::Nms>(nms, "nms");
}

nb::object nms_to(compat::Nms nms) {
  return nms == compat::Nms::none ? nb::none() : enum_to(nms);
}

using Score = FloatArg<"score_threshold">;
using Iou = FloatArg<"iou_threshold">;

template <class Decoder>
constexpr bool is_reference = std::is_same_v<Decoder, PyReferenceDecoder>;

template <class Decoder>
DecoderOptions options_from(float score, float iou, nb::handle nms, nb::handle input_dims,
                            nb::handle multi_label) {
  DecoderOptions options;
  if (!is_reference<Decoder>) {
    options.convention = compat::Convention::native;
    options.pre_nms_top_k = DecodeOptions{}.pre_nms_top_k;
    options.max_det = DecodeOptions{}.max_detections;
  }
  options.score_threshold = score;
  options.iou_threshold = iou;
  options.nms = nms_from(nms);
  options.multi_label = !multi_label.is_none() && truth_from(multi_label);
  options.input_dims = input_dims_from(input_dims);
  return options;
}

std::string json_of(nb::handle config) {
  static PyObject* place = nullptr;
  const nb::handle dumps = kept_attribute(place, "halyard._configs", "dumps");
  return text_from(dumps(config), "config");
}

// Runs a setter while no decode runs.
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
          "A box is kept if its score is at least this; float.")
      .def_prop_rw(
          "iou_threshold", [](PyDecoder& d) { return d.value.options().iou_threshold; },
          [](PyDecoder& d, FloatArg<"iou_threshold"> given) {
            set(d, [v = float{given}](auto& to) { return to.set_iou_threshold(v); });
          },
          "A box is suppressed if it overlaps a better one by more than this; float.")
      .def_prop_rw(
          "pre_nms_top_k", [](PyDecoder& d) { return d.value.options().pre_nms_top_k; },
          [](PyDecoder& d, nb::handle v) {
            const std::size_t count = count_from(v, "pre_nms_top_k");
            set(d, [count](auto& to) { return to.set_pre_nms_top_k(count); });
          },
          "Maximum number of candidates that enter suppression, the best ones; default 30000; 0: "
          "all.")
      .def_prop_rw(
          "max_det", [](PyDecoder& d) { return d.value.options().max_det; },
          [](PyDecoder& d, nb::handle v) {
            const std::size_t count = count_from(v, "max_det");
            set(d, [count](auto& to) { return to.set_max_det(count); });
          },
          "Maximum number of boxes of a decode.");
}

template <class Class>
void def_facts(Class& type) {
  type.def_prop_ro(
          "nms", [](PyDecoder& d) { return nms_to(d.value.options().nms); },
          "The Nms in use, never Auto; None: nothing is suppressed.")
      .def_prop_ro(
          "multi_label", [](PyDecoder& d) { return d.value.options().multi_label; },
          "Whether every class of a box that reaches the threshold counts, not only the best.")
      .def_prop_ro(
          "normalized_boxes",
          [](PyDecoder& d) -> nb::object {
            const auto known = d.value.normalized_boxes();
            return known ? nb::object(nb::bool_(*known)) : nb::object(nb::none());
          },
          "True: boxes are fractions of the network's input; False: pixels, as of every\n"
          "halyard.Decoder; None: not known.")
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
          "The arrangement of the model's outputs: \"yolo_det\", \"modelpack_seg\"...")
      .def_prop_ro("labels", &labels_of, nb::sig("def labels(self) -> list[str]"),
                   "Class names of the configuration; may be empty.");
}

// Default thresholds of the constructors. halyard's are those of C++ everywhere; EdgeFirst HAL's
// depend on the constructor.
struct Thresholds {
  const char* score;
  const char* iou;
};
template <class Decoder>
constexpr Thresholds of_documents{"0.25", "0.45"};
template <>
constexpr Thresholds of_documents<PyReferenceDecoder>{"0.1", "0.7"};
constexpr Thresholds of_outputs{"0.25", "0.45"};

// The last arguments of all constructors.
struct Tail {
  nb::arg_v score, iou, nms, dims, multi;
  explicit Tail(Thresholds defaults)
      : score(nb::arg("score_threshold") = std::strtof(defaults.score, nullptr)),
        iou(nb::arg("iou_threshold") = std::strtof(defaults.iou, nullptr)),
        nms(nb::arg("nms").none() = enum_to(compat::Nms::automatic)),
        dims(nb::arg("input_dims").none() = nb::none()),
        multi(nb::arg("multi_label").none() = nb::none()) {}
};

// The tail of a signature, with these defaults.
std::string tail_text(Thresholds defaults, const char* between = "") {
  return std::string("score_threshold: float = ") + defaults.score +
         ", iou_threshold: float = " + defaults.iou + ", nms: NmsLike | None = Nms.Auto, " +
         between + "input_dims: tuple[int, int] | None = None, multi_label: bool | None = None)";
}

using FromText = Result<compat::Decoder> (*)(std::string_view, const DecoderOptions&);

template <class Decoder, class Class>
void def_text(Class& type, const char* name, const char* argument, FromText make, const char* doc) {
  const Tail tail(of_documents<Decoder>);
  const std::string signature = std::string("def ") + name + "(" + argument + ": str, " +
                                tail_text(of_documents<Decoder>) + " -> Decoder";
  type.def_static(
      name,
      [make, argument](nb::handle text, Score score, Iou iou, nb::handle nms, nb::handle dims,
                       nb::handle multi) {
        const auto options = options_from<Decoder>(score, iou, nms, dims, multi);
        return make_instance<Decoder>(take(make(text_from(text, argument), options)));
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

template <class Decoder, class Class>
void def_outputs(Class& type) {
  const Tail tail(of_outputs);
  const std::string signature =
      "def new_from_outputs(outputs: Sequence[Output], " +
      tail_text(of_outputs, "decoder_version: DecoderVersionLike | None = None, ") + " -> Decoder";
  type.def_static(
      "new_from_outputs",
      [](nb::handle outputs, Score score, Iou iou, nb::handle nms, nb::handle version,
         nb::handle dims, nb::handle multi) {
        return make_instance<Decoder>(take(
            compat::Decoder::from_outputs(output_list(outputs), version_from(version),
                                          options_from<Decoder>(score, iou, nms, dims, multi))));
      },
      nb::arg("outputs"), tail.score, tail.iou, tail.nms,
      nb::arg("decoder_version").none() = nb::none(), tail.dims, tail.multi,
      nb::sig(signature.c_str()),
      "A decoder of a model whose outputs are described one by one: a list of Output.");
}

template <class Decoder, class Class>
void def_constructors(Class& type) {
  const Tail tail(of_documents<Decoder>);
  const std::string signature = "def __init__(self, config: Mapping[str, Any], " +
                                tail_text(of_documents<Decoder>) + " -> None";
  type.def(
      "__init__",
      [](Decoder* self, const nb::object& config, Score score, Iou iou, nb::handle nms,
         nb::handle dims, nb::handle multi) {
        const auto options = options_from<Decoder>(score, iou, nms, dims, multi);
        new (self) Decoder(take(compat::Decoder::from_json(json_of(config), options)));
      },
      nb::arg("config"), tail.score, tail.iou, tail.nms, tail.dims, tail.multi,
      nb::sig(signature.c_str()),
      "Args:\n    config: dict that describes the model's outputs, of schema 1 or 2.\n"
      "    score_threshold: a box is kept if its score is at least this.\n"
      "    iou_threshold: a box is suppressed if it overlaps a better one by more.\n"
      "    nms: Nms.Auto: the configuration's, else Nms.ClassAware (in EdgeFirst HAL's "
      "decoder\n"
      "        ClassAgnostic); None: no suppression.\n"
      "    input_dims: (width, height) of the network's input; overrules the configuration.\n"
      "    multi_label: every class of a box that reaches the threshold counts.");
  def_text<Decoder>(type, "new_from_json_str", "json_str", &compat::Decoder::from_json,
                    "A decoder from a JSON document of schema 1 or 2.");
  def_text<Decoder>(type, "new_from_yaml_str", "yaml_str", &compat::Decoder::from_yaml,
                    "A decoder from a YAML document of schema 1 or 2.");
  def_outputs<Decoder>(type);
}

void bind_native(nb::module_& m) {
  DecoderClass type(
      m, "Decoder",
      "Decodes the outputs of one model; make it once, use it for every frame, from several\n"
      "threads at once if you like. Thresholds are read and written as attributes.\n\n"
      "Boxes, keypoints and rotated boxes are in pixels of the network's input for every "
      "model.\n"
      "Raises ValueError for thresholds outside [0, 1], for integer outputs without\n"
      "quantization and for boxes in fractions if input_dims is not known.");
  def_constructors<PyDecoder>(type);
  def_settings(type);
  def_facts(type);
  add_decoding(type);
  add_for_model(type);
}

void bind_reference(nb::module_& m) {
  ReferenceDecoderClass type(
      m, "_ReferenceDecoder",
      "The Decoder of programs written for EdgeFirst HAL: halyard.edgefirst.Decoder. Boxes have\n"
      "the unit of normalized_boxes, the best 300 candidates enter suppression, "
      "thresholds\n"
      "outside [0, 1] pass all or nothing, integers without quantization count as they are.");
  def_constructors<PyReferenceDecoder>(type);
  add_decoding(type);
}

}  // namespace

nb::list labels_of(const PyDecoder& decoder) {
  nb::list labels;
  for (const std::string& label : decoder.value.description().labels)
    labels.append(str_of(label));
  return labels;
}

void bind_decoder(nb::module_& m) {
  bind_native(m);
  bind_reference(m);
}

}  // namespace halyard::python
