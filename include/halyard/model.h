// SPDX-License-Identifier: Apache-2.0
// Model: runs a network on Halyard tensors without copying them.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/decode.h"
#include "halyard/describe.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/moved.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

namespace model {
struct Lease;
}

/// Options of Engine::open().
struct EngineOptions {
  std::string device = "CPU";  ///< the engine's name of the device, see EngineInfo::devices
  unsigned threads = 0;        ///< inference threads; 0: the engine's choice
  std::size_t max_file_bytes = std::size_t{2} << 30;
  /// Name of one of engines(). Empty: the first of them, in their order, that opens the file. If an
  /// engine refuses the file and a later one opens it, a message of level warn tells why.
  std::string engine = {};
  /// The largest number of runs whose results are awaited or alive; beyond it run() and submit()
  /// fail with exhausted. 0: no limit. OpenVINO prepares for this number at once: above 1 it is set
  /// for throughput, not for the latency of one run.
  unsigned requests = 0;
  /// Extent of the leading axis of inputs where the model leaves it open: images per run.
  std::size_t batch = 1;
  /// An external delegate of TFLite: absolute path of its shared object, or a name that the loader
  /// finds. Only the engine "tflite" takes one.
  std::string delegate = {};
  /// The engine's own settings by its own names: OpenVINO's properties, options of an ONNX Runtime
  /// provider, of a TFLite delegate, of a plugin.
  std::map<std::string, std::string> settings = {};
};

/// Durations of one run.
struct InferenceTimes {
  std::chrono::nanoseconds queue{0};  ///< from submit() until a thread begins the run
  std::chrono::nanoseconds run{0};    ///< of the run; OpenVINO's own queue is part of it
};

/// One run in flight, from Engine::submit(). It may outlive its engine. Move-only. Thread-bound,
/// except cancel() and is_ready(), which any thread may call while no other thread moves or
/// destroys the object. Destruction cancels the run and waits for its end.
class InferenceRequest {
 public:
  /// A run that does not exist: ready, and wait() fails.
  InferenceRequest() noexcept;
  InferenceRequest(InferenceRequest&&) noexcept;
  InferenceRequest& operator=(InferenceRequest&&) noexcept;
  ~InferenceRequest();

  /// Whether wait() returns at once.
  bool is_ready() const noexcept;
  /// Waits until is_ready(), at most for this time. Returns is_ready().
  bool wait_for(std::chrono::nanoseconds limit) const noexcept;
  /// Waits for the end of the run and gives its outputs: those that submit() was given, or tensors
  /// over the engine's memory, as of Engine::run(). This memory is in use until this object and the
  /// tensors are gone. Once only. Errors: those of Engine::run();
  /// cancelled; invalid_argument (a second call).
  Result<std::vector<Tensor>> wait();
  /// Asks the run to end early. wait() then fails with cancelled, or gives the outputs of a run
  /// that was not cut short: engines without cancellation finish what they have begun.
  void cancel() noexcept;
  /// Zeros before wait() has returned.
  InferenceTimes times() const noexcept { return times_; }

 private:
  friend class Engine;
  explicit InferenceRequest(std::shared_ptr<model::Lease> lease) noexcept;
  void abandon() noexcept;
  std::shared_ptr<model::Lease> lease_;
  InferenceTimes times_;
  Moved<bool> is_taken_;
};

/// A loaded network. Thread-safe: each run takes its own inference request from a pool, whose
/// memory is used again. If a process has opened a model, its children made by fork() can use no
/// model, neither an open nor a new one: there open() and run() fail with unsupported.
class Engine {
 public:
  /// Loads .onnx, .tflite or .xml, or a file that a plugin reads. Errors: not_found, permission,
  /// invalid_argument (an engine or an option that does not exist), unsupported (no engine for this
  /// file can be used here: the message names what to install; unknown extension; a batch or
  /// delegate that the model or engine does not take), malformed (the file is not a model), device.
  static Result<Engine> open(const std::string& path, const EngineOptions& options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// "openvino": the name in engines().
  const std::string& name() const noexcept;
  /// "openvino 2026.4 CPU".
  const std::string& runtime() const noexcept;
  /// The file it was opened from, as given to open().
  const std::string& path() const noexcept;
  /// Shapes are static; a dynamic batch axis is fixed to EngineOptions::batch. Quantization is set
  /// if the file has it. An image input has a format (planar_rgb for NCHW, rgb for NHWC); a batch
  /// of several images has none, see make_inputs().
  std::span<const TensorSpec> inputs() const noexcept;
  std::span<const TensorSpec> outputs() const noexcept;
  /// Width and height of the first input of images, {0, 0} if there is none.
  Size input_size() const noexcept;
  /// Metadata of the model file: that of ONNX, or the dict that exporters append to .tflite files
  /// ("names", "imgsz", "task"...).
  const std::map<std::string, std::string>& metadata() const noexcept;
  /// Class names from the metadata; empty if it has none.
  std::vector<std::string> labels() const;

  /// Runs the network on the caller's memory. The result is in the engine's own memory, which lives
  /// as long as the returned tensors and is not overwritten while they exist. Leading axes of 1 may
  /// be missing from an input. Integer inputs and outputs have the quantization of their specs.
  /// Errors: invalid_argument (count, shape or dtype of an input; the message names it),
  /// unsupported (strided input), device.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs);
  Result<std::vector<Tensor>> run(const Tensor& input) { return run({&input, 1}); }
  /// The same into the caller's tensors, one for each of outputs(), of its dtype and shape (leading
  /// axes of 1 may be missing), contiguous. Engines that cannot write there copy. Errors: also
  /// invalid_argument (an output that does not fit or shares bytes with an input), permission.
  Status run_into(std::span<const Tensor> inputs, std::span<const Tensor> outputs);

  /// Begins a run and returns. Inputs (and outputs, if given) must not be changed before the run
  /// has ended; the tensors are kept alive. OpenVINO runs on its own threads, for other engines
  /// each request has a thread; if the system refuses it, the run is over when submit() returns.
  /// Errors: those of run() and run_into() that are known before the run.
  Result<InferenceRequest> submit(std::span<const Tensor> inputs,
                                  std::span<const Tensor> outputs = {});

  /// New tensors for all inputs, zero-filled, that converters can fill and runs read without a
  /// copy. A batch of several images has an item_format(): batch(n) is image n. If a delegate owns
  /// DMA-BUFs for its inputs, the tensors are over these; then there is one set, which calls share.
  Result<std::vector<Tensor>> make_inputs() const;
  /// Makes EngineOptions::requests requests, at least one, and runs each of them `runs` times on
  /// zeros, so that later runs allocate and compile nothing. Errors: those of run().
  Status warm_up(unsigned runs = 1);

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// An engine that this library knows.
struct EngineInfo {
  std::string name;                     ///< for EngineOptions::engine
  std::string version;                  ///< of its library; empty if that cannot be used
  std::vector<std::string> devices;     ///< for EngineOptions::device
  std::vector<std::string> extensions;  ///< of the files that it reads, ".onnx"
  Status usable;                        ///< the error is the reason why this process cannot use it
  std::string install;                  ///< the command that brings it; empty: no registry has it
  bool needs_name = false;              ///< open() tries it only if EngineOptions::engine names it
};

/// All engines in the order in which open() tries them: openvino, onnxruntime, tflite, litert, then
/// plugins (halyard/c/engine_plugin.h). litert needs its name: its library does not check files,
/// and a damaged one may end the process. Loads the library of each. Thread-safe.
std::vector<EngineInfo> engines();

/// The same, one line each ("openvino 2026.4: CPU, GPU", or what to install).
std::vector<std::string> available_engines();

/// Whether a model's boxes are pixels or fractions of its input: the metadata "box_units"
/// ("pixels", "fraction") decides, else the kind of file. Ultralytics exports divide boxes by the
/// input size in .tflite files, float ones too, and leave pixels in .onnx and .xml files.
BoxUnits box_units(const Engine& engine);

/// Collects the metadata of a model from the engine, its file and the files next to it:
/// edgefirst.json and .yaml,
/// a .json or .yaml of the model's own name, config.json, preprocessor_config.json and labels.txt,
/// in the archive at the file's end, in its metadata, or in its folder.
ModelMetadata metadata_of(const Engine& engine);

/// The same for an .onnx file, read without an engine and without its weights, so that builds
/// without an engine can describe a model: metadata, names, shapes and element types of inputs and
/// outputs. Dynamic axes are fixed as in Engine. Errors: not_found, permission, invalid_argument
/// (not a regular file), malformed (not an ONNX model; the message has the byte), exhausted (beyond
/// a limit that the message names), unsupported (another kind of file, an element type, an output
/// whose shape only an engine can find).
Result<ModelMetadata> metadata_of_file(const std::string& path);

/// The existing files that are read to open or describe this model: the file itself, the .bin file
/// of an .xml file, the external data files of an .onnx file, and the texts next to it that
/// metadata_of() reads. If an .onnx file cannot be read or is not a model, its external data files
/// are not listed.
std::vector<std::string> files_of_model(const std::string& path);

/// Creates a decoder for the engine's outputs from infer_description(metadata_of(engine)). Errors:
/// those of infer_description() and Decoder::create().
Result<Decoder> decoder_for(const Engine& engine, DecodeOptions options = {});

}  // namespace halyard
HALYARD_EXPORTS_END
