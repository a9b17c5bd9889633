// SPDX-License-Identifier: Apache-2.0
// Row kernels of the sampler compared with plain arithmetic in double precision, on every
// instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "each_target.h"
#include "image/cpu/cpu_program.h"
#include "image/cpu/kernels/read.h"
#include "image/cpu/resample/horizontal.h"
#include "image/cpu/resample/vertical.h"
#include "image/images.h"
#include "support/product.h"

namespace halyard::image {
namespace {

using namespace halyard::test;

constexpr std::int16_t guard_tap = -12345;

std::vector<int> group_counts() {
  std::vector<int> all;
  for (int width = 1; width <= 65; ++width)
    all.push_back(width);
  for (const int prime : {67, 97, 131, 257})
    all.push_back(prime);
  return all;
}

std::vector<std::uint8_t> random_bytes(Random& random, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (auto& b : bytes)
    b = static_cast<std::uint8_t>(pick(random, 0, 9) == 0 ? pick(random, 0, 1) * 255 : random());
  return bytes;
}

/// Samples with this fraction, as sources give them; the memory behind them holds noise.
std::vector<std::int16_t> random_row(Random& random, int samples, int fraction) {
  std::vector<std::int16_t> row(padded_row(samples));
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool inside = i < static_cast<std::size_t>(samples);
    row[i] = static_cast<std::int16_t>(inside ? pick(random, 0, 255 << fraction) : random());
  }
  return row;
}

/// One output with `count` weights that sum to one.
AxisTaps one_output(Random& random, int count, bool negative) {
  AxisTaps taps{.count = count, .first = {0}};
  std::vector<double> weights(static_cast<std::size_t>(count));
  double sum = 0;
  for (double& w : weights)
    sum += w = pick(random, 1, 1000);
  for (double& w : weights)
    w /= sum;
  if (negative && count > 2) {
    weights[1] += 0.2 + weights[0];
    weights[0] = -0.2;
  }
  taps.weight.assign(weights.begin(), weights.end());
  return taps;
}

// ---- vertical -------------------------------------------------------------------------------

struct Sources {
  std::vector<std::vector<std::uint8_t>> bytes;  // exactly as long as the row
  std::vector<const std::uint8_t*> rows;
};

Sources random_sources(Random& random, int count, std::size_t bytes) {
  Sources all;
  for (int t = 0; t < count; ++t)
    all.bytes.push_back(random_bytes(random, bytes));
  for (const auto& row : all.bytes)
    all.rows.push_back(row.data());
  return all;
}

/// Row and sample of byte `i`.
std::pair<std::size_t, std::size_t> place_of(Split split, std::size_t i) {
  const std::size_t bytes = group_bytes(split);
  if (split != Split::luma_first && split != Split::luma_last) return {i % bytes, i / bytes};
  if ((i % 2 == 0) == (split == Split::luma_first)) return {0, i / 2};
  return {1 + i % 4 / 2, i / 4};
}

void expect_blend(Random& random, Split split, int groups, int taps, bool negative) {
  const std::size_t bytes = group_bytes(split) * static_cast<std::size_t>(groups);
  const Sources from = random_sources(random, taps, bytes);
  const AxisTaps exact = one_output(random, taps, negative);
  const VerticalTable table(exact, {true, 16, !negative});
  const VerticalTable::Row row = table.row(0);
  BlendBytes job{.weights = table.weights(row),
                 .split = split,
                 .groups = groups,
                 .fraction = negative ? 6 : 7};
  job.rows = from.rows.data() + row.first;
  std::vector<std::vector<std::int16_t>> first;
  for_each_target([&] {
    std::vector<std::vector<std::int16_t>> out(
        4, std::vector<std::int16_t>(2 * padded_row(groups), guard_tap));
    for (std::size_t k = 0; k < 4; ++k)
      job.out[k] = out[k].data();
    blend_bytes(job);
    for (std::size_t i = 0; i < bytes; ++i) {
      double want = 0;
      for (int t = 0; t < taps; ++t)
        want += static_cast<double>(exact.weight[static_cast<std::size_t>(t)]) *
                from.bytes[static_cast<std::size_t>(t)][i];
      const auto [k, x] = place_of(split, i);
      ASSERT_NEAR(out[k][x] / std::ldexp(1.0, job.fraction), want, taps < 17 ? 0.05 : 0.02)
          << "byte " << i << " of " << groups << " groups, " << taps << " taps";
    }
    if (first.empty()) first = out;
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto [k, x] = place_of(split, i);
      ASSERT_EQ(out[k][x], first[k][x]) << "another target gives other bits";
    }
  });
}

TEST(VerticalKernel, blends_bytes_of_every_split_at_every_width) {
  Random random(1);
  for (const Split split : {Split::whole, Split::pairs, Split::triples, Split::quads,
                            Split::luma_first, Split::luma_last}) {
    for (const int groups : group_counts()) {
      const int taps = pick(random, 1, 6);
      expect_blend(random, split, groups, taps, false);
      expect_blend(random, split, groups, std::max(taps, 3), true);
    }
  }
}

TEST(VerticalKernel, keeps_its_precision_with_hundreds_of_rows) {
  Random random(2);
  for (const int taps : {2, 7, 16, 17, 100, 501}) {
    expect_blend(random, Split::whole, 70, taps, false);
    expect_blend(random, Split::pairs, 33, taps, taps > 2);
  }
}

TEST(VerticalKernel, leaves_out_the_rows_that_nobody_asked_for) {
  const auto bytes = std::vector<std::uint8_t>(4 * 70, 9);
  const std::uint8_t* row = bytes.data();
  for (const Split split : {Split::pairs, Split::triples, Split::quads, Split::luma_first}) {
    std::vector<std::int16_t> out(2 * padded_row(70), guard_tap);
    BlendBytes job{.rows = &row, .split = split, .groups = 70};
    job.out[1] = out.data();
    for_each_target([&] { blend_bytes(job); });
    EXPECT_EQ(out[0], 9 * 128);
    EXPECT_EQ(out[69], 9 * 128);
  }
}

TEST(VerticalKernel, keeps_black_black_and_white_white) {
  Random random(3);
  for (int taps = 1; taps <= 16; ++taps) {
    const VerticalTable table(one_output(random, taps, false), {true, 16, true});
    for (const int code : {0, 255}) {
      const std::vector<std::uint8_t> bytes(64, static_cast<std::uint8_t>(code));
      const std::vector<const std::uint8_t*> rows(static_cast<std::size_t>(taps), bytes.data());
      std::vector<std::int16_t> out(padded_row(64));
      BlendBytes job{.weights = table.weights(table.row(0)), .rows = rows.data(), .groups = 64};
      job.out[0] = out.data();
      for_each_target([&] {
        blend_bytes(job);
        EXPECT_EQ(out[0], code * 128) << taps << " taps";
      });
    }
  }
}

TEST(VerticalKernel, blends_rows_of_samples_with_and_without_fine_weights) {
  Random random(4);
  for (const int taps : {2, 3, 4, 6, 16, 17, 200, 1500}) {
    for (const bool negative : {false, true}) {
      const int samples = pick(random, 1, 100);
      const AxisTaps exact = one_output(random, taps, negative);
      const VerticalTable table(exact, {});
      EXPECT_EQ(table.row(0).fine, taps > 16);
      std::vector<std::vector<std::int16_t>> rows;
      std::vector<const std::int16_t*> pointers;
      for (int t = 0; t < taps; ++t)
        rows.push_back(random_row(random, samples, 6));
      for (const auto& row : rows)
        pointers.push_back(row.data());
      std::vector<std::int16_t> first;
      for_each_target([&] {
        std::vector<std::int16_t> out(padded_row(samples));
        blend_samples({table.weights(table.row(0)), pointers.data() + table.row(0).first, samples,
                       out.data()});
        out.resize(static_cast<std::size_t>(samples));
        for (std::size_t x = 0; x < out.size(); ++x) {
          double want = 0;
          for (std::size_t t = 0; t < rows.size(); ++t)
            want += static_cast<double>(exact.weight[t]) * rows[t][x];
          ASSERT_NEAR(out[x], want, taps < 17 ? 4 : 2) << taps << " taps, in 1/64";
        }
        if (first.empty()) first = out;
        EXPECT_EQ(out, first) << "another target gives other bits";
      });
    }
  }
}

// ---- horizontal ----------------------------------------------------------------------------

struct HorizontalCase {
  int inputs;
  int outputs;
  Filter filter;
  bool antialias;
  bool mirrored;
  std::int32_t few = 16;
};

std::vector<double> exact_row(const AxisTaps& taps, const std::vector<double>& in) {
  std::vector<double> out;
  for (std::size_t x = 0; x < taps.first.size(); ++x) {
    double sum = 0;
    for (std::size_t t = 0; t < static_cast<std::size_t>(taps.count); ++t)
      sum += static_cast<double>(taps.weight[x * static_cast<std::size_t>(taps.count) + t]) *
             in[static_cast<std::size_t>(taps.first[x]) + t];
    out.push_back(sum);
  }
  return out;
}

/// What was run, to check that every mode was.
struct Seen {
  std::array<int, 6> modes{};  // of the tables of every instruction set
  int bytes = 0;
  int picks = 0;
};

template <class Resample>
void expect_row(const std::vector<double>& want, double unit, const Resample& resample) {
  std::vector<std::int16_t> first;
  for_each_target([&] {
    std::vector<std::int16_t> out(padded_row(static_cast<int>(want.size())), guard_tap);
    resample(out.data());
    out.resize(want.size());
    for (std::size_t x = 0; x < want.size(); ++x)
      ASSERT_NEAR(out[x] * unit, want[x], 0.06) << "output " << x << " of " << want.size();
    if (first.empty()) first = out;
    ASSERT_EQ(out, first) << "another target gives other bits";
  });
}

void expect_horizontal(Random& random, const HorizontalCase& c, Seen& seen) {
  SCOPED_TRACE(::testing::Message() << c.inputs << " -> " << c.outputs << " filter "
                                    << static_cast<int>(c.filter) << (c.antialias ? " wide" : ""));
  const AxisRequest request{
      0, static_cast<double>(c.inputs), 0, c.inputs, c.outputs, c.mirrored, c.filter, c.antialias};
  AxisTaps taps;
  make_taps(request, taps);
  const HorizontalUse use{0, c.inputs, c.few};
  const HorizontalTable table = make_horizontal(request, use);
  if (table.mode == HorizontalTable::Mode::identity) {
    ++seen.modes[0];
    return;
  }
  const auto row = random_row(random, c.inputs, 6);
  std::vector<double> exact;
  for (int i = 0; i < c.inputs; ++i)
    exact.push_back(row[static_cast<std::size_t>(i)] / 64.0);
  expect_row(exact_row(taps, exact), 1 / 64.0, [&](std::int16_t* out) {
    const HorizontalTable here = make_horizontal(request, use);
    ++seen.modes[static_cast<std::size_t>(here.mode)];
    resample_row(row.data(), here, out);
  });
  if (!table.takes_bytes()) return;
  ++seen.bytes;
  const auto bytes = random_bytes(random, static_cast<std::size_t>(c.inputs));
  exact.assign(bytes.begin(), bytes.end());
  bool picked = false;  // by processors that do not permute
  for (const int fraction : {6, 7}) {
    std::vector<std::int16_t> samples(padded_row(c.inputs));
    std::transform(bytes.begin(), bytes.end(), samples.begin(),
                   [&](std::uint8_t byte) { return static_cast<std::int16_t>(byte << fraction); });
    expect_row(exact_row(taps, exact), 1.0 / (1 << fraction), [&](std::int16_t* out) {
      const HorizontalTable here = make_horizontal(request, use);
      picked = picked || !here.pick.empty();
      here.takes_bytes() ? resample_bytes(bytes.data(), here, fraction, out)
                         : resample_row(samples.data(), here, out);
    });
  }
  seen.picks += picked ? 1 : 0;
}

TEST(HorizontalKernel, resamples_rows_in_every_mode_at_every_width) {
  Random random(5);
  Seen seen;
  for (const auto& [outputs, scale] :
       test::product(group_counts(), {0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.2, 9.0, 40.0})) {
    const int inputs = std::max(1, static_cast<int>(std::lround(outputs * scale)));
    const auto filter = static_cast<Filter>(pick(random, 0, 4));
    const bool antialias = pick(random, 0, 1) != 0;
    const bool mirrored = pick(random, 0, 1) != 0;
    expect_horizontal(random, {inputs, outputs, filter, antialias, mirrored}, seen);
    expect_horizontal(random, {inputs, outputs, Filter::bilinear, antialias, mirrored}, seen);
  }
  for (std::size_t mode = 0; mode < static_cast<std::size_t>(HorizontalTable::Mode::permuted);
       ++mode)
    EXPECT_GT(seen.modes[mode], 0) << mode;
  EXPECT_GT(seen.bytes, seen.picks);
  EXPECT_GT(seen.picks, 0);
}

TEST(HorizontalKernel, keeps_its_precision_with_thousands_of_taps) {
  Random random(6);
  Seen seen;
  for (const Filter filter : {Filter::bilinear, Filter::lanczos3, Filter::box})
    expect_horizontal(random, {5000, 3, filter, true, false}, seen);
}

TEST(HorizontalKernel, takes_fine_weights_from_as_few_taps_as_told) {
  Random random(7);
  Seen seen;
  expect_horizontal(random, {50, 70, Filter::bicubic, false, false, 2}, seen);
  EXPECT_GT(seen.modes[static_cast<std::size_t>(HorizontalTable::Mode::many)], 0);
}

// ---- read ----------------------------------------------------------------------------------

TEST(ReadKernel, scales_samples_and_touches_nothing_beside_them) {
  Random random(8);
  for (const int width : group_counts()) {
    const auto samples = static_cast<std::size_t>(width);
    const auto bytes = random_bytes(random, 2 * samples);
    for_each_target([&] {
      std::vector<std::int16_t> out(samples + 1, guard_tap);
      scale_u16(reinterpret_cast<const std::byte*>(bytes.data()), width, 32640.0F / 4095, 7,
                out.data());
      for (std::size_t x = 0; x < samples; ++x) {
        const int word = bytes[2 * x] + 256 * bytes[2 * x + 1];
        const double want = std::min(word * 32640.0 / 4095, 32767.0);
        const bool is_kept_below = out[x] % 128 == 63 && want < out[x] + 1;
        ASSERT_NEAR(out[x], want, is_kept_below ? 1 : 0.51);
      }
      scale_bytes(bytes.data(), width, 128, out.data());
      for (std::size_t x = 0; x < samples; ++x)
        ASSERT_EQ(out[x], bytes[x] * 128);
      EXPECT_EQ(out[samples], guard_tap);
    });
  }
}

TEST(ReadKernel, gives_each_site_of_a_mosaic_its_neighbours_means) {
  Random random(9);
  for (const int width : {1, 2, 7, 8, 31, 64, 97}) {
    const auto above = random_row(random, width + 2, 7);
    const auto here = random_row(random, width + 2, 7);
    const auto below = random_row(random, width + 2, 7);
    for (const bool green_first : {false, true}) {
      for_each_target([&] {
        std::vector<std::int16_t> out[3];
        for (auto& row : out)
          row.assign(padded_row(width), guard_tap);
        demosaic_row({above.data(), here.data(), below.data(), width, green_first, out[0].data(),
                      out[1].data(), out[2].data()});
        for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
          const double beside = (here[x] + here[x + 2]) / 2.0;
          const double column = (above[x + 1] + below[x + 1]) / 2.0;
          const double corners = (above[x] + above[x + 2] + below[x] + below[x + 2]) / 4.0;
          const bool green = (x % 2 == 0) == green_first;
          ASSERT_NEAR(out[0][x], green ? here[x + 1] : (beside + column) / 2, 1);
          ASSERT_NEAR(out[1][x], green ? beside : here[x + 1], 1);
          ASSERT_NEAR(out[2][x], green ? column : corners, 1);
        }
      });
    }
  }
}

}  // namespace
}  // namespace halyard::image
