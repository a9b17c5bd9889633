// SPDX-License-Identifier: Apache-2.0
// Model: runs a network on Halyard tensors without copying them.
#pragma once

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
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Options of Engine::open().
struct EngineOptions {
  std::string device = "CPU";  ///< the runtime's name of the device
  unsigned threads = 0;        ///< inference threads; 0: the runtime's choice
  std::size_t max_file_bytes = std::size_t{2} << 30;
};

/// A loaded network. run() may be called from several threads at once: each call takes its own
/// inference request from a pool. If a process has opened a model, its children made by fork() can
/// use no model, neither an open nor a new one: there open() and run() fail with unsupported.
class Engine {
 public:
  /// Loads .onnx, .tflite or .xml. Errors: not_found, permission, unsupported (built without an
  /// engine: the message names what to install; unknown extension), malformed (the file is not a
  /// model), device.
  static Result<Engine> open(const std::string& path, const EngineOptions& options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// "openvino 2026.4 CPU".
  const std::string& runtime() const noexcept;
  /// The file it was opened from, as given to open().
  const std::string& path() const noexcept;
  /// Shapes are static; a dynamic batch axis is fixed to 1. Quantization is set if the file has it.
  /// An image input has a format (planar_rgb for NCHW, rgb for NHWC).
  std::span<const TensorSpec> inputs() const noexcept;
  std::span<const TensorSpec> outputs() const noexcept;
  /// Width and height of the first image input, {0, 0} if there is none.
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

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// The engines of this build, one line each ("openvino 2026.4: CPU, GPU", or what to install).
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
