// SPDX-License-Identifier: Apache-2.0
// Every shader that draws is OpenGL ES by the letter, read by the language's reference compiler.
#ifdef HALYARD_HAVE_GL
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "draw/gl/draw_shaders.h"

namespace halyard::test {
namespace {

TEST(DrawShaderTexts, are_opengl_es_by_the_letter) {
  if (std::system("glslangValidator --version > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "glslangValidator is not installed";
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("halyard_draw_shaders_{}", getpid());
  std::filesystem::create_directories(folder);
  int number = 0;
  const auto add = [&](const std::string& text, const char* ending) {
    std::ofstream(folder / fmt::format("{}.{}", number++, ending)) << text;
  };
  add(draw::command_vertex_text(), "vert");
  add(draw::pack_text(), "frag");
  for (const auto shape : {draw::ShapeKind::operations, draw::ShapeKind::logits,
                           draw::ShapeKind::mask_bytes, draw::ShapeKind::class_map}) {
    for (const auto plane : {draw::PlaneKind::pixels, draw::PlaneKind::bytes,
                             draw::PlaneKind::single, draw::PlaneKind::blocks})
      add(draw::shape_text(shape, plane), "frag");
  }
  for (const auto kind : {draw::ElementKind::real, draw::ElementKind::bfloat,
                          draw::ElementKind::signed_integer, draw::ElementKind::unsigned_integer}) {
    add(draw::logit_text(kind), "frag");
    add(draw::logit_compute_text(kind), "comp");
  }
  const std::filesystem::path log = folder / "log";
  const std::string command =
      fmt::format("glslangValidator '{0}'/*.frag '{0}'/*.vert '{0}'/*.comp > '{1}' 2>&1",
                  folder.string(), log.string());
  std::stringstream text;
  const bool is_right = std::system(command.c_str()) == 0;
  text << std::ifstream(log).rdbuf();
  EXPECT_TRUE(is_right) << text.str().substr(0, 4000);
  EXPECT_EQ(number, 26);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace halyard::test
#endif
