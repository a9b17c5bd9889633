// SPDX-License-Identifier: Apache-2.0
// Log and trace in C.
#include <atomic>
#include <cstdio>
#include <string>
#include <utility>

#include "capi/arguments.h"
#include "capi/error.h"
#include "halyard/c/system.h"
#include "halyard/log.h"
#include "halyard/trace.h"

using namespace halyard;
using capi::guarded;

namespace {

std::atomic<bool> has_sink{false};

Status install(int max_level, LogSink sink) {
  if (max_level < HAL_LOG_LEVEL_ERROR || max_level > HAL_LOG_LEVEL_TRACE)
    return make_error(Errc::invalid_argument, "max_level: must be a value of hal_log_level",
                      std::to_string(max_level));
  if (has_sink.exchange(true))
    return make_error(Errc::os, "log: was initialised before", {}, EALREADY);
  set_log_level(static_cast<LogLevel>(max_level));
  set_log_sink(std::move(sink));
  return {};
}

}  // namespace

int hal_log_init_file(FILE* stream, hal_log_level max_level) {
  return guarded<int>(-1, [&]() -> Result<int> {
    if (stream == nullptr) return capi::null_argument("stream: is NULL");
    HALYARD_RETURN_IF_ERROR(install(
        max_level, [stream](LogLevel level, std::string_view target, std::string_view text) {
          const std::string_view word = to_string(level);
          std::fprintf(stream, "[%.*s %s] %s\n", static_cast<int>(word.size()), word.data(),
                       printable(target).c_str(), printable(text).c_str());
          std::fflush(stream);
        }));
    return 0;
  });
}

int hal_log_init_callback(hal_log_callback callback, void* userdata, hal_log_level max_level) {
  return guarded<int>(-1, [&]() -> Result<int> {
    if (callback == nullptr) return capi::null_argument("callback: is NULL");
    HALYARD_RETURN_IF_ERROR(install(
        max_level,
        [callback, userdata](LogLevel level, std::string_view target, std::string_view text) {
          callback(static_cast<hal_log_level>(level), std::string(target).c_str(),
                   std::string(text).c_str(), userdata);
        }));
    return 0;
  });
}

int hal_start_tracing(const char* path) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(const std::string file, capi::path_from(path));
    const Status started = trace::start(file);
    if (!started && started.error().code == Errc::busy)
      return make_error(Errc::os, "trace: a recording is running", {}, EALREADY);
    HALYARD_RETURN_IF_ERROR(started);
    return 0;
  });
}

void hal_stop_tracing(void) {
  guarded<int>(-1, []() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(trace::stop());
    return 0;
  });
}

int hal_is_tracing_active(void) {
  return trace::is_active() ? 1 : 0;
}
