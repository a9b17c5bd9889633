// SPDX-License-Identifier: Apache-2.0
// No byte beside an image is read or written, on any path: images lie between protected pages.
#include <gtest/gtest.h>

#include "guarded.h"
#include "image/differential.h"

namespace halyard::test {
namespace {

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
    Convert c;
    c.src = guarded_image(random_, size, from, from_dtype, edge, true);
    c.dst = guarded_image(random_, way.target(size), to, to_dtype, edge, false);
    way.set(c);
    judge_.compare(c);
  }

  Random random_{31};
  Judge judge_{{.threads = 1}};
};

TEST_F(Guards, every_pair_stays_inside_its_images) {
  int way_index = 0;
  for (const FormatInfo& from : all_formats()) {
    for (const FormatInfo& to : all_formats()) {
      for (const Size size : sizes) {
        if (judge_.gives_up()) return;
        for (const Edge edge : {Edge::begin, Edge::end}) {
          // Every pair is converted in every way at some size; the ways alternate.
          const Way& way = ways[static_cast<std::size_t>(way_index++) % std::size(ways)];
          run(from.format, DType::u8, to.format, DType::u8, size, way, edge);
        }
      }
    }
  }
  RecordProperty("requests", judge_.served());
  EXPECT_EQ(judge_.unserved(), 0);
}

TEST_F(Guards, every_way_of_every_source_stays_inside) {
  constexpr PixelFormat to[] = {PixelFormat::rgb, PixelFormat::rgba, PixelFormat::planar_rgb,
                                PixelFormat::grey, PixelFormat::nv12};
  int way_index = 0;
  for (const FormatInfo& from : all_formats()) {
    for (const Way& way : ways) {
      for (const Size size : sizes) {
        if (judge_.gives_up()) return;
        const PixelFormat target = to[static_cast<std::size_t>(way_index++) % std::size(to)];
        run(from.format, DType::u8, target, DType::u8, size, way, Edge::end);
      }
    }
  }
}

TEST_F(Guards, every_dtype_of_every_destination_stays_inside) {
  constexpr PixelFormat sources[] = {PixelFormat::nv12, PixelFormat::rgb, PixelFormat::grey,
                                     PixelFormat::yuyv, PixelFormat::rgba};
  int way_index = 0;
  for (const FormatInfo& to : all_formats()) {
    for (const DType dtype : {DType::i8, DType::u16, DType::f16, DType::bf16, DType::f32}) {
      for (const Way& way : ways) {
        for (const Edge edge : {Edge::begin, Edge::end}) {
          if (judge_.gives_up()) return;
          const auto n = static_cast<std::size_t>(way_index++);
          run(sources[n % std::size(sources)], DType::u8, to.format, dtype,
              sizes[n % std::size(sizes)], way, edge);
        }
      }
    }
  }
}

TEST_F(Guards, sixteen_bit_sources_stay_inside) {
  for (const FormatInfo& from : all_formats()) {
    for (const Way& way : ways) {
      for (const Size size : sizes) {
        for (const Edge edge : {Edge::begin, Edge::end}) {
          if (judge_.gives_up()) return;
          run(from.format, DType::u16, PixelFormat::rgb, DType::u8, size, way, edge);
        }
      }
    }
  }
}

TEST_F(Guards, planes_in_memory_of_their_own_are_not_left) {
  constexpr PixelFormat formats[] = {PixelFormat::nv12, PixelFormat::nv16, PixelFormat::nv24,
                                     PixelFormat::nv21, PixelFormat::i420};
  constexpr PixelFormat others[] = {PixelFormat::rgb, PixelFormat::rgba, PixelFormat::grey,
                                    PixelFormat::yuyv, PixelFormat::planar_rgb};
  std::size_t way_index = 0;
  for (const PixelFormat format : formats) {
    for (const Way& way : ways) {
      for (const Size size : sizes) {
        for (const Edge edge : {Edge::begin, Edge::end}) {
          if (judge_.gives_up()) return;
          SCOPED_TRACE(way.name);
          const PixelFormat other = others[way_index % std::size(others)];
          const PixelFormat same = formats[way_index++ / 2 % std::size(formats)];
          Convert c;
          c.src = guarded_planes(random_, size, format, edge, true);
          c.dst = guarded_image(random_, way.target(size), other, DType::u8, edge, false);
          way.set(c);
          judge_.compare(c);
          c.dst = guarded_planes(random_, way.target(size), same, edge, false);
          judge_.compare(c);
        }
      }
    }
  }
}

TEST_F(Guards, slices_of_an_image_do_not_touch_their_neighbours) {
  for (const PixelFormat to : {PixelFormat::rgb, PixelFormat::planar_rgb, PixelFormat::rgba,
                               PixelFormat::nv12, PixelFormat::yuyv, PixelFormat::i420}) {
    const Tensor whole = random_image(random_, 64, 48, to);
    for (const Way& way : ways) {
      Convert c;
      c.src = random_image(random_, 40, 40, PixelFormat::nv12).slice({6, 4, 30, 22}).value();
      c.dst = whole.slice({10, 6, 34, 22}).value();
      way.set(c);
      judge_.compare(c);
    }
  }
}

TEST_F(Guards, the_spare_luma_of_odd_packed_yuv_is_not_seen) {
  for (const PixelFormat format : {PixelFormat::yuyv, PixelFormat::vyuy, PixelFormat::uyvy}) {
    for (const int width : {1, 3, 5, 17}) {
      for (const Way& way : ways) {
        SCOPED_TRACE(way.name);
        Convert c;
        c.src = guarded_image(random_, {width, 2}, format, DType::u8, Edge::end, false);
        const Size target = way.target({width, 2});
        c.dst = random_image(random_, target.width, target.height, PixelFormat::rgb);
        way.set(c);
        ASSERT_TRUE(judge_.processor().convert(c));
        const std::vector<std::byte> want = bytes_of(c.dst);
        for (const int y : {0, 1})
          set_code(c.src, 0, width, y, 255 - code_at(c.src, 0, width, y));
        ASSERT_TRUE(judge_.processor().convert(c));
        ASSERT_TRUE(bytes_of(c.dst) == want) << describe(c);
      }
    }
  }
}

using GuardsDeath = Guards;
TEST_F(GuardsDeath, a_byte_behind_a_guarded_image_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Tensor image = guarded_image(random_, {5, 3}, PixelFormat::rgb, DType::u8, Edge::end, true);
  const TensorMap map = image.map(Access::read).value();
  const volatile std::byte* end = map.data() + image.size_bytes();
  EXPECT_DEATH((void)*end, "");
}

}  // namespace
}  // namespace halyard::test
