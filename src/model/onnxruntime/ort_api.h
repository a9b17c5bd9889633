// SPDX-License-Identifier: Apache-2.0
// The part of ONNX Runtime's C interface that Halyard calls, declared from its documentation. The
// library gives a table of functions that only grows: each has a fixed place in it since the
// version that brought it. All used here exist since interface version 12 (ONNX Runtime 1.12).
#pragma once

#include <cstddef>
#include <cstdint>

#include "halyard/result.h"

namespace halyard::model::ort {

inline constexpr std::uint32_t api_version = 12;

// Objects of the library.
struct Status;
struct Env;
struct Session;
struct SessionOptions;
struct RunOptions;
struct Value;
struct TypeInfo;
struct ShapeInfo;
struct MemoryInfo;
struct Binding;
struct ModelMetadata;
struct Allocator;
struct CudaOptions;

/// Its symbol is OrtGetApiBase.
struct ApiBase {
  void* const* (*get_api)(std::uint32_t version);  ///< null: the library is older
  const char* (*version)();
};

/// ONNXTensorElementDataType.
enum class ElementType : int {
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16,
};

using Log = void (*)(void* self, int severity, const char* category, const char* id,
                     const char* place, const char* message);
inline constexpr int log_warning = 2;
inline constexpr int log_error = 3;

/// Null status: success.
struct Api {
  const char* (*error_message)(const Status*);
  void (*release_status)(Status*);
  Status* (*create_env)(Log, void* self, int severity, const char* id, Env**);

  Status* (*create_session_options)(SessionOptions**);
  void (*release_session_options)(SessionOptions*);
  Status* (*set_intra_op_threads)(SessionOptions*, int count);
  Status* (*add_config)(SessionOptions*, const char* key, const char* value);
  Status* (*add_provider)(SessionOptions*, const char* name, const char* const* keys,
                          const char* const* values, std::size_t count);
  Status* (*add_cuda)(SessionOptions*, const CudaOptions*);
  Status* (*create_cuda_options)(CudaOptions**);
  Status* (*update_cuda_options)(CudaOptions*, const char* const* keys, const char* const* values,
                                 std::size_t count);
  void (*release_cuda_options)(CudaOptions*);
  Status* (*providers)(char*** names, int* count);
  Status* (*release_providers)(char** names, int count);

  Status* (*create_session)(const Env*, const char* path, const SessionOptions*, Session**);
  void (*release_session)(Session*);
  Status* (*input_count)(const Session*, std::size_t*);
  Status* (*output_count)(const Session*, std::size_t*);
  Status* (*input_type)(const Session*, std::size_t index, TypeInfo**);
  Status* (*output_type)(const Session*, std::size_t index, TypeInfo**);
  Status* (*input_name)(const Session*, std::size_t index, Allocator*, char**);
  Status* (*output_name)(const Session*, std::size_t index, Allocator*, char**);
  void (*release_type)(TypeInfo*);
  Status* (*shape_of_type)(const TypeInfo*, const ShapeInfo**);  ///< null: not a tensor
  Status* (*shape_of_value)(const Value*, ShapeInfo**);
  void (*release_shape)(ShapeInfo*);
  Status* (*element_type)(const ShapeInfo*, int*);
  Status* (*rank)(const ShapeInfo*, std::size_t*);
  Status* (*extents)(const ShapeInfo*, std::int64_t*, std::size_t count);  ///< -1: dynamic

  Status* (*model_metadata)(const Session*, ModelMetadata**);
  void (*release_metadata)(ModelMetadata*);
  Status* (*metadata_keys)(const ModelMetadata*, Allocator*, char*** keys, std::int64_t* count);
  Status* (*metadata_value)(const ModelMetadata*, Allocator*, const char* key, char**);
  Status* (*default_allocator)(Allocator**);
  Status* (*free)(Allocator*, void*);

  Status* (*create_cpu_memory)(int allocator, int kind, MemoryInfo**);
  Status* (*create_tensor)(const MemoryInfo*, void* data, std::size_t size_bytes,
                           const std::int64_t* shape, std::size_t rank, int type, Value**);
  void (*release_value)(Value*);
  Status* (*create_binding)(Session*, Binding**);
  void (*release_binding)(Binding*);
  Status* (*bind_input)(Binding*, const char* name, const Value*);
  Status* (*bind_output)(Binding*, const char* name, const Value*);
  Status* (*create_run_options)(RunOptions**);
  void (*release_run_options)(RunOptions*);
  Status* (*set_terminate)(RunOptions*);
  Status* (*unset_terminate)(RunOptions*);
  Status* (*run_bound)(Session*, const RunOptions*, const Binding*);
  Status* (*run)(Session*, const RunOptions*, const char* const* input_names,
                 const Value* const* inputs, std::size_t input_count,
                 const char* const* output_names, std::size_t output_count, Value** outputs);
};

/// The library, loaded once per process.
struct Library {
  Api api;
  const char* version;
  Env* env;
  Allocator* allocator;
  MemoryInfo* memory;
};

/// Errors: unsupported (missing: names the package), version (older than 1.12), device.
Result<const Library*> load_library();

/// The library's error; releases `status`. `what`: a literal.
Error error_of(const Api& api, Status* status, Errc code, const char* what);

/// An object of the library with its release function.
template <class T>
class Owned {
 public:
  explicit Owned(void (*release)(T*)) noexcept : release_(release) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { reset(); }
  T* get() const noexcept { return object_; }
  /// Releases what it holds; for functions that give an object.
  T** out() noexcept {
    reset();
    return &object_;
  }

 private:
  void reset() noexcept {
    if (object_ != nullptr) release_(object_);
    object_ = nullptr;
  }
  void (*release_)(T*);
  T* object_ = nullptr;
};

}  // namespace halyard::model::ort
