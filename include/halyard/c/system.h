// SPDX-License-Identifier: Apache-2.0
// The process in C: the destination of log messages, and recording of traces. Thread-safe.
#pragma once

#include <stdio.h>

#include "halyard/c/base.h"

HAL_BEGIN

enum hal_log_level HAL_ENUM_INT {
  HAL_LOG_LEVEL_ERROR = 1,
  HAL_LOG_LEVEL_WARN = 2,
  HAL_LOG_LEVEL_INFO = 3,
  HAL_LOG_LEVEL_DEBUG = 4,
  HAL_LOG_LEVEL_TRACE = 5,
};
typedef enum hal_log_level hal_log_level;

// Called from any thread, but never from two at once. It must not call this library. Texts are
// valid during the call.
typedef void (*hal_log_callback)(hal_log_level level, const char* target, const char* message,
                                 void* userdata);

/// Writes messages up to `max_level` to a stream, which must stay open; control characters are
/// escaped. A process may call one of these two functions once. errno: EINVAL (NULL, not an
/// enumerator), EALREADY.
int hal_log_init_file(FILE* stream, hal_log_level max_level);
int hal_log_init_callback(hal_log_callback callback, void* userdata, hal_log_level max_level);

/// Records spans until hal_stop_tracing() writes them as Chrome trace JSON. The path refers to the
/// file when it is complete; links are followed, devices and pipes are written to directly. errno:
/// EINVAL, EALREADY (a recording is active), EACCES, ENOENT, and what system calls report.
int hal_start_tracing(const char* path);
/// Ends the recording and writes the file. Without a recording it does nothing.
void hal_stop_tracing(void);
int hal_is_tracing_active(void);  ///< 1 or 0

HAL_END
