// SPDX-License-Identifier: Apache-2.0
// Engine: runs a model file with the C++ engine.
#include "engine.h"
#include <nanobind/stl/string.h>

#include <array>
#include <chrono>
#include <map>
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

std::string spec_text(const TensorSpec& spec) {
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
      .def("__repr__", [](const TensorSpec& spec) { return spec_text(spec); });
}

nb::list specs_of(std::span<const TensorSpec> specs) {
  nb::list list;
  for (const TensorSpec& spec : specs)
    list.append(nb::cast(spec));
  return list;
}

/// str keys and values of a dict.
std::map<std::string, std::string> settings_from(nb::handle settings) {
  std::map<std::string, std::string> found;
  if (settings.is_none()) return found;
  const nb::object copy = nb::steal(PyDict_New());
  if (!copy.is_valid() || PyDict_Update(copy.ptr(), settings.ptr()) != 0) throw nb::python_error();
  for (const auto& [key, value] : nb::borrow<nb::dict>(copy))
    found.emplace(text_from(key, "settings"), text_from(value, "settings"));
  return found;
}

void open_engine(PyEngine* self, nb::handle path, nb::handle device, nb::handle threads,
                 nb::handle engine, nb::handle requests, nb::handle batch, nb::handle delegate,
                 nb::handle settings) {
  static PyObject* place = nullptr;
  const std::string file = path_from(path, "path");
  EngineOptions options;
  options.device = text_from(device, "device");
  options.threads = static_cast<unsigned>(size_from(threads, "threads", 1024));
  options.engine = text_from(engine, "engine");
  options.requests = static_cast<unsigned>(size_from(requests, "requests", 1024));
  options.batch = size_from(batch, "batch");
  if (!delegate.is_none()) options.delegate = path_from(delegate, "delegate");
  options.settings = settings_from(settings);
  // The engines' Python packages hold the libraries that are needed.
  const nb::handle prepare = kept_attribute(place, "halyard._openvino", "prepare");
  prepare(options.engine.empty() ? "openvino" : options.engine.c_str());
  auto opened = released([&] { return Engine::open(file, options); });
  // Other packages are loaded only if they are needed: their libraries are large.
  if (!opened && options.engine.empty() && nb::cast<bool>(prepare("")))
    opened = released([&] { return Engine::open(file, options); });
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

std::vector<Tensor> tensors_from(nb::handle inputs) {
  std::vector<Tensor> given;
  if (PyList_Check(inputs.ptr()) || PyTuple_Check(inputs.ptr())) {
    const nb::object fixed = nb::steal(PySequence_Tuple(inputs.ptr()));
    if (!fixed.is_valid()) throw nb::python_error();
    for (const nb::handle input : fixed)
      given.push_back(tensor_to_read(input, "inputs"));
  } else {
    given.push_back(tensor_to_read(inputs, "inputs"));
  }
  return given;
}

nb::list tensor_list(std::vector<Tensor> tensors) {
  nb::list list;
  for (Tensor& tensor : tensors)
    list.append(tensor_result(std::move(tensor)));
  return list;
}

nb::list run_engine(PyEngine& self, nb::handle inputs) {
  const std::vector<Tensor> given = tensors_from(inputs);
  return tensor_list(take(released([&] { return self.value.run(given); })));
}

/// Python's InferenceRequest. Used by one thread at a time, except cancel().
struct PyRequest {
  explicit PyRequest(InferenceRequest made) : value(std::move(made)) {}
  InferenceRequest value;
};

void bind_request(nb::module_& m) {
  nb::class_<PyRequest>(m, "InferenceRequest", nb::type_slots(made_by_calls),
                        "A run in flight, from Engine.submit(). If it is dropped, the run is "
                        "cancelled.")
      .def(
          "is_ready", [](const PyRequest& self) { return self.value.is_ready(); },
          nb::sig("def is_ready(self) -> bool"), "Whether wait() returns at once.")
      .def(
          "wait",
          [](PyRequest& self) {
            return tensor_list(take(released([&] { return self.value.wait(); })));
          },
          nb::sig("def wait(self) -> list[Tensor]"),
          "Waits for the end, once, and gives the outputs, in the engine's memory. Other threads\n"
          "run meanwhile. Raises as Engine.run(), and Error with the code of a cancelled run.")
      .def(
          "cancel", [](PyRequest& self) { self.value.cancel(); },
          nb::sig("def cancel(self) -> None"),
          "Asks the run to end early, from any thread. wait() then raises Error, or "
          "gives\n"
          "the outputs if the engine finished.")
      .def_prop_ro(
          "times",
          [](const PyRequest& self) {
            const InferenceTimes times = self.value.times();
            const auto seconds = [](std::chrono::nanoseconds time) {
              return std::chrono::duration<double>(time).count();
            };
            return nb::make_tuple(seconds(times.queue), seconds(times.run));
          },
          nb::sig("def times(self) -> tuple[float, float]"),
          "Seconds in the queue and in the engine; zeros before wait().");
}

nb::dict metadata_of(const PyEngine& self) {
  nb::dict metadata;
  for (const auto& [key, value] : self.value.metadata())
    metadata[str_of(key)] = str_of(value);
  return metadata;
}

void add_opening(nb::class_<PyEngine>& cls) {
  cls.def(
      "__init__", &open_engine, nb::arg("path"), nb::arg("device") = "CPU", nb::arg("threads") = 0,
      nb::kw_only(), nb::arg("engine") = "", nb::arg("requests") = 0, nb::arg("batch") = 1,
      nb::arg("delegate") = nb::none(), nb::arg("settings") = nb::none(),
      nb::sig("def __init__(self, path: str | os.PathLike[str], device: str = \"CPU\", "
              "threads: int = 0, *, engine: str = \"\", requests: int = 0, batch: int = 1, "
              "delegate: str | os.PathLike[str] | None = None, "
              "settings: dict[str, str] | None = None) -> None"),
      "Args:\n    path: of an .onnx, .tflite or .xml file, or of a plugin's.\n"
      "    device: the engine's name of it.\n"
      "    threads: of inference; 0: the engine's choice.\n"
      "    engine: \"openvino\", \"onnxruntime\", \"tflite\"...; \"\": the first that opens it.\n"
      "    requests: most runs in flight, with their living results; 0: no limit.\n"
      "    batch: images per run, where the model leaves it open.\n"
      "    delegate: shared object of TFLite's external delegate.\n"
      "    settings: the engine's own, by its names.\n\n"
      "Raises MissingFileError, DataError (the file is not a model), ValueError (no such engine)\n"
      "and UnsupportedError (nothing opens it: the message tells what to install).");
}

void add_facts(nb::class_<PyEngine>& cls) {
  cls.def_prop_ro(
         "name", [](const PyEngine& self) { return str_of(self.value.name()); },
         nb::sig("def name(self) -> str"), "\"openvino\".")
      .def_prop_ro(
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
      .def(
          "submit",
          [](PyEngine& self, nb::handle inputs) {
            const std::vector<Tensor> given = tensors_from(inputs);
            return PyRequest(take(released([&] { return self.value.submit(given); })));
          },
          nb::arg("inputs"), nb::sig("def submit(self, inputs: Any) -> InferenceRequest"),
          "Begins a run as run() does, and returns. The inputs must not change before its end.")
      .def(
          "make_inputs",
          [](const PyEngine& self) { return tensor_list(take(self.value.make_inputs())); },
          nb::sig("def make_inputs(self) -> list[Tensor]"),
          "New tensors for all inputs; of a batch, batch(n) is image n.")
      .def(
          "warm_up",
          [](PyEngine& self, nb::handle runs) {
            const auto count = static_cast<unsigned>(size_from(runs, "runs", 1000000));
            check(released([&] { return self.value.warm_up(count); }));
          },
          nb::arg("runs") = 1, nb::sig("def warm_up(self, runs: int = 1) -> None"),
          "Makes the requests and runs each of them on zeros.")
      .def("__repr__", [](const PyEngine& self) {
        return "Engine('" + self.value.path() + "', " + self.value.runtime() + ")";
      });
}

void bind_engine_class(nb::module_& m) {
  nb::class_<PyEngine> cls(m, "Engine",
                           "A model file, run by the C++ engine with OpenVINO, ONNX Runtime and "
                           "others, whose libraries\n"
                           "are those of their packages: `pip install halyard-vision[openvino]`, "
                           "or [onnxruntime]. May be\n"
                           "used from several threads at once. A child of fork() can use no engine "
                           "if its parent had opened one.");
  add_opening(cls);
  add_facts(cls);
  add_running(cls);
}

}  // namespace

void bind_engine(nb::module_& m) {
  bind_spec(m);
  bind_request(m);
  bind_engine_class(m);
  m.def(
      "available_engines",
      [] {
        static PyObject* place = nullptr;
        kept_attribute(place, "halyard._openvino", "prepare")("");
        return text_list(available_engines());
      },
      nb::sig("def available_engines() -> list[str]"),
      "Engines of this build, one line each, or what to install.");
}

}  // namespace halyard::python
