// SPDX-License-Identifier: Apache-2.0
// What every image backend must do, judged by the scalar oracle. Include it in one file of a test
// program and instantiate ImageBackendConformance with a BackendCase per backend.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>

#include "image/backend.h"
#include "image/cpu/oracle.h"
#include "image/pictures.h"

namespace halyard::testing {

/// `make` returns null where the backend cannot run; the suite is then skipped.
struct BackendCase {
  const char* name;
  std::unique_ptr<image::ImageBackend> (*make)();
};

inline void PrintTo(const BackendCase& backend, std::ostream* out) {
  *out << backend.name;
}

class ImageBackendConformance : public ::testing::TestWithParam<BackendCase> {
 protected:
  void SetUp() override {
    backend_ = GetParam().make();
    if (!backend_) GTEST_SKIP() << GetParam().name << ": this machine has no such backend";
  }

  /// Runs the request on both and compares; a declined plan only needs its reason.
  void agree(const Convert& request) {
    SCOPED_TRACE(describe(request));
    auto plan = image::make_plan(request);
    ASSERT_TRUE(plan) << plan.error().message();
    const image::Verdict verdict = backend_->supports(*plan);
    if (!verdict) {
      EXPECT_STRNE(verdict.reason(), "");
      return;
    }
    ++accepted_;
    const std::vector<std::byte> before = bytes_of(request.dst);
    Convert other = request;
    other.dst = clone(request.dst);
    auto expected = image::make_plan(other);
    ASSERT_TRUE(oracle_.run(*expected));
    ASSERT_TRUE(backend_->submit(*plan));
    ASSERT_TRUE(backend_->finish());
    EXPECT_LE(greatest_difference(request.dst, other.dst), 1.001);
    EXPECT_TRUE(padding_untouched(request.dst, before)) << "bytes outside the picture changed";
  }

  std::unique_ptr<image::ImageBackend> backend_;
  image::Parallel parallel_{1};
  image::Oracle oracle_{parallel_};
  int accepted_ = 0;
};

inline std::optional<Region> some_region(Random& random, Size size) {
  if (pick(random, 0, 1) == 0) return std::nullopt;
  Region r;
  r.width = pick(random, 1, size.width);
  r.height = pick(random, 1, size.height);
  r.x = pick(random, 0, size.width - r.width);
  r.y = pick(random, 0, size.height - r.height);
  return r;
}

inline DType target_dtype(PixelFormat format, int n) {
  if (format == PixelFormat::nv12) return DType::u8;
  constexpr DType all[] = {DType::u8, DType::i8, DType::f32};
  return all[n % 3];
}

inline Convert random_request(Random& random) {
  Convert c;
  const auto from =
      source_formats[pick(random, 0, static_cast<int>(std::size(source_formats)) - 1)];
  const auto to = target_formats[pick(random, 0, static_cast<int>(std::size(target_formats)) - 1)];
  const auto extra = [&] { return static_cast<std::size_t>(pick(random, 0, 9)) * 4; };
  c.src =
      random_picture(random, pick(random, 1, 65), pick(random, 1, 40), from, DType::u8, extra());
  c.dst = random_picture(random, pick(random, 1, 65), pick(random, 1, 40), to,
                         target_dtype(to, pick(random, 0, 2)), extra());
  c.crop = some_region(random, c.src.size());
  c.place = some_region(random, c.dst.size());
  c.flip = static_cast<Flip>(pick(random, 0, 2));
  c.rotation = static_cast<Rotation>(pick(random, 0, 3));
  c.fit = static_cast<Fit>(pick(random, 0, 1));
  c.filter = static_cast<Filter>(pick(random, 0, 4));
  c.antialias = pick(random, 0, 1) == 1;
  c.chroma = static_cast<Chroma>(pick(random, 0, 1));
  c.pad = {static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random()),
           static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random())};
  Colorimetry in;
  in.encoding = static_cast<ColorEncoding>(pick(random, 0, 3));
  in.range = static_cast<ColorRange>(pick(random, 0, 2));
  c.src.set_colorimetry(in);
  return c;
}

TEST_P(ImageBackendConformance, serves_random_requests_as_the_oracle_does) {
  Random random(7);
  for (int i = 0; i < 3000 && !HasFailure(); ++i)
    agree(random_request(random));
  if (accepted_ == 0) GTEST_SKIP() << "declines all of them";
}

TEST_P(ImageBackendConformance, serves_the_plain_way_at_every_width) {
  Random random(8);
  for (const PixelFormat from : source_formats) {
    for (int width = 1; width <= 65 && !HasFailure(); ++width) {
      Convert c;
      const auto to = target_formats[static_cast<std::size_t>(width) % 7];
      c.src = random_picture(random, width, 9, from, DType::u8, 12);
      c.dst = random_picture(random, width, 9, to, target_dtype(to, width), 20);
      agree(c);  // the same size
      c.src = random_picture(random, 66 - width, 12, from, DType::u8, 8);
      c.fit = Fit::letterbox;
      agree(c);
      c.filter = Filter::nearest;
      agree(c);
    }
  }
  if (accepted_ == 0) GTEST_SKIP() << "declines all of them";
}

TEST_P(ImageBackendConformance, turns_and_flips_in_the_order_of_the_house) {
  Random random(9);
  for (int turn = 0; turn < 4; ++turn) {
    for (int flip = 0; flip < 3; ++flip) {
      for (const PixelFormat from : {PixelFormat::nv12, PixelFormat::rgb, PixelFormat::yuyv}) {
        for (const bool cropped : {false, true}) {
          Convert c;
          c.src = random_picture(random, 47, 30, from, DType::u8, 4);
          c.dst = random_picture(random, 33, 41, PixelFormat::rgb, DType::u8, 4);
          c.rotation = static_cast<Rotation>(turn);
          c.flip = static_cast<Flip>(flip);
          c.fit = Fit::letterbox;
          if (cropped) c.crop = Region{5, 7, 31, 17};
          agree(c);
          c.place = Region{3, 4, 25, 30};
          agree(c);
        }
      }
    }
  }
  if (accepted_ == 0) GTEST_SKIP() << "declines all of them";
}

TEST_P(ImageBackendConformance, serves_large_reductions_and_enlargements) {
  Random random(10);
  for (const PixelFormat from : {PixelFormat::nv12, PixelFormat::yuyv, PixelFormat::rgba}) {
    for (const auto& [source, target] :
         {std::pair{Size{640, 360}, Size{37, 61}}, std::pair{Size{31, 17}, Size{300, 200}},
          std::pair{Size{1280, 720}, Size{640, 640}}, std::pair{Size{333, 222}, Size{320, 320}}}) {
      Convert c;
      c.src = random_picture(random, source.width, source.height, from);
      c.dst = random_picture(random, target.width, target.height, PixelFormat::planar_rgb);
      c.fit = Fit::letterbox;
      agree(c);
    }
  }
  if (accepted_ == 0) GTEST_SKIP() << "declines all of them";
}

TEST_P(ImageBackendConformance, writes_nothing_beside_a_destination_slice) {
  Random random(11);
  for (const PixelFormat to : {PixelFormat::rgb, PixelFormat::planar_rgb, PixelFormat::rgba}) {
    const Tensor whole = random_picture(random, 64, 48, to);
    const std::vector<std::byte> before = bytes_of(whole);
    Convert c;
    c.src = random_picture(random, 40, 40, PixelFormat::nv12);
    c.dst = whole.slice({10, 6, 33, 21}).value();
    c.fit = Fit::letterbox;
    auto plan = image::make_plan(c);
    ASSERT_TRUE(plan) << plan.error().message();
    if (!backend_->supports(*plan)) GTEST_SKIP() << "declines slices";
    ASSERT_TRUE(backend_->submit(*plan));
    ASSERT_TRUE(backend_->finish());
    EXPECT_TRUE(padding_untouched(c.dst, before));
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ImageBackendConformance);

}  // namespace halyard::testing
