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

using F = PixelFormat;

constexpr std::int32_t maximum = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t int32_min = std::numeric_limits<std::int32_t>::min();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

// A good request, which each case edits.
class BadInput : public ::testing::Test {
 protected:
  void SetUp() override { request_ = {image(32, 24, F::nv12), image(16, 16, F::rgb)}; }
  Tensor image(int width, int height, PixelFormat format, DType dtype = DType::u8) {
    return random_image(random_, width, height, format, dtype);
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
  /// The answer to the good request after `edit`.
  template <class Edit>
  void expect(const std::string& answer, const Edit& edit) {
    SetUp();
    edit(request_);
    EXPECT_EQ(refusal(), answer);
  }
  template <class Edit>
  void refuse(const std::string& field, const Edit& edit) {
    expect("invalid_argument " + field, edit);
  }
  template <class Edit>
  void serve(const Edit& edit) {
    expect("served", edit);
  }

  Random random_{17};
  Processor processor_ = Processor::create({.threads = 1}).value();
  Convert request_;
};

TEST_F(BadInput, crops_that_are_empty_or_outside) {
  for (const RegionF& bad : {RegionF{0, 0, 0, 5}, RegionF{0, 0, 5, 0}, RegionF{0, 0, -5, 5},
                             RegionF{0, 0, 5, -5}, RegionF{-1, 0, 5, 5}, RegionF{0, -0.25, 5, 5},
                             RegionF{28, 0, 4.5, 5}, RegionF{0, 20, 5, 4.01}, RegionF{32, 0, 1, 1},
                             RegionF{0, 0, 1e-9, 5}, RegionF{0, 0, 5, 5e-324}})
    refuse("crop", [&](Convert& c) { c.crop = bad; });
  serve([](Convert& c) { c.crop = RegionF(31.5, 23.5, 0.5, 0.5); });
}

TEST_F(BadInput, crops_whose_edge_overflows) {
  for (const Region& bad :
       {Region{maximum, 0, 5, 5}, Region{0, maximum, 5, 5}, Region{0, 0, maximum, 5},
        Region{0, 0, 5, maximum}, Region{maximum, maximum, maximum, maximum},
        Region{1, 1, maximum, maximum}, Region{int32_min, 0, 5, 5},
        Region{0, 0, int32_min, int32_min}})
    refuse("crop", [&](Convert& c) { c.crop = bad; });
}

TEST_F(BadInput, crops_that_are_not_finite) {
  for (const double bad : {nan_value, infinite, -infinite, 1e308}) {
    for (double RegionF::*field : {&RegionF::x, &RegionF::y, &RegionF::width, &RegionF::height})
      refuse("crop", [&](Convert& c) { c.crop.emplace(1, 1, 5, 5).*field = bad; });
  }
}

TEST_F(BadInput, places_that_are_empty_outside_or_overflow) {
  for (const Region& bad :
       {Region{0, 0, 0, 5}, Region{0, 0, 5, 0}, Region{0, 0, -5, 5}, Region{-1, 0, 5, 5},
        Region{0, -1, 5, 5}, Region{12, 0, 5, 5}, Region{0, 12, 5, 5}, Region{16, 0, 1, 1},
        Region{maximum, 0, 5, 5}, Region{1, 1, maximum, maximum},
        Region{maximum, maximum, maximum, maximum}, Region{int32_min, int32_min, 5, 5},
        Region{0, 0, int32_min, 5}})
    refuse("place", [&](Convert& c) { c.place = bad; });
}

TEST_F(BadInput, destinations_smaller_than_their_rectangle) {
  for (const Region& bad : {Region{0, 0, 9, 8}, Region{0, 0, 8, 9}}) {
    refuse("place", [&](Convert& c) {
      c.dst = image(8, 8, F::rgb);
      c.place = bad;
    });
  }
}

TEST_F(BadInput, free_maps_that_are_not_finite_or_have_no_inverse) {
  for (const double bad : {nan_value, infinite, -infinite}) {
    for (std::size_t i = 0; i < 6; ++i)
      refuse("affine", [&](Convert& c) { c.affine.emplace().m[i] = bad; });
  }
  for (const Affine& bad :
       {Affine{{0, 0, 0, 0, 0, 0}}, Affine{{1, 2, 0, 2, 4, 0}}, Affine{{1e300, 0, 0, 0, 1e300, 0}},
        Affine{{1e-300, 0, 0, 0, 1e-300, 0}}})
    refuse("affine", [&](Convert& c) { c.affine = bad; });
}

TEST_F(BadInput, free_maps_beside_steps_that_they_replace) {
  const auto with_map = [&](auto edit) {
    refuse("affine", [&](Convert& c) {
      c.affine = Affine{};
      edit(c);
    });
  };
  with_map([](Convert& c) { c.fit = Fit::letterbox; });
  with_map([](Convert& c) { c.flip = Flip::horizontal; });
  with_map([](Convert& c) { c.rotation = Rotation::cw90; });
}

TEST_F(BadInput, normalize_that_is_not_finite) {
  const Tensor floats = image(16, 16, F::rgb, DType::f32);
  const auto normalized = [&](const char* answer, const Normalize& by) {
    expect(answer, [&](Convert& c) {
      c.dst = floats;
      c.normalize = by;
    });
  };
  normalized("served", {});
  normalized("invalid_argument normalize", Normalize::mean_std({0, 0, 0}, {1, 0, 1}));
  for (std::size_t c = 0; c < 4; ++c) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      Normalize by_scale;
      by_scale.scale[c] = bad;
      normalized("invalid_argument normalize", by_scale);
      Normalize by_bias;
      by_bias.bias[c] = -bad;
      normalized("invalid_argument normalize", by_bias);
    }
  }
}

TEST_F(BadInput, normalize_for_integers_without_quantization) {
  Tensor wide = image(16, 16, F::rgb, DType::u16);
  const auto into_wide = [&](Convert& c) {
    c.dst = wide;
    c.normalize = Normalize{};
  };
  refuse("normalize", [](Convert& c) { c.normalize = Normalize{}; });
  refuse("normalize", into_wide);
  ASSERT_TRUE(wide.set_quantization(Quantization::per_tensor(0.5F)));
  serve(into_wide);
}

TEST_F(BadInput, sources_and_destinations_that_share_bytes) {
  const Tensor whole = image(32, 32, F::rgb);
  const auto between = [&](const Region& from, const Region& to) {
    return [&whole, from, to](Convert& c) {
      c.src = whole.slice(from).value();
      c.dst = whole.slice(to).value();
    };
  };
  refuse("dst", [&](Convert& c) { c.src = c.dst = whole; });
  refuse("dst", between({0, 0, 32, 32}, {30, 30, 2, 2}));
  refuse("dst", between({0, 0, 17, 17}, {16, 16, 16, 16}));
  // Images that interleave row by row share no bytes.
  serve(between({0, 0, 16, 32}, {16, 0, 16, 32}));
}

TEST_F(BadInput, chroma_alone_can_overlap) {
  const Tensor whole = image(32, 24, F::nv12);
  const ImagePlane chroma = whole.image_plane(1).value();
  const Tensor::PlaneSource plane{chroma.buffer, chroma.offset_bytes, chroma.stride_bytes};
  refuse("dst", [&](Convert& c) {
    c.src = whole;
    c.dst = Tensor::wrap_image({&plane, 1}, 32, 12, F::grey).value();
  });
}

TEST_F(BadInput, read_only_destinations) {
  request_.dst = read_only_image(16, 16, F::rgb);
  const auto before = bytes_of(request_.dst);
  EXPECT_FAILS(processor_.convert(request_), Errc::permission);
  EXPECT_FAILS(processor_.run(processor_.plan(request_).value(), request_.src, request_.dst),
               Errc::permission);
  EXPECT_EQ(bytes_of(request_.dst), before);
}

TEST_F(BadInput, element_types_and_formats_that_nobody_serves) {
  for (const DType dtype : {DType::f32, DType::u16})
    expect("unsupported src", [&](Convert& c) { c.src = image(8, 8, F::rgb, dtype); });
  for (const auto& [format, dtype] :
       {std::pair{F::rgb, DType::i16}, std::pair{F::rgb, DType::u32}, std::pair{F::rgb, DType::f64},
        std::pair{F::rgb, DType::boolean}, std::pair{F::nv12, DType::f32},
        std::pair{F::bayer_rggb, DType::u8}, std::pair{F::bayer_grbg, DType::u8}}) {
    const Tensor bad = image(8, 8, format, dtype);
    expect("unsupported dst", [&](Convert& c) { c.dst = bad; });
  }
}

Tensor plain(std::initializer_list<std::size_t> shape, DType dtype = DType::u8) {
  return Tensor::create(dtype, shape).value();
}

TEST_F(BadInput, tensors_that_are_no_images) {
  refuse("src", [](Convert& c) { c.src = Tensor(); });
  refuse("src", [](Convert& c) { c.src = plain({24, 32, 3}); });
  refuse("dst", [](Convert& c) { c.dst = Tensor(); });
  refuse("dst", [](Convert& c) { c.dst = plain({16}); });
  refuse("dst", [](Convert& c) { c.dst = plain({16, 16, 5}); });
  refuse("dst", [](Convert& c) { c.dst = plain({5, 16}, DType::f32); });
}

TEST_F(BadInput, batches_given_as_images) {
  const Tensor batch = Tensor::create_image_batch(2, 16, 16, F::rgb).value();
  refuse("dst", [](Convert& c) { c.dst = plain({2, 16, 16, 3}); });
  refuse("dst", [&](Convert& c) { c.dst = batch; });
  serve([&](Convert& c) { c.dst = batch.batch(1).value(); });
  refuse("src", [&](Convert& c) { c.src = batch; });
}

TEST_F(BadInput, colour_axes_of_no_known_value) {
  const auto with = [&](const Colorimetry& bad) {
    refuse("src", [&](Convert& c) { c.src.set_colorimetry(bad); });
    EXPECT_FAILS(processor_.convert(request_), "colorimetry.");
    refuse("dst", [&](Convert& c) { c.dst.set_colorimetry(bad); });
    EXPECT_FAILS(processor_.convert(request_), "colorimetry.");
  };
  with({.space = static_cast<ColorSpace>(5)});
  with({.transfer = static_cast<ColorTransfer>(6)});
  with({.encoding = static_cast<ColorEncoding>(4)});
  with({.range = static_cast<ColorRange>(3)});
}

TEST_F(BadInput, quantization_along_another_axis_than_the_channels) {
  const auto quantized = [](Tensor tensor, const std::vector<float>& scales, std::size_t axis) {
    EXPECT_TRUE(tensor.set_quantization(Quantization{scales, {}, axis}));
    return [tensor](Convert& c) { c.dst = tensor; };
  };
  const Tensor cube = plain({3, 3, 3}, DType::i8);
  for (const std::size_t axis : {0U, 1U})
    refuse("dst", quantized(cube, {0.1F, 0.2F, 0.3F}, axis));
  serve(quantized(cube, {0.1F, 0.2F, 0.3F}, 2));
  serve(quantized(plain({1, 3, 16, 16}, DType::i8), {0.1F, 0.2F, 0.3F}, 1));
  // Grey has no axis for several scales, whatever the shape of its plain tensor.
  for (const std::size_t axis : {1U, 2U})
    refuse("dst", quantized(plain({1, 2, 2}, DType::i8), {0.1F, 0.2F}, axis));
}

TEST_F(BadInput, significant_bits_that_no_sample_has) {
  for (const int bits : {1, 7, 9, 16, 255})
    refuse("source_bits", [&](Convert& c) { c.source_bits = static_cast<std::uint8_t>(bits); });
  serve([](Convert& c) { c.source_bits = 8; });
  for (const int bits : {1, 7, 17, 255}) {
    refuse("source_bits", [&](Convert& c) {
      c.src = image(32, 24, F::grey, DType::u16);
      c.source_bits = static_cast<std::uint8_t>(bits);
    });
  }
}

TEST_F(BadInput, enumerators_of_no_known_value) {
  refuse("flip", [](Convert& c) { c.flip = static_cast<Flip>(3); });
  refuse("flip", [](Convert& c) { c.orientation.emplace().flip = static_cast<Flip>(3); });
  refuse("rotation", [](Convert& c) { c.rotation = static_cast<Rotation>(4); });
  refuse("rotation",
         [](Convert& c) { c.orientation.emplace().rotation = static_cast<Rotation>(9); });
  for (const int value : {4, 9})
    refuse("fit", [&](Convert& c) { c.fit = static_cast<Fit>(value); });
  refuse("letterbox", [](Convert& c) { c.letterbox = static_cast<LetterboxRule>(3); });
  for (const int value : {5, 9})
    refuse("filter", [&](Convert& c) { c.filter = static_cast<Filter>(value); });
  refuse("chroma", [](Convert& c) { c.chroma = static_cast<Chroma>(2); });
  refuse("alpha", [](Convert& c) { c.alpha = static_cast<AlphaStep>(3); });
}

TEST_F(BadInput, steps_on_channels_that_are_not_there) {
  refuse("alpha", [](Convert& c) { c.alpha = AlphaStep::premultiply; });
  serve([](Convert& c) { c.bgr = true; });
  refuse("bgr", [&](Convert& c) {
    c.dst = image(16, 16, F::grey);
    c.bgr = true;
  });
}

}  // namespace
}  // namespace halyard::test
