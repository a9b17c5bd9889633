// SPDX-License-Identifier: Apache-2.0
// One decoder for many frames and several threads: what it allocates, shares and leaves behind.
// ThreadSanitizer sees these tests of decoding alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "decode/head/heads.h"
#include "decode/tensors.h"
#include "support/allocations.h"

namespace halyard::test {
namespace {

struct SharedHead {
  ModelDescription description;
  std::vector<Tensor> tensors;
};

// Every part of Decoded, and every way to store scores.
std::vector<SharedHead> shared_heads() {
  constexpr std::size_t boxes = 300;
  std::vector<SharedHead> out;
  const auto values = random_head(5 + 8, boxes, 3);
  const auto add = [&](Tensor tensor) -> ModelDescription& {
    auto description =
        model_of({96, 64}, {output_of(OutputRole::detection, {1, 17, boxes}, BoxUnits::fraction)});
    out.push_back({std::move(description), {std::move(tensor)}});
    return out.back().description;
  };
  const Tensor floats = tensor_of<float>({1, 17, boxes}, values);
  std::vector<std::uint8_t> bytes;
  for (const float v : values)
    bytes.push_back(static_cast<std::uint8_t>(std::lround(v * 255)));
  const Tensor stored = quantized_of<std::uint8_t>({1, 17, boxes}, bytes, 1 / 255.0F, 0);
  add(floats);
  add(stored);
  add(floats).task = Task::obb;
  add(floats).keypoints = KeypointShape{4, 2};
  auto sure = values;
  std::fill(sure.begin() + 4 * boxes, sure.begin() + 5 * boxes, 0.9F);
  add(tensor_of<float>({1, 17, boxes}, sure)).decoder_version = "yolov5";
  for (const Tensor& tensor : {floats, stored}) {
    add(tensor).outputs.push_back(output_of(OutputRole::prototypes, {1, 8, 16, 24}));
    Tensor prototypes = filled<std::int8_t>({1, 8, 16, 24}, 3);
    out.back().tensors.push_back(quantized<std::int8_t>(prototypes, 0.1F, 0));
  }
  out.push_back({model_of({8, 8}, {output_of(OutputRole::classification, {1, 50})}),
                 {filled<float>({1, 50}, 0.5F)}});
  return out;
}

TEST(DecodeInto, allocates_nothing_in_the_steady_state) {
  for (std::size_t i = 0; const SharedHead& head : shared_heads()) {
    SCOPED_TRACE(i++);
    const auto decoder = *Decoder::create(head.description);
    Decoded out;
    bool good = true;
    EXPECT_EQ(allocations_of([&] { good = good && bool(decoder.decode_into(head.tensors, out)); }),
              0U);
    EXPECT_TRUE(good);
    EXPECT_GT(out.detections.size() + out.classes.size(), 2U);
  }
}

TEST(DecodeInto, gives_the_same_from_several_threads) {
  for (const SharedHead& head : shared_heads()) {
    const auto decoder = *Decoder::create(head.description);
    Decoded expected;
    ASSERT_TRUE(decoder.decode_into(head.tensors, expected));
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (std::size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        const std::vector<Tensor> tensors = head.tensors;  // a tensor belongs to one thread
        Decoded out;
        for (int i = 0; i < 20; ++i) {
          const bool good =
              bool(decoder.decode_into(tensors, out)) && out.detections == expected.detections &&
              out.rotated == expected.rotated && out.keypoints == expected.keypoints &&
              out.masks.coefficients == expected.masks.coefficients &&
              out.classes == expected.classes;
          wrong[t] += good ? 0 : 1;
        }
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
  }
}

TEST(DecodeInto, leaves_nothing_of_the_frame_before) {
  const auto all = shared_heads();
  Decoded out;
  for (const SharedHead& head : all) {
    const auto decoder = *Decoder::create(head.description);
    ASSERT_TRUE(decoder.decode_into(head.tensors, out));
    const Decoded fresh = decode_all(head.description, head.tensors);
    EXPECT_EQ(out.detections, fresh.detections);
    EXPECT_EQ(out.rotated.size(), fresh.rotated.size());
    EXPECT_EQ(out.keypoints.size(), fresh.keypoints.size());
    EXPECT_EQ(out.keypoints_each, fresh.keypoints_each);
    EXPECT_EQ(out.masks.coefficients, fresh.masks.coefficients);
    EXPECT_EQ(out.masks.channels, fresh.masks.channels);
    EXPECT_EQ(out.classes, fresh.classes);
  }
  EXPECT_FALSE((*Decoder::create(all[0].description)).decode_into({}, out));
  EXPECT_TRUE(out.classes.empty());
}

TEST(Decoder, threads_may_share_one) {
  const auto decoder = Decoder::create(
      model_of({640, 480}, {output_of(OutputRole::detection, {1, 24, 2100}, BoxUnits::fraction)}));
  std::vector<Tensor> tensors;
  std::vector<std::vector<Detection>> expected;
  for (unsigned i = 0; i < 4; ++i) {
    tensors.push_back(tensor_of({1, 24, 2100}, random_head(20, 2100, 40 + i)));
    expected.push_back(*decoder->decode({&tensors.back(), 1}));
  }
  std::array<int, 4> wrong{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const auto found = decoder->decode({&tensors[i], 1});
        wrong[i] += !found || *found != expected[i];
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, (std::array<int, 4>{}));
}

}  // namespace
}  // namespace halyard::test
