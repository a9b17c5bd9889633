// SPDX-License-Identifier: Apache-2.0
// The shaders that a context keeps: found again without compiling, and not without end; those that
// the user's processes keep for one another.
#ifdef HALYARD_HAVE_GL
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "gl/worker.h"
#include "image/differential.h"
#include "image/gl/shaders.h"
#include "image/images.h"
#include "support/folder.h"
#include "support/own_process.h"
#include "support/result.h"
#include "support/variable.h"

namespace halyard::test {
namespace {

std::string constant_text(int number) {
  return fmt::format(
      "#version 300 es\nprecision highp float;\nout vec4 result;\nvoid main() {{ result = "
      "vec4({}.0); }}\n",
      number);
}

class Shaders : public testing::Test {
 protected:
  const Variable cache_{"HALYARD_SHADER_CACHE", "off"};
};

TEST_F(Shaders, those_used_last_are_kept) {
  WORKER_OR_SKIP(worker);
  EXPECT_OK(worker->run([]() -> Status {
    image::Shaders shaders;
    const auto compiled = [&](int number) {
      const std::uint64_t before = gl::compiled_programs();
      EXPECT_OK(shaders.find(constant_text(number)));
      return gl::compiled_programs() - before;
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

TEST_F(Shaders, a_wrong_text_is_told_with_the_drivers_words) {
  WORKER_OR_SKIP(worker);
  EXPECT_OK(worker->run([]() -> Status {
    image::Shaders shaders;
    EXPECT_FAILS(shaders.find("#version 300 es\nvoid main() { wrong }\n"), Errc::device,
                 "does not compile");
    return {};
  }));
}

TEST_F(Shaders, those_of_another_context_are_found_in_the_cache) {
  WORKER_OR_SKIP(worker);
  if (!worker->capabilities().program_binaries) GTEST_SKIP() << "this driver has no binaries";
  const Folder folder;
  ::setenv("HALYARD_SHADER_CACHE", folder.path().c_str(), 1);
  EXPECT_OK(worker->run([]() -> Status {
    for (const std::uint64_t expected : {3U, 0U}) {
      image::Shaders shaders;
      const std::uint64_t before = gl::compiled_programs();
      for (int number = 0; number < 3; ++number)
        EXPECT_OK(shaders.find(constant_text(number)));
      EXPECT_EQ(gl::compiled_programs() - before, expected);
    }
    return {};
  }));
}

// Converts in a process of its own, which may compile as many shaders as HALYARD_TEST_COMPILES
// says.
TEST(ShaderCache, DISABLED_converts) {
  ::setenv("HALYARD_FORCE_BACKEND", "opengl", 1);
  Judge judge;
  Random random(5);
  const std::uint64_t before = gl::compiled_programs();
  EXPECT_TRUE(judge.compare({.src = random_image(random, 38, 26, PixelFormat::nv12),
                             .dst = zero_image(22, 30, PixelFormat::rgb)}));
  const bool compiles = std::string(::getenv("HALYARD_TEST_COMPILES")) == "yes";
  EXPECT_EQ(gl::compiled_programs() != before, compiles);
}

TEST(ShaderCache, serves_the_next_process_with_the_same_pixels) {
  {
    WORKER_OR_SKIP(worker);
    if (!worker->capabilities().program_binaries) GTEST_SKIP() << "this driver has no binaries";
  }
  const Folder folder;
  const auto expect = [&](const char* compiles, const std::string& cache) {
    EXPECT_PASSES_APART("ShaderCache", "converts",
                        {{"HALYARD_SHADER_CACHE", cache},
                         {"HALYARD_TEST_COMPILES", compiles},
                         {"HALYARD_ALLOW_SOFTWARE_GL", "1"}});
  };
  expect("yes", folder.path());
  const std::size_t kept = folder.entries();
  EXPECT_GT(kept, 0U);
  expect("no", folder.path());
  expect("yes", "off");
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) / 2);
  expect("yes", folder.path());
  EXPECT_EQ(folder.entries(), kept);
  expect("no", folder.path());
}

}  // namespace
}  // namespace halyard::test
#endif
