// SPDX-License-Identifier: Apache-2.0
// docs/conversion.md shows what the OpenGL backend serves as the code defines it, without a GPU.
#ifdef HALYARD_HAVE_GL
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "image/gl/limits.h"
#include "image/images.h"
#include "image/page_block.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

constexpr DType stored_dtypes[] = {DType::u8,  DType::i8,   DType::u16,
                                   DType::f16, DType::bf16, DType::f32};

constexpr image::GlLimits least{};

image::Verdict verdict(const Convert& request) {
  return image::gl_verdict(image::make_plan(request).value(), least);
}

struct Kind {
  const char* name;
  void (*shape)(Convert& request);
};
// Sources have 64 x 48 pixels, destinations 64 x 48 unless a kind changes them.
void resize(Convert& c, int width, int height) {
  c.dst = zero_image(width, height, *c.dst.format(), c.dst.dtype());
}
constexpr Kind kinds[] = {
    {"of one size", [](Convert&) {}},
    {"cropped, rotated, with an odd width into a letterbox",
     [](Convert& c) {
       resize(c, 31, 33);
       c.rotation = Rotation::cw90;
       c.crop = RegionF(3.25, 2, 50, 40.5);
       c.fit = Fit::letterbox;
     }},
    {"reduced to an eighth by `lanczos3` with antialias",
     [](Convert& c) {
       resize(c, 8, 6);
       c.filter = Filter::lanczos3;
       c.antialias = true;
     }},
    {"an affine map",
     [](Convert& c) {
       c.affine = Affine{{0.5, 0.2, 3, -0.2, 0.5, 9}};
     }},
    {"an affine map by `bicubic` with antialias",
     [](Convert& c) {
       c.affine = Affine{{0.5, 0.2, 3, -0.2, 0.5, 9}};
       c.filter = Filter::bicubic;
       c.antialias = true;
     }},
};

// "all", the numbers of declined kinds, or "-" where there is no conversion at all.
std::string cell(F from, DType from_dtype, F to) {
  std::string declined;
  bool any = false;
  int number = 0;
  for (const Kind& kind : kinds) {
    ++number;
    bool is_served = true;
    for (const DType dtype : stored_dtypes) {
      if (conversion_declined(from, from_dtype, to, dtype) != nullptr) continue;
      any = true;
      Convert c{.src = zero_image(64, 48, from, from_dtype), .dst = zero_image(64, 48, to, dtype)};
      kind.shape(c);
      is_served = is_served && verdict(c);
    }
    if (!is_served) declined += fmt::format("{}{}", declined.empty() ? "" : " ", number);
  }
  if (!any) return "-";
  return declined.empty() ? "all" : declined;
}

// Sources that are served alike share a row.
struct Row {
  std::string sources;
  std::string cells;
};

std::vector<Row> rows() {
  std::vector<Row> out;
  int sources = 0;
  for (const FormatInfo& from : all_formats()) {
    for (const DType dtype : {DType::u8, DType::u16}) {
      if (conversion_declined(from.format, dtype, F::rgb, DType::u8) != nullptr) continue;
      ++sources;
      std::string cells;
      for (const FormatInfo& to : all_formats())
        if (to.model != ColorModel::bayer)
          cells += fmt::format(" {} |", cell(from.format, dtype, to.format));
      const auto same = std::ranges::find(out, cells, &Row::cells);
      const std::string name = fmt::format("{} {}", from.name, to_string(dtype));
      if (same == out.end()) {
        out.push_back({name, cells});
      } else {
        same->sources += ", " + name;
      }
    }
  }
  if (out.size() == 1) out[0].sources = fmt::format("each of {} sources", sources);
  return out;
}

std::string formats() {
  std::string out;
  int number = 0;
  for (const Kind& kind : kinds)
    out += fmt::format("{}. {}\n", ++number, kind.name);
  std::string rule = "\n|---|";
  out += "\n| from \\ to |";
  for (const FormatInfo& to : all_formats()) {
    if (to.model == ColorModel::bayer) continue;
    out += fmt::format(" {} |", to.name);
    rule += "---|";
  }
  out += rule + '\n';
  for (const Row& row : rows())
    out += fmt::format("| {} |{}\n", row.sources, row.cells);
  return out;
}

/// A request at a limit, which is served, and the same just above it.
struct Limit {
  std::string name;
  Convert served;
  Convert declined;
};

Convert sized(F from, Size source, F to, Size target, DType dtype = DType::u8) {
  return {.src = zero_image(source.width, source.height, from),
          .dst = zero_image(target.width, target.height, to, dtype)};
}

Convert reduced(int width, int outputs) {
  Convert c = sized(F::grey, {width, 8}, F::grey, {outputs, 8});
  c.filter = Filter::lanczos3;
  c.antialias = true;
  return c;
}

Convert mapped(double scale, bool antialias) {
  Convert c = sized(F::grey, {300, 300}, F::grey, {8, 8});
  c.affine = Affine{{scale, 0, 0, 0, scale, 0}};
  c.antialias = antialias;
  return c;
}

std::vector<Limit> limits() {
  return {
      {"width and height of a source", sized(F::nv12, {2048, 2}, F::grey, {8, 8}),
       sized(F::nv12, {2, 2049}, F::grey, {8, 8})},
      {"those of rgb and bgr: a third", sized(F::rgb, {682, 2}, F::grey, {8, 8}),
       sized(F::rgb, {683, 2}, F::grey, {8, 8})},
      {"width and height of a destination", sized(F::grey, {8, 8}, F::rgb, {2048, 2}),
       sized(F::grey, {8, 8}, F::rgb, {2, 2049})},
      {"bytes of a destination's row, divided by 4",
       sized(F::grey, {8, 8}, F::rgb, {682, 2}, DType::f32),
       sized(F::grey, {8, 8}, F::rgb, {683, 2}, DType::f32)},
      {"samples of one output, along rows and columns together", reduced(2048, 7),
       reduced(2048, 6)},
      {"samples of one output with an affine map: 90 x 90 for one-byte pixels",
       mapped(2 / 89.0, true), mapped(2 / 91.0, true)},
      {"distances that an affine map spans", mapped(1e-7, false), mapped(1e-9, false)},
  };
}

std::string limit_rows() {
  std::string out = "\n| Limit | Reason |\n|---|---|\n";
  for (const Limit& limit : limits()) {
    EXPECT_STREQ(verdict(limit.served).reason(), "") << limit.name;
    const image::Verdict above = verdict(limit.declined);
    EXPECT_FALSE(above) << limit.name;
    out += fmt::format("| {} | {} |\n", limit.name, above.reason());
  }
  return out;
}

TEST(GlSupportTable, the_page_shows_what_the_code_says) {
  expect_on_page("opengl", formats() + limit_rows());
}

}  // namespace
}  // namespace halyard::test
#endif
