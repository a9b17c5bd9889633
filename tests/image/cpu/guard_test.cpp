// SPDX-License-Identifier: Apache-2.0
// No byte beside an image is read or written, on any path: images lie between protected pages.
#include <gtest/gtest.h>

#include "guarded.h"
#include "image/differential.h"
#include "support/product.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

constexpr Size sizes[] = {{1, 1}, {2, 3}, {3, 2}, {17, 5}, {33, 4}, {64, 3}, {65, 9}};

struct Way {
  const char* name;
  void (*set)(Convert&);
  Size (*target)(Size);
};
Size same(Size s) {
  return s;
}
Size rotated(Size s) {
  return {s.height, s.width};
}
Size halved(Size s) {
  return {(s.width + 1) / 2, (s.height + 1) / 2};
}
Size doubled(Size s) {
  return {2 * s.width + 1, 2 * s.height};
}
constexpr Way ways[] = {
    {"of one size", [](Convert&) {}, &same},
    {"flipped", [](Convert& c) { c.flip = Flip::horizontal; }, &same},
    {"rotated", [](Convert& c) { c.rotation = Rotation::cw90; }, &rotated},
    {"upside down", [](Convert& c) { c.rotation = Rotation::cw180; }, &same},
    {"halved", [](Convert&) {}, &halved},
    {"halved, antialiased", [](Convert& c) { c.antialias = true; }, &halved},
    {"halved, nearest", [](Convert& c) { c.filter = Filter::nearest; }, &halved},
    {"doubled", [](Convert&) {}, &doubled},
    {"doubled, lanczos", [](Convert& c) { c.filter = Filter::lanczos3; }, &doubled},
    {"doubled, cubic, chroma too",
     [](Convert& c) {
       c.filter = Filter::bicubic;
       c.chroma = Chroma::bilinear;
     },
     &same},
    {"letterboxed and rotated",
     [](Convert& c) {
       c.fit = Fit::letterbox;
       c.rotation = Rotation::cw270;
     },
     &halved},
    {"covered", [](Convert& c) { c.fit = Fit::cover; }, &rotated},
    {"cropped between pixels",
     [](Convert& c) {
       const Size s = c.src.size();
       c.crop = RegionF(0.4 * s.width, 0.3 * s.height, 0.6 * s.width, 0.7 * s.height);
     },
     &same}};

class Guards : public ::testing::Test {
 protected:
  void run(PixelFormat from, DType from_dtype, PixelFormat to, DType to_dtype, Size size,
           const Way& way, Edge edge) {
    if (conversion_declined(from, from_dtype, to, to_dtype) != nullptr) return;
    if (info(from).model == ColorModel::bayer && (size.width < 2 || size.height < 2)) return;
    SCOPED_TRACE(way.name);
    Convert c{guarded_image(random_, size, from, from_dtype, edge, true),
              guarded_image(random_, way.target(size), to, to_dtype, edge, false)};
    way.set(c);
    judge_.compare(c);
  }

  Random random_{31};
  Judge judge_{{.threads = 1}};
};

TEST_F(Guards, every_pair_stays_inside_its_images) {
  int way_index = 0;
  for (const auto& [from, to, size] : product(all_formats(), all_formats(), sizes)) {
    if (judge_.gives_up()) return;
    for (const Edge edge : {Edge::begin, Edge::end}) {
      // Every pair is converted in every way at some size; the ways alternate.
      const Way& way = ways[static_cast<std::size_t>(way_index++) % std::size(ways)];
      run(from.format, DType::u8, to.format, DType::u8, size, way, edge);
    }
  }
  RecordProperty("requests", judge_.served());
  EXPECT_EQ(judge_.unserved(), 0);
}

TEST_F(Guards, every_way_of_every_source_stays_inside) {
  constexpr PixelFormat to[] = {F::rgb, F::rgba, F::planar_rgb, F::grey, F::nv12};
  int way_index = 0;
  for (const auto& [from, way, size] : product(all_formats(), ways, sizes)) {
    if (judge_.gives_up()) return;
    const PixelFormat target = to[static_cast<std::size_t>(way_index++) % std::size(to)];
    run(from.format, DType::u8, target, DType::u8, size, way, Edge::end);
  }
}

TEST_F(Guards, every_dtype_of_every_destination_stays_inside) {
  constexpr PixelFormat sources[] = {F::nv12, F::rgb, F::grey, F::yuyv, F::rgba};
  int way_index = 0;
  for (const auto& [to, dtype, way, edge] :
       product(all_formats(), {DType::i8, DType::u16, DType::f16, DType::bf16, DType::f32}, ways,
               {Edge::begin, Edge::end})) {
    if (judge_.gives_up()) return;
    const auto n = static_cast<std::size_t>(way_index++);
    run(sources[n % std::size(sources)], DType::u8, to.format, dtype, sizes[n % std::size(sizes)],
        way, edge);
  }
}

TEST_F(Guards, sixteen_bit_sources_stay_inside) {
  for (const auto& [from, way, size, edge] :
       product(all_formats(), ways, sizes, {Edge::begin, Edge::end})) {
    if (judge_.gives_up()) return;
    run(from.format, DType::u16, F::rgb, DType::u8, size, way, edge);
  }
}

TEST_F(Guards, planes_in_memory_of_their_own_are_not_left) {
  constexpr PixelFormat formats[] = {F::nv12, F::nv16, F::nv24, F::nv21, F::i420};
  constexpr PixelFormat others[] = {F::rgb, F::rgba, F::grey, F::yuyv, F::planar_rgb};
  std::size_t way_index = 0;
  for (const auto& [format, way, size, edge] :
       product(formats, ways, sizes, {Edge::begin, Edge::end})) {
    if (judge_.gives_up()) return;
    SCOPED_TRACE(way.name);
    const PixelFormat other = others[way_index % std::size(others)];
    const PixelFormat same = formats[way_index++ / 2 % std::size(formats)];
    Convert c{guarded_planes(random_, size, format, edge, true),
              guarded_image(random_, way.target(size), other, DType::u8, edge, false)};
    way.set(c);
    judge_.compare(c);
    c.dst = guarded_planes(random_, way.target(size), same, edge, false);
    judge_.compare(c);
  }
}

TEST_F(Guards, slices_of_an_image_do_not_touch_their_neighbours) {
  for (const PixelFormat to : {F::rgb, F::planar_rgb, F::rgba, F::nv12, F::yuyv, F::i420}) {
    const Tensor whole = random_image(random_, 64, 48, to);
    for (const Way& way : ways) {
      Convert c{random_image(random_, 40, 40, F::nv12).slice({6, 4, 30, 22}).value(),
                whole.slice({10, 6, 34, 22}).value()};
      way.set(c);
      judge_.compare(c);
    }
  }
}

TEST_F(Guards, the_spare_luma_of_odd_packed_yuv_is_not_seen) {
  for (const auto& [format, width, way] :
       product({F::yuyv, F::vyuy, F::uyvy}, {1, 3, 5, 17}, ways)) {
    SCOPED_TRACE(way.name);
    Convert c{.src = guarded_image(random_, {width, 2}, format, DType::u8, Edge::end, false)};
    const Size target = way.target({width, 2});
    c.dst = random_image(random_, target.width, target.height, F::rgb);
    way.set(c);
    ASSERT_TRUE(judge_.processor().convert(c));
    const std::vector<std::byte> want = bytes_of(c.dst);
    for (const int y : {0, 1})
      set_code(c.src, 0, width, y, 255 - code_at(c.src, 0, width, y));
    ASSERT_TRUE(judge_.processor().convert(c));
    ASSERT_TRUE(bytes_of(c.dst) == want) << describe(c);
  }
}

using GuardsDeath = Guards;
TEST_F(GuardsDeath, a_byte_behind_a_guarded_image_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Tensor image = guarded_image(random_, {5, 3}, F::rgb, DType::u8, Edge::end, true);
  const TensorMap map = image.map(Access::read).value();
  const volatile std::byte* end = map.data() + image.size_bytes();
  EXPECT_DEATH((void)*end, "");
}

}  // namespace
}  // namespace halyard::test
