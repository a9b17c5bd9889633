// SPDX-License-Identifier: Apache-2.0
// Random numbers for a layout, stored as any element type, and what they then mean.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "decode/head/threshold.h"
#include "decode/head_layouts.h"
#include "decode/tensors.h"

namespace halyard::test {

inline constexpr std::array layout_types{DType::f32, DType::f16, DType::bf16, DType::i8,
                                         DType::u8,  DType::i16, DType::u16};

/// A tensor and the real values that its elements mean, element by element.
struct Stored {
  Tensor tensor;
  std::vector<float> real;
};

inline Stored stored_floats(const std::vector<std::size_t>& shape, const std::vector<float>& values,
                            DType type) {
  if (type == DType::f32) return {tensor_of<float>(shape, values), values};
  Stored out;
  if (type == DType::f16) {
    std::vector<Half> bits;
    for (const float v : values) {
      bits.push_back(to_half(v));
      out.real.push_back(to_float(bits.back()));
    }
    out.tensor = tensor_of<Half>(shape, bits);
    return out;
  }
  std::vector<BFloat16> bits;
  for (const float v : values) {
    const std::uint32_t high = std::bit_cast<std::uint32_t>(v) & 0xFFFF0000U;
    bits.push_back({static_cast<std::uint16_t>(high >> 16)});
    out.real.push_back(std::bit_cast<float>(high));
  }
  out.tensor = tensor_of<BFloat16>(shape, bits);
  return out;
}

/// One scale, or one for each index of `axis`, such that all values fit.
template <class T>
Stored stored_integers(const std::vector<std::size_t>& shape, const std::vector<float>& values,
                       std::optional<std::size_t> axis) {
  constexpr float lowest = std::numeric_limits<T>::lowest(),
                  highest = std::numeric_limits<T>::max();
  if (axis && shape[*axis] == 1) axis.reset();
  const std::size_t channels = axis ? shape[*axis] : 1;
  std::size_t inner = 1;
  for (std::size_t i = axis ? *axis + 1 : shape.size(); i < shape.size(); ++i)
    inner *= shape[i];
  const auto channel_of = [&](std::size_t i) { return axis ? i / inner % channels : 0; };
  std::vector<float> low(channels, 0), high(channels, 1e-3F);
  for (std::size_t i = 0; i < values.size(); ++i) {
    low[channel_of(i)] = std::min(low[channel_of(i)], values[i]);
    high[channel_of(i)] = std::max(high[channel_of(i)], values[i]);
  }
  Quantization q{{}, {}, axis};
  for (std::size_t c = 0; c < channels; ++c) {
    q.scale.push_back((high[c] - low[c]) / (highest - lowest));
    q.zero_point.push_back(static_cast<std::int32_t>(
        std::clamp(std::round(lowest - low[c] / q.scale[c]), lowest, highest)));
  }
  Stored out;
  std::vector<T> raw;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = channel_of(i);
    const auto zero = static_cast<float>(q.zero_point[c]);
    raw.push_back(
        static_cast<T>(std::clamp(std::round(values[i] / q.scale[c]) + zero, lowest, highest)));
    out.real.push_back((static_cast<float>(raw.back()) - zero) * q.scale[c]);
  }
  out.tensor = tensor_of<T>(shape, raw);
  EXPECT_TRUE(out.tensor.set_quantization(std::move(q)));
  return out;
}

inline Stored store(const std::vector<std::size_t>& shape, const std::vector<float>& values,
                    DType type, std::optional<std::size_t> axis) {
  switch (type) {
    case DType::i8:
      return stored_integers<std::int8_t>(shape, values, axis);
    case DType::u8:
      return stored_integers<std::uint8_t>(shape, values, axis);
    case DType::i16:
      return stored_integers<std::int16_t>(shape, values, axis);
    case DType::u16:
      return stored_integers<std::uint16_t>(shape, values, axis);
    default:
      return stored_floats(shape, values, type);
  }
}

/// Values in the range that such a number has.
class RandomValues {
 public:
  RandomValues(const HeadLayout& layout, unsigned seed) : layout_(layout), random_(seed) {}

  float next(Part part, std::size_t feature) {
    const bool coded = layout_.coding == Coded::bins || layout_.coding == Coded::distances;
    switch (part) {
      case Part::boxes:
        return coordinate(feature);
      case Part::sizes:
        return between(0.05F, 0.4F);
      case Part::objectness:
        return layout_.coding == Coded::anchor ? normal(2) : between(0.6F, 1);
      case Part::scores:
        if (layout_.activation != Activation::none) return normal(2);
        return between(0, 1) < 0.25F ? between(0.3F, 0.95F) : between(0, 0.15F);
      case Part::classes:
        return static_cast<float>(random_() % layout_classes);
      case Part::coefficients:
        return between(-1, 1);
      case Part::keypoints:
        return coded ? between(-1, 3) : between(0, 1);
      case Part::angles:
        return coded ? normal(1) : between(0, 1.5F);
      case Part::priors:
        return feature < 2 ? between(0.1F, 0.9F) : between(0.1F, 0.5F);
    }
    return 0;
  }

 private:
  float coordinate(std::size_t feature) {
    switch (layout_.coding) {
      case Coded::centre:
        return feature < 2 ? between(0.05F, 0.95F) : between(0.05F, 0.4F);
      case Coded::corners:
        return feature < 2 ? between(0, 0.5F) : between(0.5F, 1);
      case Coded::distances:
        return between(0, 3);
      default:
        return normal(1.5F);
    }
  }
  float between(float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random_);
  }
  float normal(float deviation) { return std::normal_distribution<float>(0, deviation)(random_); }

  const HeadLayout& layout_;
  std::mt19937 random_;
};

/// All tensors of a layout for `images` images.
class HeadValues {
 public:
  HeadValues(const HeadLayout& layout, std::span<const DType> types, bool by_channel,
             std::size_t images)
      : layout_(layout) {
    RandomValues random(layout, 11);
    for (std::size_t t = 0; t < layout.tensors.size(); ++t) {
      const StoredTensor& own = layout.tensors[t];
      std::vector<std::size_t> shape = own.shape;
      if (own.has_batch) shape[0] = images;
      std::vector<float> values;
      for (std::size_t p = 0; p < (own.has_batch ? images : 1); ++p)
        add_image(own, random, values);
      const DType type = types[t % types.size()];
      const bool is_integer = stored_integer(type);
      stored_.push_back(
          store(shape, values, type,
                is_integer && by_channel ? std::optional(own.channel_axis) : std::nullopt));
      stored_.back().tensor.set_name(own.name);
    }
  }
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> out;
    for (const Stored& s : stored_)
      out.push_back(s.tensor);
    return out;
  }
  /// The numbers of one kind of a box of a level, as they are stored; empty where there are none.
  std::vector<float> of(Part part, std::size_t level, std::size_t box, std::size_t image) const {
    for (std::size_t t = 0; t < layout_.tensors.size(); ++t) {
      const StoredTensor& own = layout_.tensors[t];
      std::size_t feature = 0;
      for (const Block& block : own.blocks) {
        const auto at = std::find(own.levels.begin(), own.levels.end(), level);
        if (block.part != part || at == own.levels.end()) {
          feature += block.count;
          continue;
        }
        for (auto before = own.levels.begin(); before != at; ++before)
          box += layout_.levels[*before].count();
        std::vector<float> out;
        const std::size_t skipped = own.has_batch ? image * elements_of(own) : 0;
        for (std::size_t f = 0; f < block.count; ++f)
          out.push_back(stored_[t].real[skipped + place(own, box, feature + f)]);
        return out;
      }
    }
    return {};
  }

 private:
  static bool stored_integer(DType type) {
    return type != DType::f32 && type != DType::f16 && type != DType::bf16;
  }
  std::size_t boxes_of(const StoredTensor& own) const {
    std::size_t out = 0;
    for (const std::size_t level : own.levels)
      out += layout_.levels[level].count();
    return out;
  }
  static std::size_t elements_of(const StoredTensor& own) {
    std::size_t out = 1;
    for (const std::size_t extent : own.shape)
      out *= extent;
    return out;
  }
  std::size_t place(const StoredTensor& own, std::size_t box, std::size_t feature) const {
    const std::size_t features = features_of(own.blocks);
    const std::size_t anchors = layout_.levels[own.levels[0]].anchors;
    const std::size_t cells = boxes_of(own) / anchors;
    const std::size_t anchor = box % anchors, cell = box / anchors;
    if (own.order == Order::features_first) return (anchor * features + feature) * cells + cell;
    if (own.order == Order::anchors_first) return (anchor * cells + cell) * features + feature;
    return box * features + feature;
  }
  void add_image(const StoredTensor& own, RandomValues& random, std::vector<float>& values) {
    const std::size_t start = values.size();
    values.resize(start + elements_of(own));
    if (own.blocks.empty()) {
      for (std::size_t i = start; i < values.size(); ++i)
        values[i] = random.next(Part::coefficients, 0);
      return;
    }
    for (std::size_t box = 0; box < boxes_of(own); ++box) {
      std::size_t feature = 0;
      for (const Block& block : own.blocks) {
        for (std::size_t f = 0; f < block.count; ++f)
          values[start + place(own, box, feature++)] = random.next(block.part, f);
      }
    }
  }

  const HeadLayout& layout_;
  std::vector<Stored> stored_;
};

}  // namespace halyard::test
