// SPDX-License-Identifier: Apache-2.0
// Every supported pair of formats and dtypes, and every unsupported one with its reason.
#include <gtest/gtest.h>

#include <string>

#include "image/differential.h"
#include "images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

constexpr DType all_dtypes[] = {DType::u8,  DType::i8,   DType::u16,    DType::i16, DType::u32,
                                DType::i32, DType::u64,  DType::i64,    DType::f16, DType::f32,
                                DType::f64, DType::bf16, DType::boolean};

struct Pair {
  PixelFormat from;
  DType from_dtype;
  PixelFormat to;
  DType to_dtype;
};

template <class Visit>
void for_each_pair(Visit visit) {
  for (const FormatInfo& from : all_formats()) {
    for (const DType from_dtype : all_dtypes) {
      for (const FormatInfo& to : all_formats()) {
        for (const DType to_dtype : all_dtypes)
          visit(Pair{from.format, from_dtype, to.format, to_dtype});
      }
    }
  }
}

const char* declined(const Pair& p) {
  return conversion_declined(p.from, p.from_dtype, p.to, p.to_dtype);
}

/// Rows some samples longer than needed, with some samples in front of the first one.
Tensor loose_image(Random& random, Size size, PixelFormat format, DType dtype) {
  const std::size_t sample = size_of(dtype);
  const auto extra = static_cast<std::size_t>(pick(random, 0, 5)) * 4 * sample;
  const auto offset = static_cast<std::size_t>(pick(random, 0, 7)) * sample;
  return random_image(random, size.width, size.height, format, dtype, extra, offset);
}

class Matrix : public ::testing::Test {
 protected:
  /// All supported pairs of one request; `size` depends on the pair's index.
  template <class Shape>
  void each_served(Shape shape) {
    int index = 0;
    for_each_pair([&](const Pair& p) {
      if (declined(p) != nullptr || judge_.gives_up()) return;
      Convert c;
      shape(p, index++, c);
      judge_.compare(c);
    });
    RecordProperty("requests", judge_.served());
    EXPECT_EQ(judge_.unserved(), 0);
    EXPECT_GE(judge_.served(), 16 * 9);
  }

  Random random_{11};
  Judge judge_;
};

TEST_F(Matrix, every_pair_of_one_size_is_right) {
  each_served([&](const Pair& p, int index, Convert& c) {
    const Size size{32 + index % 7, 5 + index % 2};
    c.src = loose_image(random_, size, p.from, p.from_dtype);
    c.dst = loose_image(random_, size, p.to, p.to_dtype);
  });
}

TEST_F(Matrix, every_pair_reduced_into_a_letterbox_is_right) {
  each_served([&](const Pair& p, int index, Convert& c) {
    c.src = loose_image(random_, {40 + index % 11, 23 + index % 5}, p.from, p.from_dtype);
    c.dst = loose_image(random_, {19, 24 + index % 3}, p.to, p.to_dtype);
    c.fit = Fit::letterbox;
    c.antialias = index % 3 == 0;
  });
}

TEST_F(Matrix, every_rotated_pair_is_right) {
  each_served([&](const Pair& p, int index, Convert& c) {
    c.src = loose_image(random_, {16 + index % 5, 9 + index % 3}, p.from, p.from_dtype);
    c.dst = loose_image(random_, {9 + index % 3, 17 + index % 5}, p.to, p.to_dtype);
    c.rotation = static_cast<Rotation>(1 + index % 3);
    c.flip = static_cast<Flip>(index / 3 % 3);
  });
}

TEST_F(Matrix, planes_in_buffers_of_their_own_are_read_and_written) {
  for (const FormatInfo& from : all_formats()) {
    for (const FormatInfo& to : all_formats()) {
      if (declined({from.format, DType::u8, to.format, DType::u8}) != nullptr) continue;
      Convert c{random_planes(random_, 21, 13, from.format),
                random_planes(random_, 21, 13, to.format)};
      judge_.compare(c);
      c.crop = Region{3, 1, 11, 9};
      c.place = Region{5, 2, 9, 10};
      judge_.compare(c);
      if (judge_.gives_up()) return;
    }
  }
  EXPECT_EQ(judge_.unserved(), 0);
}

TEST(Support, declines_with_the_reason_that_the_table_gives) {
  Random random(12);
  Processor processor = Processor::create().value();
  int served = 0;
  int refused = 0;
  for_each_pair([&](const Pair& p) {
    const char* reason = declined(p);
    if (reason == nullptr) {
      ++served;
      return;
    }
    EXPECT_STRNE(reason, "");
    if (refused++ % 37 != 0) return;
    Convert c{random_image(random, 8, 8, p.from, p.from_dtype),
              random_image(random, 8, 8, p.to, p.to_dtype)};
    const auto before = bytes_of(c.dst);
    EXPECT_FAILS(processor.convert(c), Errc::unsupported, reason) << describe(c);
    EXPECT_EQ(bytes_of(c.dst), before);
  });
  ::testing::Test::RecordProperty("served", served);
  ::testing::Test::RecordProperty("declined", refused);
}

}  // namespace
}  // namespace halyard::test
