// SPDX-License-Identifier: Apache-2.0
// Masks against a double-precision reference: every rule, element type and layout.
#include "halyard/mask.h"

#include <gtest/gtest.h>

#include "mask_frames.h"
#include "support/allocations.h"
#include "support/result.h"

namespace halyard::test {
namespace {

constexpr MaskRule rules[] = {MaskRule::logits, MaskRule::prototype, MaskRule::probability,
                              MaskRule::ultralytics, MaskRule::ultralytics_quick};

bool is_small(MaskRule rule) {
  return rule == MaskRule::prototype || rule == MaskRule::probability;
}

// Values nearer to the decision than this may fall to either side.
constexpr double undecided = 2e-4;

void compare(const MaskFrame& frame, const MaskOptions& options, const MaskSet& set,
             std::size_t i) {
  naive::Frame naive = frame.naive;
  const Size input = frame.prototypes.input;
  naive.content = options.content.value_or(RegionF(0, 0, input.width, input.height));
  naive.size = options.size.value_or(input);
  const bool twice = options.rule == MaskRule::ultralytics && (options.size || options.content);
  const auto plane = [&](double minimum) {
    return naive::mask(naive, options.rule,
                       frame.coefficients.data() + i * frame.prototypes.channels,
                       frame.detections[i].box, twice, minimum);
  };
  const naive::Plane want = plane(undecided);
  const naive::Plane loose = twice ? plane(-undecided) : want;
  const auto got = pasted(set, i);
  ASSERT_EQ(got.size(), want.values.size());
  std::size_t wrong = 0;
  for (std::size_t p = 0; p < got.size(); ++p) {
    const double value = want.values[p];
    if (options.rule == MaskRule::probability) {
      const double exact = 255 / (1 + std::exp(-value));
      wrong += std::abs(got[p] - exact) > 0.5 + undecided;
    } else if (twice) {
      wrong += (value > 0) == (loose.values[p] > 0) && got[p] != (value > 0 ? 255 : 0);
    } else if (std::abs(value) > undecided) {
      wrong += got[p] != (value > 0 ? 255 : 0);
    }
  }
  EXPECT_EQ(wrong, 0U) << "mask " << i << " of " << got.size() << " pixels";
}

void check_frame(const MaskFrame& frame) {
  MaskSet set;
  for (const MaskRule rule : rules) {
    SCOPED_TRACE(static_cast<int>(rule));
    const std::optional<Size> size = Size{117, 93};
    const std::optional<RegionF> content = RegionF(8, 4, 66, 57);
    for (const MaskOptions& options : {MaskOptions{rule, {}, {}},
                                       {rule, size, content},
                                       {rule, size, {}},
                                       {rule, {}, content}}) {
      if (is_small(rule) && (options.size || options.content)) continue;
      ASSERT_OK(materialize(frame.prototypes, frame.detections, options, set));
      ASSERT_EQ(set.size(), frame.detections.size());
      for (std::size_t i = 0; i < set.size(); ++i)
        compare(frame, options, set, i);
    }
  }
}

template <class P, class C>
void check_types() {
  SCOPED_TRACE(std::string(to_string(*dtype_of<P>)) + " x " + std::string(to_string(*dtype_of<C>)));
  unsigned seed = 1;
  for (const PrototypeOrder order : both_orders) {
    for (const auto& [channels, batches] :
         {std::pair(32, std::size_t{0}), {1, 0}, {7, 2}, {33, 1}, {64, 0}}) {
      SCOPED_TRACE(channels);
      const FrameShape shape{.channels = channels, .masks = 3, .order = order, .batches = batches};
      check_frame(random_frame<P, C>(seed++, shape));
    }
  }
}

TEST(Masks, floats_follow_the_definitions) {
  check_types<float, float>();
  check_types<Half, Half>();
  check_types<BFloat16, float>();
  check_types<float, Half>();
}

TEST(Masks, bytes_follow_the_definitions) {
  check_types<std::int8_t, std::int8_t>();
  check_types<std::uint8_t, std::uint8_t>();
  check_types<std::uint8_t, std::int8_t>();
}

TEST(Masks, wider_integers_follow_the_definitions) {
  check_types<std::int8_t, std::int16_t>();
  check_types<std::int16_t, std::int8_t>();
  check_types<std::uint16_t, std::uint8_t>();
  check_types<std::int16_t, std::int16_t>();
  check_types<std::uint16_t, std::uint16_t>();
}

TEST(Masks, mixed_types_follow_the_definitions) {
  check_types<std::int8_t, float>();
  check_types<float, std::int8_t>();
  check_types<std::uint16_t, Half>();
}

TEST(Masks, each_channel_has_its_own_scale) {
  for (const PrototypeOrder order : both_orders) {
    const FrameShape shape{.order = order, .batches = 2, .per_channel = true};
    check_frame(random_frame<std::int8_t, std::int8_t>(70, shape));
    check_frame(random_frame<std::uint16_t, float>(71, shape));
  }
}

TEST(Masks, odd_sizes_follow_the_definitions) {
  unsigned seed = 100;
  for (const auto& [width, height] : {std::pair(1, 1), {1, 9}, {5, 1}, {17, 3}, {40, 24}}) {
    const FrameShape shape{.width = width, .height = height, .input = {76, 64}};
    check_frame(random_frame<float, float>(seed++, shape));
    check_frame(random_frame<std::int8_t, std::int8_t>(seed++, shape));
  }
}

TEST(Masks, both_layouts_and_all_processors_give_the_same_bits) {
  for (const int channels : {32, 20}) {
    const FrameShape shape{.width = 37, .height = 29, .channels = channels, .masks = 20};
    const MaskFrame packed = random_frame<float, float>(7, shape);
    MaskFrame planar = packed;
    std::vector<float> values(packed.naive.protos.values.begin(), packed.naive.protos.values.end());
    const auto k = static_cast<std::size_t>(channels);
    planar.prototypes.prototypes = tensor_of<float>({k, 29, 37}, values);
    planar.prototypes.order = PrototypeOrder::channels_height_width;
    for (const MaskRule rule : rules) {
      std::vector<std::vector<std::uint8_t>> first;
      for_each_target([&] {
        for (const MaskFrame* frame : {&packed, static_cast<const MaskFrame*>(&planar)}) {
          MaskSet set;
          ASSERT_TRUE(materialize(frame->prototypes, frame->detections, {rule, {}, {}}, set));
          if (first.empty()) first = all_pasted(set);
          EXPECT_EQ(first, all_pasted(set));
        }
      });
    }
  }
}

TEST(Masks, integers_are_exact_on_all_processors) {
  for (const PrototypeOrder order : both_orders) {
    const FrameShape shape{.width = 41, .order = order};
    const MaskFrame frame = random_frame<std::int8_t, std::int8_t>(8, shape);
    for_each_target([&] {
      MaskSet set;
      ASSERT_TRUE(
          materialize(frame.prototypes, frame.detections, {MaskRule::prototype, {}, {}}, set));
      for (std::size_t i = 0; i < set.size(); ++i) {
        const MaskView mask = set[i];
        for (int y = 0; y < mask.region.height; ++y) {
          for (int x = 0; x < mask.region.width; ++x) {
            // Scales are those of one float each: the sign is that of the integers.
            const double value = frame.naive.protos.logit(frame.coefficients.data() + i * 32,
                                                          mask.region.x + x, mask.region.y + y);
            ASSERT_EQ(mask.row(y)[x], value > 1e-9 ? 255 : 0);
          }
        }
      }
    });
  }
}

TEST(Masks, many_masks_come_in_groups_without_a_difference) {
  const FrameShape shape{.width = 160, .height = 160, .input = {640, 640}, .masks = 40};
  MaskFrame frame = random_frame<std::int8_t, std::int8_t>(9, shape);
  for (Detection& d : frame.detections)
    d.box = {0, 0, 640, 640};
  MaskSet all, one;
  ASSERT_TRUE(materialize(frame.prototypes, frame.detections, {}, all));
  for (std::uint32_t i = 0; i < 40; i += 13) {
    MaskPrototypes row = frame.prototypes;
    ASSERT_TRUE(row.select({{i}}));
    ASSERT_TRUE(materialize(row, {&frame.detections[i], 1}, {}, one));
    EXPECT_EQ(pasted(all, i), pasted(one, 0));
  }
}

TEST(Masks, coefficients_as_a_tensor_keep_their_type_and_scale) {
  const Quantization scale = Quantization::per_tensor(0.5F, 2);
  const std::int8_t stored[2][3] = {{-128, 0, 127}, {1, 2, 3}};
  const float real[3] = {1.5F, -2, 3};
  MaskPrototypes masks;
  masks.clear(3);
  for (const auto& row : stored)
    ASSERT_OK(masks.append({reinterpret_cast<const std::byte*>(row), 1, DType::i8, &scale}));
  ASSERT_VALUE(const Tensor bytes, masks.coefficient_tensor());
  EXPECT_EQ(bytes.dtype(), DType::i8);
  EXPECT_TRUE(std::ranges::equal(bytes.shape(), std::array<std::size_t, 2>{2, 3}));
  EXPECT_EQ(bytes.quantization(), scale);
  EXPECT_EQ(std::memcmp(bytes.map(Access::read)->data(), stored, 6), 0);

  // One row of floats: then all rows are real values.
  ASSERT_OK(masks.append({reinterpret_cast<const std::byte*>(real), 4, DType::f32, nullptr}));
  ASSERT_VALUE(const Tensor floats, masks.coefficient_tensor());
  EXPECT_EQ(floats.dtype(), DType::f32);
  EXPECT_FALSE(floats.quantization().has_value());
  const float expected[9] = {-65, -1, 62.5F, -0.5F, 0, 0.5F, 1.5F, -2, 3};
  ASSERT_EQ(floats.layout().size_bytes(), sizeof(expected));
  EXPECT_EQ(std::memcmp(floats.map(Access::read)->data(), expected, sizeof(expected)), 0);
}

TEST(Masks, a_reused_set_allocates_nothing) {
  for (const PrototypeOrder order : both_orders) {
    const FrameShape shape{.order = order};
    const MaskFrame reals = random_frame<float, float>(10, shape);
    const MaskFrame bytes = random_frame<std::int8_t, std::int8_t>(11, shape);
    for (const MaskRule rule : rules) {
      MaskSet set;
      MaskPrototypes kept;
      EXPECT_EQ(test::allocations_of([&] {
                  kept = reals.prototypes;
                  ASSERT_TRUE(materialize(kept, reals.detections, {rule, {}, {}}, set));
                }),
                0U);
      EXPECT_EQ(test::allocations_of([&] {
                  ASSERT_TRUE(materialize(bytes.prototypes, bytes.detections, {rule, {}, {}}, set));
                }),
                0U);
    }
  }
}

}  // namespace
}  // namespace halyard::test
