// SPDX-License-Identifier: Apache-2.0
// Layouts of TIFF files: planes, strips, tiles, samples beside the colours, few bits.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

#include "halyard/codec.h"
#include "support.h"
#include "support/result.h"

namespace halyard::test {
namespace {

enum Tag : std::uint16_t {
  image_width = 256,
  image_length = 257,
  bits_per_sample = 258,
  compression = 259,
  photometric = 262,
  strip_offsets = 273,
  samples_per_pixel = 277,
  rows_per_strip = 278,
  strip_byte_counts = 279,
  planar_configuration = 284,
  color_map = 320,
  tile_width = 322,
  tile_length = 323,
  tile_offsets = 324,
  tile_byte_counts = 325,
  extra_samples = 338,
};
constexpr std::uint16_t inverted = 0, grey = 1, rgb = 2, palette = 3;

struct TiffSpec {
  std::size_t width = 0, height = 0, samples = 1, bits = 8;
  std::uint16_t color = grey;
  bool is_separate = false;
  std::size_t band_rows = 1000;  ///< of a strip or tile
  std::size_t tile_columns = 0;  ///< 0: strips
  std::vector<std::uint32_t> extras = {};
  std::vector<std::uint32_t> colors = {};  ///< red, green and blue of all entries
};

/// An uncompressed file, little-endian, of the samples `at(x, y, sample)`.
class TiffWriter {
 public:
  using Samples = std::function<unsigned(std::size_t, std::size_t, std::size_t)>;
  TiffWriter(const TiffSpec& spec, Samples at) : spec_(spec), at_(std::move(at)) {}

  Bytes file() {
    put(out_, 0x2A4949, 4);  // "II*"
    put(out_, 0, 4);
    for (std::size_t plane = 0; plane < (spec_.is_separate ? spec_.samples : 1); ++plane)
      write_bands(plane);
    const bool is_tiled = spec_.tile_columns != 0;
    entry(image_width, {static_cast<std::uint32_t>(spec_.width)});
    entry(image_length, {static_cast<std::uint32_t>(spec_.height)});
    entry(bits_per_sample,
          std::vector<std::uint32_t>(spec_.samples, static_cast<std::uint32_t>(spec_.bits)), 3);
    entry(compression, {1}, 3);
    entry(photometric, {spec_.color}, 3);
    if (!is_tiled) entry(strip_offsets, offsets_);
    entry(samples_per_pixel, {static_cast<std::uint32_t>(spec_.samples)}, 3);
    if (!is_tiled) entry(rows_per_strip, {static_cast<std::uint32_t>(spec_.band_rows)});
    if (!is_tiled) entry(strip_byte_counts, counts_);
    entry(planar_configuration, {spec_.is_separate ? 2U : 1U}, 3);
    if (!spec_.colors.empty()) entry(color_map, spec_.colors, 3);
    if (is_tiled) entry(tile_width, {static_cast<std::uint32_t>(spec_.tile_columns)});
    if (is_tiled) entry(tile_length, {static_cast<std::uint32_t>(spec_.band_rows)});
    if (is_tiled) entry(tile_offsets, offsets_);
    if (is_tiled) entry(tile_byte_counts, counts_);
    if (!spec_.extras.empty()) entry(extra_samples, spec_.extras, 3);
    for (std::size_t i = 0; i < 4; ++i)
      out_[4 + i] = static_cast<std::byte>(out_.size() >> (8 * i));
    put(out_, entries_.size() / 12, 2);
    out_.insert(out_.end(), entries_.begin(), entries_.end());
    put(out_, 0, 4);
    return out_;
  }

 private:
  void write_bands(std::size_t plane) {
    const bool is_tiled = spec_.tile_columns != 0;
    const std::size_t columns = is_tiled ? spec_.tile_columns : spec_.width;
    for (std::size_t top = 0; top < spec_.height; top += spec_.band_rows)
      for (std::size_t left = 0; left < spec_.width; left += columns) {
        offsets_.push_back(static_cast<std::uint32_t>(out_.size()));
        const std::size_t rows =
            is_tiled ? spec_.band_rows : std::min(spec_.band_rows, spec_.height - top);
        for (std::size_t y = top; y < top + rows; ++y)
          write_row(plane, left, columns, y);
        counts_.push_back(static_cast<std::uint32_t>(out_.size()) - offsets_.back());
        if (out_.size() % 2 != 0) put(out_, 0, 1);
      }
  }
  void write_row(std::size_t plane, std::size_t left, std::size_t columns, std::size_t y) {
    std::uint64_t held = 0;
    std::size_t held_bits = 0;
    for (std::size_t x = left; x < left + columns; ++x)
      for (std::size_t s = 0; s < (spec_.is_separate ? 1 : spec_.samples); ++s) {
        const bool is_inside = x < spec_.width && y < spec_.height;
        const unsigned value = is_inside ? at_(x, y, spec_.is_separate ? plane : s) : 0x55;
        if (spec_.bits >= 8) {
          put(out_, value, static_cast<int>(spec_.bits / 8));
          continue;
        }
        held = held << spec_.bits | value;
        held_bits += spec_.bits;
        if (held_bits % 8 == 0) put(out_, held & 255U, 1);
      }
    if (held_bits % 8 != 0) put(out_, held << (8 - held_bits % 8) & 255U, 1);
  }
  // A field of 16 (type 3) or 32 (type 4) bits.
  void entry(std::uint16_t tag, const std::vector<std::uint32_t>& values, int type = 4) {
    const int bytes = type == 3 ? 2 : 4;
    Bytes packed;
    for (const std::uint32_t value : values)
      put(packed, value, bytes);
    put(entries_, tag, 2);
    put(entries_, static_cast<std::uint64_t>(type), 2);
    put(entries_, values.size(), 4);
    if (packed.size() <= 4) {
      packed.resize(4);
      entries_.insert(entries_.end(), packed.begin(), packed.end());
      return;
    }
    put(entries_, out_.size(), 4);
    out_.insert(out_.end(), packed.begin(), packed.end());
  }

  const TiffSpec spec_;
  Samples at_;
  Bytes out_, entries_;
  std::vector<std::uint32_t> offsets_, counts_;
};

unsigned noise(std::size_t x, std::size_t y, std::size_t sample) {
  return static_cast<unsigned>((x * 37 + y * 101 + sample * 71 + 5) & 255U);
}

/// Whether the file is an image of these channels with values of `expected(x, y, channel)`.
template <class T, class Expected>
void expect_image(const TiffSpec& spec, const TiffWriter::Samples& at, PixelFormat format,
                  Expected&& expected) {
  const Bytes file = TiffWriter(spec, at).file();
  ASSERT_VALUE(const ImageFileInfo header, peek(file));
  ASSERT_EQ(header.native_format, format);
  ASSERT_EQ(header.width, spec.width);
  ASSERT_EQ(header.height, spec.height);
  Tensor image = *Tensor::create_image(spec.width, spec.height, format, *dtype_of<T>);
  ASSERT_OK(load_into(image, file));
  const std::vector<T> found = elements<T>(image);
  const std::size_t channels = info(format).channels;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t x = i / channels % spec.width, y = i / channels / spec.width;
    ASSERT_EQ(found[i], expected(x, y, i % channels)) << x << " " << y << " " << i % channels;
  }
}

struct TiffLayouts : testing::Test {
  void SetUp() override {
    if (!kind_of(ImageFileType::tiff).is_read) GTEST_SKIP() << "built without libtiff";
  }
};

TEST_F(TiffLayouts, planes_strips_and_tiles_give_the_same_pixels) {
  const auto wide = [](std::size_t x, std::size_t y, std::size_t s) {
    return noise(x, y, s) * 256 + noise(y, x, s);
  };
  for (const bool is_separate : {false, true})
    for (const std::size_t tile_columns : {std::size_t{0}, std::size_t{16}})
      for (const std::size_t samples : {1, 3}) {
        SCOPED_TRACE(testing::Message() << is_separate << tile_columns << samples);
        TiffSpec spec{.width = 37, .height = 21, .samples = samples};
        spec.color = samples == 1 ? grey : rgb;
        spec.is_separate = is_separate;
        spec.tile_columns = tile_columns;
        spec.band_rows = tile_columns == 0 ? 4 : 16;
        const PixelFormat format = samples == 1 ? PixelFormat::grey : PixelFormat::rgb;
        expect_image<std::uint8_t>(spec, noise, format, noise);
        spec.bits = 16;
        expect_image<std::uint16_t>(spec, wide, format, wide);
      }
}

TEST_F(TiffLayouts, the_first_sample_beside_the_colours_may_be_alpha) {
  constexpr std::uint32_t other = 0, associated = 1, unassociated = 2;
  const auto straight = [](std::size_t x, std::size_t y, std::size_t c) {
    const unsigned alpha = noise(x, y, 3);
    if (c == 3) return alpha;
    return alpha == 0 ? 0U : std::min(255U, noise(x, y, c) * 255 / alpha);
  };
  for (const bool is_separate : {false, true})
    for (const auto& extras : std::vector<std::vector<std::uint32_t>>{
             {other}, {associated}, {unassociated}, {other, associated}, {associated, other}}) {
      SCOPED_TRACE(testing::Message() << is_separate << extras[0] << extras.size());
      TiffSpec spec{.width = 9, .height = 5, .samples = 3 + extras.size(), .color = rgb};
      spec.is_separate = is_separate;
      spec.extras = extras;
      if (extras[0] == other) expect_image<std::uint8_t>(spec, noise, PixelFormat::rgb, noise);
      if (extras[0] == unassociated)
        expect_image<std::uint8_t>(spec, noise, PixelFormat::rgba, noise);
      if (extras[0] == associated)
        expect_image<std::uint8_t>(spec, noise, PixelFormat::rgba, straight);
    }
}

TEST_F(TiffLayouts, few_bits_are_scaled_and_palettes_are_colours) {
  for (const std::size_t bits : {1, 2, 4, 8}) {
    SCOPED_TRACE(bits);
    const unsigned maximum = (1U << bits) - 1;
    const auto at = [&](std::size_t x, std::size_t y, std::size_t) {
      return noise(x, y, 0) & maximum;
    };
    TiffSpec spec{.width = 21, .height = 6, .bits = bits, .band_rows = 2};
    expect_image<std::uint8_t>(
        spec, at, PixelFormat::grey,
        [&](std::size_t x, std::size_t y, std::size_t) { return at(x, y, 0) * 255 / maximum; });
    spec.color = inverted;
    expect_image<std::uint8_t>(spec, at, PixelFormat::grey,
                               [&](std::size_t x, std::size_t y, std::size_t) {
                                 return 255 - at(x, y, 0) * 255 / maximum;
                               });
    // Entries of 16 bits; where none is above 255, of 8 bits.
    spec.color = palette;
    for (const unsigned factor : {1U, 257U}) {
      spec.colors.clear();
      for (unsigned i = 0; i < 3 * (maximum + 1); ++i)
        spec.colors.push_back((i * 29 + 200) % 256 * factor);
      expect_image<std::uint8_t>(spec, at, PixelFormat::rgb,
                                 [&](std::size_t x, std::size_t y, std::size_t c) {
                                   return spec.colors[c * (maximum + 1) + at(x, y, 0)] / factor;
                                 });
    }
  }
}

TEST_F(TiffLayouts, what_reading_holds_beside_the_pixels_counts_towards_the_limit) {
  // A band of three planes of 48 x 16, and two tiles of 16 x 16 with three samples each.
  TiffSpec spec{.width = 48, .height = 32, .samples = 3, .color = rgb};
  spec.is_separate = true;
  spec.tile_columns = 16;
  spec.band_rows = 16;
  const Bytes file = TiffWriter(spec, noise).file();
  constexpr std::size_t needed = 48 * 32 * 3 + 48 * 16 * 3 + 2 * 16 * 16 * 3;
  EXPECT_OK(load(file, {.limits = {.max_bytes = needed}}));
  EXPECT_FAILS(load(file, {.limits = {.max_bytes = needed - 1}}), Errc::invalid_argument,
               "max_bytes");
}

}  // namespace
}  // namespace halyard::test
