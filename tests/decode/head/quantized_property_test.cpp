// SPDX-License-Identifier: Apache-2.0
// Integer outputs of every layout decode to the bits that the same outputs give as f32.
#include "support/properties.h"

#if defined(HALYARD_RAPIDCHECK)
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "decode/head/threshold.h"
#include "decode/head_layouts.h"
#include "decode/tensors.h"

namespace halyard::test {
namespace {

using halyard::test::check_property;
using Random = std::mt19937;

// The outputs of one layout as integers, and as the real values that those mean.
struct TwoForms {
  std::vector<Tensor> integers;
  std::vector<Tensor> floats;
  std::vector<float> reals;
};

float any_scale() {
  return *rc::gen::element(1 / 255.0F, 1 / 128.0F, 0.0123F, 0.1F, 1.0F, 3e-5F, 1e-6F, 1e-42F, 1e4F,
                           3e37F);
}

template <class T>
std::int32_t any_zero_point() {
  using Limits = std::numeric_limits<T>;
  constexpr std::int32_t lowest = Limits::lowest(), highest = Limits::max();
  return *rc::gen::element(lowest, lowest, highest, lowest + (highest - lowest) / 2,
                           *rc::gen::inRange(lowest, highest + 1));
}

Quantization any_quantization(std::int32_t (*zero_point)(), std::size_t channels,
                              std::optional<std::size_t> axis) {
  Quantization out{{}, {}, axis};
  const float scale = any_scale();
  const bool is_uneven = *rc::gen::arbitrary<bool>();
  for (std::size_t c = 0; c < channels; ++c) {
    out.scale.push_back(is_uneven ? any_scale() : scale * (1 + static_cast<float>(c) / 16));
    out.zero_point.push_back(zero_point());
  }
  return out;
}

// All values, few of them next to one another, or the two ends.
template <class T>
T any_raw(Random& random, int kind, std::int32_t zero_point) {
  constexpr int lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
  const int any = std::uniform_int_distribution<int>(lowest, highest)(random);
  if (kind == 0) return static_cast<T>(any);
  if (kind == 1) return static_cast<T>(any % 2 == 0 ? lowest : highest);
  const int near = zero_point + static_cast<int>(random() % 41) - (kind == 2 ? 0 : 20);
  return static_cast<T>(std::clamp(near, lowest, highest));
}

template <class T>
void add_tensor(const StoredTensor& own, std::size_t images, Random& random, TwoForms& out) {
  std::vector<std::size_t> shape = own.shape;
  if (own.has_batch) shape[0] = images;
  const std::size_t extent = shape[own.channel_axis];
  const bool by_channel = extent > 1 && *rc::gen::arbitrary<bool>();
  const Quantization q =
      any_quantization(any_zero_point<T>, by_channel ? extent : 1,
                       by_channel ? std::optional(own.channel_axis) : std::nullopt);
  std::size_t inner = 1, count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    count *= shape[i];
    if (i > own.channel_axis) inner *= shape[i];
  }
  const int kind = *rc::gen::inRange(0, 4);
  std::vector<T> raw;
  std::vector<float> reals;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t c = by_channel ? i / inner % extent : 0;
    raw.push_back(any_raw<T>(random, kind, q.zero_point[c]));
    const int steps = int{raw.back()} - q.zero_point[c];
    reals.push_back(static_cast<float>(steps) * q.scale[c]);
  }
  out.integers.push_back(tensor_of<T>(shape, raw));
  RC_ASSERT(bool(out.integers.back().set_quantization(q)));
  out.floats.push_back(tensor_of<float>(shape, reals));
  for (Tensor* tensor : {&out.integers.back(), &out.floats.back()})
    tensor->set_name(own.name);
  out.reals.insert(out.reals.end(), reals.begin(), reals.end());
}

TwoForms any_values(const HeadLayout& layout, std::size_t images, Random& random) {
  TwoForms out;
  for (const StoredTensor& own : layout.tensors) {
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        add_tensor<std::int8_t>(own, images, random, out);
        break;
      case 1:
        add_tensor<std::uint8_t>(own, images, random, out);
        break;
      case 2:
        add_tensor<std::int16_t>(own, images, random, out);
        break;
      default:
        add_tensor<std::uint16_t>(own, images, random, out);
    }
  }
  return out;
}

// Also such as a value of the outputs is, before or behind its activation, and the floats beside.
float any_threshold(const HeadLayout& layout, const TwoForms& values, Random& random) {
  const float at_random = std::uniform_real_distribution<float>(0, 1)(random);
  if (*rc::gen::inRange(0, 4) == 0) return *rc::gen::element(0.0F, at_random, 1.0F);
  float out = values.reals[random() % values.reals.size()];
  if (layout.activation == Activation::sigmoid) out = 1 / (1 + std::exp(-out));
  out = *rc::gen::element(out, std::nextafter(out, 0.0F), std::nextafter(out, 1.0F));
  return out >= 0 && out <= 1 ? out : at_random;
}

DecodeOptions any_options(const HeadLayout& layout, const TwoForms& values, Random& random) {
  const DecodeOptions out{
      .score_threshold = any_threshold(layout, values, random),
      .iou_threshold = *rc::gen::element(0.0F, 0.45F, 1.0F),
      .nms = *rc::gen::element(Nms::none, Nms::none, Nms::class_aware, Nms::class_agnostic),
      .pre_nms_top_k = *rc::gen::element<std::size_t>(0, 20),
      .max_detections = *rc::gen::element<std::size_t>(0, 0, 7),
      .multi_label = *rc::gen::arbitrary<bool>(),
      .top_classes = 0};
  return out;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

void assert_same(const Decoded& integers, const Decoded& floats) {
  RC_ASSERT(integers.detections == floats.detections);
  RC_ASSERT(same_bits(integers.detections, floats.detections));
  RC_ASSERT(same_bits(integers.rotated, floats.rotated));
  RC_ASSERT(same_bits(integers.masks.coefficients, floats.masks.coefficients));
  RC_ASSERT(integers.classes == floats.classes);
  RC_ASSERT(integers.keypoints.size() == floats.keypoints.size());
  for (std::size_t i = 0; i < floats.keypoints.size(); ++i) {
    const Keypoint &a = integers.keypoints[i], &b = floats.keypoints[i];
    RC_ASSERT(a == b || std::isnan(b.at.x) || std::isnan(b.at.y));
  }
}

TEST(QuantizedDecode, gives_the_bits_that_dequantizing_first_gives) {
  const auto layouts = head_layouts();
  std::size_t found = 0;
  check_property(1500, [&] {
    const HeadLayout& layout = layouts[*rc::gen::inRange<std::size_t>(0, layouts.size())];
    RC_LOG() << layout.head << " " << layout.layout;
    Random random(static_cast<unsigned>(*rc::gen::inRange(0, 1 << 20)));
    const auto images = *rc::gen::inRange<std::size_t>(1, 3);
    const TwoForms values = any_values(layout, images, random);
    const DecodeOptions options = any_options(layout, values, random);
    const auto decoder = Decoder::create(layout.description, options);
    RC_ASSERT(bool(decoder));
    Decoded integers, floats;
    RC_ASSERT(bool(decoder->decode_into(values.integers, integers, images - 1)));
    RC_ASSERT(bool(decoder->decode_into(values.floats, floats, images - 1)));
    assert_same(integers, floats);
    found += !floats.detections.empty() || !floats.classes.empty() ? 1 : 0;
  });
  EXPECT_GE(found, 500U) << "too few cases in which anything passes";
}

// The threshold in the stored domain is the first value that passes, wherever it lies.
TEST(QuantizedDecode, compares_with_the_least_stored_value_that_passes) {
  check_property(20000, [] {
    const DType dtype = *rc::gen::element(DType::i8, DType::u8, DType::i16, DType::u16);
    const auto [lowest, highest] = decode::stored_range(dtype);
    const decode::Dequantization affine{any_scale(), *rc::gen::inRange(lowest, highest + 1)};
    const auto real = [&](std::int32_t raw) {
      return decode::dequantize(static_cast<float>(raw), affine);
    };
    const float on_quantum = real(*rc::gen::inRange(lowest, highest + 1));
    const float threshold =
        *rc::gen::element(on_quantum, std::nextafter(on_quantum, 1e38F),
                          std::nextafter(on_quantum, -1e38F), 0.0F, 0.25F, -1e38F, 1e38F);
    const auto minimum = decode::quantized_threshold(threshold, affine, dtype);
    if (!minimum) {
      RC_ASSERT(real(highest) < threshold);
      return;
    }
    RC_ASSERT(real(*minimum) >= threshold);
    RC_ASSERT(*minimum == lowest || real(*minimum - 1) < threshold);
  });
}

}  // namespace
}  // namespace halyard::test

#else
#include <gtest/gtest.h>

TEST(QuantizedDecode, gives_the_bits_that_dequantizing_first_gives) {
  GTEST_SKIP() << "built without RapidCheck (librapidcheck-dev)";
}

#endif
