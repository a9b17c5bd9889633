// SPDX-License-Identifier: Apache-2.0
// Masks on images: equal to masks made first and blended plainly, in every byte.
#include "halyard/mask_draw.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "decode/mask/mask_frames.h"
#include "draw/mask_images.h"
#include "halyard/draw.h"
#include "support/allocations.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using test::FrameShape;
using test::MaskFrame;
using test::random_frame;

constexpr Color palette[] = {{255, 0, 0, 255}, {0, 255, 40, 180}, {10, 20, 255, 77}};

MaskFrame frame_of(unsigned seed, std::size_t masks = 6) {
  FrameShape shape;
  shape.masks = masks;
  MaskFrame out = random_frame<float, float>(seed, shape);
  for (std::size_t i = 0; i < masks; ++i)
    out.detections[i].label = static_cast<std::int32_t>(i % 4);
  return out;
}

unsigned weight(float opacity, const Color& color) {
  return static_cast<unsigned>(std::lround(static_cast<double>(opacity) * color.a));
}

// Worst first, so that the best lies on top.
Planes expected(const Tensor& image, const MaskSet& set, std::span<const Detection> detections,
                float opacity, std::span<const Color> colors = palette) {
  Plain plain(image);
  for (std::size_t i = set.size(); i-- > 0;) {
    const MaskView mask = set[i];
    const Color& color = colors[static_cast<std::size_t>(detections[i].label) % colors.size()];
    plain.blend(
        [&](std::size_t px, std::size_t py) {
          const auto x = static_cast<std::int32_t>(px) - mask.region.x;
          const auto y = static_cast<std::int32_t>(py) - mask.region.y;
          return x >= 0 && y >= 0 && x < mask.region.width && y < mask.region.height &&
                 mask.row(y)[x] != 0;
        },
        color, weight(opacity, color));
  }
  return plain.planes();
}

struct Case {
  Size size;
  std::optional<RegionF> content;
  std::size_t pad = 0;
};

const Case cases[] = {{{80, 64}, {}, 0},
                      {{131, 67}, RegionF(8, 4, 66, 57), 2},
                      {{37, 29}, RegionF(0, 10, 80, 44), 14},
                      {{240, 171}, {}, 64},
                      {{1, 1}, {}, 0},
                      {{5, 90}, RegionF(20.5, 0, 30.25, 64), 6}};

TEST(MaskDraw, equals_masks_made_first_in_every_byte_of_every_format) {
  unsigned seed = 1;
  for (const Case& c : cases) {
    for (const PixelFormat format : formats) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(c.size.width));
      const MaskFrame frame = frame_of(seed++);
      Tensor fused = noise_image(c.size, format, seed, c.pad);
      Tensor from_set = noise_image(c.size, format, seed, c.pad);
      MaskSet set;
      ASSERT_TRUE(materialize(frame.prototypes, frame.detections,
                              {MaskRule::logits, c.size, c.content}, set));
      const Planes want = expected(fused, set, frame.detections, 0.6F);
      MaskDrawOptions options{.opacity = 0.6F, .palette = palette};
      MaskPainter painter;
      ASSERT_TRUE(painter.draw(from_set, set, frame.detections, options));
      EXPECT_EQ(differences(planes_of(from_set), want), 0U);
      options.content = c.content;
      ASSERT_TRUE(painter.draw(fused, frame.prototypes, frame.detections, options));
      EXPECT_EQ(differences(planes_of(fused), want), 0U);
    }
  }
}

TEST(MaskDraw, every_instruction_set_gives_the_same_bytes) {
  // The last one is enlarged so much that pixels are on and off in long runs.
  const Case some[] = {cases[1], cases[3], cases[4], {{261, 131}, RegionF(20, 16, 8, 6), 4}};
  unsigned seed = 300;
  for (const Case& c : some) {
    for (const PixelFormat format : formats) {
      SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(c.size.width));
      const MaskFrame frame = frame_of(++seed);
      MaskSet set;
      ASSERT_TRUE(materialize(frame.prototypes, frame.detections,
                              {MaskRule::logits, c.size, c.content}, set));
      const Planes want = expected(noise_image(c.size, format, seed), set, frame.detections, 0.6F);
      test::for_each_target([&] {
        Tensor image = noise_image(c.size, format, seed, c.pad);
        ASSERT_TRUE(
            MaskPainter().draw(image, frame.prototypes, frame.detections,
                               {.opacity = 0.6F, .palette = palette, .content = c.content}));
        EXPECT_EQ(differences(planes_of(image), want), 0U);
      });
    }
  }
}

TEST(MaskDraw, takes_sets_of_every_rule_at_the_images_size) {
  const MaskFrame frame = frame_of(70);
  for (const MaskRule rule :
       {MaskRule::ultralytics, MaskRule::ultralytics_quick, MaskRule::prototype}) {
    MaskOptions how{rule, Size{80, 64}, {}};
    if (rule == MaskRule::prototype) how.size.reset();
    MaskSet set;
    ASSERT_TRUE(materialize(frame.prototypes, frame.detections, how, set));
    Tensor image = noise_image(set.frame(), PixelFormat::nv12, 71);
    const Planes want = expected(image, set, frame.detections, 1);
    MaskPainter painter;
    ASSERT_TRUE(painter.draw(image, set, frame.detections, {.opacity = 1, .palette = palette}));
    EXPECT_EQ(differences(planes_of(image), want), 0U);
  }
}

TEST(MaskDraw, chroma_above_a_mask_is_not_that_of_the_mask_before) {
  const MaskFrame frame = frame_of(73);
  MaskPainter used;  // its memory holds the rows of other masks
  for (unsigned seed = 74; seed < 90; ++seed) {
    const MaskFrame next = frame_of(seed, 2);
    Tensor image = noise_image({600, 90}, PixelFormat::nv12, seed);
    Tensor same = noise_image({600, 90}, PixelFormat::nv12, seed);
    ASSERT_OK(used.draw(image, frame.prototypes, frame.detections, {.palette = palette}));
    fill_noise(image, seed);
    ASSERT_OK(used.draw(image, next.prototypes, next.detections, {.palette = palette}));
    ASSERT_OK(MaskPainter().draw(same, next.prototypes, next.detections, {.palette = palette}));
    EXPECT_EQ(differences(planes_of(image), planes_of(same)), 0U) << seed;
  }
}

// Drawn from a set and from prototypes.
void expect_as_materialized(const MaskFrame& frame, Size size, PixelFormat format,
                            std::span<const Color> colors = palette) {
  MaskSet set;
  ASSERT_OK(materialize(frame.prototypes, frame.detections, {MaskRule::logits, size}, set));
  Tensor image = noise_image(size, format, 92), fused = noise_image(size, format, 92);
  const Planes want = expected(image, set, frame.detections, 1, colors);
  const MaskDrawOptions options{.opacity = 1, .palette = colors};
  ASSERT_OK(MaskPainter().draw(image, set, frame.detections, options));
  ASSERT_OK(MaskPainter().draw(fused, frame.prototypes, frame.detections, options));
  EXPECT_EQ(differences(planes_of(image), want), 0U);
  EXPECT_EQ(differences(planes_of(fused), want), 0U);
}

TEST(MaskDraw, weights_of_one_count_and_elements_of_a_batch_are_told_apart) {
  constexpr Color faint{255, 255, 255, 1};
  expect_as_materialized(frame_of(91), {80, 64}, PixelFormat::grey, {&faint, 1});
  expect_as_materialized(random_frame<float, float>(93, {.batches = 2}), {80, 64},
                         PixelFormat::rgb);
}

TEST(MaskDraw, many_masks_go_through_several_groups_in_order) {
  FrameShape shape;
  shape.width = 160;
  shape.height = 160;
  shape.channels = 4;
  shape.masks = 40;
  shape.input = {640, 640};
  expect_as_materialized(random_frame<float, float>(72, shape), {321, 200}, PixelFormat::rgb);
}

TEST(MaskDraw, logits_that_are_not_numbers_are_off) {
  MaskFrame frame = frame_of(74);
  const auto map = *frame.prototypes.prototypes.map(Access::write);
  auto* values = reinterpret_cast<float*>(map.writable());
  for (std::size_t i = 0; i < frame.prototypes.prototypes.element_count(); i += 97)
    values[i] = std::numeric_limits<float>::quiet_NaN();
  expect_as_materialized(frame, {133, 70}, PixelFormat::rgba);
}

TEST(MaskDraw, parts_of_images_keep_their_surroundings) {
  for (const PixelFormat format : formats) {
    SCOPED_TRACE(to_string(format));
    Tensor whole = noise_image({120, 90}, format, 76, 32);
    const Planes before = planes_of(whole);
    Tensor part = *whole.slice({14, 22, 71, 41});
    const MaskFrame frame = frame_of(77);
    Plain kept(part);
    MaskSet set;
    ASSERT_TRUE(materialize(frame.prototypes, frame.detections, {{}, Size{71, 41}, {}}, set));
    const Planes want = expected(part, set, frame.detections, 0.5F);
    ASSERT_TRUE(MaskPainter().draw(part, frame.prototypes, frame.detections, {.palette = palette}));
    EXPECT_EQ(differences(planes_of(part), want), 0U);
    EXPECT_EQ(differences(planes_of(whole), before), differences(want, kept.planes()));
  }
}

// One mask that is on in all of its box.
MaskPrototypes full(std::size_t masks) {
  MaskPrototypes out;
  out.prototypes = *Tensor::create(DType::f32, {4, 4, 1}, Memory::mem);
  const auto map = *out.prototypes.map(Access::write);
  for (int i = 0; i < 16; ++i)
    reinterpret_cast<float*>(map.writable())[i] = 1;
  out.input = {16, 16};
  out.clear(1);
  out.coefficients.assign(masks, 1.0F);
  return out;
}

Tensor black(Size size, PixelFormat format) {
  return *Tensor::create_image(static_cast<std::size_t>(size.width),
                               static_cast<std::size_t>(size.height), format, DType::u8,
                               Memory::mem);
}

std::vector<std::uint8_t> pixel(const Tensor& image, std::size_t x, std::size_t y) {
  const std::size_t channels = info(*image.format()).channels;
  const auto bytes = planes_of(image)[0];
  const auto* at = bytes.data() + (y * image.width() + x) * channels;
  return {at, at + channels};
}

TEST(MaskDraw, the_best_lies_on_top) {
  const Detection detections[] = {{{4, 4, 12, 12}, 0.9F, 0}, {{0, 0, 16, 16}, 0.8F, 1}};
  Tensor image = black({16, 16}, PixelFormat::rgb);
  ASSERT_TRUE(MaskPainter().draw(image, full(2), detections, {.opacity = 1, .palette = palette}));
  EXPECT_EQ(pixel(image, 8, 8), (std::vector<std::uint8_t>{255, 0, 0}));
  EXPECT_EQ(pixel(image, 1, 1), (std::vector<std::uint8_t>{0, 180, 28}));
}

TEST(MaskDraw, colours_are_those_of_class_place_or_track) {
  const Detection detections[] = {{{0, 0, 8, 16}, 0.9F, 7}, {{8, 0, 16, 16}, 0.8F, 5}};
  const std::uint64_t ids[] = {1'000'000'007, 3};
  const auto drawn = [&](const MaskDrawOptions& options) {
    Tensor image = black({16, 16}, PixelFormat::rgb);
    EXPECT_TRUE(MaskPainter().draw(image, full(2), detections, options));
    return std::pair(pixel(image, 2, 2), pixel(image, 12, 2));
  };
  const auto color = [](std::uint64_t i) {
    const Color c = palette_color(i);
    return std::vector<std::uint8_t>{c.r, c.g, c.b};
  };
  EXPECT_EQ(drawn({.opacity = 1}), std::pair(color(7), color(5)));
  EXPECT_EQ(drawn({.opacity = 1, .color_by = ColorBy::instance}), std::pair(color(0), color(1)));
  EXPECT_EQ(drawn({.opacity = 1, .color_by = ColorBy::track, .track_ids = ids}),
            std::pair(color(1'000'000'007), color(3)));
  const std::vector<std::uint8_t> none{0, 0, 0};
  EXPECT_EQ(drawn({.opacity = 1, .ignored_label = 7}), std::pair(none, color(5)));
  EXPECT_EQ(drawn({.opacity = 0}), std::pair(none, none));
}

TEST(MaskDraw, red_in_video_range_has_the_codes_of_bt709) {
  const Detection all[] = {{{0, 0, 16, 16}, 1, 0}};
  Tensor image = black({6, 4}, PixelFormat::nv12);
  image.set_colorimetry({{}, {}, ColorEncoding::bt709, ColorRange::limited});
  ASSERT_TRUE(MaskPainter().draw(image, full(1), all, {.opacity = 1, .palette = palette}));
  EXPECT_EQ(planes_of(image)[0][9], 63);
  EXPECT_EQ(planes_of(image)[1][4], 102);
  EXPECT_EQ(planes_of(image)[1][5], 240);
}

TEST(MaskDraw, the_base_is_the_image_a_copy_or_black) {
  const MaskFrame frame = frame_of(80);
  for (const PixelFormat format : formats) {
    SCOPED_TRACE(to_string(format));
    const Tensor background = noise_image({61, 35}, format, 81, 10);
    Tensor in_place = noise_image({61, 35}, format, 81);
    Tensor image = noise_image({61, 35}, format, 82, 6);
    MaskPainter painter;
    ASSERT_TRUE(painter.draw(in_place, frame.prototypes, frame.detections));
    ASSERT_TRUE(
        painter.draw(image, frame.prototypes, frame.detections, {.background = &background}));
    EXPECT_EQ(differences(planes_of(image), planes_of(in_place)), 0U);
    ASSERT_TRUE(painter.draw(image, MaskSet(), {}, {.background = &background}));
    EXPECT_EQ(differences(planes_of(image), planes_of(background)), 0U);
    ASSERT_TRUE(painter.draw(image, MaskSet(), {}, {.clear = true}));
    const Planes cleared = planes_of(image);
    const bool is_nv12 = format == PixelFormat::nv12;
    for (std::size_t i = 0; i < cleared.size(); ++i) {
      const int want = !is_nv12 ? 0 : i == 0 ? 16 : 128;
      EXPECT_TRUE(std::all_of(cleared[i].begin(), cleared[i].end(),
                              [&](std::uint8_t v) { return v == want; }));
    }
  }
}

TEST(MaskDraw, allocates_nothing_in_the_steady_state) {
  const MaskFrame frame = frame_of(83, 12);
  MaskSet set;
  ASSERT_TRUE(materialize(frame.prototypes, frame.detections, {{}, Size{200, 120}, {}}, set));
  const Tensor background = noise_image({200, 120}, PixelFormat::nv12, 84);
  Tensor image = noise_image({200, 120}, PixelFormat::nv12, 85);
  Tensor map = *Tensor::create(DType::u8, {120, 200}, Memory::mem);
  MaskPainter painter;
  const MaskDrawOptions options{.background = &background};
  EXPECT_EQ(halyard::test::allocations_of([&] {
              (void)painter.draw(image, frame.prototypes, frame.detections, options);
              (void)painter.draw(image, set, frame.detections, options);
              (void)painter.draw(image, map, options);
            }),
            0U);
}

// ---- what is refused ----

class MaskDrawErrors : public ::testing::Test {
 protected:
  template <class Draw>
  void expect(Errc code, const std::string& word, const Draw& draw) {
    const Planes before = planes_of(image_);
    EXPECT_FAILS(draw(), code, word) << word;
    EXPECT_EQ(differences(planes_of(image_), before), 0U);
  }
  Status draw(const MaskDrawOptions& options) {
    return painter_.draw(image_, frame_.prototypes, frame_.detections, options);
  }
  Status draw_on(Tensor image) {
    return painter_.draw(image, frame_.prototypes, frame_.detections);
  }

  Tensor image_ = noise_image({40, 30}, PixelFormat::rgb, 90);
  MaskFrame frame_ = frame_of(91);
  MaskPainter painter_;
};

TEST_F(MaskDrawErrors, opacity) {
  for (const float bad : {-0.01F, 1.01F, std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity()})
    expect(Errc::invalid_argument, "opacity", [&] { return draw({.opacity = bad}); });
}

TEST_F(MaskDrawErrors, images) {
  const auto image = [](PixelFormat format, DType dtype) {
    return *Tensor::create_image(40, 30, format, dtype, Memory::mem);
  };
  expect(Errc::unsupported, "format", [&] { return draw_on(image(PixelFormat::yuyv, DType::u8)); });
  expect(Errc::unsupported, "dtype", [&] { return draw_on(image(PixelFormat::rgb, DType::f32)); });
  expect(Errc::unsupported, "pixel format", [&] { return draw_on(full(1).prototypes); });
}

TEST_F(MaskDrawErrors, track_ids) {
  const std::uint64_t ids[] = {1, 2, 3};
  expect(Errc::invalid_argument, "track_ids",
         [&] { return draw({.color_by = ColorBy::track, .track_ids = ids}); });
}

TEST_F(MaskDrawErrors, backgrounds) {
  const Tensor small = noise_image({40, 29}, PixelFormat::rgb, 92);
  const Tensor other = noise_image({40, 30}, PixelFormat::bgr, 92);
  const Tensor same = noise_image({40, 30}, PixelFormat::rgb, 92);
  expect(Errc::invalid_argument, "size", [&] { return draw({.background = &small}); });
  expect(Errc::invalid_argument, "format", [&] { return draw({.background = &other}); });
  expect(Errc::invalid_argument, "share", [&] { return draw({.background = &image_}); });
  expect(Errc::invalid_argument, "cleared",
         [&] { return draw({.background = &same, .clear = true}); });
}

TEST_F(MaskDrawErrors, rows_that_do_not_fit_detections) {
  frame_.detections.pop_back();
  expect(Errc::invalid_argument, "one row per detection", [&] { return draw({.clear = true}); });
}

TEST_F(MaskDrawErrors, coefficients_and_boxes_that_are_not_finite) {
  frame_.prototypes.coefficients[3] = std::numeric_limits<float>::quiet_NaN();
  expect(Errc::invalid_argument, "finite", [&] { return draw({.clear = true}); });
  frame_.prototypes.coefficients[3] = 0;
  frame_.detections[0].box.x2 = std::numeric_limits<float>::infinity();
  expect(Errc::invalid_argument, "finite", [&] { return draw({.clear = true}); });
}

TEST_F(MaskDrawErrors, content_outside_the_input) {
  expect(Errc::invalid_argument, "content",
         [&] { return draw({.content = RegionF(0, 0, 81, 64), .clear = true}); });
}

TEST_F(MaskDrawErrors, sets_of_another_size_or_count) {
  MaskSet set;
  ASSERT_TRUE(materialize(frame_.prototypes, frame_.detections, {{}, Size{40, 30}, {}}, set));
  const std::span<const Detection> all(frame_.detections);
  expect(Errc::invalid_argument, "masks",
         [&] { return painter_.draw(image_, set, all.first(5), {.clear = true}); });
  expect(Errc::invalid_argument, "content", [&] {
    return painter_.draw(image_, set, all, {.content = RegionF(0, 0, 8, 8), .clear = true});
  });
  ASSERT_TRUE(materialize(frame_.prototypes, frame_.detections, {{}, Size{40, 31}, {}}, set));
  expect(Errc::invalid_argument, "the image's size",
         [&] { return painter_.draw(image_, set, all, {.clear = true}); });
}

}  // namespace
}  // namespace halyard::test
