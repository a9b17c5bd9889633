// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime of tests/support/cuda/fake_cudart.cpp in a test's process. Its soname is the
// first name that the library looks for, so the loader gives the library this object.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "test_paths.h"

namespace halyard::test {

/// What the fake offers to tests. It is loaded once and stays.
struct FakeCudart {
  void* object = ::dlopen(HALYARD_FAKE_CUDART, RTLD_NOW | RTLD_LOCAL);
  /// Registrations, imports and addresses that exist.
  int (*live)() = at<int()>("fake_cuda_live");
  /// Registrations that are mapped.
  int (*mapped)() = at<int()>("fake_cuda_mapped");
  /// How often a function was called since the last reset().
  int (*calls)(const char* function) = at<int(const char*)>("fake_cuda_calls");
  /// What was done that real CUDA forbids, one line each; "" if nothing.
  const char* (*faults)() = at<const char*()>("fake_cuda_faults");
  /// The next `times` calls of a function do nothing but return `code`.
  void (*fail)(const char* function, int code,
               int times) = at<void(const char*, int, int)>("fake_cuda_fail");
  /// misalign_bytes: added to addresses of GL buffers. missing_bytes: their sizes are smaller by.
  /// devices: count of devices. gl_devices, gl_device: count and number of those of OpenGL.
  void (*set)(const char* name, int value) = at<void(const char*, int)>("fake_cuda_set");
  /// Forgets calls, faults, failures, settings and imports.
  void (*reset)() = at<void()>("fake_cuda_reset");

  static const FakeCudart& get() {
    static const FakeCudart loaded;
    return loaded;
  }

 private:
  template <class Function>
  Function* at(const char* name) const {
    EXPECT_NE(object, nullptr) << ::dlerror();
    return object == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(object, name));
  }
};

/// A test with the fake: nothing may be left over or forbidden at its end.
struct FakeCudaTest : ::testing::Test {
  const FakeCudart& cuda = FakeCudart::get();
  FakeCudaTest() { cuda.reset(); }
  ~FakeCudaTest() override {
    EXPECT_STREQ(cuda.faults(), "");
    EXPECT_EQ(cuda.live(), 0);
    EXPECT_EQ(cuda.mapped(), 0);
    cuda.reset();
  }
};

}  // namespace halyard::test
