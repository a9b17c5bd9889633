// SPDX-License-Identifier: Apache-2.0
// Bad files and bad requests: each refusal has its code, none changes the caller's tensor's label.
#include <cstring>
#include <functional>
#include <random>

#include "codec/jpeg/jpeg_decode.h"
#include "codec/support.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::Bytes;
using test::load;
using test::Stored;
using test::with_inserted;

// Index of the byte behind FF `marker`.
std::size_t find_marker(const Bytes& file, unsigned marker) {
  for (std::size_t i = 2; i + 1 < file.size(); ++i) {
    if (file[i] == std::byte{0xFF} && file[i + 1] == static_cast<std::byte>(marker)) return i + 2;
  }
  return 0;
}

constexpr unsigned sof0 = 0xC0;

// make_jpeg() with the frame's marker replaced.
Bytes with_frame_type(unsigned marker) {
  Bytes file = test::make_jpeg({});
  file[find_marker(file, sof0) - 1] = static_cast<std::byte>(marker);
  return file;
}

TEST(BadInput, other_files_are_malformed) {
  EXPECT_FAILS(load(Bytes{}), Errc::malformed);
  EXPECT_FAILS(load(Bytes(100)), Errc::malformed);
  EXPECT_FAILS(peek(Bytes(2, std::byte{0xFF})), Errc::malformed);
  Bytes jpeg = test::make_jpeg({});
  jpeg[2] = std::byte{0};
  EXPECT_FAILS(load(jpeg), Errc::malformed);
}

TEST(BadInput, jpeg_kinds_that_are_not_served_are_named) {
  const struct {
    unsigned marker;
    const char* word;
  } kinds[] = {{0xC3, "lossless"},     {0xC5, "hierarchical"}, {0xC6, "hierarchical"},
               {0xC7, "hierarchical"}, {0xC9, "arithmetic"},   {0xCA, "arithmetic"},
               {0xCB, "lossless"},     {0xCD, "hierarchical"}, {0xCE, "hierarchical"},
               {0xCF, "hierarchical"}, {0xDE, "hierarchical"}};
  for (const auto& [marker, word] : kinds) {
    EXPECT_FAILS(peek(with_frame_type(marker)), Errc::unsupported, word) << marker;
  }
  EXPECT_OK(load(with_frame_type(0xC1))) << "extended sequential of 8 bits is baseline";
}

TEST(BadInput, twelve_bits_cmyk_and_two_components_are_unsupported) {
  Bytes deep = test::make_jpeg({});
  deep[find_marker(deep, sof0) + 2] = std::byte{12};
  EXPECT_FAILS(load(deep), Errc::unsupported, "12 bits");
  const Bytes cmyk =
      test::make_jpeg({.stored = Stored::cmyk, .sampling = {{{1, 1}, {1, 1}, {1, 1}}}});
  EXPECT_FAILS(load(cmyk), Errc::unsupported, "4 components");
  Bytes two = test::make_jpeg({});
  two[find_marker(two, sof0) + 7] = std::byte{2};
  EXPECT_FAILS(load(two), Errc::unsupported);
}

TEST(BadInput, cmyk_photo_is_unsupported) {
  HALYARD_PHOTO(file, "bus_320_cmyk_refuse_or_convert.jpg");
  EXPECT_FAILS(load(file), Errc::unsupported, "4 components");
}

TEST(BadInput, subsampled_luma_is_unsupported) {
  EXPECT_FAILS(load(test::make_jpeg({.sampling = {{{1, 1}, {2, 2}, {2, 2}}}})), Errc::unsupported);
}

TEST(BadInput, contradictory_frame_headers_are_corrupt) {
  const Bytes good = test::make_jpeg({});
  const std::size_t frame = find_marker(good, sof0);
  const auto with = [&](std::size_t at, unsigned value) {
    Bytes file = good;
    file[frame + at] = static_cast<std::byte>(value);
    return file;
  };
  EXPECT_FAILS(load(with(1, 18)), Errc::corrupt) << "length";
  EXPECT_FAILS(load(with(0, 0xFF)), Errc::corrupt) << "length beyond the file";
  EXPECT_FAILS(load(with(7, 0)), Errc::corrupt) << "no components";
  EXPECT_FAILS(load(with(9, 0x05)), Errc::corrupt) << "sampling 0 x 5";
  EXPECT_FAILS(load(with(9, 0x51)), Errc::corrupt) << "sampling 5 x 1";
  Bytes empty = with(5, 0);
  empty[frame + 6] = std::byte{0};
  EXPECT_FAILS(load(empty), Errc::corrupt) << "width 0";
  Bytes later = with(3, 0);
  later[frame + 4] = std::byte{0};
  EXPECT_FAILS(load(later), Errc::unsupported) << "height 0: told by a later marker";
  Bytes twice = good;
  const auto begin = good.begin() + static_cast<std::ptrdiff_t>(frame) - 2;
  twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(frame) - 2, begin, begin + 19);
  EXPECT_FAILS(load(twice), Errc::corrupt) << "two frames";
  Bytes none = good;
  none.erase(none.begin() + static_cast<std::ptrdiff_t>(frame) - 2,
             none.begin() + static_cast<std::ptrdiff_t>(frame) + 17);
  EXPECT_FAILS(load(none), Errc::corrupt) << "no frame";
}

TEST(BadInput, damaged_photos_are_corrupt_and_say_what_libjpeg_says) {
  HALYARD_PHOTO(cut, "bus_320_truncated_60pct.jpg");
  EXPECT_FAILS(load(cut), Errc::corrupt, "Premature end of JPEG file");
  HALYARD_PHOTO(garbage, "bus_320_garbage_middle.jpg");
  EXPECT_FAILS(load(garbage), Errc::corrupt, "Corrupt JPEG data");
  HALYARD_PHOTO(png, "bus_161_rgb8_truncated_60pct.png");
  EXPECT_FAILS(load(png), Errc::corrupt);
}

TEST(BadInput, padding_is_forgiven_and_skipped_data_is_not) {
  const Bytes good = test::make_jpeg({});
  const std::size_t end = good.size() - 2;
  for (const std::size_t count : {1U, 3U, 20U, 500U}) {
    EXPECT_OK(load(with_inserted(good, end, Bytes(count)))) << count;
    // A few bytes lie in the bit buffer when the marker comes: libjpeg does not miss them.
    if (count >= 20) {
      EXPECT_FAILS(load(with_inserted(good, end, Bytes(count, std::byte{0x11}))), Errc::corrupt);
    }
    EXPECT_OK(load(with_inserted(good, good.size(), Bytes(count))));
    const std::size_t frame = find_marker(good, sof0) - 2;
    EXPECT_OK(load(with_inserted(good, frame, Bytes(count, std::byte{0x11}))));
  }
}

TEST(BadInput, header_that_libjpeg_reads_otherwise_is_corrupt) {
  using Header = codec::JpegHeader;
  const Bytes file = test::make_jpeg({});
  const auto wide = *Tensor::create_image(64, 64, F::rgb);
  const auto map = wide.map(Access::write);
  const auto expect_corrupt = [&](const char* what, const std::function<void(Header&)>& change) {
    auto header = *codec::parse_jpeg_header(file, {});
    change(header);
    EXPECT_FAILS(codec::decode_jpeg(file, header, F::rgb, *map), Errc::corrupt,
                 "contradicts itself")
        << what;
  };
  expect_corrupt("width", [](Header& h) { h.info.width += 8; });
  expect_corrupt("height", [](Header& h) { h.info.height += 8; });
  expect_corrupt("components", [](Header& h) { h.info.components = 1; });
  for (const std::size_t c : {0U, 1U, 2U}) {
    expect_corrupt("h", [c](Header& h) { ++h.components[c].h; });
    expect_corrupt("v", [c](Header& h) { ++h.components[c].v; });
  }
}

TEST(BadInput, odd_adobe_transform_is_forgiven) {
  Bytes file = test::make_jpeg({.stored = Stored::rgb, .sampling = {{{1, 1}, {1, 1}, {1, 1}}}});
  file[find_marker(file, 0xEE) + 13] = std::byte{7};
  EXPECT_EQ(peek(file)->native_format, F::nv24);
  EXPECT_OK(load(file));
}

TEST(BadInput, limits_are_applied_with_both_numbers) {
  const Bytes jpeg = test::make_jpeg({.width = 50, .height = 37});
  const Bytes png = *encode_png(*Tensor::create_image(50, 37, F::rgb));
  for (const Bytes& file : {jpeg, png}) {
    EXPECT_TRUE(peek(file, {.max_width = 50, .max_height = 37, .max_pixels = 50 * 37}));
    EXPECT_FAILS(peek(file, {.max_width = 49}), Errc::invalid_argument, "50 > 49");
    EXPECT_FAILS(peek(file, {.max_height = 36}), Errc::invalid_argument);
    EXPECT_FAILS(load(file, {.limits = {.max_pixels = 50 * 37 - 1}}), Errc::invalid_argument);
  }
}

TEST(BadInput, small_file_of_a_huge_image_takes_no_memory) {
  Bytes jpeg = test::make_jpeg({.width = 8, .height = 8});
  const std::size_t frame = find_marker(jpeg, sof0);
  for (const std::size_t at : {3U, 5U})
    jpeg[frame + at] = std::byte{0x3F};
  EXPECT_EQ(peek(jpeg)->width, 0x3F08U);
  EXPECT_FAILS(load(jpeg), Errc::corrupt, "too short");
  Bytes png = *encode_png(*Tensor::create_image(8, 8, F::rgb));
  png[18] = png[22] = std::byte{0x3F};
  EXPECT_FAILS(load(png), Errc::corrupt, "too short");
}

TEST(BadInput, formats_and_element_types_that_are_not_served) {
  const Bytes jpeg = test::make_jpeg({});
  const Bytes png = *encode_png(*Tensor::create_image(8, 8, F::rgb));
  for (const PixelFormat format : {F::nv16, F::i420, F::yuyv, F::planar_rgb, F::bayer_rggb}) {
    EXPECT_FAILS(load(jpeg, {.format = format}), Errc::unsupported) << to_string(format);
    EXPECT_FAILS(load(png, {.format = format}), Errc::unsupported) << to_string(format);
  }
  EXPECT_FAILS(load(png, {.format = F::nv12}), Errc::unsupported);
  for (const DType dtype : {DType::i8, DType::u16, DType::f32}) {
    auto tensor = *Tensor::create_image(50, 37, F::rgb, dtype);
    EXPECT_FAILS(load_into(tensor, jpeg), Errc::unsupported);
  }
  for (const DType dtype : {DType::f16, DType::i16, DType::f64, DType::boolean}) {
    auto tensor = *Tensor::create(dtype, {64, 64, 3});
    EXPECT_FAILS(load_into(tensor, png), Errc::unsupported);
  }
}

TEST(Reuse, one_tensor_takes_files_of_many_sizes_and_formats) {
  auto tensor = *Tensor::create_image(128, 128, F::rgba);
  const auto buffer = tensor.buffer()->id();
  const Bytes files[] = {test::make_jpeg({.width = 128, .height = 128}),
                         test::make_jpeg({.width = 31, .height = 9}),
                         *encode_png(*Tensor::create_image(100, 90, F::rgba)),
                         test::make_jpeg({.stored = Stored::grey}),
                         test::make_jpeg({.sampling = {{{1, 1}, {1, 1}, {1, 1}}}})};
  for (const Bytes& file : files) {
    ASSERT_VALUE(const auto info, load_into(tensor, file));
    EXPECT_EQ(tensor.buffer()->id(), buffer);
    EXPECT_EQ(tensor.width(), info.width);
    EXPECT_EQ(tensor.height(), info.height);
    EXPECT_EQ(tensor.format(), info.native_format);
    const auto fresh = load(file);
    EXPECT_EQ(test::plane_bytes(tensor, 0, info.width), test::plane_bytes(*fresh, 0, info.width));
  }
}

TEST(Reuse, tensor_of_the_exact_size_is_enough_and_one_pixel_less_is_exhausted) {
  const Bytes file = test::make_jpeg({.width = 64, .height = 64, .stored = Stored::grey});
  auto exact = *Tensor::create(DType::u8, {64 * 64}, Memory::mem);
  EXPECT_TRUE(load_into(exact, file));
  EXPECT_EQ(exact.format(), F::grey);
  auto small = *Tensor::create(DType::u8, {64 * 63}, Memory::mem);
  EXPECT_FAILS(load_into(small, file), Errc::exhausted);
  EXPECT_FALSE(small.is_image());
  Tensor none;
  EXPECT_FAILS(load_into(none, file), Errc::invalid_argument);
}

TEST(Reuse, bad_file_leaves_the_label_of_the_tensor) {
  auto tensor = *Tensor::create_image(90, 80, F::rgba);
  tensor.set_colorimetry({.range = ColorRange::limited});
  Bytes cut = test::make_jpeg({.quality = 100});
  cut.resize(cut.size() * 6 / 10);
  Bytes cut_png = *encode_png(*Tensor::create_image(50, 37, F::rgb));
  cut_png.resize(cut_png.size() - 5);
  for (const Bytes& file : {cut, cut_png, Bytes(30), Bytes{}}) {
    EXPECT_FALSE(load_into(tensor, file));
    EXPECT_EQ(tensor.width(), 90U);
    EXPECT_EQ(tensor.format(), F::rgba);
    EXPECT_EQ(tensor.colorimetry(), Colorimetry{.range = ColorRange::limited});
  }
  EXPECT_TRUE(load_into(tensor, test::make_jpeg({}))) << "the decoder works again after a failure";
}

class Hostile : public testing::TestWithParam<int> {
 protected:
  static Bytes file() {
    switch (GetParam()) {
      case 0:
        return test::make_jpeg(
            {.exif = std::string("Exif\0\0", 6) + test::tiff_orientation(6, true)});
      case 1:
        return test::make_jpeg({.progressive = true});
      case 2:
        return test::make_jpeg({.sampling = {{{4, 1}, {1, 1}, {1, 1}}}, .restart_interval = 1});
      case 3:
        return test::make_png({.width = 31, .height = 17}, Bytes(31 * 17 * 3, std::byte{77}));
      case 4:
        return test::make_png({.width = 31,
                               .height = 17,
                               .depth = 16,
                               .color_type = 6,
                               .interlaced = true,
                               .exif = test::tiff_orientation(3, false)},
                              Bytes(31 * 17 * 8, std::byte{77}));
      default: {
        test::PngSpec spec{.width = 31, .height = 17, .color_type = 3};
        spec.palette = {{1, 2, 3}, {4, 5, 6}};
        spec.palette_alpha = {1};
        return test::make_png(spec, Bytes(31 * 17, std::byte{1}));
      }
    }
  }
  // Both loads run to their end; what they answer must be one of the documented codes.
  static void load_both_ways(const Bytes& bytes) {
    const LoadOptions small{.limits = {.max_pixels = 1 << 20}};
    const auto allowed = [](const Error& e) {
      return e.code == Errc::malformed || e.code == Errc::corrupt || e.code == Errc::unsupported ||
             e.code == Errc::invalid_argument;
    };
    const auto native = load(bytes, small);
    if (!native) {
      EXPECT_TRUE(allowed(native.error())) << native.error().message();
    }
    LoadOptions rgb = small;
    rgb.format = F::rgb;
    const auto packed = load(bytes, rgb);
    if (!packed) {
      EXPECT_TRUE(allowed(packed.error())) << packed.error().message();
    }
  }
};

TEST_P(Hostile, every_cut_is_refused) {
  const Bytes whole = file();
  ASSERT_TRUE(load(whole));
  for (std::size_t length = 0; length < whole.size(); length += length < 1200 ? 1 : 97) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(load(cut)) << length << " of " << whole.size();
    load_both_ways(cut);
  }
}

TEST_P(Hostile, flipped_bytes_never_crash) {
  const Bytes whole = file();
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    Bytes broken = whole;
    for (unsigned i = 0; i < 1 + random() % 4; ++i)
      broken[random() % broken.size()] = static_cast<std::byte>(random());
    load_both_ways(broken);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Hostile, testing::Range(0, 6));

TEST(BadInput, truncated_photos_are_refused) {
  for (const char* name : {"zidane_420_319x179.jpg", "bus_161_gray8.png"}) {
    HALYARD_PHOTO(whole, name);
    for (std::size_t length = 0; length < whole.size(); length += 97) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_FALSE(load(cut)) << name << " " << length;
    }
  }
}

TEST(BadInput, wrong_checksum_of_a_png_chunk_is_corrupt) {
  Bytes file = test::make_png({.width = 4, .height = 4}, Bytes(48));
  file[file.size() - 13] ^= std::byte{1};  // last byte of the data's CRC
  EXPECT_FAILS(load(file), Errc::corrupt);
}

TEST(BadInput, scan_bomb_is_refused) {
  // The last component's scan again and again: legal one by one, each walks the whole image.
  const Bytes once = test::make_jpeg({.width = 8, .height = 8, .interleaved = false});
  std::size_t last = 0;
  for (std::size_t i = 2; i + 1 < once.size(); ++i) {
    if (once[i] == std::byte{0xFF} && once[i + 1] == std::byte{0xDA}) last = i;
  }
  const Bytes scan(once.begin() + static_cast<std::ptrdiff_t>(last), once.end() - 2);
  const auto repeated = [&](int times) {
    Bytes file = once;
    for (int i = 0; i < times; ++i)
      file = with_inserted(file, file.size() - 2, scan);
    return file;
  };
  EXPECT_OK(load(repeated(100)));
  EXPECT_FAILS(load(repeated(1000)), Errc::invalid_argument, "more scans");
}

}  // namespace
}  // namespace halyard
