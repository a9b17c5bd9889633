// SPDX-License-Identifier: Apache-2.0
// A library with TFLite's C interface. Its networks have one input and one output of one shape and
// give each element times a scale. A model is a file of "....TFL3" and the words: type (f32, i8),
// scale, milliseconds per run, extents. Wrong use ends the program.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "fake_tflite.h"

using fake::misused;
using Report = void (*)(void*, const char*, std::va_list);

namespace {

std::atomic<int> alive{0};
void called(Report report, void* self, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  if (report != nullptr) report(self, format, values);
  va_end(values);
}

}  // namespace

struct TfLiteModel {
  std::string type;
  float scale = 0;
  int milliseconds = 0;
  std::vector<int> extents;
  mutable std::atomic<int> interpreters{0};
};
struct TfLiteInterpreterOptions {
  Report report = nullptr;
  void* self = nullptr;
  fake::Delegate* delegate = nullptr;
  int threads = -1;
  bool is_cancellable = false;
};
struct TfLiteTensor {
  int type = 0;
  std::vector<int> extents;
  std::vector<char> bytes;
  std::string name;
};
struct TfLiteInterpreter {
  const TfLiteModel* model = nullptr;
  TfLiteInterpreterOptions options;
  TfLiteTensor input, output;
  bool is_allocated = false;
  std::atomic<bool> is_running{false};
  mutable std::atomic<bool> is_cancelled{false};
};
struct Quantization {
  float scale;
  std::int32_t zero_point;
};

extern "C" {

int fake_tflite_alive() {
  return alive;
}

const char* TfLiteVersion() {
  return "2.16.1-fake";
}

TfLiteModel* TfLiteModelCreateFromFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(8, '\0');
  file.read(head.data(), 8);
  if (!file || head.substr(4) != "TFL3") misused("the file's identifier is checked before");
  auto* model = new TfLiteModel;
  file >> model->type >> model->scale >> model->milliseconds;
  for (int extent = 0; file >> extent;)
    model->extents.push_back(extent);
  if ((model->type != "f32" && model->type != "i8") || model->extents.empty()) {
    delete model;
    return nullptr;
  }
  ++alive;
  return model;
}
void TfLiteModelDelete(TfLiteModel* model) {
  if (model->interpreters != 0) misused("a model is deleted before its interpreters");
  --alive;
  delete model;
}

TfLiteInterpreterOptions* TfLiteInterpreterOptionsCreate() {
  ++alive;
  return new TfLiteInterpreterOptions;
}
void TfLiteInterpreterOptionsDelete(TfLiteInterpreterOptions* options) {
  --alive;
  delete options;
}
void TfLiteInterpreterOptionsSetNumThreads(TfLiteInterpreterOptions* options, std::int32_t count) {
  if (count < 1) misused("threads are counted from 1");
  options->threads = count;
}
void TfLiteInterpreterOptionsAddDelegate(TfLiteInterpreterOptions* options, void* delegate) {
  options->delegate = static_cast<fake::Delegate*>(delegate);
  if (options->delegate->magic != fake::delegate_magic) misused("not a living delegate");
}
void TfLiteInterpreterOptionsSetErrorReporter(TfLiteInterpreterOptions* options, Report report,
                                              void* self) {
  options->report = report;
  options->self = self;
}
int TfLiteInterpreterOptionsEnableCancellation(TfLiteInterpreterOptions* options, bool enable) {
  options->is_cancellable = enable;
  return 0;
}

TfLiteInterpreter* TfLiteInterpreterCreate(const TfLiteModel* model,
                                           const TfLiteInterpreterOptions* options) {
  if (model->scale == 13) {
    called(options->report, options->self, "Didn't find op for builtin opcode '%s'\n", "THIRTEEN");
    return nullptr;
  }
  ++alive;
  ++model->interpreters;
  auto* interpreter = new TfLiteInterpreter;
  interpreter->model = model;
  interpreter->options = *options;
  const int type = model->type == "f32" ? 1 : 9;
  interpreter->input = {type, model->extents, {}, "images"};
  interpreter->output = {type, model->extents, {}, "output0"};
  return interpreter;
}
void TfLiteInterpreterDelete(TfLiteInterpreter* interpreter) {
  if (interpreter->is_running) misused("an interpreter is deleted while it runs");
  if (interpreter->options.delegate != nullptr &&
      interpreter->options.delegate->magic != fake::delegate_magic)
    misused("a delegate is destroyed before its interpreter");
  --interpreter->model->interpreters;
  --alive;
  delete interpreter;
}

std::int32_t TfLiteInterpreterGetInputTensorCount(const TfLiteInterpreter*) {
  return 1;
}
std::int32_t TfLiteInterpreterGetOutputTensorCount(const TfLiteInterpreter*) {
  return 1;
}
const int* TfLiteInterpreterInputTensorIndices(const TfLiteInterpreter*) {
  static const int index = 4;
  return &index;
}
const int* TfLiteInterpreterOutputTensorIndices(const TfLiteInterpreter*) {
  static const int index = 7;
  return &index;
}
TfLiteTensor* TfLiteInterpreterGetInputTensor(const TfLiteInterpreter* interpreter,
                                              std::int32_t index) {
  if (index != 0) misused("there is one input");
  return const_cast<TfLiteTensor*>(&interpreter->input);
}
const TfLiteTensor* TfLiteInterpreterGetOutputTensor(const TfLiteInterpreter* interpreter,
                                                     std::int32_t index) {
  if (index != 0) misused("there is one output");
  return &interpreter->output;
}
int TfLiteInterpreterResizeInputTensor(TfLiteInterpreter* interpreter, std::int32_t,
                                       const int* extents, std::int32_t rank) {
  if (interpreter->model->scale == 3) {
    called(interpreter->options.report, interpreter->options.self, "this shape is fixed\n");
    return 1;
  }
  interpreter->input.extents.assign(extents, extents + rank);
  interpreter->output.extents = interpreter->input.extents;
  interpreter->is_allocated = false;
  return 0;
}
int TfLiteInterpreterAllocateTensors(TfLiteInterpreter* interpreter) {
  std::size_t size = interpreter->input.type == 1 ? 4 : 1;
  for (const int extent : interpreter->input.extents)
    size *= static_cast<std::size_t>(extent);
  interpreter->input.bytes.assign(size, 0);
  interpreter->output.bytes.assign(size, 0);
  interpreter->is_allocated = true;
  return 0;
}

static int run(TfLiteInterpreter* interpreter) {
  const TfLiteModel& model = *interpreter->model;
  for (int i = 0; i < model.milliseconds; ++i) {
    if (interpreter->is_cancelled.exchange(false)) return 8;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (model.scale == 99) {
    called(interpreter->options.report, interpreter->options.self, "Node number %d failed\n", 5);
    return 1;
  }
  if (interpreter->options.delegate != nullptr)
    return interpreter->options.delegate->run(model.scale) ? 0 : 2;
  const char* const in = interpreter->input.bytes.data();
  char* const out = interpreter->output.bytes.data();
  const std::size_t size = interpreter->input.bytes.size();
  for (std::size_t i = 0; interpreter->input.type == 9 && i < size; ++i)
    out[i] = static_cast<char>(std::lround(model.scale * float(static_cast<signed char>(in[i]))));
  for (std::size_t i = 0; interpreter->input.type == 1 && i < size; i += 4) {
    float value = 0;
    std::memcpy(&value, in + i, 4);
    value *= model.scale;
    std::memcpy(out + i, &value, 4);
  }
  return 0;
}
int TfLiteInterpreterInvoke(TfLiteInterpreter* interpreter) {
  if (!interpreter->is_allocated) misused("tensors are allocated before a run");
  if (interpreter->is_running.exchange(true)) misused("one thread at a time runs an interpreter");
  interpreter->is_cancelled = false;
  const int status = run(interpreter);
  interpreter->is_running = false;
  return status;
}
int TfLiteInterpreterCancel(const TfLiteInterpreter* interpreter) {
  if (!interpreter->options.is_cancellable) misused("cancellation is enabled before");
  interpreter->is_cancelled = true;
  return 0;
}

int TfLiteTensorType(const TfLiteTensor* tensor) {
  return tensor->type;
}
std::int32_t TfLiteTensorNumDims(const TfLiteTensor* tensor) {
  return static_cast<std::int32_t>(tensor->extents.size());
}
std::int32_t TfLiteTensorDim(const TfLiteTensor* tensor, std::int32_t axis) {
  return tensor->extents.at(static_cast<std::size_t>(axis));
}
std::size_t TfLiteTensorByteSize(const TfLiteTensor* tensor) {
  return tensor->bytes.size();
}
void* TfLiteTensorData(const TfLiteTensor* tensor) {
  return const_cast<char*>(tensor->bytes.data());
}
const char* TfLiteTensorName(const TfLiteTensor* tensor) {
  return tensor->name.c_str();
}
Quantization TfLiteTensorQuantizationParams(const TfLiteTensor* tensor) {
  return tensor->type == 9 ? Quantization{0.5F, 10} : Quantization{0, 0};
}

}  // extern "C"
