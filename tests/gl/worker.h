// SPDX-License-Identifier: Apache-2.0
// The worker for a test, on any renderer.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "gl/display/worker.h"

namespace halyard::test {

/// Null if this machine has no OpenGL ES, also none in software; the reason is printed.
inline std::shared_ptr<gl::Worker> any_worker() {
  auto worker = gl::Worker::shared(true);
  if (worker) return *worker;
  std::cout << worker.error().message() << '\n';
  return nullptr;
}

}  // namespace halyard::test

/// Defines `name`, the worker; skips the test where there is none.
#define WORKER_OR_SKIP(name)                       \
  const auto name = ::halyard::test::any_worker(); \
  if (name == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine"
