// SPDX-License-Identifier: Apache-2.0
// Presets by name, and the two steps that depend on them.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "halyard/preset.h"
#include "support/result.h"

namespace halyard {
namespace {

TEST(Preset, names_are_those_of_the_pipelines) {
  const auto validation = Preset::named("ultralytics-val");
  ASSERT_TRUE(validation);
  EXPECT_TRUE(validation->decode.multi_label);
  EXPECT_FLOAT_EQ(validation->decode.score_threshold, 0.001F);
  EXPECT_EQ(validation->letterbox, LetterboxRule::ultralytics_val);
  EXPECT_EQ(validation->mask_rule, MaskRule::ultralytics);
  EXPECT_TRUE(validation->is_rgb_first);
  EXPECT_EQ(Preset::named("ultralytics")->mask_rule, MaskRule::ultralytics_quick);
  EXPECT_FALSE(Preset::named("hal")->is_rgb_first);
  EXPECT_EQ(Preset::named("hal")->decode.pre_nms_top_k, 300U);
  EXPECT_FALSE(Preset::named("ultralytics_val"));
  EXPECT_FALSE(Preset::named(""));
}

TEST(Preset, boxes_are_cut_at_the_input) {
  std::vector<Detection> found{{{-5, 3, 700, 650}, 0.5F, 1, 2}, {{-9, -9, -2, -2}, 0.5F, 1, 2}};
  clip_boxes(found, {640, 480});
  EXPECT_EQ(found[0].box, (Box{0, 3, 640, 480}));
  EXPECT_EQ(found[1].box, (Box{0, 0, 0, 0}));
}

/// An NV12 image whose chroma differs from sample to sample.
Tensor colourful(Size size) {
  Tensor image = *Tensor::create_image(size, PixelFormat::nv12);
  const auto map = *image.map(Access::write);
  for (std::size_t p = 0; p < map.plane_count(); ++p) {
    const MappedPlane& plane = map.plane(p);
    for (std::size_t y = 0; y < plane.rows; ++y)
      for (std::size_t x = 0; x < plane.row_bytes; ++x)
        plane.writable[y * plane.stride_bytes + x] = std::byte((y * 71 + x * 37) % 200 + 30);
  }
  return image;
}

std::vector<std::byte> bytes_of(const Tensor& image) {
  const auto map = *image.map(Access::read);
  const MappedPlane& plane = map.plane(0);
  std::vector<std::byte> bytes;
  for (std::size_t y = 0; y < plane.rows; ++y) {
    const std::byte* row = plane.data + y * plane.stride_bytes;
    bytes.insert(bytes.end(), row, row + plane.row_bytes);
  }
  return bytes;
}

TEST(Preset, rgb_first_is_two_conversions) {
  auto processor = *Processor::create();
  const Tensor image = colourful({64, 48});
  const Tensor input = *Tensor::create_image({32, 32}, PixelFormat::rgb);
  Tensor rgb;
  ASSERT_VALUE(const auto placement,
               prepare_input(Preset::ultralytics_val(), processor, image, input, rgb));
  EXPECT_EQ(placement.content(), (Region{0, 4, 32, 24}));
  EXPECT_EQ(rgb.size(), (Size{64, 48}));

  const Tensor wide = *Tensor::create_image({64, 48}, PixelFormat::rgb);
  Convert request;
  request.src = image;
  request.dst = wide;
  request.chroma = Chroma::bilinear;
  ASSERT_TRUE(processor.convert(request));
  const Tensor wanted = *Tensor::create_image({32, 32}, PixelFormat::rgb);
  request = {};
  request.src = wide;
  request.dst = wanted;
  request.fit = Fit::letterbox;
  request.letterbox = LetterboxRule::ultralytics_val;
  ASSERT_TRUE(processor.convert(request));
  EXPECT_EQ(bytes_of(input), bytes_of(wanted));

  const Tensor at_once = *Tensor::create_image({32, 32}, PixelFormat::rgb);
  Tensor unused;
  ASSERT_TRUE(prepare_input(Preset::hal(), processor, image, at_once, unused));
  EXPECT_EQ(unused.rank(), 0U);
  EXPECT_NE(bytes_of(at_once), bytes_of(wanted)) << "chroma is interpolated in one of them alone";
}

TEST(Preset, rotated_boxes_are_suppressed_by_their_own_rule) {
  ModelDescription upright;
  ModelDescription rotated;
  rotated.task = Task::obb;
  ModelDescription in_parts;
  in_parts.outputs.emplace_back().role = OutputRole::angles;
  for (const Preset& preset : {Preset::ultralytics_val(), Preset::ultralytics()}) {
    EXPECT_EQ(preset.decode_for(upright).suppression, Suppression::greedy);
    EXPECT_EQ(preset.decode_for(rotated).suppression, Suppression::fast);
    EXPECT_EQ(preset.decode_for(in_parts).suppression, Suppression::fast);
    EXPECT_EQ(preset.decode_for(rotated).iou_threshold, preset.decode.iou_threshold);
  }
  EXPECT_EQ(Preset::hal().decode_for(rotated).suppression, Suppression::greedy);
}

TEST(Preset, errors_are_those_of_convert) {
  auto processor = *Processor::create();
  Tensor rgb;
  EXPECT_EQ(code_of(prepare_input(Preset::hal(), processor, Tensor{}, colourful({8, 8}), rgb)),
            Errc::invalid_argument);
}

}  // namespace
}  // namespace halyard
