// SPDX-License-Identifier: Apache-2.0
// ModelDescription: how the decoder reads a model; and decoders from it.
#include "halyard/describe.h"

#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "args.h"
#include "engine.h"
#include "enums.h"
#include "kept.h"
#include "results/box_units.h"
#include "results/decoder.h"
#include "tensor/arrays.h"

namespace halyard::python {
namespace {

bool is_onnx(const std::string& path) {
  return path.size() > 5 && path.compare(path.size() - 5, 5, ".onnx") == 0;
}

ModelDescription describe(nb::handle model) {
  PyEngine* engine = nullptr;
  if (nb::try_cast(model, engine) && engine != nullptr)
    return take(infer_description(metadata_of(engine->value)));
  const std::string path = path_from(model, "model");
  if (is_onnx(path)) {
    auto described = released([&]() -> Result<ModelDescription> {
      HALYARD_TRY(const auto metadata, metadata_of_file(path));
      return infer_description(metadata);
    });
    if (described) return *std::move(described);
    const Error& error = described.error();
    if (error.message().find(path) != std::string::npos) raise(error);
    raise(error.code, path + ": " + error.message());
  }
  const nb::object opened = nb::type<PyEngine>()(model);
  return take(infer_description(metadata_of(nb::cast<PyEngine&>(opened).value)));
}

// Describes outputs by their shapes, for models whose file has no metadata.
ModelDescription describe_outputs(nb::handle outputs, nb::handle input_size, nb::handle labels) {
  const auto tensors = outputs_from(outputs);
  const auto size = input_dims_from(input_size);
  ModelMetadata metadata;
  TensorSpec input{.name = "images",
                   .dtype = DType::f32,
                   .shape = {1, 3, 0, 0},
                   .quantization = {},
                   .format = PixelFormat::planar_rgb};
  input.shape[2] = static_cast<std::size_t>(size.value_or(Size{}).height);
  input.shape[3] = static_cast<std::size_t>(size.value_or(Size{}).width);
  metadata.inputs.push_back(std::move(input));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto shape = tensors[i].shape();
    metadata.outputs.push_back({.name = "output" + std::to_string(i),
                                .dtype = tensors[i].dtype(),
                                .shape = {shape.begin(), shape.end()},
                                .quantization = tensors[i].quantization(),
                                .format = {}});
  }
  std::string lines;
  for_each_item(labels, "labels", "a list of class names", DocumentLimits::labels,
                [&](nb::handle item, auto) { lines += text_from(item, "labels") + "\n"; });
  if (!lines.empty()) metadata.attachments.push_back({.name = "labels.txt", .text = lines});
  auto description = take(infer_description(metadata));
  // Names are for finding outputs; those made up here must not be used for it.
  for (OutputDescription& output : description.outputs)
    output.name.clear();
  return description;
}

nb::dict origins_of(const ModelDescription& description) {
  nb::dict origins;
  for (const Origin& origin : description.origins)
    origins[str_of(origin.field)] = str_of(origin.source);
  return origins;
}

constexpr std::array task_names{"detect", "segment", "pose", "obb", "classify", "semantic"};

nb::object task_of(const ModelDescription& description) {
  if (description.task) return nb::str(task_names[static_cast<std::size_t>(*description.task)]);
  const auto has = [&](OutputRole role) {
    for (const OutputDescription& output : description.outputs)
      if (output.role == role) return true;
    return false;
  };
  if (has(OutputRole::classification)) return nb::str("classify");
  if (has(OutputRole::prototypes)) return nb::str("segment");
  if (has(OutputRole::keypoints) || description.keypoints) return nb::str("pose");
  if (has(OutputRole::angles)) return nb::str("obb");
  if (has(OutputRole::segmentation) || has(OutputRole::class_map)) return nb::str("semantic");
  return nb::str("detect");
}

// "<ModelDescription detect, 640 x 640, 80 classes>"
std::string repr_of(const ModelDescription& description) {
  const Size size = description.input;
  std::string text = "<ModelDescription " + nb::cast<std::string>(task_of(description));
  if (size != Size{})
    text += ", " + std::to_string(size.width) + " x " + std::to_string(size.height);
  return text + ", " + std::to_string(description.labels.size()) + " labels>";
}

void add_facts(nb::class_<ModelDescription>& cls) {
  cls.def_static(
         "from_json",
         [](nb::handle text) { return take(ModelDescription::from_json(text_from(text, "text"))); },
         nb::arg("text"), nb::sig("def from_json(text: str) -> ModelDescription"),
         "From a document, as to_json() gives it.")
      .def_static(
          "from_file",
          [](nb::handle path) {
            return take(ModelDescription::from_file(path_from(path, "path")));
          },
          nb::arg("path"),
          nb::sig("def from_file(path: str | os.PathLike[str]) -> ModelDescription"),
          "From a .json or .yaml file.")
      .def_prop_ro("task", &task_of, nb::sig("def task(self) -> str"),
                   "\"detect\", \"segment\", \"pose\", \"obb\", \"classify\" or \"semantic\".")
      .def_prop_ro(
          "labels", [](const ModelDescription& d) { return text_list(d.labels); },
          nb::sig("def labels(self) -> list[str]"), "Class names; may be empty.")
      .def_prop_ro(
          "input_size", [](const ModelDescription& d) { return size_or_none(d.input); },
          nb::sig("def input_size(self) -> tuple[int, int] | None"),
          "(width, height) of the network's input.")
      .def_prop_ro(
          "warnings", [](const ModelDescription& d) { return text_list(d.warnings); },
          nb::sig("def warnings(self) -> list[str]"), "Parts of the document that were ignored.")
      .def_prop_ro("origins", &origins_of, nb::sig("def origins(self) -> dict[str, str]"),
                   "The source of each value that is not from a document.");
}

void add_text(nb::class_<ModelDescription>& cls) {
  cls.def(
         "explain", [](const ModelDescription& d) { return take(Decoder::create(d)).explain(); },
         nb::sig("def explain(self) -> str"),
         "Lines with the head that is decoded and the source of each value.")
      .def(
          "to_json", [](const ModelDescription& d) { return str_of(d.to_json()); },
          nb::sig("def to_json(self) -> str"), "The description as a document (JSON, version 2).")
      .def(
          "__eq__",
          [](const ModelDescription& a, nb::handle b) {
            const ModelDescription* other = nullptr;
            return nb::try_cast(b, other) && other != nullptr && a.to_json() == other->to_json();
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", &repr_of)
      .def("__reduce__", [](const ModelDescription& d) {
        static PyObject* place = nullptr;
        const nb::handle read = kept_attribute(place, "halyard._configs", "description");
        return nb::make_tuple(read, nb::make_tuple(str_of(d.to_json())));
      });
}

void bind_description(nb::module_& m) {
  nb::class_<ModelDescription> cls(
      m, "ModelDescription",
      "The meaning of a model's outputs: made by describe_model(), or from a document.");
  add_facts(cls);
  add_text(cls);
}

using Score = FloatArg<"score_threshold">;
using Iou = FloatArg<"iou_threshold">;

// The C++ decoder's defaults: suppression within a class if the model names no rule.
nb::object decoder_of(nb::handle model, Score score, Iou iou, nb::handle nms, nb::handle max_det,
                      nb::handle multi_label) {
  const ModelDescription* given = nullptr;
  ModelDescription description =
      nb::try_cast(model, given) && given != nullptr ? *given : describe(model);
  compat::DecoderOptions options;
  options.convention = compat::Convention::native;
  options.score_threshold = score;
  options.iou_threshold = iou;
  options.pre_nms_top_k = DecodeOptions{}.pre_nms_top_k;
  options.max_det = size_from(max_det, "max_det");
  options.multi_label = truth_from(multi_label);
  options.nms = nms.is_none() ? compat::Nms::none : enum_from<compat::Nms>(nms, "nms");
  if (options.nms == compat::Nms::automatic && !description.nms)
    options.nms = compat::Nms::class_aware;
  return make_instance<PyDecoder>(
      take(compat::Decoder::from_description(std::move(description), options)));
}

}  // namespace

void add_for_model(DecoderClass& type) {
  type.def_static(
          "for_model", &decoder_of, nb::arg("model"), nb::arg("score_threshold") = 0.25F,
          nb::arg("iou_threshold") = 0.45F, nb::arg("nms").none() = enum_to(compat::Nms::automatic),
          nb::arg("max_det") = 300, nb::arg("multi_label") = false,
          nb::sig("def for_model(model: Engine | ModelDescription | str | os.PathLike[str], "
                  "score_threshold: float = 0.25, iou_threshold: float = 0.45, nms: "
                  "halyard._enums.Nms | None = halyard._enums.Nms.Auto, max_det: int = 300, "
                  "multi_label: bool = False) -> Decoder"),
          "A decoder for an Engine, a model file, or its description, from the model's\n"
          "metadata, with C++'s defaults. Nms.Auto: the model's rule, else ClassAware.")
      .def(
          "explain",
          [](const PyDecoder& self) {
            const compat::DecoderOptions& from = self.value.options();
            DecodeOptions options;
            options.score_threshold = from.score_threshold;
            options.iou_threshold = from.iou_threshold;
            options.nms = static_cast<Nms>(from.nms);
            options.pre_nms_top_k = from.pre_nms_top_k;
            options.max_detections = from.max_det;
            options.multi_label = from.multi_label;
            return take(Decoder::create(self.value.description(), options)).explain();
          },
          nb::sig("def explain(self) -> str"),
          "Lines that say which head is decoded, with which options, and where each value came\n"
          "from.");
}

void bind_describe(nb::module_& m) {
  bind_description(m);
  m.def("describe_model", &describe, nb::arg("model"),
        nb::sig("def describe_model(model: Engine | str | os.PathLike[str]) -> ModelDescription"),
        "How the decoder reads a model: its task, labels, heads and units. An .onnx file needs\n"
        "no engine; others are opened by one.\n\n"
        "Raises MissingFileError, DataError and UnsupportedError (outputs of no known kind).");
  m.def("_describe_outputs", &describe_outputs, nb::arg("outputs"), nb::arg("input_size"),
        nb::arg("labels"),
        nb::sig("def _describe_outputs(outputs: Sequence[Any], input_size: tuple[int, int], "
                "labels: Sequence[str]) -> ModelDescription"));
}

}  // namespace halyard::python
