// SPDX-License-Identifier: Apache-2.0
// Every kind of shader text is OpenGL ES 3.0 by the letter: the reference compiler of the language
// reads it, without a driver that may allow more.
#ifdef HALYARD_HAVE_GL
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "image/gl/gl_program.h"
#include "image/images.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

class ShaderTexts : public testing::Test {
 protected:
  Convert request(F from, DType from_dtype, F to, DType to_dtype = DType::u8) {
    return {.src = zero_image(36, 28, from, from_dtype), .dst = zero_image(36, 28, to, to_dtype)};
  }
  void add(const Convert& request) {
    const auto plan = image::make_plan(request);
    ASSERT_OK(plan);
    const image::GlProgram program(*plan);
    for (const auto& draws : {program.separate_draws(), program.joint_draws()}) {
      for (const image::PlaneDraw& draw : draws)
        texts_.insert(draw.shader);
    }
    for (const image::RowPass& pass : program.row_passes())
      texts_.insert(pass.shader);
  }
  /// The request resized, rotated and mapped, with every filter.
  void add_geometries(Convert c) {
    add(c);
    const Tensor same = c.dst;
    for (const auto& [filter, antialias] : product(all_filters, {false, true})) {
      c.filter = filter;
      c.antialias = antialias;
      c.dst = zero_image(11, 9, *same.format(), same.dtype());
      add(c);
      c.rotation = Rotation::cw90;
      add(c);
      c.rotation = Rotation::none;
      c.affine = Affine{{0.3, 0.1, 0, -0.1, 0.3, 3}};
      add(c);
      c.affine.reset();
    }
  }
  /// The request with each way to store numbers.
  void add_numbers(Convert c) {
    add(c);
    const DType dtype = c.dst.dtype();
    if (is_float(dtype)) {
      c.normalize = Normalize::mean_std({0.4F, 0.5F, 0.6F}, {0.2F, 0.3F, 0.1F});
    } else {
      ASSERT_OK(c.dst.set_quantization(Quantization{{0.0071F}, {5}, {}}));
    }
    add(c);
  }

  std::set<std::string> texts_;
};

// The output of glslangValidator for the files of a folder; empty if all are right.
std::string complaints(const std::filesystem::path& folder) {
  const std::filesystem::path log = folder / "log";
  const std::string command = fmt::format("glslangValidator '{0}'/*.frag '{0}'/*.vert > '{1}' 2>&1",
                                          folder.string(), log.string());
  if (std::system(command.c_str()) == 0) return "";
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  return text.str().substr(0, 4000);
}

TEST_F(ShaderTexts, are_opengl_es_3_by_the_letter) {
  if (std::system("glslangValidator --version > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "glslangValidator is not installed";
  for (const FormatInfo& from : all_formats()) {
    for (const DType dtype : {DType::u8, DType::u16}) {
      if (conversion_declined(from.format, dtype, F::rgb, DType::u8) == nullptr)
        add_geometries(request(from.format, dtype, F::rgb));
    }
  }
  for (const FormatInfo& to : all_formats()) {
    for (const auto& [from, dtype] :
         product({F::rgba, F::nv12, F::grey},
                 {DType::u8, DType::i8, DType::u16, DType::f16, DType::bf16, DType::f32})) {
      if (conversion_declined(from, DType::u8, to.format, dtype) != nullptr) continue;
      Convert c = request(from, DType::u8, to.format, dtype);
      add_numbers(c);
      c.bgr = to.model == ColorModel::rgb;
      add(c);
    }
  }
  Convert c = request(F::rgba, DType::u8, F::rgba);
  for (const AlphaStep alpha : {AlphaStep::premultiply, AlphaStep::unpremultiply}) {
    c.alpha = alpha;
    add(c);
  }
  c = request(F::nv12, DType::u8, F::i420);
  c.src.set_colorimetry({.encoding = ColorEncoding::bt709, .range = ColorRange::full});
  add(c);

  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("halyard_shaders_{}", getpid());
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string& text : texts_)
    std::ofstream(folder / fmt::format("{}.frag", number++)) << text;
  std::ofstream(folder / "triangle.vert") << image::vertex_shader_text();
  EXPECT_EQ(complaints(folder), "");
  std::ofstream(folder / "wrong.frag") << "#version 300 es\nvoid main() { float x = 1; }\n";
  EXPECT_NE(complaints(folder), "") << "the validator finds no mistake";
  EXPECT_GT(number, 300);
  RecordProperty("texts", number);
  std::filesystem::remove_all(folder);
}

TEST_F(ShaderTexts, do_not_depend_on_sizes_and_numbers) {
  for (const int width : {8, 19, 31, 200}) {
    Convert c = request(F::nv12, DType::u8, F::rgb);
    c.dst = zero_image(width, width + 3, F::rgb);
    c.affine = Affine{{0.1 * width, 0.1, 2, -0.1, 0.3, width * 1.0}};
    c.pad = {static_cast<std::uint8_t>(width), 0, 0, 0};
    add(c);
  }
  for (const F mosaic : {F::bayer_rggb, F::bayer_bggr, F::bayer_grbg, F::bayer_gbrg})
    add(request(mosaic, DType::u8, F::rgb));
  EXPECT_EQ(texts_.size(), 2U);
}

TEST_F(ShaderTexts, planes_that_are_alike_are_drawn_together) {
  const auto planes = [&](F to) {
    const image::GlProgram program(image::make_plan(request(F::rgb, DType::u8, to)).value());
    std::string out;
    for (const image::PlaneDraw& draw : program.joint_draws())
      out += fmt::format("{}", draw.planes.count);
    EXPECT_EQ(program.separate_draws().size(), program.target_planes());
    return out;
  };
  EXPECT_EQ(planes(F::rgb), "1");
  EXPECT_EQ(planes(F::planar_rgb), "3");
  EXPECT_EQ(planes(F::planar_rgba), "4");
  EXPECT_EQ(planes(F::nv12), "11");
  EXPECT_EQ(planes(F::i420), "12");
}

}  // namespace
}  // namespace halyard::test
#endif
