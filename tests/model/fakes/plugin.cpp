// SPDX-License-Identifier: Apache-2.0
// A plugin that works on its own threads and takes descriptors; it gives each element of an f32
// tensor of 8 times 2. A FAULT of the build makes it a plugin that is refused, or that fails.
#define HAL_ENGINE_PLUGIN_IMPLEMENTATION
#include "halyard/c/engine_plugin.h"

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <thread>

struct hal_engine_model {
  bool is_compiled = false;
  std::atomic<int> requests{0};
};
struct hal_engine_request {
  hal_engine_model* model = nullptr;
  hal_engine_memory input{};
  hal_engine_memory output{};
  float own[8] = {};
  std::future<int> result;
  std::atomic<bool> is_cancelled{false};
  bool is_bound = false;
};

namespace {

[[noreturn]] void wrong(const char* rule) {
  std::fprintf(stderr, "fake plugin: %s\n", rule);
  std::abort();
}

const char* const extensions[] = {".twice", nullptr};

int device(std::size_t index, const char** name) {
  static const char* const names[] = {"NPU0", "CPU"};
  if (index >= 2) return HAL_ENGINE_END;
  *name = names[index];
  return HAL_ENGINE_OK;
}
int open(const char*, const hal_engine_options* options, hal_engine_model** model, char* text) {
  if (options->size < sizeof *options) wrong("options are shorter than they were");
  for (std::size_t i = 0; i < options->setting_count; ++i) {
    if (std::string(options->settings[i].key) != "refuse") continue;
    std::snprintf(text, HAL_ENGINE_TEXT_BYTES, "%s", options->settings[i].value);
    return HAL_ENGINE_UNSUPPORTED;
  }
  *model = new hal_engine_model;
  return HAL_ENGINE_OK;
}
void close(hal_engine_model* model) {
  if (model->requests != 0) wrong("a model is closed before its requests");
  delete model;
}
int port(hal_engine_model*, std::size_t index, hal_engine_port* port) {
  if (index != 0) return HAL_ENGINE_END;
  port->name = "values";
  port->dtype = 9;
  port->rank = FAULT == 5 ? 9 : 2;
  port->shape[0] = 1;
  port->shape[1] = 8;
  return HAL_ENGINE_OK;
}
int compile(hal_engine_model* model, char*) {
  model->is_compiled = true;
  return HAL_ENGINE_OK;
}
int make_request(hal_engine_model* model, hal_engine_request** request, char* text) {
  if (!model->is_compiled) wrong("a request before compile()");
  if (model->requests == 4) {
    std::snprintf(text, HAL_ENGINE_TEXT_BYTES, "four cores");
    return HAL_ENGINE_EXHAUSTED;
  }
  ++model->requests;
  *request = new hal_engine_request;
  (*request)->model = model;
  return HAL_ENGINE_OK;
}
void free_request(hal_engine_request* request) {
  --request->model->requests;
  delete request;
}
int bind(hal_engine_request* request, const hal_engine_memory* inputs,
         const hal_engine_memory* outputs, char*) {
  if (inputs[0].size != 32) wrong("an input has another size");
  request->input = inputs[0];
  request->output = outputs[0];
  if (request->output.data == nullptr) request->output = {request->own, 32, -1, 0};
  request->is_cancelled = false;
  request->is_bound = true;
  return HAL_ENGINE_OK;
}
int compute(hal_engine_request* request) {
  void* at = MAP_FAILED;
  const float* in = static_cast<const float*>(request->input.data);
  const std::size_t size = request->input.offset + 32;
  if (request->input.fd >= 0) {
    if (in != nullptr) wrong("a descriptor is given with data");
    at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, request->input.fd, 0);
    if (at == MAP_FAILED) return HAL_ENGINE_FAILED;
    in = reinterpret_cast<const float*>(static_cast<char*>(at) + request->input.offset);
  }
  int status = HAL_ENGINE_OK;
  for (int i = 0; i < 8; ++i)
    static_cast<float*>(request->output.data)[i] = 2 * in[i];
  // A first value of 1000 or more: milliseconds.
  for (int i = 0; in[0] >= 1000 && float(i) < in[0] && status == HAL_ENGINE_OK; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (request->is_cancelled) status = HAL_ENGINE_CANCELLED;
  }
  if (at != MAP_FAILED) ::munmap(at, size);
  return status;
}
int run(hal_engine_request* request, char* text) {
  if (!request->is_bound) wrong("a run before bind()");
  std::snprintf(text, HAL_ENGINE_TEXT_BYTES, "the cores are hot");
  return FAULT == 6 ? HAL_ENGINE_FAILED : compute(request);
}
int start(hal_engine_request* request, void (*done)(void*), void* self, char*) {
  if (!request->is_bound) wrong("a run before bind()");
  request->result = std::async(std::launch::async, [=] {
    const int status = compute(request);
    done(self);
    return status;
  });
  return HAL_ENGINE_OK;
}
int wait(hal_engine_request* request, char*) {
  return request->result.get();
}
void cancel(hal_engine_request* request) {
  request->is_cancelled = true;
}
int output_memory(hal_engine_request* request, std::size_t, hal_engine_memory* memory) {
  *memory = request->output;
  return HAL_ENGINE_OK;
}

}  // namespace

extern "C" const hal_engine_plugin* hal_engine_plugin_get(uint32_t version) {
  static const hal_engine_plugin table{FAULT == 1 ? 2U : HAL_ENGINE_PLUGIN_VERSION,
                                       sizeof table,
                                       FAULT == 2   ? "Not a name"
                                       : FAULT == 4 ? "openvino"
                                                    : "twice",
                                       "7.1",
                                       extensions,
                                       HAL_ENGINE_TAKES_DESCRIPTORS,
                                       device,
                                       open,
                                       close,
                                       nullptr,
                                       port,
                                       port,
                                       compile,
                                       make_request,
                                       free_request,
                                       bind,
                                       run,
                                       start,
                                       FAULT == 3 ? nullptr : wait,
                                       cancel,
                                       output_memory};
  return version == HAL_ENGINE_PLUGIN_VERSION ? &table : nullptr;
}
