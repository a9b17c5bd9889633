// SPDX-License-Identifier: Apache-2.0
// Invalid requests: the error names the field, and no byte of the destination changes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "halyard/image.h"
#include "images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

constexpr std::int32_t maximum = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t minimum = std::numeric_limits<std::int32_t>::min();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

class BadInput : public ::testing::Test {
 protected:
  void SetUp() override {
    request_ = {};
    request_.src = random_image(random_, 32, 24, PixelFormat::nv12);
    request_.dst = random_image(random_, 16, 16, PixelFormat::rgb);
  }
  // Returns "code field" of the error that every call with a request gives; "served" if there is
  // none.
  std::string refusal() {
    const bool has_bytes = !request_.dst.is_empty();
    const auto before = has_bytes ? bytes_of(request_.dst) : std::vector<std::byte>();
    const std::string answer = text(processor_.convert(request_));
    EXPECT_EQ(text(processor_.convert_all({&request_, 1})), answer);
    EXPECT_EQ(text(processor_.convert_deferred(request_)), answer);
    if (answer != "served" && has_bytes) {
      EXPECT_EQ(bytes_of(request_.dst), before);
    }
    EXPECT_TRUE(processor_.flush());
    return answer;
  }
  template <class Anything>
  static std::string text(const Result<Anything>& result) {
    if (result) return "served";
    const std::string message = result.error().message();
    return std::string(to_string(result.error().code)) + " " + message.substr(0, message.find(':'));
  }
  void expect_refused(const char* what) { EXPECT_EQ(refusal(), what); }

  Random random_{17};
  Processor processor_ = Processor::create({.threads = 1}).value();
  Convert request_;
};

TEST_F(BadInput, crops_that_are_empty_or_outside) {
  for (const RegionF& bad : {RegionF{0, 0, 0, 5}, RegionF{0, 0, 5, 0}, RegionF{0, 0, -5, 5},
                             RegionF{0, 0, 5, -5}, RegionF{-1, 0, 5, 5}, RegionF{0, -0.25, 5, 5},
                             RegionF{28, 0, 4.5, 5}, RegionF{0, 20, 5, 4.01}, RegionF{32, 0, 1, 1},
                             RegionF{0, 0, 1e-9, 5}, RegionF{0, 0, 5, 5e-324}}) {
    request_.crop = bad;
    expect_refused("invalid_argument crop");
  }
  request_.crop = RegionF{31.5, 23.5, 0.5, 0.5};
  expect_refused("served");
}

TEST_F(BadInput, crops_whose_edge_overflows) {
  for (const Region& bad :
       {Region{maximum, 0, 5, 5}, Region{0, maximum, 5, 5}, Region{0, 0, maximum, 5},
        Region{0, 0, 5, maximum}, Region{maximum, maximum, maximum, maximum},
        Region{1, 1, maximum, maximum}, Region{minimum, 0, 5, 5}, Region{0, 0, minimum, minimum}}) {
    request_.crop = bad;
    expect_refused("invalid_argument crop");
  }
}

TEST_F(BadInput, crops_that_are_not_finite) {
  for (const double bad : {nan_value, infinite, -infinite, 1e308}) {
    for (int field = 0; field < 4; ++field) {
      RegionF crop{1, 1, 5, 5};
      (field == 0 ? crop.x : field == 1 ? crop.y : field == 2 ? crop.width : crop.height) = bad;
      request_.crop = crop;
      expect_refused("invalid_argument crop");
    }
  }
}

TEST_F(BadInput, places_that_are_empty_outside_or_overflow) {
  for (const Region& bad :
       {Region{0, 0, 0, 5}, Region{0, 0, 5, 0}, Region{0, 0, -5, 5}, Region{-1, 0, 5, 5},
        Region{0, -1, 5, 5}, Region{12, 0, 5, 5}, Region{0, 12, 5, 5}, Region{16, 0, 1, 1},
        Region{maximum, 0, 5, 5}, Region{1, 1, maximum, maximum},
        Region{maximum, maximum, maximum, maximum}, Region{minimum, minimum, 5, 5},
        Region{0, 0, minimum, 5}}) {
    request_.place = bad;
    expect_refused("invalid_argument place");
  }
}

TEST_F(BadInput, destinations_smaller_than_their_rectangle) {
  request_.dst = random_image(random_, 8, 8, PixelFormat::rgb);
  request_.place = Region{0, 0, 9, 8};
  expect_refused("invalid_argument place");
  request_.place = Region{0, 0, 8, 9};
  expect_refused("invalid_argument place");
}

TEST_F(BadInput, free_maps_that_are_not_finite_or_have_no_inverse) {
  for (const double bad : {nan_value, infinite, -infinite}) {
    for (std::size_t i = 0; i < 6; ++i) {
      request_.affine = Affine{};
      request_.affine->m[i] = bad;
      expect_refused("invalid_argument affine");
    }
  }
  for (const Affine& bad :
       {Affine{{0, 0, 0, 0, 0, 0}}, Affine{{1, 2, 0, 2, 4, 0}}, Affine{{1e300, 0, 0, 0, 1e300, 0}},
        Affine{{1e-300, 0, 0, 0, 1e-300, 0}}}) {
    request_.affine = bad;
    expect_refused("invalid_argument affine");
  }
}

TEST_F(BadInput, free_maps_beside_steps_that_they_replace) {
  const auto with = [&](auto change) {
    SetUp();
    request_.affine = Affine{};
    change(request_);
    expect_refused("invalid_argument affine");
  };
  with([](Convert& c) { c.fit = Fit::letterbox; });
  with([](Convert& c) { c.flip = Flip::horizontal; });
  with([](Convert& c) { c.rotation = Rotation::cw90; });
}

TEST_F(BadInput, normalize_that_is_not_finite) {
  request_.dst = random_image(random_, 16, 16, PixelFormat::rgb, DType::f32);
  for (std::size_t c = 0; c < 4; ++c) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      request_.normalize = Normalize{};
      request_.normalize->scale[c] = bad;
      expect_refused("invalid_argument normalize");
      request_.normalize = Normalize{};
      request_.normalize->bias[c] = -bad;
      expect_refused("invalid_argument normalize");
    }
  }
}

TEST_F(BadInput, normalize_for_integers_without_quantization) {
  request_.normalize = Normalize{};
  expect_refused("invalid_argument normalize");
  request_.dst = random_image(random_, 16, 16, PixelFormat::rgb, DType::u16);
  expect_refused("invalid_argument normalize");
  ASSERT_TRUE(request_.dst.set_quantization(Quantization::per_tensor(0.5F)));
  expect_refused("served");
}

TEST_F(BadInput, sources_and_destinations_that_share_bytes) {
  const Tensor whole = random_image(random_, 32, 32, PixelFormat::rgb);
  request_.src = whole;
  request_.dst = whole;
  expect_refused("invalid_argument dst");
  request_.dst = whole.slice({30, 30, 2, 2}).value();
  expect_refused("invalid_argument dst");
  request_.src = whole.slice({0, 0, 17, 17}).value();
  request_.dst = whole.slice({16, 16, 16, 16}).value();
  expect_refused("invalid_argument dst");
  // Images that interleave row by row share no bytes.
  request_.src = whole.slice({0, 0, 16, 32}).value();
  request_.dst = whole.slice({16, 0, 16, 32}).value();
  expect_refused("served");
}

TEST_F(BadInput, chroma_alone_can_overlap) {
  const Tensor whole = random_image(random_, 32, 24, PixelFormat::nv12);
  const ImagePlane chroma = whole.image_plane(1).value();
  const Tensor::PlaneSource plane{chroma.buffer, chroma.offset_bytes, chroma.stride_bytes};
  request_.src = whole;
  request_.dst = Tensor::wrap_image({&plane, 1}, 32, 12, PixelFormat::grey).value();
  expect_refused("invalid_argument dst");
}

TEST_F(BadInput, read_only_destinations) {
  static const std::array<std::uint8_t, 16 * 16 * 3> fixed{};
  const Tensor::PlaneSource whole{
      wrap_memory(static_cast<const void*>(fixed.data()), fixed.size(), {}).value(), 0, 0};
  request_.dst = Tensor::wrap_image({&whole, 1}, 16, 16, PixelFormat::rgb).value();
  EXPECT_FAILS(processor_.convert(request_), Errc::permission);
  EXPECT_EQ(
      processor_.run(processor_.plan(request_).value(), request_.src, request_.dst).error().code,
      Errc::permission);
  EXPECT_EQ(fixed, decltype(fixed){});
}

TEST_F(BadInput, element_types_and_formats_that_nobody_serves) {
  request_.src = Tensor::create_image(8, 8, PixelFormat::rgb, DType::f32).value();
  expect_refused("unsupported src");
  request_.src = Tensor::create_image(8, 8, PixelFormat::rgb, DType::u16).value();
  expect_refused("unsupported src");
  SetUp();
  for (const DType dtype : {DType::i16, DType::u32, DType::f64, DType::boolean}) {
    request_.dst = random_image(random_, 8, 8, PixelFormat::rgb, dtype);
    expect_refused("unsupported dst");
  }
  request_.dst = random_image(random_, 8, 8, PixelFormat::nv12, DType::f32);
  expect_refused("unsupported dst");
  request_.dst = random_image(random_, 8, 8, PixelFormat::bayer_rggb);
  expect_refused("unsupported dst");
}

TEST_F(BadInput, tensors_that_are_no_images) {
  request_.src = Tensor();
  expect_refused("invalid_argument src");
  request_.src = Tensor::create(DType::u8, {24, 32, 3}).value();
  expect_refused("invalid_argument src");
  SetUp();
  request_.dst = Tensor();
  expect_refused("invalid_argument dst");
  request_.dst = Tensor::create(DType::u8, {16}).value();
  expect_refused("invalid_argument dst");
  request_.dst = Tensor::create(DType::u8, {16, 16, 5}).value();
  expect_refused("invalid_argument dst");
}

TEST_F(BadInput, batches_given_as_images) {
  request_.dst = Tensor::create(DType::u8, {2, 16, 16, 3}).value();
  expect_refused("invalid_argument dst");
  request_.dst = Tensor::create_image_batch(2, 16, 16, PixelFormat::rgb).value();
  expect_refused("invalid_argument dst");
  request_.dst = request_.dst.batch(1).value();
  expect_refused("served");
  request_.src = Tensor::create_image_batch(2, 16, 16, PixelFormat::rgb).value();
  expect_refused("invalid_argument src");
}

TEST_F(BadInput, colour_axes_of_no_known_value) {
  const auto with = [&](auto change) {
    for (const bool source : {true, false}) {
      SetUp();
      Tensor& tensor = source ? request_.src : request_.dst;
      Colorimetry colorimetry;
      change(colorimetry);
      tensor.set_colorimetry(colorimetry);
      expect_refused(source ? "invalid_argument src" : "invalid_argument dst");
      EXPECT_FAILS(processor_.convert(request_), "colorimetry.");
    }
  };
  with([](Colorimetry& c) { c.space = static_cast<ColorSpace>(5); });
  with([](Colorimetry& c) { c.transfer = static_cast<ColorTransfer>(6); });
  with([](Colorimetry& c) { c.encoding = static_cast<ColorEncoding>(4); });
  with([](Colorimetry& c) { c.range = static_cast<ColorRange>(3); });
}

TEST_F(BadInput, quantization_along_another_axis_than_the_channels) {
  request_.dst = Tensor::create(DType::i8, {3, 3, 3}).value();
  for (const std::size_t axis : {0U, 1U}) {
    ASSERT_TRUE(request_.dst.set_quantization(Quantization{{0.1F, 0.2F, 0.3F}, {}, axis}));
    expect_refused("invalid_argument dst");
  }
  ASSERT_TRUE(request_.dst.set_quantization(Quantization{{0.1F, 0.2F, 0.3F}, {}, std::size_t{2}}));
  expect_refused("served");
  request_.dst = Tensor::create(DType::i8, {1, 3, 16, 16}).value();
  ASSERT_TRUE(request_.dst.set_quantization(Quantization{{0.1F, 0.2F, 0.3F}, {}, std::size_t{1}}));
  expect_refused("served");
  // Grey has no axis for several scales, whatever the shape of its plain tensor.
  request_.dst = Tensor::create(DType::i8, {1, 2, 2}).value();
  for (const std::size_t axis : {1U, 2U}) {
    ASSERT_TRUE(request_.dst.set_quantization(Quantization{{0.1F, 0.2F}, {}, axis}));
    expect_refused("invalid_argument dst");
  }
}

TEST_F(BadInput, quantization_without_scale_or_with_a_useless_one_is_refused_by_the_tensor) {
  Tensor tensor = Tensor::create(DType::i8, {3, 16, 16}).value();
  for (const Quantization& bad :
       {Quantization{}, Quantization{{}, {3}, {}}, Quantization::per_tensor(0),
        Quantization::per_tensor(-1), Quantization::per_tensor(NAN),
        Quantization::per_tensor(INFINITY), Quantization::per_tensor(1, 300),
        Quantization{{1, 2, 3}, {0}, std::size_t{0}}, Quantization{{1, 2, 3}, {}, {}}}) {
    EXPECT_FAILS(tensor.set_quantization(bad), Errc::invalid_argument);
    EXPECT_FALSE(tensor.quantization());
  }
  Tensor floats = Tensor::create(DType::f32, {3, 16, 16}).value();
  EXPECT_FALSE(floats.set_quantization(Quantization::per_tensor(1)));
}

TEST_F(BadInput, pitches_below_the_row_are_refused_by_the_tensor) {
  const auto buffer = allocate(1 << 14, Memory::mem).value();
  const Tensor::PlaneSource rgb{buffer, 0, 47};
  EXPECT_EQ(Tensor::wrap_image({&rgb, 1}, 16, 16, PixelFormat::rgb).error().code,
            Errc::invalid_argument);
  const std::array<Tensor::PlaneSource, 2> nv12 = {Tensor::PlaneSource{buffer, 0, 16},
                                                   Tensor::PlaneSource{buffer, 4096, 15}};
  EXPECT_EQ(Tensor::wrap_image(nv12, 16, 16, PixelFormat::nv12).error().code,
            Errc::invalid_argument);
}

TEST_F(BadInput, significant_bits_that_no_sample_has) {
  for (const int bits : {1, 7, 9, 16, 255}) {
    request_.source_bits = static_cast<std::uint8_t>(bits);
    expect_refused("invalid_argument source_bits");
  }
  request_.source_bits = 8;
  expect_refused("served");
  request_.src = random_image(random_, 32, 24, PixelFormat::grey, DType::u16);
  for (const int bits : {1, 7, 17, 255}) {
    request_.source_bits = static_cast<std::uint8_t>(bits);
    expect_refused("invalid_argument source_bits");
  }
}

TEST_F(BadInput, enumerators_of_no_known_value) {
  const auto with = [&](const char* what, auto change) {
    SetUp();
    change(request_);
    EXPECT_EQ(refusal(), std::string("invalid_argument ") + what);
  };
  with("flip", [](Convert& c) { c.flip = static_cast<Flip>(3); });
  with("flip", [](Convert& c) { c.orientation = Orientation{static_cast<Flip>(3), {}}; });
  with("rotation", [](Convert& c) { c.rotation = static_cast<Rotation>(4); });
  with("rotation", [](Convert& c) { c.orientation = Orientation{{}, static_cast<Rotation>(9)}; });
  with("fit", [](Convert& c) { c.fit = static_cast<Fit>(4); });
  with("letterbox", [](Convert& c) { c.letterbox = static_cast<LetterboxRule>(3); });
  with("filter", [](Convert& c) { c.filter = static_cast<Filter>(5); });
  with("chroma", [](Convert& c) { c.chroma = static_cast<Chroma>(2); });
  with("alpha", [](Convert& c) { c.alpha = static_cast<AlphaStep>(3); });
}

TEST_F(BadInput, steps_on_channels_that_are_not_there) {
  request_.alpha = AlphaStep::premultiply;
  expect_refused("invalid_argument alpha");
  SetUp();
  request_.bgr = true;
  expect_refused("served");
  request_.dst = random_image(random_, 16, 16, PixelFormat::grey);
  expect_refused("invalid_argument bgr");
}

}  // namespace
}  // namespace halyard::test
