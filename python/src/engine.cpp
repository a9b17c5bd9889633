// SPDX-License-Identifier: Apache-2.0
// Engine: runs a model file with the C++ engine.
#include "engine.h"
#include <nanobind/stl/string.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "args.h"
#include "enums.h"
#include "kept.h"
#include "tensor/arrays.h"
#include "tensor/tensor.h"

namespace halyard::python {
namespace {

nb::tuple shape_of(const TensorSpec& spec) {
  nb::list shape;
  for (const std::size_t extent : spec.shape)
    shape.append(extent);
  return nb::tuple(shape);
}

std::string text_of(const TensorSpec& spec) {
  std::string text = "TensorSpec(" +
                     std::string(nb::cast<std::string>(nb::repr(nb::str(spec.name.c_str())))) +
                     ", (";
  for (const std::size_t extent : spec.shape)
    text += std::to_string(extent) + ", ";
  if (!spec.shape.empty()) text.resize(text.size() - 2);
  return text + "), " + dtype_name(spec.dtype) + (spec.quantization ? ", quantized)" : ")");
}

void bind_spec(nb::module_& m) {
  nb::class_<TensorSpec>(m, "TensorSpec", "The metadata of one input or output of a model.")
      .def_prop_ro(
          "name", [](const TensorSpec& spec) { return str_of(spec.name); },
          nb::sig("def name(self) -> str"))
      .def_prop_ro("shape", &shape_of, nb::sig("def shape(self) -> tuple[int, ...]"),
                   "Extents, outermost first; a variable batch is 1.")
      .def_prop_ro(
          "dtype", [](const TensorSpec& spec) { return dtype_name(spec.dtype); },
          nb::sig("def dtype(self) -> str"), "\"float32\", \"int8\"...")
      .def_prop_ro(
          "quantization",
          [](const TensorSpec& spec) -> nb::object {
            return spec.quantization ? nb::cast(*spec.quantization) : nb::none();
          },
          nb::sig("def quantization(self) -> Quantization | None"))
      .def_prop_ro(
          "format",
          [](const TensorSpec& spec) -> nb::object {
            return spec.format ? enum_to(*spec.format) : nb::none();
          },
          nb::sig("def format(self) -> halyard._enums.PixelFormat | None"),
          "Format of an image input: PlanarRgb or Rgb.")
      .def("__repr__", [](const TensorSpec& spec) { return text_of(spec); });
}

nb::list specs_of(std::span<const TensorSpec> specs) {
  nb::list list;
  for (const TensorSpec& spec : specs)
    list.append(nb::cast(spec));
  return list;
}

void open_engine(PyEngine* self, nb::handle path, nb::handle device, nb::handle threads) {
  static PyObject* place = nullptr;
  const std::string file = path_from(path, "path");
  EngineOptions options;
  options.device = text_from(device, "device");
  options.threads = static_cast<unsigned>(size_from(threads, "threads", 1024));
  // The package openvino holds the libraries that the engine's shared object needs.
  const nb::handle prepare = kept_attribute(place, "halyard._openvino", "prepare");
  prepare();
  auto opened = released([&] { return Engine::open(file, options); });
  if (opened) {
    new (self) PyEngine(*std::move(opened));
    return;
  }
  static PyObject* explain_place = nullptr;
  const nb::handle explain = kept_attribute(explain_place, "halyard._openvino", "explain");
  const std::string hint = nb::cast<std::string>(
      explain(nb::str(opened.error().what), opened.error().code == Errc::unsupported));
  if (!hint.empty()) raise(opened.error().code, hint);
  if (opened.error().message().find(file) != std::string::npos) raise(opened.error());
  raise(opened.error().code, file + ": " + opened.error().message());
}

nb::list run_engine(PyEngine& self, nb::handle inputs) {
  std::vector<Tensor> given;
  if (PyList_Check(inputs.ptr()) || PyTuple_Check(inputs.ptr())) {
    const nb::object fixed = nb::steal(PySequence_Tuple(inputs.ptr()));
    if (!fixed.is_valid()) throw nb::python_error();
    for (const nb::handle input : fixed)
      given.push_back(tensor_to_read(input, "inputs"));
  } else {
    given.push_back(tensor_to_read(inputs, "inputs"));
  }
  auto outputs = take(released([&] { return self.value.run(given); }));
  nb::list list;
  for (Tensor& output : outputs)
    list.append(tensor_result(std::move(output)));
  return list;
}

nb::dict metadata_of(const PyEngine& self) {
  nb::dict metadata;
  for (const auto& [key, value] : self.value.metadata())
    metadata[str_of(key)] = str_of(value);
  return metadata;
}

void add_opening(nb::class_<PyEngine>& cls) {
  cls.def("__init__", &open_engine, nb::arg("path"), nb::arg("device") = "CPU",
          nb::arg("threads") = 0,
          nb::sig("def __init__(self, path: str | os.PathLike[str], device: str = \"CPU\", "
                  "threads: int = 0) -> None"),
          "Args:\n    path: of an .onnx, .tflite or .xml file.\n    device: OpenVINO's name.\n"
          "    threads: of inference; 0: the engine's choice.\n\n"
          "Raises MissingFileError, DataError (the file is not a model) and UnsupportedError\n"
          "(no OpenVINO: the message tells what to install).");
}

void add_facts(nb::class_<PyEngine>& cls) {
  cls.def_prop_ro(
         "runtime", [](const PyEngine& self) { return str_of(self.value.runtime()); },
         nb::sig("def runtime(self) -> str"), "\"openvino 2026.4 CPU\".")
      .def_prop_ro(
          "path", [](const PyEngine& self) { return str_of(self.value.path()); },
          nb::sig("def path(self) -> str"))
      .def_prop_ro(
          "inputs", [](const PyEngine& self) { return specs_of(self.value.inputs()); },
          nb::sig("def inputs(self) -> list[TensorSpec]"))
      .def_prop_ro(
          "outputs", [](const PyEngine& self) { return specs_of(self.value.outputs()); },
          nb::sig("def outputs(self) -> list[TensorSpec]"))
      .def_prop_ro(
          "input_size", [](const PyEngine& self) { return size_or_none(self.value.input_size()); },
          nb::sig("def input_size(self) -> tuple[int, int] | None"),
          "(width, height) of the first image input.")
      .def_prop_ro(
          "labels", [](const PyEngine& self) { return text_list(self.value.labels()); },
          nb::sig("def labels(self) -> list[str]"), "Class names of the metadata; may be empty.")
      .def_prop_ro("metadata", &metadata_of, nb::sig("def metadata(self) -> dict[str, str]"),
                   "The metadata of the file.");
}

void add_running(nb::class_<PyEngine>& cls) {
  cls.def(
         "create_input",
         [](const PyEngine& self) {
           return tensor_result(take(Tensor::create(self.value.inputs()[0])));
         },
         nb::sig("def create_input(self) -> Tensor"),
         "A new tensor for run(), with the first input's shape, dtype, quantization and format, "
         "so\n"
         "that convert() can fill it.")
      .def("run", &run_engine, nb::arg("inputs"),
           nb::sig("def run(self, inputs: Any) -> list[Tensor]"),
           "Runs on one input, or a list of one for each: Tensors or arrays of the model's shapes\n"
           "and dtypes, read without a copy; leading axes of 1 may be missing. The interpreter is\n"
           "released. The result is in the engine's memory, alive as long as the tensors.")
      .def("__repr__", [](const PyEngine& self) {
        return "Engine('" + self.value.path() + "', " + self.value.runtime() + ")";
      });
}

void bind_engine_class(nb::module_& m) {
  nb::class_<PyEngine> cls(
      m, "Engine",
      "A model file, run by the C++ engine with OpenVINO, whose libraries are those of the\n"
      "package openvino: `pip install halyard-vision[openvino]`. May be used from several threads\n"
      "at once. A child of fork() can use no engine if its parent had opened one.");
  add_opening(cls);
  add_facts(cls);
  add_running(cls);
}

}  // namespace

void bind_engine(nb::module_& m) {
  bind_spec(m);
  bind_engine_class(m);
  m.def(
      "available_engines", [] { return text_list(available_engines()); },
      nb::sig("def available_engines() -> list[str]"),
      "Engines of this build, one line each, or what to install.");
}

}  // namespace halyard::python
