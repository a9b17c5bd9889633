// SPDX-License-Identifier: Apache-2.0
// Loads ONNX Runtime and fills the table of its functions.
#include "model/onnxruntime/ort_api.h"

#include <atomic>
#include <memory>

#include "base/env.h"
#include "base/system/fork.h"
#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "model/library/find_library.h"
#include "model/one_line.h"

namespace halyard::model::ort {
namespace {

LibraryPlaces places() {
  return {"HALYARD_ONNXRUNTIME_DIR: must be an absolute path",
          "HALYARD_ONNXRUNTIME_DIR: the folder lacks the ONNX Runtime library",
          "ONNX Runtime cannot be loaded: install it where the loader finds it, or set "
          "HALYARD_ONNXRUNTIME_DIR to the folder of its library",
          "libonnxruntime.so",
          {"", "capi", "lib"},
          {"libonnxruntime.so.1", "libonnxruntime.so"}};
}

template <class F>
void take(F& function, void* const* table, std::size_t place) {
  function = reinterpret_cast<F>(table[place]);
}

void fill_sessions(Api& api, void* const* table) {
  take(api.create_env, table, 4);
  take(api.create_session, table, 7);
  take(api.create_session_options, table, 10);
  take(api.set_intra_op_threads, table, 24);
  take(api.input_count, table, 30);
  take(api.output_count, table, 31);
  take(api.input_type, table, 33);
  take(api.output_type, table, 34);
  take(api.input_name, table, 36);
  take(api.output_name, table, 37);
  take(api.release_session, table, 95);
  take(api.release_session_options, table, 100);
  take(api.model_metadata, table, 111);
  take(api.metadata_value, table, 116);
  take(api.release_metadata, table, 118);
  take(api.metadata_keys, table, 123);
  take(api.providers, table, 125);
  take(api.release_providers, table, 126);
  take(api.add_config, table, 130);
  take(api.add_cuda, table, 204);
  take(api.create_cuda_options, table, 205);
  take(api.update_cuda_options, table, 206);
  take(api.release_cuda_options, table, 208);
  take(api.add_provider, table, 216);
}

void fill_values(Api& api, void* const* table) {
  take(api.error_message, table, 2);
  take(api.run, table, 9);
  take(api.create_run_options, table, 39);
  take(api.set_terminate, table, 46);
  take(api.unset_terminate, table, 47);
  take(api.create_tensor, table, 49);
  take(api.shape_of_type, table, 55);
  take(api.element_type, table, 60);
  take(api.rank, table, 61);
  take(api.extents, table, 62);
  take(api.shape_of_value, table, 65);
  take(api.create_cpu_memory, table, 69);
  take(api.free, table, 76);
  take(api.default_allocator, table, 78);
  take(api.release_status, table, 93);
  take(api.release_value, table, 96);
  take(api.release_run_options, table, 97);
  take(api.release_type, table, 98);
  take(api.release_shape, table, 99);
  take(api.run_bound, table, 133);
  take(api.create_binding, table, 134);
  take(api.release_binding, table, 135);
  take(api.bind_input, table, 136);
  take(api.bind_output, table, 137);
}

/// Without it the library writes to standard error.
void log_line(void*, int severity, const char*, const char*, const char*, const char* message) {
  const LogLevel level = severity >= log_error ? LogLevel::error : LogLevel::warn;
  HALYARD_LOG(level, "model", "onnxruntime: {}", one_line(message));
}

Result<std::unique_ptr<Library>> open_library() {
  HALYARD_TRY(const SharedObject object,
              find_library(places(), read_environment().onnxruntime_dir));
  const auto base_of = object.function<const ApiBase*()>("OrtGetApiBase");
  if (base_of == nullptr)
    return fail(Errc::unsupported, "ONNX Runtime: its library lacks OrtGetApiBase");
  const ApiBase* const base = base_of();
  void* const* const table = base->get_api(api_version);
  auto library = std::make_unique<Library>();
  library->version = base->version();
  if (table == nullptr)
    return fail(Errc::version, "ONNX Runtime must be 1.12 or newer", "it is {}", library->version);
  Api& api = library->api;
  fill_sessions(api, table);
  fill_values(api, table);
  constexpr const char* cannot_start = "ONNX Runtime does not start";
  threads_start();
  if (auto* bad = api.create_env(log_line, nullptr, log_warning, "halyard", &library->env))
    return error_of(api, bad, Errc::device, cannot_start);
  if (auto* bad = api.default_allocator(&library->allocator))
    return error_of(api, bad, Errc::device, cannot_start);
  // 0: memory without an arena, of the default kind.
  if (auto* bad = api.create_cpu_memory(0, 0, &library->memory))
    return error_of(api, bad, Errc::device, cannot_start);
  return library;
}

}  // namespace

Result<const Library*> load_library() {
  static std::atomic<const Library*> known{nullptr};
  if (const Library* const library = known.load(std::memory_order_acquire)) return library;
  HALYARD_TRY(auto fresh, open_library());
  const Library* expected = nullptr;
  // Two threads may load at once: the library counts its environments, and one is kept.
  if (known.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel))
    return fresh.release();
  return expected;
}

Error error_of(const Api& api, Status* status, Errc code, const char* what) {
  Error error = make_error(code, what, one_line(api.error_message(status)));
  api.release_status(status);
  return error;
}

}  // namespace halyard::model::ort
