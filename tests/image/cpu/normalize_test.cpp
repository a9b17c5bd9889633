// SPDX-License-Identifier: Apache-2.0
// normalize_bytes() against a division in the destination's type, on every instruction set.
#include "halyard/normalize.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "image/cpu/each_target.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

Layout layout_of(DType dtype, std::size_t height, std::size_t width, std::size_t channels) {
  return *Layout::contiguous(dtype, std::array{height, width, channels});
}

// The formulas of normalize.h; T is the type of the quotient.
template <class T>
T defined(std::uint8_t v, const ByteNormalization& how) {
  constexpr auto half = static_cast<T>(127.5);
  if (how.scale == ByteScale::none) return static_cast<T>(v);
  if (how.scale == ByteScale::unit) return static_cast<T>(v) / T{255};
  const T offset = how.zero_point ? static_cast<T>(*how.zero_point) / half : T{1};
  return static_cast<T>(v) / half - offset;
}

std::vector<std::uint8_t> all_bytes(std::size_t count) {
  std::vector<std::uint8_t> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  return out;
}

const std::vector<ByteNormalization> normalizations{
    {ByteScale::none, {}},       {ByteScale::unit, {}},       {ByteScale::symmetric, {}},
    {ByteScale::symmetric, 0},   {ByteScale::symmetric, 114}, {ByteScale::symmetric, 128},
    {ByteScale::symmetric, 255},
};

template <class T>
void expect_floats(DType dtype) {
  for_each_target([&] {
    for (const ByteNormalization& how : normalizations) {
      for (std::size_t width = 1; width <= 65; ++width) {
        const Layout from = layout_of(DType::u8, 2, width, 4);
        const Layout to = layout_of(dtype, 2, width, 4);
        const auto in = all_bytes(from.size_bytes());
        // An address that is not a multiple of the element's size, and a byte behind.
        std::vector<std::byte> out(to.size_bytes() + 2, std::byte{0x5A});
        ASSERT_TRUE(normalize_bytes(from, reinterpret_cast<const std::byte*>(in.data()), to,
                                    out.data() + 1, how));
        for (std::size_t i = 0; i < in.size(); ++i) {
          T value;
          std::memcpy(&value, out.data() + 1 + i * sizeof value, sizeof value);
          ASSERT_EQ(value, defined<T>(in[i], how)) << unsigned{in[i]} << " at " << i;
        }
        EXPECT_EQ(out.front(), std::byte{0x5A});
        EXPECT_EQ(out.back(), std::byte{0x5A});
      }
    }
  });
}

TEST(NormalizeBytes, floats_are_quotients_that_are_rounded_once) {
  expect_floats<float>(DType::f32);
  expect_floats<double>(DType::f64);
}

TEST(NormalizeBytes, signed_bytes_are_differences_that_are_clamped) {
  for_each_target([] {
    for (const std::optional<int> zero : {std::optional<int>(), std::optional(0), std::optional(3),
                                          std::optional(128), std::optional(255)}) {
      for (std::size_t width = 1; width <= 65; ++width) {
        const Layout from = layout_of(DType::u8, 1, width, 3);
        const auto in = all_bytes(from.size_bytes());
        std::vector<std::int8_t> out(in.size());
        ASSERT_TRUE(normalize_bytes(
            from, reinterpret_cast<const std::byte*>(in.data()), layout_of(DType::i8, 1, width, 3),
            reinterpret_cast<std::byte*>(out.data()), {ByteScale::symmetric, zero}));
        for (std::size_t i = 0; i < in.size(); ++i)
          ASSERT_EQ(out[i], std::clamp(in[i] - zero.value_or(128), -128, 127)) << i;
      }
    }
  });
}

// The half that is nearest to a float: the smallest distance over all finite ones, ties to even.
std::uint16_t nearest_half(float value) {
  std::uint16_t best = 0;
  double least = 1e9;
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits | (std::signbit(value) ? 0x8000U : 0));
    const int exponent = static_cast<int>(bits >> 10);
    const double fraction = static_cast<double>(bits & 0x3FF) / 1024;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
    const double distance = std::abs(std::abs(static_cast<double>(value)) - magnitude);
    if (distance < least || (distance == least && bits % 2 == 0)) {
      least = distance;
      best = half;
    }
  }
  return best;
}

TEST(NormalizeBytes, halves_are_the_nearest_to_the_floats) {
  const Layout from = layout_of(DType::u8, 1, 256, 1);
  std::vector<std::byte> in(256);
  for (std::size_t v = 0; v < in.size(); ++v)
    in[v] = static_cast<std::byte>(v);
  for (const ByteNormalization& how : normalizations) {
    std::vector<std::uint16_t> out(256);
    ASSERT_TRUE(normalize_bytes(from, in.data(), layout_of(DType::f16, 1, 256, 1),
                                reinterpret_cast<std::byte*>(out.data()), how));
    for (std::size_t v = 0; v < out.size(); v += 5) {
      const float value = defined<float>(static_cast<std::uint8_t>(v), how);
      ASSERT_EQ(out[v], value == 0 ? 0 : nearest_half(value)) << v;
    }
  }
}

TEST(NormalizeBytes, honours_strides_and_drops_a_fourth_channel) {
  constexpr std::size_t height = 5, width = 7;
  Layout from = layout_of(DType::u8, height, width, 4);
  from.stride_bytes = {64, 5, 1};  // gaps between pixels and rows
  Layout to = layout_of(DType::f32, height, width, 3);
  to.stride_bytes = {4, 4 * height, 4 * height * width};  // planes of columns
  const auto in = all_bytes(64 * height);
  std::vector<float> out(height * width * 3, -1);
  ASSERT_TRUE(normalize_bytes(from, reinterpret_cast<const std::byte*>(in.data()), to,
                              reinterpret_cast<std::byte*>(out.data()), {ByteScale::unit, {}}));
  for (const auto [y, x] : grid<std::size_t>(height, width)) {
    for (std::size_t c = 0; c < 3; ++c)
      ASSERT_EQ(out[y + x * height + c * height * width],
                static_cast<float>(in[y * 64 + x * 5 + c]) / 255.0F);
  }
}

TEST(NormalizeBytes, copies_a_source_that_shares_bytes_first) {
  const Layout from = layout_of(DType::u8, 1, 8, 1);
  std::vector<float> memory(8);
  auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
  for (std::size_t i = 0; i < 8; ++i)
    bytes[i] = static_cast<std::byte>(10 * i);
  ASSERT_TRUE(
      normalize_bytes(from, bytes, layout_of(DType::f32, 1, 8, 1), bytes, {ByteScale::none, {}}));
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(memory[i], static_cast<float>(10 * i));
}

TEST(NormalizeBytes, refuses_what_its_header_does_not_name) {
  const std::vector<std::byte> in(64);
  std::vector<std::byte> out(512);
  const auto layout = [](DType dtype) { return layout_of(dtype, 2, 2, 4); };
  const Layout from = layout(DType::u8), f32 = layout(DType::f32);
  constexpr Errc unsupported = Errc::unsupported, invalid = Errc::invalid_argument;
  struct Refusal {
    Layout from;
    Layout to;
    ByteNormalization how;
    Errc code;
    const char* text;
  };
  const Refusal refusals[] = {
      {layout(DType::i8), f32, {}, unsupported, "from: must be u8"},
      {from, layout(DType::u16), {}, unsupported, "to: must be u8, i8"},
      {from, layout_of(DType::f32, 2, 3, 4), {}, invalid, "2 x 3 x 4"},
      {from, layout_of(DType::f32, 2, 2, 2), {}, invalid, "extents"},
      {from, from, {ByteScale::unit, {}}, unsupported, "u8 takes none"},
      {from, layout(DType::i8), {ByteScale::none, {}}, unsupported, "i8 takes symmetric"},
      {from, f32, {ByteScale::symmetric, 256}, invalid, "256"},
      {from, f32, {ByteScale::symmetric, -1}, invalid, "0 to 255"},
      {from, f32, {ByteScale::unit, 3}, invalid, "symmetric"},
      {from, f32, {static_cast<ByteScale>(9), {}}, invalid, "ByteScale"}};
  for (const Refusal& each : refusals)
    EXPECT_FAILS(normalize_bytes(each.from, in.data(), each.to, out.data(), each.how), each.code,
                 each.text)
        << each.text;
}

}  // namespace
}  // namespace halyard::test
