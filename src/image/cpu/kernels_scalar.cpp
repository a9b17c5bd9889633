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

// Y U V, R G B or grey, and alpha; 8.7.
std::array<int, 4> samples_at(const FinishJob& job, std::int32_t x) {
  if (job.feed == Feed::rows) {
    std::array<int, 4> out{};
    for (std::size_t k = 0; k < 4; ++k)
      out[k] = job.rows[k] == nullptr ? 255 * 128 : job.rows[k][x];
    return out;
  }
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
  return {luma * 128, first * 128, second * 128, 255 * 128};
}

int luma_of(const FixedMatrix& m, int y) {
  return rounded_product(std::max<int>(y, m.y_offset) - m.y_offset, m.y_scale);
}

std::array<std::uint8_t, 4> colors_of(const FinishJob& job, const std::array<int, 4>& s) {
  const FixedMatrix& m = job.matrix;
  const std::uint8_t alpha = to_byte(s[3], 7);
  const int l = luma_of(m, s[0]);
  const int u = s[1] - 128 * 128;
  const int v = s[2] - 128 * 128;
  switch (job.color) {
    case ColorMode::yuv_to_rgb:
      return {to_byte(l + rounded_product(v, m.rv), 5),
              to_byte(l - (rounded_product(u, m.gu) + rounded_product(v, m.gv)), 5),
              to_byte(l + rounded_product(u, m.bu), 5), alpha};
    case ColorMode::yuv_to_grey:
      return {to_byte(l, 5), 0, 0, alpha};
    case ColorMode::rgb_to_grey:
      return {to_byte(rounded_product(s[0], 2449) + rounded_product(s[1], 4809) +
                          rounded_product(s[2], 934),
                      5),
              0, 0, alpha};
    case ColorMode::direct:
      break;
  }
  return {to_byte(s[0], 7), to_byte(s[1], 7), to_byte(s[2], 7), alpha};
}

void store(const FinishJob& job, std::int32_t x, const std::array<std::uint8_t, 4>& codes) {
  const bool apart = job.planar || job.channels == 1;
  const std::size_t sample = job.as_float ? 4 : 1;
  for (std::size_t k = 0; k < static_cast<std::size_t>(job.channels); ++k) {
    const std::size_t place = job.blue_first && k != 1 && k != 3 ? 2 - k : k;
    const auto at = static_cast<std::size_t>(x);
    std::byte* to =
        apart ? job.out[k] + at * sample
              : job.out[0] + (at * static_cast<std::size_t>(job.channels) + place) * sample;
    if (job.as_float) {
      const auto value = static_cast<float>(codes[k]);
      const float result = value * job.scale_high[k] + (value * job.scale_low[k] + job.bias[k]);
      std::memcpy(to, &result, sizeof result);
    } else {
      *to = static_cast<std::byte>(codes[k] ^ (k == 3 ? 0 : job.flip));
    }
  }
}

}  // namespace

void blend_rows(const BlendJob& job) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(job.step); ++k) {
    if (job.out[k] == nullptr) continue;
    for (std::int32_t i = 0; i < job.samples[k]; ++i) {
      const std::size_t at = static_cast<std::size_t>(i * job.step) + k;
      const int a = job.a[at];
      const int b = job.weight == 0 ? a : job.b[at];
      job.out[k][i] =
          static_cast<std::int16_t>(a * 128 + rounded_product((b - a) * 128, job.weight));
    }
  }
}

void resample_row(const std::int16_t* in, const AcrossTable& table, std::int16_t* out) {
  for (std::size_t x = 0; x < static_cast<std::size_t>(table.outputs); ++x) {
    const std::int16_t* sample = in + table.first[x];
    const int sum = sample[0] * table.weights[2 * x] + sample[1] * table.weights[2 * x + 1];
    out[x] = static_cast<std::int16_t>((sum + (1 << 13)) >> 14);
  }
}

void finish_row(const FinishJob& job) {
  for (std::int32_t x = 0; x < job.width; ++x)
    store(job, x, colors_of(job, samples_at(job, x)));
}

}  // namespace halyard::image::scalar
