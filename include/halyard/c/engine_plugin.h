// SPDX-License-Identifier: Apache-2.0
// Engine plugins: a runtime of networks (a vendor's NPU) as one shared object, which Halyard finds
// in a folder. The object exports one function, hal_engine_plugin_get(); nothing of Halyard is
// needed to build it but this header. C99 and later, and C++.
//
// Halyard looks in the files and folders of HALYARD_ENGINE_PLUGINS, then in halyard/engines beside
// its library, loads each *.so once, and never unloads it. docs/engines.md has an example.
//
// Threads: functions without a request are called by one thread at a time for one model; those of
// different models, and of different requests of one model, at once. For one request one thread at
// a time calls, except cancel(). No function may throw a C++ exception.
//
// Results: HAL_ENGINE_OK or another hal_engine_result. `text` points to HAL_ENGINE_TEXT_BYTES bytes
// for a reason, ended by NUL, which a function that fails may write; it is never NULL. Structs may
// get new members at their end: `size` is what the writer of a struct knows.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HAL_ENGINE_PLUGIN_VERSION 1
#define HAL_ENGINE_MAX_RANK 8
#define HAL_ENGINE_TEXT_BYTES 256

enum hal_engine_result {
  HAL_ENGINE_OK = 0,
  HAL_ENGINE_END = 1,          // of a list: there is no such index
  HAL_ENGINE_FAILED = 2,       // the device or the runtime failed
  HAL_ENGINE_MALFORMED = 3,    // the file is not a model of this engine
  HAL_ENGINE_UNSUPPORTED = 4,  // a model, option or memory that the engine does not take
  HAL_ENGINE_CANCELLED = 5,    // cancel() ended the run
  HAL_ENGINE_EXHAUSTED = 6,    // no more requests
};

// The plugin's own objects.
typedef struct hal_engine_model hal_engine_model;
typedef struct hal_engine_request hal_engine_request;

struct hal_engine_setting {
  const char* key;
  const char* value;
};
typedef struct hal_engine_setting hal_engine_setting;

/// EngineOptions of halyard/model.h. Valid during open().
struct hal_engine_options {
  size_t size;         // bytes of this struct
  const char* device;  // "CPU" if the user names none
  uint32_t threads;    // 0: the engine's choice
  uint32_t requests;   // in flight at once; 0: not known
  uint64_t batch;      // of inputs whose leading axis is open; at least 1
  const hal_engine_setting* settings;
  size_t setting_count;
};
typedef struct hal_engine_options hal_engine_options;

/// An input or output. The plugin keeps what it points to until close().
struct hal_engine_port {
  size_t size;       // bytes of this struct, set by the caller
  const char* name;  // UTF-8
  int32_t dtype;     // a value of hal_dtype, halyard/c/base.h: 0 u8, 1 i8, 9 f32...
  uint32_t rank;     // 1..HAL_ENGINE_MAX_RANK
  uint64_t shape[HAL_ENGINE_MAX_RANK];  // outermost first, packed
  // Quantization of integers: real = scale * (value - zero_point). 0 scales: none; 1: one for all;
  // more: one for each index of `axis`.
  uint32_t scale_count;
  const float* scales;
  const int32_t* zero_points;  // as many, or NULL: zeros
  uint32_t axis;
};
typedef struct hal_engine_port hal_engine_port;

/// Memory of one input or output.
struct hal_engine_memory {
  void* data;     // NULL: only the descriptor is given
  size_t size;    // bytes
  int fd;         // a DMA-BUF or memfd, owned by the other side; -1: none
  size_t offset;  // of the first byte in it
};
typedef struct hal_engine_memory hal_engine_memory;

// Flag: inputs in memory with a descriptor are given by it alone, without data.
#define HAL_ENGINE_TAKES_DESCRIPTORS 1u

/// The table of an engine. All of it lives as long as the process. Functions may be NULL only where
/// that is written.
struct hal_engine_plugin {
  uint32_t version;               // HAL_ENGINE_PLUGIN_VERSION
  size_t size;                    // bytes of this struct
  const char* name;               // a-z, 0-9 and _, at most 32: EngineOptions::engine
  const char* runtime_version;    // of the vendor's runtime
  const char* const* extensions;  // of its files, in lower case with the dot, ended by NULL
  uint32_t flags;                 // HAL_ENGINE_TAKES_DESCRIPTORS or 0

  /// Names of the devices that are there, from index 0 on.
  int (*device)(size_t index, const char** name);
  /// Reads a file, which exists, for a device.
  int (*open)(const char* path, const hal_engine_options* options, hal_engine_model** model,
              char* text);
  /// After the last request is freed.
  void (*close)(hal_engine_model* model);
  /// Texts of the file: "names", "task", "imgsz"... UTF-8. May be NULL.
  int (*metadata)(hal_engine_model* model, size_t index, const char** key, const char** value);
  int (*input)(hal_engine_model* model, size_t index, hal_engine_port* port);
  int (*output)(hal_engine_model* model, size_t index, hal_engine_port* port);
  /// Prepares the model for its device; called once, before the first request. May be NULL.
  int (*compile)(hal_engine_model* model, char* text);

  /// A request holds the memory of one run.
  int (*make_request)(hal_engine_model* model, hal_engine_request** request, char* text);
  void (*free_request)(hal_engine_request* request);
  /// The memory of the next run, valid until its end; one entry for each input and output. Inputs
  /// must not be written. An output with NULL data is written to the request's own memory.
  int (*bind)(hal_engine_request* request, const hal_engine_memory* inputs,
              const hal_engine_memory* outputs, char* text);
  /// Runs, and returns at the end.
  int (*run)(hal_engine_request* request, char* text);
  /// Begins a run; `done(self)` is called once at its end, from any thread. If it fails, `done` is
  /// not called. NULL: Halyard calls run() on a thread of its own.
  int (*start)(hal_engine_request* request, void (*done)(void* self), void* self, char* text);
  /// Waits for the end of the run that start() began, and gives its result. NULL if start is NULL.
  int (*wait)(hal_engine_request* request, char* text);
  /// Asks the bound run to end early; any thread, also just after its end. May be NULL.
  void (*cancel)(hal_engine_request* request);
  /// Where the last run wrote this output, valid until the next bind().
  int (*output_memory)(hal_engine_request* request, size_t index, hal_engine_memory* memory);
};
typedef struct hal_engine_plugin hal_engine_plugin;

/// What the plugin exports. `version`: HAL_ENGINE_PLUGIN_VERSION of the caller. NULL: the plugin is
/// for another version.
typedef const hal_engine_plugin* (*hal_engine_plugin_get_fn)(uint32_t version);

#ifdef HAL_ENGINE_PLUGIN_IMPLEMENTATION
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const hal_engine_plugin*
hal_engine_plugin_get(uint32_t version);
#endif

#ifdef __cplusplus
}
#endif
