// SPDX-License-Identifier: Apache-2.0
// The C interface of TFLite as far as Halyard calls it, declared from its documentation; the
// library is loaded when it is first needed.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include "halyard/result.h"

namespace halyard::model::tflite {

// Objects of the library.
struct Model;
struct Options;
struct Interpreter;
struct DelegateObject;
struct TensorObject;

struct ScaleAndZero {
  float scale;  ///< 0: not quantized, or by channel
  std::int32_t zero_point;
};

/// TfLiteStatus, as far as it matters.
inline constexpr int status_ok = 0;
inline constexpr int status_cancelled = 8;

using Report = void (*)(void* self, const char* format, std::va_list values);

struct Calls {
  const char* (*version)();
  Model* (*create_model)(const char* path);
  void (*delete_model)(Model*);
  Options* (*create_options)();
  void (*delete_options)(Options*);
  void (*set_threads)(Options*, std::int32_t count);
  void (*add_delegate)(Options*, DelegateObject*);
  void (*set_reporter)(Options*, Report, void* self);
  Interpreter* (*create_interpreter)(const Model*, const Options*);
  void (*delete_interpreter)(Interpreter*);
  std::int32_t (*input_count)(const Interpreter*);
  TensorObject* (*input)(const Interpreter*, std::int32_t index);
  int (*resize_input)(Interpreter*, std::int32_t index, const int* extents, std::int32_t rank);
  int (*allocate)(Interpreter*);
  int (*invoke)(Interpreter*);
  std::int32_t (*output_count)(const Interpreter*);
  const TensorObject* (*output)(const Interpreter*, std::int32_t index);
  int (*type)(const TensorObject*);
  std::int32_t (*rank)(const TensorObject*);
  std::int32_t (*extent)(const TensorObject*, std::int32_t axis);
  std::size_t (*size_bytes)(const TensorObject*);
  void* (*data)(const TensorObject*);
  const char* (*name)(const TensorObject*);
  ScaleAndZero (*quantization)(const TensorObject*);

  // Null in older libraries.
  Model* (*create_model_reporting)(const char* path, Report, void* self);
  int (*enable_cancellation)(Options*, bool);
  int (*cancel)(const Interpreter*);
  const int* (*input_indices)(const Interpreter*);  ///< among all tensors of the network
  const int* (*output_indices)(const Interpreter*);
};

/// Calls after the first success return the same table. Thread-safe. Errors: invalid_argument (the
/// variable), unsupported (missing, or not this interface: names the function).
Result<const Calls*> load_tflite_library();

}  // namespace halyard::model::tflite
