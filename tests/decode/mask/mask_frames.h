// SPDX-License-Identifier: Apache-2.0
// Random prototypes and coefficients of every type and layout, with the real values beside them.
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "decode/reference/mask_naive.h"
#include "decode/tensors.h"
#include "halyard/mask.h"

namespace halyard::test {

struct MaskFrame {
  MaskPrototypes prototypes;
  std::vector<Detection> detections;
  naive::Frame naive;
  std::vector<double> coefficients;  ///< N x K
};

struct FrameShape {
  int width = 20, height = 16, channels = 32;
  Size input{80, 64};
  std::size_t masks = 6;
  PrototypeOrder order = PrototypeOrder::height_width_channels;
  std::size_t batches = 0;  ///< 0: no batch axis
  bool per_channel = false;
};

template <class T>
T stored_of(double value) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(value);
  } else if constexpr (std::is_same_v<T, Half>) {
    return to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return {
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16)};
  } else {
    using Limits = std::numeric_limits<T>;
    const double middle = (double(Limits::min()) + Limits::max()) / 2;
    const double step = (double(Limits::max()) - Limits::min()) / 6;
    return static_cast<T>(std::clamp(std::round(middle + value * step), double(Limits::min()),
                                     double(Limits::max())));
  }
}

template <class T>
double real_of(T value, double scale, int zero_point) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<double>(to_float(value));
  } else if constexpr (std::is_same_v<T, float>) {
    return static_cast<double>(value);
  } else {
    return (static_cast<double>(value) - zero_point) * scale;
  }
}

constexpr PrototypeOrder both_orders[] = {PrototypeOrder::height_width_channels,
                                          PrototypeOrder::channels_height_width};

template <class T>
Quantization quantization_of(std::size_t channels, bool per_channel, std::size_t axis) {
  const int zero = std::is_signed_v<T> ? -3 : sizeof(T) == 1 ? 120 : 32000;
  Quantization out = Quantization::per_tensor(sizeof(T) == 1 ? 0.02F : 0.00009F, zero);
  if (!per_channel) return out;
  out.axis = axis;
  out.scale.resize(channels);
  out.zero_point.resize(channels);
  for (std::size_t k = 0; k < channels; ++k) {
    out.scale[k] = (sizeof(T) == 1 ? 0.01F : 0.00004F) * static_cast<float>(1 + k % 5);
    out.zero_point[k] = zero + static_cast<int>(k % 7);
  }
  return out;
}

inline std::vector<Detection> random_detections(std::mt19937& random, std::size_t count,
                                                Size input) {
  std::uniform_real_distribution<float> x(-0.1F * static_cast<float>(input.width),
                                          1.1F * static_cast<float>(input.width));
  std::uniform_real_distribution<float> y(-0.1F * static_cast<float>(input.height),
                                          1.1F * static_cast<float>(input.height));
  std::vector<Detection> out(count);
  for (Detection& d : out)
    d.box = {x(random), y(random), x(random), y(random)};  // corners in any order
  return out;
}

/// P and C: element types of prototypes and coefficients.
template <class P, class C>
MaskFrame random_frame(unsigned seed, const FrameShape& shape) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  MaskFrame out;
  const auto w = static_cast<std::size_t>(shape.width), h = static_cast<std::size_t>(shape.height);
  const auto channels = static_cast<std::size_t>(shape.channels);
  const bool is_packed = shape.order == PrototypeOrder::height_width_channels;
  std::vector<std::size_t> extents =
      is_packed ? std::vector{h, w, channels} : std::vector{channels, h, w};
  if (shape.batches > 0) extents.insert(extents.begin(), shape.batches);
  const std::size_t axis = extents.size() - (is_packed ? 1 : 3);
  const Quantization q = quantization_of<P>(channels, shape.per_channel, axis);
  const std::size_t one = w * h * channels, batch = shape.batches > 0 ? shape.batches - 1 : 0;
  std::vector<P> stored(one * std::max<std::size_t>(1, shape.batches));
  for (P& value : stored)
    value = stored_of<P>(normal(random));
  out.naive.protos = {shape.width, shape.height, shape.channels, std::vector<double>(one)};
  for (std::size_t k = 0; k < channels; ++k) {
    for (std::size_t i = 0; i < w * h; ++i) {
      const P value = stored[batch * one + (is_packed ? i * channels + k : k * w * h + i)];
      out.naive.protos.values[k * w * h + i] =
          real_of(value, static_cast<double>(q.scale_at(k)), q.zero_point_at(k));
    }
  }
  out.prototypes.prototypes = tensor_of<P>(extents, stored);
  if (std::is_integral_v<P>) {
    EXPECT_TRUE(out.prototypes.prototypes.set_quantization(q));
  }
  out.prototypes.batch = batch;
  out.prototypes.order = shape.order;
  out.prototypes.input = shape.input;
  out.prototypes.clear(channels);
  const Quantization cq = quantization_of<C>(channels, false, 0);
  for (std::size_t i = 0; i < shape.masks; ++i) {
    std::vector<C> row(channels);
    for (C& value : row) {
      value = stored_of<C>(normal(random));
      out.coefficients.push_back(
          real_of(value, static_cast<double>(cq.scale_at(0)), cq.zero_point_at(0)));
    }
    const auto added = out.prototypes.append(
        {reinterpret_cast<const std::byte*>(row.data()), sizeof(C), *dtype_of<C>, &cq});
    EXPECT_TRUE(added) << added.error().message();
  }
  out.detections = random_detections(random, shape.masks, shape.input);
  out.naive.input = shape.input;
  return out;
}

/// The whole frame's bytes of one mask.
inline std::vector<std::uint8_t> pasted(const MaskSet& set, std::size_t i) {
  const Size frame = set.frame();
  std::vector<std::uint8_t> out(static_cast<std::size_t>(frame.width * frame.height), 0);
  const MaskView mask = set[i];
  for (int y = 0; y < mask.region.height; ++y) {
    for (int x = 0; x < mask.region.width; ++x) {
      out[static_cast<std::size_t>((mask.region.y + y) * frame.width + mask.region.x + x)] =
          mask.row(y)[x];
    }
  }
  return out;
}

inline std::vector<std::vector<std::uint8_t>> all_pasted(const MaskSet& set) {
  std::vector<std::vector<std::uint8_t>> out;
  for (std::size_t i = 0; i < set.size(); ++i)
    out.push_back(pasted(set, i));
  return out;
}

}  // namespace halyard::test
