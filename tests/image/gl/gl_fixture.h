// SPDX-License-Identifier: Apache-2.0
// Requests that OpenGL runs, on any renderer, compared with the reference.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "image/differential.h"
#include "image/images.h"

namespace halyard::test {

class GlBackend : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
    ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
    const auto made = Processor::create();
    if (!made) GTEST_SKIP() << made.error().message();
    judge_.emplace();
  }
  void TearDown() override {
    ::unsetenv("HALYARD_FORCE_BACKEND");
    ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
  }
  Convert request(PixelFormat from, PixelFormat to, DType dtype = DType::u8, Size source = {38, 26},
                  Size target = {22, 30}) {
    return {.src = random_image(random_, source.width, source.height, from),
            .dst = random_image(random_, target.width, target.height, to, dtype)};
  }
  /// Under sanitizers only every tenth request is judged.
  bool compare(const Convert& request) {
    return calls_++ % slowness != 0 || judge_->compare(request);
  }
  Processor& processor() { return judge_->processor(); }
  int served() const { return judge_->served(); }

  Random random_{77};
  int calls_ = 0;
  std::optional<Judge> judge_;
};

}  // namespace halyard::test
