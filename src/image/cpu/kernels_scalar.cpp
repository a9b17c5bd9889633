// SPDX-License-Identifier: Apache-2.0
// Scalar siblings of the row kernels: for processors without a vector target, and as the tests'
// judge. Same integer arithmetic, same bits.
#include <algorithm>
#include <cstring>

#include "image/cpu/kernels.h"

namespace halyard::image::scalar {
namespace {

int rounded_product(int a, int b) {
  return (a * b + (1 << 14)) >> 15;
}

std::uint8_t to_byte(int value, int fraction) {
  return static_cast<std::uint8_t>(std::clamp((value + (1 << (fraction - 1))) >> fraction, 0, 255));
}

// Y U V or R G B, 8.7.
std::array<int, 3> samples_at(const ColorJob& job, std::int32_t x) {
  if (job.feed == Feed::rows) return {job.rows[0][x], job.rows[1][x], job.rows[2][x]};
  const std::int32_t pair = x / 2 * 2;
  int luma = 0;
  int first = 0;
  int second = 0;
  if (job.feed == Feed::luma_and_pairs) {
    luma = job.bytes[x];
    first = job.pairs[pair];
    second = job.pairs[pair + 1];
  } else {
    const std::int32_t luma_byte = job.feed == Feed::luma_low ? 0 : 1;
    luma = job.bytes[2 * x + luma_byte];
    first = job.bytes[2 * pair + 1 - luma_byte];
    second = job.bytes[2 * pair + 3 - luma_byte];
  }
  if (job.v_first) std::swap(first, second);
  return {luma * 128, first * 128, second * 128};
}

int luma_of(const FixedMatrix& m, int y) {
  return rounded_product(std::max<int>(y, m.y_offset) - m.y_offset, m.y_scale);
}

void color_at(const ColorJob& job, std::int32_t x) {
  const FixedMatrix& m = job.matrix;
  const std::array<int, 3> s = samples_at(job, x);
  const int l = luma_of(m, s[0]);
  const int u = s[1] - 128 * 128;
  const int v = s[2] - 128 * 128;
  switch (job.color) {
    case ColorMode::yuv_to_rgb:
      job.codes[0][x] = to_byte(l + rounded_product(v, m.rv), 5);
      job.codes[1][x] = to_byte(l - (rounded_product(u, m.gu) + rounded_product(v, m.gv)), 5);
      job.codes[2][x] = to_byte(l + rounded_product(u, m.bu), 5);
      return;
    case ColorMode::yuv_to_grey:
      job.codes[0][x] = to_byte(l, 5);
      return;
    case ColorMode::rgb_to_grey:
      job.codes[0][x] = to_byte(
          rounded_product(s[0], 2449) + rounded_product(s[1], 4809) + rounded_product(s[2], 934),
          5);
      return;
    case ColorMode::direct:
      for (std::size_t k = 0; k < 3; ++k)
        job.codes[k][x] = to_byte(s[k], 7);
  }
}

void store_at(const StoreJob& job, std::size_t x) {
  const bool apart = job.planar || job.channels == 1;
  const std::size_t sample = job.as_float ? 4 : 1;
  const auto channels = static_cast<std::size_t>(job.channels);
  for (std::size_t k = 0; k < channels; ++k) {
    const std::size_t place = job.blue_first && k != 3 ? 2 - k : k;
    std::byte* to = apart ? job.out[k] + x * sample : job.out[0] + (x * channels + place) * sample;
    const std::uint8_t code = job.codes[k][x];
    if (job.as_float) {
      const auto value = static_cast<float>(code);
      const float result = value * job.scale_high[k] + (value * job.scale_low[k] + job.bias[k]);
      std::memcpy(to, &result, sizeof result);
    } else {
      *to = static_cast<std::byte>(code ^ (k == 3 ? 0 : job.flip));
    }
  }
}

int blended(const BlendJob& job, std::size_t at) {
  const int first = job.rows[0][at] * 128;
  if (job.taps == 1) return first;
  if (job.taps == 2) {
    return first + rounded_product(job.rows[1][at] * 128 - first, job.weights[1]);
  }
  int sum = 0;
  for (std::int32_t t = 0; t < job.taps; ++t)
    sum += rounded_product(job.rows[t][at] * 128, job.weights[t]);
  return sum;
}

}  // namespace

void blend_rows(const BlendJob& job) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(job.step); ++k) {
    if (job.out[k] == nullptr) continue;
    for (std::int32_t i = 0; i < job.samples[k]; ++i)
      job.out[k][i] =
          static_cast<std::int16_t>(blended(job, static_cast<std::size_t>(i * job.step) + k));
  }
}

void resample_row(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  const auto pairs = static_cast<std::size_t>(table.pairs);
  const std::size_t weight_stride = table.weights.size() / pairs;
  for (std::size_t x = 0; x < static_cast<std::size_t>(table.outputs); ++x) {
    int sum = 1 << 13;
    for (std::size_t p = 0; p < pairs; ++p) {
      const std::int16_t* sample = in + table.first[x] + 2 * p;
      const std::int16_t* weight = &table.weights[p * weight_stride + 2 * x];
      sum += sample[0] * weight[0] + sample[1] * weight[1];
    }
    out[x] = static_cast<std::int16_t>(sum >> 14);
  }
}

void resample_bytes(const std::uint8_t* in, const AcrossTable& table, std::int16_t* out) {
  for (std::size_t x = 0; x < static_cast<std::size_t>(table.outputs); ++x) {
    const std::uint8_t* sample = in + table.first[x];
    const std::int16_t* weight = &table.weights[2 * x];
    // The second sample may lie behind the row where it has no weight.
    const int second = weight[1] == 0 ? 0 : sample[1] * weight[1];
    out[x] = static_cast<std::int16_t>((sample[0] * weight[0] + second + (1 << 6)) >> 7);
  }
}

void color_row(const ColorJob& job) {
  for (std::int32_t x = 0; x < job.width; ++x) {
    color_at(job, x);
    if (job.rows[3] != nullptr) job.codes[3][x] = to_byte(job.rows[3][x], 7);
  }
}

void store_row(const StoreJob& job) {
  for (std::size_t x = 0; x < static_cast<std::size_t>(job.width); ++x)
    store_at(job, x);
}

void transpose_codes(const std::uint8_t* in, std::size_t in_stride, std::uint8_t* out,
                     std::size_t out_stride) {
  for (std::size_t y = 0; y < turn_side; ++y) {
    for (std::size_t x = 0; x < turn_side; ++x)
      out[x * out_stride + y] = in[y * in_stride + x];
  }
}

}  // namespace halyard::image::scalar
