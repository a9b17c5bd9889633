// SPDX-License-Identifier: Apache-2.0
// An ONNX Runtime that is older than the interface that Halyard asks for.
#include <stddef.h>
#include <stdint.h>

struct base {
  const void* (*api)(uint32_t version);
  const char* (*version)(void);
};

static const void* api(uint32_t version) {
  (void)version;
  return NULL;
}

static const char* version(void) {
  return "1.11.0";
}

const struct base* OrtGetApiBase(void) {
  static const struct base base = {api, version};
  return &base;
}
