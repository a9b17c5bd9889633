// SPDX-License-Identifier: Apache-2.0
// What is drawn where: base, masks, outlines, letterboxes, formats.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "halyard/track.h"
#include "heads.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace halyard::test;
using compat::DrawOptions;
using compat::Painter;
using compat::Segmentation;

constexpr std::size_t width = 40, height = 30;

Tensor image_of(PixelFormat format, std::uint8_t value = 77) {
  Tensor out = *Tensor::create_image(width, height, format, DType::u8, Memory::mem);
  const auto map = out.map(Access::write);
  std::memset(map->writable(), value, out.size_bytes());
  return out;
}

std::vector<std::uint8_t> bytes_of(const Tensor& tensor) {
  const auto map = tensor.map(Access::read);
  const auto* const data = reinterpret_cast<const std::uint8_t*>(map->data());
  return {data, data + tensor.size_bytes()};
}

std::vector<int> pixel(const Tensor& image, std::size_t x, std::size_t y) {
  const std::size_t channels = image.shape()[2];
  const auto bytes = bytes_of(image);
  const std::size_t at = (y * width + x) * channels;
  return {bytes.begin() + static_cast<std::ptrdiff_t>(at),
          bytes.begin() + static_cast<std::ptrdiff_t>(at + channels)};
}

const Detection middle{{.25F, .2F, .75F, .8F}, .9F, 0};  // (10, 6) to (30, 24)
const std::array<Color, 2> colors{{{200, 100, 0, 128}, {0, 50, 250, 255}}};

std::array<int, 3> bytes_of_color(int label) {
  const Color& color = colors[static_cast<std::size_t>(label) % 2];
  return {color.r, color.g, color.b};
}

Painter painter() {
  Painter out;
  EXPECT_TRUE(out.set_class_colors(colors));
  return out;
}

// As edgefirst_hal 0.28.3: three pixels beside the box, opaque, zeros elsewhere.
TEST(compat_draw, outlines_lie_around_boxes_on_black) {
  Tensor dst = image_of(PixelFormat::rgba);
  ASSERT_TRUE(painter().draw_decoded_masks(dst, {&middle, 1}, {}));
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      const bool outside = x < 7 || x >= 33 || y < 3 || y >= 27;
      const bool inside = x >= 10 && x < 30 && y >= 6 && y < 24;
      const std::vector<int> expected =
          outside || inside ? std::vector<int>{0, 0, 0, 0} : std::vector<int>{200, 100, 0, 0};
      ASSERT_EQ(pixel(dst, x, y), expected) << x << ", " << y;
    }
}

TEST(compat_draw, masks_are_blended_over_the_background) {
  const Tensor background = image_of(PixelFormat::rgba, 100);
  Tensor dst = image_of(PixelFormat::rgba, 3);
  const std::vector<std::uint8_t> on(36, 200);
  const Segmentation mask{middle.box, 6, 6, 1, on.data()};
  ASSERT_TRUE(painter().draw_decoded_masks(dst, {&middle, 1}, {&mask, 1},
                                           {.background = &background, .opacity = .5F}));
  // a = 64: (200 x 64 + 100 x 191) / 255, and alpha as it was.
  EXPECT_EQ(pixel(dst, 20, 15), (std::vector<int>{125, 100, 75, 100}));
  EXPECT_EQ(pixel(dst, 10, 6), (std::vector<int>{125, 100, 75, 100}));
  EXPECT_EQ(pixel(dst, 9, 6), (std::vector<int>{200, 100, 0, 100}));
  EXPECT_EQ(pixel(dst, 0, 0), (std::vector<int>{100, 100, 100, 100}));
}

TEST(compat_draw, masks_are_enlarged_bilinearly_and_on_from_the_middle) {
  // Two columns, 0 and 255: over 20 pixels the value is 127.5 exactly between them.
  Tensor dst = image_of(PixelFormat::rgb);
  const std::uint8_t bytes[2] = {0, 255};
  const Segmentation mask{middle.box, 1, 2, 1, bytes};
  ASSERT_TRUE(painter().draw_decoded_masks(dst, {&middle, 1}, {&mask, 1}));
  for (std::size_t x = 10; x < 30; ++x)
    EXPECT_EQ(pixel(dst, x, 10)[0], x < 20 ? 0 : 100) << x;
}

TEST(compat_draw, a_letterbox_shows_a_part_of_the_input) {
  Tensor dst = image_of(PixelFormat::rgb);
  ASSERT_TRUE(painter().draw_decoded_masks(dst, {&middle, 1}, {},
                                           {.letterbox = compat::Letterbox{0, .1F, 1, .9F}}));
  // y = (0.2 - 0.1) / 0.8 x 30 = 3.75, and 26.25.
  EXPECT_EQ(pixel(dst, 20, 0)[0], 0);
  EXPECT_EQ(pixel(dst, 20, 1)[0], 200);
  EXPECT_EQ(pixel(dst, 20, 3)[0], 200);
  EXPECT_EQ(pixel(dst, 20, 4)[0], 0);
  EXPECT_EQ(pixel(dst, 20, 26)[0], 200);
  EXPECT_EQ(pixel(dst, 20, 29)[0], 0);
  // x = (0.25 - 0.1) / 0.5 x 40 = 12, and 52.
  ASSERT_OK(painter().draw_decoded_masks(dst, {&middle, 1}, {},
                                         {.letterbox = compat::Letterbox{.1F, 0, .6F, 1}}));
  EXPECT_EQ(pixel(dst, 8, 15)[0], 0);
  EXPECT_EQ(pixel(dst, 9, 15)[0], 200);
  EXPECT_EQ(pixel(dst, 11, 15)[0], 200);
  EXPECT_EQ(pixel(dst, 12, 15)[0], 0);
  EXPECT_EQ(pixel(dst, 39, 15)[0], 0);
}

TEST(compat_draw, the_best_lies_on_top_and_colours_follow_the_mode) {
  const std::vector<Detection> boxes{middle, {{.3F, .3F, .9F, .9F}, .8F, 0}};
  Tensor dst = image_of(PixelFormat::rgb);
  ASSERT_TRUE(painter().draw_decoded_masks(dst, boxes, {}, {.color_mode = ColorBy::instance}));
  EXPECT_EQ(pixel(dst, 11, 3), (std::vector<int>{200, 100, 0}));
  EXPECT_EQ(pixel(dst, 31, 8), (std::vector<int>{200, 100, 0}));  // both are there
  EXPECT_EQ(pixel(dst, 37, 20), (std::vector<int>{0, 50, 250}));
}

TEST(compat_draw, of_scores_of_classes_the_last_one_is_the_background) {
  Tensor dst = image_of(PixelFormat::rgb);
  std::vector<std::uint8_t> scores;
  for (int i = 0; i < 4; ++i)
    for (const int v : {i < 2 ? 9 : 0, i == 2 ? 9 : 0, i == 3 ? 9 : 0})
      scores.push_back(static_cast<std::uint8_t>(v));
  const Segmentation all{{0, 0, 1, 1}, 1, 4, 3, scores.data()};
  ASSERT_TRUE(painter().draw_decoded_masks(dst, {}, {&all, 1}));
  EXPECT_EQ(pixel(dst, 5, 5), (std::vector<int>{100, 50, 0}));  // 128 / 255 of the colour
  EXPECT_EQ(pixel(dst, 25, 5), (std::vector<int>{0, 50, 250}));
  EXPECT_EQ(pixel(dst, 38, 5), (std::vector<int>{0, 0, 0}));
}

TEST(compat_draw, of_scores_of_two_classes_the_second_is_the_background) {
  Tensor dst = image_of(PixelFormat::rgb);
  const std::uint8_t scores[4] = {9, 0, 0, 9};
  const Segmentation all{{0, 0, 1, 1}, 1, 2, 2, scores};
  ASSERT_OK(painter().draw_decoded_masks(dst, {}, {&all, 1}));
  EXPECT_EQ(pixel(dst, 5, 5), (std::vector<int>{100, 50, 0}));
  EXPECT_EQ(pixel(dst, 35, 5), (std::vector<int>{0, 0, 0}));
}

TEST(compat_draw, classes_have_the_colours_of_the_palette_where_none_are_given) {
  for (const int label : {0, 1, 19}) {
    Tensor dst = image_of(PixelFormat::rgb);
    const Detection box{middle.box, .9F, label};
    ASSERT_OK(Painter().draw_decoded_masks(dst, {&box, 1}, {}));
    const Color color = palette_color(static_cast<std::uint64_t>(label));
    EXPECT_EQ(pixel(dst, 8, 10), (std::vector<int>{color.r, color.g, color.b})) << label;
    // Masks are blended with 179 / 255 of it.
    const std::uint8_t on = 255;
    const Segmentation mask{box.box, 1, 1, 1, &on};
    ASSERT_OK(Painter().draw_decoded_masks(dst, {&box, 1}, {&mask, 1}));
    const auto blended = [](int code) { return (code * 179 + 127) / 255; };
    EXPECT_EQ(pixel(dst, 20, 15),
              (std::vector<int>{blended(color.r), blended(color.g), blended(color.b)}));
  }
}

TEST(compat_draw, formats_hold_the_same_colours) {
  const std::vector<std::uint8_t> on(36, 200);
  const Segmentation mask{middle.box, 6, 6, 1, on.data()};
  Tensor rgb = image_of(PixelFormat::rgb);
  ASSERT_TRUE(painter().draw_decoded_masks(rgb, {&middle, 1}, {&mask, 1}));
  const auto expected = bytes_of(rgb);
  for (const PixelFormat format : {PixelFormat::bgr, PixelFormat::bgra, PixelFormat::rgba}) {
    Tensor dst = image_of(format);
    ASSERT_TRUE(painter().draw_decoded_masks(dst, {&middle, 1}, {&mask, 1}));
    const auto bytes = bytes_of(dst);
    const std::size_t channels = dst.shape()[2];
    const bool is_reversed = format != PixelFormat::rgba;
    for (std::size_t i = 0; i < width * height; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        ASSERT_EQ(bytes[i * channels + (is_reversed ? 2 - c : c)], expected[3 * i + c]) << i;
  }
  Tensor planar = image_of(PixelFormat::planar_rgb);
  ASSERT_TRUE(painter().draw_decoded_masks(planar, {&middle, 1}, {&mask, 1}));
  const auto planes = bytes_of(planar);
  for (std::size_t i = 0; i < width * height; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      ASSERT_EQ(planes[c * width * height + i], expected[3 * i + c]) << i;
}

TEST(compat_draw, decoding_and_drawing_in_one_go_is_the_same_as_from_prototypes) {
  const compat::Decoder decoder = decoder_of(mask_outputs());
  const std::vector<Tensor> outputs{mask_head(), mask_prototypes()};
  Tensor fused = image_of(PixelFormat::rgba), other = image_of(PixelFormat::rgba, 5);
  std::vector<Detection> found;
  compat::Found decoded;
  Painter drawn = painter();
  const DrawOptions options{.opacity = .7F, .letterbox = compat::Letterbox{0, .1F, 1, .9F}};
  ASSERT_TRUE(drawn.draw_masks(decoder, outputs, fused, found, options));
  std::optional<compat::ProtoData> protos;
  ASSERT_TRUE(decoder.decode_proto(outputs, decoded, protos));
  EXPECT_EQ(found, decoded.boxes);
  ASSERT_TRUE(drawn.draw_proto_masks(other, decoded.boxes, *protos, options));
  EXPECT_EQ(bytes_of(fused), bytes_of(other));
  auto tracker = compat::ByteTrack::create();
  std::vector<compat::TrackInfo> tracks;
  ASSERT_TRUE(
      drawn.draw_masks_tracked(decoder, *tracker, 5, outputs, other, found, tracks, options));
  EXPECT_EQ(tracks.size(), 3U);
  EXPECT_EQ(bytes_of(fused), bytes_of(other));  // in their first frame tracks lie on their boxes
  Sort sort = *Sort::create({.min_hits = 0});
  const compat::AnyTracker any{sort, {.high = 1, .low = 2}};
  ASSERT_TRUE(drawn.draw_masks_tracked(decoder, any, 5, outputs, other, found, tracks, options));
  EXPECT_EQ(tracks.size(), 3U);
  EXPECT_EQ(bytes_of(fused), bytes_of(other));
}

TEST(compat_draw, every_box_has_its_own_keypoints_where_they_are_visible) {
  // Two boxes of one class with two keypoints each, of which one is hidden, in fractions.
  ModelDescription description;
  description.keypoints = KeypointShape{2, 3};
  OutputDescription& output = description.outputs.emplace_back();
  output.shape = {1, 11, 8};
  output.box_units = BoxUnits::fraction;
  const std::vector<Column> columns{{.2F, .3F, .1F, .1F, .9F, .5F, .2F, .6F, .6F, .2F, .4F},
                                    {.2F, .7F, .1F, .1F, .8F, .5F, .8F, .4F, .8F, .8F, .5F}};
  ASSERT_VALUE(const compat::Decoder decoder, compat::Decoder::from_description(description));
  const Tensor head = head_of(columns, 11, 8);
  Tensor dst = image_of(PixelFormat::rgb);
  std::vector<Detection> found;
  ASSERT_OK(
      painter().draw_masks(decoder, {&head, 1}, dst, found, {.color_mode = ColorBy::instance}));
  EXPECT_EQ(found.size(), 2U);
  const std::vector<int> first{200, 100, 0}, second{0, 50, 250}, black{0, 0, 0};
  EXPECT_EQ(pixel(dst, 20, 6), first);
  EXPECT_EQ(pixel(dst, 24, 6), black);
  EXPECT_EQ(pixel(dst, 20, 24), black);
  EXPECT_EQ(pixel(dst, 32, 24), second);
}

TEST(compat_draw, tracks_that_are_not_known_have_the_colour_of_their_index) {
  const std::vector<Detection> boxes{{{.1F, .2F, .3F, .8F}, .9F, 1},
                                     {{.6F, .2F, .8F, .8F}, .9F, 1}};
  Tensor dst = image_of(PixelFormat::rgb);
  ASSERT_OK(painter().draw_decoded_masks(dst, boxes, {}, {.color_mode = ColorBy::track}));
  EXPECT_EQ(pixel(dst, 3, 15), (std::vector<int>{200, 100, 0}));
  EXPECT_EQ(pixel(dst, 23, 15), (std::vector<int>{0, 50, 250}));
}

TEST(compat_draw, a_letterbox_shows_the_same_pixels_as_the_part_of_a_larger_image) {
  const std::vector<Tensor> outputs{head_of({{.5F, .5F, .35F, .45F, .9F, 0, 3, 0}}, 8, mask_boxes),
                                    mask_prototypes()};
  compat::DecoderOptions in_pixels;
  in_pixels.convention = compat::Convention::native;
  in_pixels.input_dims = Size{640, 320};
  for (const auto& options : {compat::DecoderOptions(), in_pixels}) {
    const compat::Decoder decoder = decoder_of(mask_outputs(true), options);
    Tensor part = image_of(PixelFormat::rgb);
    Tensor whole =
        *Tensor::create_image(2 * width, 2 * height, PixelFormat::rgb, DType::u8, Memory::mem);
    std::vector<Detection> found;
    ASSERT_OK(painter().draw_masks(decoder, outputs, part, found,
                                   {.letterbox = compat::Letterbox{.25F, .5F, .75F, 1}}));
    ASSERT_OK(painter().draw_masks(decoder, outputs, whole, found));
    EXPECT_EQ(found[0].box.x2 > 1, options.input_dims.has_value());
    const std::vector<std::uint8_t> small = bytes_of(part), large = bytes_of(whole);
    for (std::size_t y = 0; y < height; ++y) {
      const auto from =
          large.begin() + static_cast<std::ptrdiff_t>(3 * ((height + y) * 2 * width + width / 2));
      EXPECT_TRUE(std::equal(from, from + 3 * width,
                             small.begin() + static_cast<std::ptrdiff_t>(3 * y * width)))
          << y;
    }
  }
}

TEST(compat_draw, what_cannot_be_drawn_leaves_the_image_as_it_is) {
  Tensor dst = image_of(PixelFormat::rgba);
  const std::vector<std::uint8_t> before = bytes_of(dst);
  Painter drawn = painter();
  const std::uint8_t byte = 255;
  const Segmentation mask{middle.box, 1, 1, 1, &byte};
  const auto refused = [&](const DrawOptions& options, std::span<const Detection> boxes = {},
                           std::span<const Segmentation> masks = {}) {
    const Errc code = code_of(drawn.draw_decoded_masks(dst, boxes, masks, options));
    EXPECT_EQ(bytes_of(dst), before);
    return code;
  };
  EXPECT_EQ(refused({.background = &dst}), Errc::invalid_argument);
  const Tensor other = image_of(PixelFormat::rgb);
  EXPECT_EQ(refused({.background = &other}), Errc::invalid_argument);
  EXPECT_EQ(refused({.letterbox = compat::Letterbox{.5F, 0, .5F, 1}}), Errc::invalid_argument);
  EXPECT_EQ(refused({.opacity = std::numeric_limits<float>::quiet_NaN()}), Errc::invalid_argument);
  EXPECT_EQ(refused({}, {}, {&mask, 1}), Errc::invalid_argument);
  Tensor yuyv = *Tensor::create_image(width, height, PixelFormat::yuyv, DType::u8, Memory::mem);
  EXPECT_FAILS(drawn.draw_decoded_masks(yuyv, {}, {}), Errc::unsupported,
               "dst: cannot be drawn on");
  EXPECT_EQ(code_of(drawn.set_class_colors({})), Errc::invalid_argument);
}

// Many boxes, over bands of rows and cut by all edges, told pixel by pixel.
TEST(compat_draw, outlines_of_many_boxes_are_those_of_pixels) {
  std::minstd_rand random(5);
  std::uniform_int_distribution<int> x_of(-4, width + 4), y_of(-4, height + 4);
  std::vector<Detection> boxes;
  std::vector<int> owner(width * height, -1);
  for (int i = 0; i < 12; ++i) {
    const auto [left, right] = std::minmax({x_of(random), x_of(random)});
    const auto [top, bottom] = std::minmax({y_of(random), y_of(random)});
    const Box box{static_cast<float>(left) / width, static_cast<float>(top) / height,
                  static_cast<float>(right) / width, static_cast<float>(bottom) / height};
    boxes.push_back({box, .9F, i});
    for (int y = 0; y < static_cast<int>(height); ++y)
      for (int x = 0; x < static_cast<int>(width); ++x) {
        const bool is_near = x >= left - 3 && x < right + 3 && y >= top - 3 && y < bottom + 3;
        const bool is_inside = x >= left && x < right && y >= top && y < bottom;
        int& first = owner[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)];
        if (is_near && !is_inside && first < 0) first = i;
      }
  }
  for (const PixelFormat format :
       {PixelFormat::rgb, PixelFormat::rgba, PixelFormat::planar_rgb, PixelFormat::planar_rgba}) {
    const Tensor background = image_of(format, 33);
    Tensor dst = image_of(format);
    DrawOptions options;
    options.background = &background;
    ASSERT_TRUE(painter().draw_decoded_masks(dst, boxes, {}, options));
    const auto bytes = bytes_of(dst);
    const bool is_planar = info(format).kind == FormatKind::planar;
    const std::size_t channels = info(format).channels;
    for (std::size_t i = 0; i < owner.size(); ++i)
      for (std::size_t c = 0; c < channels; ++c) {
        const int expected = owner[i] < 0 || c == 3 ? 33 : bytes_of_color(owner[i])[c];
        ASSERT_EQ(bytes[is_planar ? c * owner.size() + i : i * channels + c], expected)
            << to_string(format) << " " << i % width << ", " << i / width << " channel " << c;
      }
  }
}

TEST(compat_draw, boxes_that_are_far_outside_or_no_numbers_are_clipped_or_left_out) {
  Tensor dst = image_of(PixelFormat::rgb);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float far = std::numeric_limits<float>::max();
  const std::vector<Detection> boxes{
      {{nan, 0, 1, 1}, 1, 0}, {{-far, -far, far, far}, 1, 0}, {{5, 5, 6, 6}, 1, 0}};
  ASSERT_TRUE(painter().draw_decoded_masks(dst, boxes, {}));
  EXPECT_EQ(bytes_of(dst), std::vector<std::uint8_t>(width * height * 3, 0));
}

}  // namespace
}  // namespace halyard
