// SPDX-License-Identifier: Apache-2.0
// Quantization parameters: what each dtype takes, what is refused and by which name.
#include "halyard/quantization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "halyard/tensor.h"
#include "support/result.h"

namespace halyard {
namespace {

constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
const std::vector<std::size_t> shape{2, 3, 4};

Status checked(const Quantization& q, DType dtype = DType::i8) {
  return validate(q, dtype, shape);
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
    SCOPED_TRACE(to_string(c.dtype));
    const auto with_point = [&c](std::int64_t zero_point) {
      return checked(Quantization::per_tensor(1, static_cast<std::int32_t>(zero_point)), c.dtype);
    };
    EXPECT_OK(with_point(c.first));
    EXPECT_OK(with_point(c.last));
    for (const std::int64_t beyond : {c.first - 1, c.last + 1}) {
      if (beyond < lowest || beyond > highest) continue;  // no zero point can say it
      EXPECT_FAILS(with_point(beyond), Errc::invalid_argument) << beyond;
    }
  }
}

TEST(QuantizationRange, applies_to_every_channel) {
  EXPECT_OK(checked({{1, 1, 1}, {0, 127, -128}, 1}));
  const Status status = checked({{1, 1, 1}, {0, 127, 128}, 1});
  EXPECT_FAILS(status, Errc::invalid_argument, "zero_point[2] = 128");
  EXPECT_FAILS(status, "-128..127");
}

TEST(Quantization, belongs_to_integers_only) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::boolean}) {
    EXPECT_FAILS(checked(Quantization::per_tensor(1), dtype), Errc::invalid_argument)
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
  EXPECT_OK(checked({{smallest, 1, largest}, {}, 1}));
  for (const float bad : {0.0F, -0.0F, -1.0F, std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    EXPECT_FAILS(checked(Quantization::per_tensor(bad)), Errc::invalid_argument, "scale") << bad;
    EXPECT_FAILS(checked({{1, 1, bad}, {}, 1}), Errc::invalid_argument, "scale[2]") << bad;
  }
}

TEST(Quantization, says_which_field_is_wrong_and_a_tensor_keeps_no_such_one) {
  const std::pair<Quantization, const char*> bad[] = {
      {{{}, {}, {}}, "quantization.scale"},
      {{{}, {3}, {}}, "quantization.scale"},
      {{{1, 2, 3}, {0, 0}, 1}, "2 zero points, 3 scales"},
      {{{1, 2, 3}, {0}, 1}, "1 zero points, 3 scales"},
      {{{1}, {0, 0}, {}}, "zero_point"},
      {{{1, 2, 3}, {}, {}}, "quantization.axis"},
      {{{1}, {}, 0}, "quantization.axis"},
      {{{1}, {0}, 1}, "quantization.axis"},
      {{{1, 2, 3}, {}, 3}, "3 of rank 3"},
      {{{1, 2, 3}, {}, SIZE_MAX}, "rank 3"},
      {{{1, 2, 3}, {}, 0}, "axis 0 has extent 2"}};
  for (const auto& [quantization, text] : bad) {
    EXPECT_FAILS(checked(quantization), Errc::invalid_argument, text);
    Tensor t = *Tensor::create(DType::i8, shape, Memory::mem);
    EXPECT_FAILS(t.set_quantization(quantization), Errc::invalid_argument, text);
    EXPECT_FALSE(t.quantization()) << text;
  }
}

TEST(Quantization, reads_scales_and_zero_points_by_channel) {
  const Quantization q{{0.1F, 0.2F}, {3, 0}, 0};
  EXPECT_EQ(q.scale_at(1), 0.2F);
  EXPECT_EQ(q.zero_point_at(0), 3);
  EXPECT_FALSE(q.is_symmetric());
  EXPECT_EQ(Quantization::per_tensor(0.5F, 7).zero_point_at(99), 7);
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
