// SPDX-License-Identifier: Apache-2.0
// A plugin of an engine, as a vendor of an NPU would write it. Its "network" is a text file,
// *.blob: width, height and threshold. It finds the rectangle of the pixels of an RGB image that
// are brighter, and gives it as a YOLOv8 of one class does. HALYARD_ENGINE_PLUGINS names the file:
//   HALYARD_ENGINE_PLUGINS=/path/engine_plugin.so halyard run --model bright.blob photo.jpg
#define HAL_ENGINE_PLUGIN_IMPLEMENTATION
#include "halyard/c/engine_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hal_engine_model {
  int width, height, threshold;
  uint64_t anchors;
};

struct hal_engine_request {
  hal_engine_model* model;
  const uint8_t* pixels;
  float* out;  // what bind() chose
  float* own;
};

static const char* const blob_extensions[] = {".blob", NULL};

static int blob_device(size_t index, const char** name) {
  *name = "CPU";
  return index == 0 ? HAL_ENGINE_OK : HAL_ENGINE_END;
}

static int blob_open(const char* path, const hal_engine_options* options, hal_engine_model** model,
                     char* text) {
  hal_engine_model read = {0, 0, 0, 0};
  FILE* const file = fopen(path, "r");
  int count = 0;
  if (strcmp(options->device, "CPU") != 0 || options->batch != 1) {
    snprintf(text, HAL_ENGINE_TEXT_BYTES, "runs one image on the CPU, not on %s", options->device);
    if (file != NULL) fclose(file);
    return HAL_ENGINE_UNSUPPORTED;
  }
  if (file != NULL) {
    count = fscanf(file, "%d %d %d", &read.width, &read.height, &read.threshold);
    fclose(file);
  }
  if (count != 3 || read.width < 32 || read.height < 32 || read.width > 4096 ||
      read.height > 4096 || read.width % 32 != 0 || read.height % 32 != 0) {
    snprintf(text, HAL_ENGINE_TEXT_BYTES, "width and height must be multiples of 32, to 4096");
    return HAL_ENGINE_MALFORMED;
  }
  for (int step = 8; step <= 32; step *= 2)
    read.anchors += (uint64_t)(read.width / step) * (uint64_t)(read.height / step);
  *model = malloc(sizeof read);
  if (*model == NULL) return HAL_ENGINE_FAILED;
  **model = read;
  return HAL_ENGINE_OK;
}

static void blob_close(hal_engine_model* model) {
  free(model);
}

static int blob_metadata(hal_engine_model* model, size_t index, const char** key,
                         const char** value) {
  static const char* const texts[][2] = {
      {"names", "{0: 'bright'}"}, {"task", "detect"}, {"box_units", "pixels"}};
  (void)model;
  if (index >= sizeof texts / sizeof texts[0]) return HAL_ENGINE_END;
  *key = texts[index][0];
  *value = texts[index][1];
  return HAL_ENGINE_OK;
}

// Members of later versions of the struct are not touched.
static int blob_input(hal_engine_model* model, size_t index, hal_engine_port* port) {
  if (index != 0) return HAL_ENGINE_END;
  port->name = "image";
  port->dtype = 0;  // u8
  port->rank = 4;
  port->shape[0] = 1;
  port->shape[1] = (uint64_t)model->height;
  port->shape[2] = (uint64_t)model->width;
  port->shape[3] = 3;
  return HAL_ENGINE_OK;
}

static int blob_output(hal_engine_model* model, size_t index, hal_engine_port* port) {
  if (index != 0) return HAL_ENGINE_END;
  port->name = "boxes";
  port->dtype = 9;  // f32
  port->rank = 3;
  port->shape[0] = 1;
  port->shape[1] = 5;  // x and y of the centre, width, height, score
  port->shape[2] = model->anchors;
  return HAL_ENGINE_OK;
}

static int blob_make_request(hal_engine_model* model, hal_engine_request** request, char* text) {
  (void)text;
  *request = calloc(1, sizeof **request);
  if (*request == NULL) return HAL_ENGINE_FAILED;
  (*request)->model = model;
  (*request)->own = calloc(5 * model->anchors, sizeof(float));
  if ((*request)->own != NULL) return HAL_ENGINE_OK;
  free(*request);
  return HAL_ENGINE_FAILED;
}

static void blob_free_request(hal_engine_request* request) {
  free(request->own);
  free(request);
}

static int blob_bind(hal_engine_request* request, const hal_engine_memory* inputs,
                     const hal_engine_memory* outputs, char* text) {
  (void)text;
  request->pixels = inputs[0].data;
  request->out = outputs[0].data != NULL ? outputs[0].data : request->own;
  return HAL_ENGINE_OK;
}

static int blob_run(hal_engine_request* request, char* text) {
  const hal_engine_model* const model = request->model;
  int x0 = model->width, y0 = model->height, x1 = 0, y1 = 0;
  (void)text;
  for (int y = 0; y < model->height; ++y) {
    for (int x = 0; x < model->width; ++x) {
      const uint8_t* const pixel = request->pixels + 3 * (y * model->width + x);
      if (pixel[0] + pixel[1] + pixel[2] <= 3 * model->threshold) continue;
      x0 = x < x0 ? x : x0;
      y0 = y < y0 ? y : y0;
      x1 = x + 1 > x1 ? x + 1 : x1;
      y1 = y + 1 > y1 ? y + 1 : y1;
    }
  }
  memset(request->out, 0, 5 * model->anchors * sizeof(float));
  if (x1 <= x0) return HAL_ENGINE_OK;
  request->out[0] = (float)(x0 + x1) / 2;
  request->out[model->anchors] = (float)(y0 + y1) / 2;
  request->out[2 * model->anchors] = (float)(x1 - x0);
  request->out[3 * model->anchors] = (float)(y1 - y0);
  request->out[4 * model->anchors] = 0.9F;
  return HAL_ENGINE_OK;
}

static int blob_output_memory(hal_engine_request* request, size_t index,
                              hal_engine_memory* memory) {
  (void)index;
  memory->data = request->out;
  memory->size = 5 * request->model->anchors * sizeof(float);
  memory->fd = -1;
  return HAL_ENGINE_OK;
}

const hal_engine_plugin* hal_engine_plugin_get(uint32_t version) {
  static const hal_engine_plugin table = {.version = HAL_ENGINE_PLUGIN_VERSION,
                                          .size = sizeof table,
                                          .name = "blob",
                                          .runtime_version = "1.0",
                                          .extensions = blob_extensions,
                                          .device = blob_device,
                                          .open = blob_open,
                                          .close = blob_close,
                                          .metadata = blob_metadata,
                                          .input = blob_input,
                                          .output = blob_output,
                                          .make_request = blob_make_request,
                                          .free_request = blob_free_request,
                                          .bind = blob_bind,
                                          .run = blob_run,
                                          .output_memory = blob_output_memory};
  return version == HAL_ENGINE_PLUGIN_VERSION ? &table : NULL;
}
