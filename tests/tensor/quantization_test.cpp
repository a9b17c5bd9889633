// SPDX-License-Identifier: Apache-2.0
// Quantization parameters: what each dtype takes, what is refused and by which name.
#include "halyard/quantization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "halyard/tensor.h"

namespace halyard {
namespace {

constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
const std::vector<std::size_t> shape{2, 3, 4};

Errc refusal(const Quantization& q, DType dtype = DType::i8) {
  const Status status = validate(q, dtype, shape);
  return status ? Errc::ok : status.error().code;
}

std::string reason(const Quantization& q, DType dtype = DType::i8) {
  const Status status = validate(q, dtype, shape);
  return status ? "" : status.error().message();
}

TEST(QuantizationRange, of_zero_points_is_that_of_the_dtype) {
  struct Case {
    DType dtype;
    std::int64_t first;
    std::int64_t last;
  };
  for (const Case& c : {Case{DType::u8, 0, 255}, Case{DType::i8, -128, 127},
                        Case{DType::u16, 0, 65535}, Case{DType::i16, -32768, 32767},
                        Case{DType::u32, 0, highest}, Case{DType::i32, lowest, highest},
                        Case{DType::u64, 0, highest}, Case{DType::i64, lowest, highest}}) {
    const auto try_point = [&c](std::int64_t zero_point) {
      if (zero_point < lowest || zero_point > highest) return Errc::invalid_argument;
      return refusal(Quantization::per_tensor(1, static_cast<std::int32_t>(zero_point)), c.dtype);
    };
    EXPECT_EQ(try_point(c.first), Errc::ok) << to_string(c.dtype);
    EXPECT_EQ(try_point(c.last), Errc::ok) << to_string(c.dtype);
    EXPECT_EQ(try_point(c.first - 1), Errc::invalid_argument) << to_string(c.dtype);
    EXPECT_EQ(try_point(c.last + 1), Errc::invalid_argument) << to_string(c.dtype);
  }
}

TEST(QuantizationRange, applies_to_every_channel) {
  EXPECT_EQ(refusal({{1, 1, 1}, {0, 127, -128}, 1}), Errc::ok);
  EXPECT_EQ(refusal({{1, 1, 1}, {0, 127, 128}, 1}), Errc::invalid_argument);
  EXPECT_NE(reason({{1, 1, 1}, {0, 127, 128}, 1}).find("zero_point[2] = 128"), std::string::npos);
  EXPECT_NE(reason({{1, 1, 1}, {0, 127, 128}, 1}).find("-128..127"), std::string::npos);
}

TEST(Quantization, belongs_to_integers_only) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::boolean}) {
    EXPECT_EQ(refusal(Quantization::per_tensor(1), dtype), Errc::invalid_argument)
        << to_string(dtype);
    Tensor t = *Tensor::create(dtype, {4}, Memory::mem);
    EXPECT_FALSE(t.set_quantization(Quantization::per_tensor(1)));
    EXPECT_FALSE(t.quantization()) << "a refused one is not kept";
    EXPECT_TRUE(t.set_quantization(std::nullopt));
  }
}

TEST(Quantization, scales_are_finite_and_above_zero_in_every_channel) {
  const float smallest = std::numeric_limits<float>::denorm_min();
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(refusal({{smallest, 1, largest}, {}, 1}), Errc::ok);
  for (const float bad : {0.0F, -0.0F, -1.0F, std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    EXPECT_EQ(refusal({{1, 1, bad}, {}, 1}), Errc::invalid_argument) << bad;
    EXPECT_NE(reason({{1, 1, bad}, {}, 1}).find("scale[2]"), std::string::npos) << bad;
  }
}

TEST(Quantization, says_which_field_is_wrong) {
  EXPECT_NE(reason({{}, {}, {}}).find("quantization.scale"), std::string::npos);
  EXPECT_NE(reason({{1, 2, 3}, {0, 0}, 1}).find("2 zero points, 3 scales"), std::string::npos);
  EXPECT_NE(reason({{1}, {0, 0}, {}}).find("zero_point"), std::string::npos);
  EXPECT_NE(reason({{1, 2, 3}, {}, {}}).find("quantization.axis"), std::string::npos);
  EXPECT_NE(reason({{1}, {}, 0}).find("quantization.axis"), std::string::npos);
  EXPECT_NE(reason({{1, 2, 3}, {}, 3}).find("3 of rank 3"), std::string::npos);
  EXPECT_NE(reason({{1, 2, 3}, {}, SIZE_MAX}).find("rank 3"), std::string::npos);
  EXPECT_NE(reason({{1, 2, 3}, {}, 0}).find("axis 0 has extent 2"), std::string::npos);
}

TEST(Quantization, is_symmetric_when_all_zero_points_are_zero) {
  EXPECT_TRUE(Quantization::per_tensor(0.5F).is_symmetric());
  EXPECT_FALSE(Quantization::per_tensor(0.5F, 1).is_symmetric());
  EXPECT_TRUE((Quantization{{1, 2}, {}, 0}).is_symmetric());
  EXPECT_TRUE((Quantization{{1, 2}, {0, 0}, 0}).is_symmetric());
  EXPECT_FALSE((Quantization{{1, 2}, {0, 1}, 0}).is_symmetric());
  EXPECT_TRUE(Quantization::per_tensor(1).is_per_tensor());
  EXPECT_FALSE((Quantization{{1, 2}, {}, 0}).is_per_tensor());
}

TEST(Quantization, stays_with_the_copies_of_a_tensor_and_can_be_taken_off) {
  Tensor t = *Tensor::create(DType::i8, {2, 3}, Memory::mem);
  ASSERT_TRUE(t.set_quantization(Quantization{{1, 2, 3}, {4, 5, 6}, 1}));
  Tensor copy = t;
  EXPECT_EQ(copy.quantization(), t.quantization());
  EXPECT_FALSE(t.set_quantization(Quantization{{1, 2}, {}, 1}));
  EXPECT_EQ(t.quantization(), copy.quantization()) << "a refusal changes nothing";
  ASSERT_TRUE(t.set_quantization(std::nullopt));
  EXPECT_FALSE(t.quantization());
  EXPECT_TRUE(copy.quantization());
}

}  // namespace
}  // namespace halyard
