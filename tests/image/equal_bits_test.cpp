// SPDX-License-Identifier: Apache-2.0
// The result has the same bits on every instruction set of the machine, for any number of threads,
// in one call or many.
#include <gtest/gtest.h>

#include "image/cpu/covering.h"
#include "image/cpu/each_target.h"
#include "image/differential.h"
#include "image/requests.h"
#include "support/product.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

/// The destination's bytes, with padding, of a run on a new processor: nothing remains from another
/// instruction set.
std::vector<std::byte> bytes_after(const Convert& request, ProcessorOptions options) {
  Convert c = request;
  c.dst = clone(request.dst);
  Processor processor = Processor::create(options).value();
  const auto placement = processor.convert(c);
  EXPECT_TRUE(placement) << describe(c) << "\n  " << placement.error().message();
  return bytes_of(c.dst);
}

std::vector<Convert> main_requests(Random& random, int width, int height) {
  std::vector<Convert> requests;
  for (const auto& [from, dtype, orientation] :
       product({F::nv12, F::yuyv, F::rgb, F::rgba, F::grey, F::i420},
               {DType::u8, DType::i8, DType::f16, DType::f32}, {0, 1})) {
    Convert c{.src = random_image(random, width, height, from)};
    const PixelFormat to = dtype == DType::u8 ? F::rgb : F::planar_rgb;
    c.dst = random_image(random, width * 2 / 3, height * 2 / 3, to, dtype);
    c.fit = Fit::letterbox;
    c.rotation = static_cast<Rotation>(orientation);
    c.antialias = requests.size() % 3 == 0;
    c.filter = static_cast<Filter>(requests.size() % 4);
    if (is_float(dtype)) c.normalize = Normalize::mean_std({0.4F, 0.5F, 0.6F}, {0.2F, 0.3F, 0.4F});
    requests.push_back(c);
  }
  return requests;
}

TEST(EqualBits, on_every_instruction_set) {
  Random random(41);
  std::vector<Convert> requests = main_requests(random, 131, 67);
  Covering covering(factor_levels(), &make_legal, 2);
  const std::vector<Case> cases = covering.make().cases;
  for (std::size_t i = 0; i < cases.size(); i += slowness)
    requests.push_back(build_request(cases[i], random));
  std::vector<std::vector<std::byte>> want;
  for (const Convert& c : requests)
    want.push_back(bytes_after(c, {.threads = 1}));
  for_each_target([&] {
    for (std::size_t i = 0; i < requests.size() && !::testing::Test::HasFailure(); ++i)
      EXPECT_EQ(bytes_after(requests[i], {.threads = 1}), want[i]) << describe(requests[i]);
  });
}

TEST(EqualBits, for_every_count_of_threads) {
  Random random(42);
  for (const Convert& c : main_requests(random, 633 / (slowness > 1 ? 2 : 1), 401)) {
    const auto want = bytes_after(c, {.threads = 1});
    for (const unsigned threads : {2U, 3U, 5U})
      ASSERT_EQ(bytes_after(c, {.threads = threads}), want) << describe(c);
  }
}

TEST(EqualBits, when_a_processor_is_used_again_and_again) {
  Random random(43);
  std::vector<Convert> requests = main_requests(random, 90, 33);
  requests.resize(24);
  Processor kept = Processor::create({.threads = 2}).value();
  for (const auto& [round, c] : product(upto(3), requests)) {
    ASSERT_TRUE(kept.convert(c));
    EXPECT_EQ(bytes_of(c.dst), bytes_after(c, {.threads = 1})) << describe(c);
  }
}

TEST(EqualBits, in_both_halves_of_an_image) {
  // The upper and lower half of a destination, converted alone from the matching crops, equal the
  // whole.
  Random random(44);
  for (const auto& [from, filter] :
       product({F::nv12, F::rgba, F::grey}, {Filter::nearest, Filter::box})) {
    Convert c{.src = random_image(random, 96, 64, from),
              .dst = random_image(random, 48, 32, F::rgb),
              .filter = filter,
              .antialias = true};
    const auto want = bytes_after(c, {.threads = 1});
    Convert part = c;
    part.dst = clone(c.dst);
    Processor processor = Processor::create({.threads = 1}).value();
    const Tensor whole = part.dst;
    for (const int half : {0, 1}) {
      part.crop = Region{0, 32 * half, 96, 32};
      part.dst = whole.slice({0, 16 * half, 48, 16}).value();
      ASSERT_TRUE(processor.convert(part));
    }
    EXPECT_EQ(bytes_of(whole), want) << describe(c);
  }
}

}  // namespace
}  // namespace halyard::test
