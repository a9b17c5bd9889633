// SPDX-License-Identifier: Apache-2.0
// Every row kernel on every instruction set of this machine against its scalar sibling: same bits.
#include "image/cpu/kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <functional>
#include <numeric>

#include "image/cpu/across.h"
#include "image/cpu/fused.h"
#include "image/pictures.h"

namespace halyard::image {
namespace {

using halyard::testing::pick;
using halyard::testing::Random;

void use_targets(std::int64_t mask) {
  hwy::SetSupportedTargetsForTest(mask);
  hwy::GetChosenTarget().DeInit();  // the next call chooses anew
}

/// Runs `body` once for each target of this machine alone; one that is not compiled is the scalar
/// way.
void for_each_target(const std::function<void()>& body) {
  use_targets(0);
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    SCOPED_TRACE(hwy::TargetName(left & -left));
    use_targets(left & -left);
    body();
  }
  use_targets(0);
}

std::vector<std::uint8_t> random_bytes(Random& random, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (auto& b : bytes)
    b = static_cast<std::uint8_t>(pick(random, 0, 9) == 0 ? pick(random, 0, 1) * 255 : random());
  return bytes;
}

std::vector<std::int16_t> random_row(Random& random, std::size_t samples) {
  std::vector<std::int16_t> row(samples + spare_samples);
  for (auto& s : row)
    s = static_cast<std::int16_t>(pick(random, 0, 255 * 128));
  return row;
}

TEST(Kernels, blend_as_their_scalar_sibling_at_every_width) {
  Random random(1);
  for (const int taps : {1, 2, 3, 7}) {
    for (int step = 1; step <= 4; ++step) {
      for (int width = 1; width <= 65; ++width) {
        std::vector<std::vector<std::uint8_t>>
            source;  // exactly as long as the row: no byte behind
        std::vector<const std::uint8_t*> rows;
        for (int t = 0; t < taps; ++t)
          source.push_back(random_bytes(random, static_cast<std::size_t>(width * step)));
        for (const auto& row : source)
          rows.push_back(row.data());
        std::vector<std::int16_t> weights(static_cast<std::size_t>(taps),
                                          std::int16_t(32768 / std::max(taps, 2)));
        weights[0] =
            static_cast<std::int16_t>(32768 - weights[0] * (taps - 1) - (taps == 1 ? 1 : 0));
        BlendJob job;
        job.taps = taps;
        job.rows = rows.data();
        job.weights = weights.data();
        job.step = step;
        std::array<std::vector<std::int16_t>, 4> got;
        std::array<std::vector<std::int16_t>, 4> want;
        BlendJob judge = job;
        for (std::size_t k = 0; k < static_cast<std::size_t>(step); ++k) {
          got[k].assign(static_cast<std::size_t>(width) + spare_samples, -1);
          want[k] = got[k];
          if (k != 0 && pick(random, 0, 4) == 0) continue;  // a channel that nobody needs
          job.samples[k] = judge.samples[k] = width;
          job.out[k] = got[k].data();
          judge.out[k] = want[k].data();
        }
        scalar::blend_rows(judge);
        for_each_target([&] {
          blend_rows(job);
          EXPECT_EQ(got, want) << taps << " taps, step " << step << ", width " << width;
        });
      }
    }
  }
}

TEST(Kernels, resample_as_their_scalar_sibling_in_every_mode) {
  Random random(2);
  std::array<int, 4> modes{};
  int of_bytes = 0;
  for (const int inputs : {1, 2, 9, 64, 200, 640}) {
    for (int outputs = 1; outputs <= 65; ++outputs) {
      for (const bool antialias : {false, true}) {
        for (const bool mirrored : {false, true}) {
          const AxisRequest request{
              0,        static_cast<double>(inputs), 0, inputs, outputs, mirrored, Filter::bilinear,
              antialias};
          AxisTaps taps;
          AcrossTable table;
          make_taps(request, taps);
          make_across(taps, 0, inputs, table);
          ++modes[static_cast<std::size_t>(table.mode)];
          if (!table.byte_base.empty()) {
            const auto bytes = random_bytes(random, static_cast<std::size_t>(inputs));
            std::vector<std::int16_t> wide(bytes.begin(), bytes.end());
            for (auto& sample : wide)
              sample = static_cast<std::int16_t>(sample * 128);
            wide.resize(wide.size() + spare_samples);
            std::vector<std::int16_t> want(static_cast<std::size_t>(outputs));
            scalar::resample_row(wide.data(), table, want.data());
            ++of_bytes;
            for_each_target([&] {
              std::vector<std::int16_t> got(want.size() + spare_samples);
              resample_bytes(bytes.data(), table, got.data());
              got.resize(want.size());
              EXPECT_EQ(got, want) << "bytes " << inputs << " -> " << outputs;
            });
          }
          if (table.mode == AcrossTable::Mode::identity) continue;
          const auto row = random_row(random, static_cast<std::size_t>(inputs));
          const auto size = static_cast<std::size_t>(outputs);
          std::vector<std::int16_t> want(size);
          scalar::resample_row(row.data(), table, want.data());
          for_each_target([&] {
            std::vector<std::int16_t> got(size + spare_samples);
            resample_row(row.data(), table, got.data());
            got.resize(size);
            EXPECT_EQ(got, want) << inputs << " -> " << outputs;
          });
        }
      }
    }
  }
  for (const int count : modes)
    EXPECT_GT(count, 0);
  EXPECT_GT(of_bytes, 0);
}

TEST(Kernels, change_colours_as_their_scalar_sibling) {
  Random random(3);
  for (const Feed feed : {Feed::rows, Feed::luma_and_pairs, Feed::luma_low, Feed::luma_high}) {
    for (const ColorMode color : {ColorMode::direct, ColorMode::yuv_to_rgb, ColorMode::yuv_to_grey,
                                  ColorMode::rgb_to_grey}) {
      if (feed != Feed::rows && color != ColorMode::yuv_to_rgb && color != ColorMode::yuv_to_grey)
        continue;
      for (int width = 1; width <= 70; ++width) {
        const auto even = static_cast<std::size_t>(width + 1) / 2 * 2;
        const auto bytes = random_bytes(random, 2 * even);
        const auto pairs = random_bytes(random, even);
        std::array<std::vector<std::int16_t>, 4> rows;
        ColorJob job;
        for (std::size_t k = 0; k < 4; ++k) {
          rows[k] = random_row(random, static_cast<std::size_t>(width));
          job.rows[k] = rows[k].data();
        }
        job.feed = feed;
        job.color = color;
        job.bytes = bytes.data();
        job.pairs = pairs.data();
        job.v_first = width % 3 == 0;
        job.matrix = {16 * 128, 9539, 14686, 1745, 4366, 17306};
        job.width = width;
        const auto run = [&](void (*kernel)(const ColorJob&)) {
          std::array<std::vector<std::uint8_t>, 4> codes;
          for (std::size_t k = 0; k < 4; ++k) {
            codes[k].assign(static_cast<std::size_t>(width) + spare_samples, 0);
            job.codes[k] = codes[k].data();
          }
          kernel(job);
          for (auto& row : codes)
            row.resize(static_cast<std::size_t>(width));
          return codes;
        };
        const auto want = run(&scalar::color_row);
        for_each_target([&] { EXPECT_EQ(run(&color_row), want) << "width " << width; });
      }
    }
  }
}

TEST(Kernels, store_as_their_scalar_sibling_and_nothing_behind_the_row) {
  Random random(4);
  for (int variant = 0; variant < 24; ++variant) {
    for (int width = 1; width <= 70; ++width) {
      StoreJob job;
      constexpr int counts[] = {1, 3, 4};
      job.channels = counts[variant % 3];
      job.planar = variant / 3 % 2 == 1;
      job.blue_first = !job.planar && job.channels > 1 && variant / 6 % 2 == 1;
      job.as_float = variant / 12 == 1;
      job.flip = width % 2 == 0 ? 0x80 : 0;
      job.width = width;
      job.scale_high = {0.5F, 0.25F, -2, 1};
      job.scale_low = {0x1p-20F, 0x1p-21F, -0x1p-18F, 0};
      job.bias = {-0.3F, 0.1F, 7, 0};
      std::array<std::vector<std::uint8_t>, 4> codes;
      for (std::size_t k = 0; k < 4; ++k) {
        codes[k] = random_bytes(random, static_cast<std::size_t>(width) + spare_samples);
        job.codes[k] = codes[k].data();
      }
      const auto run = [&](void (*kernel)(const StoreJob&)) {
        // Rows of every layout end where their buffer ends: a write behind them is one byte of
        // 0x5A.
        const std::size_t sample = job.as_float ? 4 : 1;
        const bool apart = job.planar || job.channels == 1;
        const auto row = static_cast<std::size_t>(width) * sample *
                         (apart ? 1 : static_cast<std::size_t>(job.channels));
        std::vector<std::byte> out(4 * (row + 1), std::byte{0x5A});
        for (std::size_t k = 0; k < 4; ++k)
          job.out[k] = out.data() + k * (row + 1);
        kernel(job);
        for (std::size_t k = 0; k < 4; ++k)
          EXPECT_EQ(out[k * (row + 1) + row], std::byte{0x5A});
        return out;
      };
      const auto want = run(&scalar::store_row);
      for_each_target([&] { EXPECT_EQ(run(&store_row), want) << variant << " width " << width; });
    }
  }
}

TEST(Kernels, turn_a_square) {
  Random random(5);
  const auto in = random_bytes(random, 16 * 40);
  std::vector<std::uint8_t> want(16 * 33);
  scalar::transpose_codes(in.data(), 40, want.data(), 33);
  EXPECT_EQ(want[3 * 33 + 7], in[7 * 40 + 3]);
  for_each_target([&] {
    std::vector<std::uint8_t> got(16 * 33);
    transpose_codes(in.data(), 40, got.data(), 33);
    EXPECT_EQ(got, want);
  });
}

TEST(Fused, gives_the_same_bits_on_every_target_and_thread_count) {
  Random random(6);
  for (const PixelFormat from : {PixelFormat::nv12, PixelFormat::yuyv, PixelFormat::rgba}) {
    for (const DType dtype : {DType::u8, DType::i8, DType::f32}) {
      for (const Rotation turn : {Rotation::none, Rotation::cw90}) {
        Convert c;
        c.src = halyard::testing::random_picture(random, 633, 401, from);
        c.dst = halyard::testing::random_picture(random, 417, 417, PixelFormat::planar_rgb, dtype);
        c.fit = Fit::letterbox;
        c.rotation = turn;
        if (dtype == DType::f32)
          c.normalize = Normalize::mean_std({0.4F, 0.5F, 0.6F}, {0.2F, 0.3F, 0.4F});
        const auto plan = make_plan(c);
        ASSERT_TRUE(plan && Fused::serves(*plan));
        const auto run = [&](unsigned threads) {
          Parallel parallel(threads);
          Fused fused(parallel);
          EXPECT_TRUE(fused.run(*plan));
          return halyard::testing::bytes_of(c.dst);
        };
        const auto want = run(1);
        EXPECT_EQ(run(2), want);
        for_each_target([&] { EXPECT_EQ(run(2), want); });
      }
    }
  }
}

TEST(Fused, serves_the_main_way_and_leaves_the_rest_to_the_oracle) {
  Random random(7);
  Convert c;
  c.src = halyard::testing::random_picture(random, 64, 48, PixelFormat::nv12);
  c.dst = halyard::testing::random_picture(random, 32, 32, PixelFormat::rgb);
  EXPECT_TRUE(Fused::serves(make_plan(c).value()));
  c.antialias = true;
  EXPECT_TRUE(Fused::serves(make_plan(c).value()));
  c.filter = Filter::lanczos3;
  EXPECT_FALSE(Fused::serves(make_plan(c).value()));
  c.filter = Filter::bilinear;
  c.dst = halyard::testing::random_picture(random, 4, 4, PixelFormat::rgb);
  EXPECT_FALSE(
      Fused::serves(make_plan(c).value()));  // 16 times smaller, antialiased: too many taps
  c.dst = halyard::testing::random_picture(random, 32, 32, PixelFormat::nv12);
  EXPECT_FALSE(Fused::serves(make_plan(c).value()));
}

TEST(Fused, keeps_its_tables_and_stays_right_when_plans_alternate) {
  Random random(8);
  Parallel parallel(1);
  Fused kept(parallel);
  std::vector<Convert> requests;
  for (const PixelFormat from : {PixelFormat::nv12, PixelFormat::rgba, PixelFormat::grey,
                                 PixelFormat::nv12, PixelFormat::yuyv, PixelFormat::rgba}) {
    Convert c;
    c.src = halyard::testing::random_picture(random, pick(random, 20, 90), 40, from);
    c.dst = halyard::testing::random_picture(random, pick(random, 20, 90), 33, PixelFormat::rgba);
    requests.push_back(c);
  }
  for (int round = 0; round < 3; ++round) {
    for (const Convert& c : requests) {
      const auto plan = make_plan(c).value();
      ASSERT_TRUE(kept.run(plan));
      const auto got = halyard::testing::bytes_of(c.dst);
      Fused fresh(parallel);
      ASSERT_TRUE(fresh.run(plan));
      EXPECT_EQ(got, halyard::testing::bytes_of(c.dst));
    }
  }
}

}  // namespace
}  // namespace halyard::image
