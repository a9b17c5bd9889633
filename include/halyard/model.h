// SPDX-License-Identifier: Apache-2.0
// Model: run a network on tensors of ours, without copying them.
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

/// A loaded network. run() may be called from several threads at once: each call takes a request of
/// its own from a pool. A child of fork() can use no model, neither an open nor a new one, when the
/// process that forked it had opened one: open() and run() are refused there as unsupported.
class Engine {
 public:
  struct Options {
    std::string device = "CPU";  ///< the runtime's name of the device
    unsigned threads = 0;        ///< inference threads; 0: the runtime's choice
    std::size_t max_file_bytes = std::size_t{2} << 30;
  };
  /// Loads .onnx, .tflite or .xml. Errors: not_found, permission, unsupported (built without an
  /// engine: the message says what to install; unknown extension), malformed (the file is no
  /// model), device.
  static Result<Engine> open(const std::string& path, const Options& options);
  static Result<Engine> open(const std::string& path) { return open(path, Options{}); }
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// "openvino 2026.4 CPU".
  const std::string& runtime() const noexcept;
  /// The file it was opened from, as given to open().
  const std::string& path() const noexcept;
  /// Shapes are static; a dynamic batch axis is fixed to 1. Quantization is filled where the file
  /// has it; an image input has its format (planar_rgb for NCHW, rgb for NHWC).
  std::span<const TensorSpec> inputs() const noexcept;
  std::span<const TensorSpec> outputs() const noexcept;
  /// Width and height of the first image input, {0, 0} when there is none.
  Size input_size() const noexcept;
  /// Text the model file carries: ONNX metadata, or the dict that exporters append to .tflite files
  /// ("names", "imgsz", "task"...).
  const std::map<std::string, std::string>& metadata() const noexcept;
  /// Class names from the metadata, empty when it has none.
  std::vector<std::string> labels() const;

  /// Runs on the caller's memory; the result lies in the engine's own memory, alive as long as the
  /// tensors, and is not overwritten while they live. Leading axes of 1 may be missing from an
  /// input. Errors: invalid_argument (count, shape or dtype of an input; the message names it),
  /// unsupported (strided input), device. Integer inputs and outputs are quantized as their specs
  /// say.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs);
  Result<std::vector<Tensor>> run(const Tensor& input) { return run({&input, 1}); }

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Which engines this build has, one line each ("openvino 2026.4: CPU, GPU", or what to install).
std::vector<std::string> available_engines();

/// Whether a model's boxes are pixels or fractions of its input: what its metadata says under
/// "box_units" ("pixels", "fraction"), else by kind of file. Ultralytics exports divide boxes by
/// the input size in .tflite files, float ones too, and leave pixels in .onnx and .xml files.
BoxUnits box_units(const Engine& engine);

/// What the engine, its file and the files beside it tell of the model: edgefirst.json and .yaml,
/// a .json or .yaml of the model's own name, config.json, preprocessor_config.json and labels.txt,
/// in the archive at the file's end, in its metadata, or in its folder.
ModelMetadata metadata_of(const Engine& engine);

/// The same of an .onnx file, read without an engine and without its weights, so that a model can
/// be described where none is built in: metadata, names, shapes and element types of inputs and
/// outputs. Dynamic axes are fixed as Engine fixes them. Errors: not_found, permission,
/// invalid_argument (no regular file), malformed (no ONNX model; the message has the byte),
/// exhausted (beyond a limit that the message names), unsupported (another kind of file, an element
/// type, an output whose shape only an engine can find).
Result<ModelMetadata> metadata_of_file(const std::string& path);

/// The files that opening or describing this model reads, as far as they are there: itself, the
/// .bin file of an .xml file, the files that an .onnx file keeps values in, and the texts beside it
/// that metadata_of() reads. What cannot be read, or is no model, names no further files.
std::vector<std::string> files_of_model(const std::string& path);

/// A decoder for the engine's outputs, from infer_description(metadata_of(engine)). Errors: those
/// of infer_description() and Decoder::create().
Result<Decoder> decoder_for(const Engine& engine, DecodeOptions options = {});

}  // namespace halyard
HALYARD_EXPORTS_END
