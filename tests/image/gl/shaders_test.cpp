// SPDX-License-Identifier: Apache-2.0
// The shaders that a context keeps: found again without compiling, and not without end.
#ifdef HALYARD_HAVE_GL
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gl/worker.h"
#include "image/gl/shaders.h"
#include "support/result.h"

namespace halyard::test {
namespace {

std::string constant_text(int number) {
  return fmt::format(
      "#version 300 es\nprecision highp float;\nout vec4 result;\nvoid main() {{ result = "
      "vec4({}.0); }}\n",
      number);
}

TEST(Shaders, those_used_last_are_kept) {
  WORKER_OR_SKIP(worker);
  EXPECT_OK(worker->run([]() -> Status {
    image::Shaders shaders;
    const auto compiled = [&](int number) {
      const std::uint64_t before = image::compiled_shaders();
      EXPECT_OK(shaders.find(constant_text(number)));
      return image::compiled_shaders() - before;
    };
    for (int number = 0; number < 256; ++number)
      EXPECT_EQ(compiled(number), 1U);
    EXPECT_EQ(compiled(0), 0U);
    EXPECT_EQ(compiled(256), 1U);
    EXPECT_EQ(compiled(0), 0U);
    EXPECT_EQ(compiled(1), 1U) << "it was the oldest";
    return {};
  }));
}

TEST(Shaders, a_wrong_text_is_told_with_the_drivers_words) {
  WORKER_OR_SKIP(worker);
  EXPECT_OK(worker->run([]() -> Status {
    image::Shaders shaders;
    EXPECT_FAILS(shaders.find("#version 300 es\nvoid main() { wrong }\n"), Errc::device,
                 "does not compile");
    return {};
  }));
}

}  // namespace
}  // namespace halyard::test
#endif
