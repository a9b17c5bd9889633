// SPDX-License-Identifier: Apache-2.0
// Loads the library and finds its functions by name.
#include "model/tflite/tflite_api.h"

#include <atomic>
#include <memory>
#include <string>

#include "base/env.h"
#include "base/system/fork.h"
#include "base/system/shared_object.h"
#include "base/text/format_error.h"

namespace halyard::model::tflite {
namespace {

constexpr char not_loaded[] =
    "TFLite's C library cannot be loaded: install libtensorflowlite_c.so where the loader finds "
    "it, "
    "or set HALYARD_TFLITE_LIBRARY to its path";

Result<SharedObject> open_tflite() {
  if (const auto named = read_environment().tflite_library) {
    if (named->find('/') != std::string::npos && named->front() != '/')
      return fail(Errc::invalid_argument,
                  "HALYARD_TFLITE_LIBRARY: must be a file name or an absolute path", "'{}'",
                  *named);
    return SharedObject::open(*named, not_loaded);
  }
  auto opened = SharedObject::open("libtensorflowlite_c.so", not_loaded);
  if (opened) return opened;
  return SharedObject::open("libtensorflow-lite.so", not_loaded);
}

void find_tensors(FunctionFinder& finder, Calls& api) {
  finder.find(api.type, "TfLiteTensorType");
  finder.find(api.rank, "TfLiteTensorNumDims");
  finder.find(api.extent, "TfLiteTensorDim");
  finder.find(api.size_bytes, "TfLiteTensorByteSize");
  finder.find(api.data, "TfLiteTensorData");
  finder.find(api.name, "TfLiteTensorName");
  finder.find(api.quantization, "TfLiteTensorQuantizationParams");
}

void find_all(FunctionFinder& finder, Calls& api) {
  finder.find(api.version, "TfLiteVersion");
  finder.find(api.create_model, "TfLiteModelCreateFromFile");
  finder.find(api.delete_model, "TfLiteModelDelete");
  finder.find(api.create_options, "TfLiteInterpreterOptionsCreate");
  finder.find(api.delete_options, "TfLiteInterpreterOptionsDelete");
  finder.find(api.set_threads, "TfLiteInterpreterOptionsSetNumThreads");
  finder.find(api.add_delegate, "TfLiteInterpreterOptionsAddDelegate");
  finder.find(api.set_reporter, "TfLiteInterpreterOptionsSetErrorReporter");
  finder.find(api.create_interpreter, "TfLiteInterpreterCreate");
  finder.find(api.delete_interpreter, "TfLiteInterpreterDelete");
  finder.find(api.input_count, "TfLiteInterpreterGetInputTensorCount");
  finder.find(api.input, "TfLiteInterpreterGetInputTensor");
  finder.find(api.resize_input, "TfLiteInterpreterResizeInputTensor");
  finder.find(api.allocate, "TfLiteInterpreterAllocateTensors");
  finder.find(api.invoke, "TfLiteInterpreterInvoke");
  finder.find(api.output_count, "TfLiteInterpreterGetOutputTensorCount");
  finder.find(api.output, "TfLiteInterpreterGetOutputTensor");
  find_tensors(finder, api);
  finder.find_if_there(api.create_model_reporting, "TfLiteModelCreateFromFileWithErrorReporter");
  finder.find_if_there(api.enable_cancellation, "TfLiteInterpreterOptionsEnableCancellation");
  finder.find_if_there(api.cancel, "TfLiteInterpreterCancel");
  finder.find_if_there(api.input_indices, "TfLiteInterpreterInputTensorIndices");
  finder.find_if_there(api.output_indices, "TfLiteInterpreterOutputTensorIndices");
}

}  // namespace

Result<const Calls*> load_tflite_library() {
  static std::atomic<Calls*> known{nullptr};
  if (const Calls* const api = known.load(std::memory_order_acquire)) return api;
  threads_start();
  HALYARD_TRY(const SharedObject object, open_tflite());
  Calls api{};
  FunctionFinder finder(object);
  find_all(finder, api);
  if (finder.missing() != nullptr)
    return fail(Errc::unsupported, "TFLite's library lacks a function of the C interface", "{}",
                finder.missing());
  return &made_once(known, [&] { return new Calls(api); });
}

}  // namespace halyard::model::tflite
