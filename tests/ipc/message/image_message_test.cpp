// SPDX-License-Identifier: Apache-2.0
// Images: encodings, pixels, fills and parts, each against bytes that the test places itself.
#include "halyard/image_message.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstring>
#include <random>
#include <set>
#include <string>

#include "ipc/helpers.h"
#include "plain_planes.h"
#include "scene.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

static_assert(std::is_trivially_copyable_v<ImageMetadata>);
static_assert(std::is_standard_layout_v<ImageMetadata>);

TEST(ImageEncoding, has_a_name_and_comes_back_from_it) {
  std::set<std::string_view> names;
  for (unsigned value = 0; value < 256; ++value) {
    const auto encoding = static_cast<ImageEncoding>(value);
    const ImageEncodingInfo* const row = encoding_info(encoding);
    ASSERT_EQ(row != nullptr, value < 32) << value;
    if (row == nullptr) {
      EXPECT_EQ(to_string(encoding), "unknown");
      continue;
    }
    EXPECT_EQ(row->encoding, encoding);
    EXPECT_TRUE(names.insert(row->name).second);
    EXPECT_EQ(to_string(encoding), row->name);
    EXPECT_EQ(encoding_from_string(row->name), encoding);
    std::string upper(row->name);
    for (char& c : upper)
      c = static_cast<char>(std::toupper(c));
    EXPECT_EQ(encoding_from_string(upper), encoding);
    const auto found = encoding_of(row->format, row->dtype);
    EXPECT_EQ(found, encoding == ImageEncoding::depth16 ? ImageEncoding::mono16 : encoding);
  }
  EXPECT_EQ(all_encodings().size(), 32U);
}

TEST(ImageEncoding, has_the_names_of_the_field) {
  using E = ImageEncoding;
  const std::pair<const char*, E> names[] = {
      {"rgb8", E::rgb8},        {"bgr8", E::bgr8},       {"rgba8", E::rgba8},
      {"bgra8", E::bgra8},      {"mono8", E::mono8},     {"mono16", E::mono16},
      {"32FC1", E::mono32f},    {"32FC3", E::rgb32f},    {"16UC1", E::depth16},
      {"8UC1", E::mono8},       {"nv21", E::nv21},       {"nv24", E::nv24},
      {"yuv422", E::yuv422},    {"uyvy", E::yuv422},     {"yuv422_yuy2", E::yuv422_yuy2},
      {"yuyv", E::yuv422_yuy2}, {"mono32f", E::mono32f}, {"bayer_grbg16", E::bayer_grbg16},
      {"depth16", E::depth16},  {"rgb32f", E::rgb32f},   {"bayer_rggb8", E::bayer_rggb8}};
  for (const auto& [name, encoding] : names)
    EXPECT_EQ(encoding_from_string(name), encoding) << name;
  for (const char* name : {"", "rgb", "rgb8 ", "unknown", "32FC2", "jpeg"})
    EXPECT_FALSE(encoding_from_string(name)) << name;
  EXPECT_EQ(encoding_info(E::yuv422)->format, PixelFormat::uyvy);
  EXPECT_EQ(encoding_info(E::yuv422_yuy2)->format, PixelFormat::yuyv);
  EXPECT_FALSE(encoding_of(PixelFormat::rgb, DType::f64));
}

TEST(Image, says_what_it_is) {
  Tensor tensor = *Tensor::create_image(20, 10, PixelFormat::rgb, DType::u8, Memory::mem);
  Image image = *Image::wrap(tensor);
  EXPECT_EQ(image.width(), 20U);
  EXPECT_EQ(image.height(), 10U);
  EXPECT_EQ(image.channels(), 3U);
  EXPECT_EQ(image.bytes_per_pixel(), 3U);
  EXPECT_EQ(image.step(), 60U);
  EXPECT_EQ(image.nbytes(), 600U);
  EXPECT_EQ(image.dtype(), DType::u8);
  EXPECT_EQ(image.encoding(), ImageEncoding::rgb8);
  EXPECT_EQ(image.format(), PixelFormat::rgb);
  EXPECT_FALSE(image.is_bigendian());
  EXPECT_EQ(image.data()->size(), 600U);
  image.set_timestamp_ns(123456789012345U);
  ASSERT_TRUE(image.set_frame_id("camera/left"));
  EXPECT_EQ(image.frame_id(), "camera/left");
  EXPECT_EQ(image.metadata().header.timestamp_ns, 123456789012345U);
  EXPECT_FALSE(image.set_frame_id(std::string(32, 'x')));
  image.set_colorimetry(Colorimetry::jpeg());
  EXPECT_EQ(image.metadata().colorimetry, Colorimetry::jpeg());
  EXPECT_EQ(image.tensor().colorimetry(), Colorimetry::jpeg());
  // A copy shares the pixels and has metadata of its own.
  Image copy = image;
  copy.set_timestamp_ns(1);
  EXPECT_EQ(image.timestamp_ns(), 123456789012345U);
  EXPECT_EQ(copy.data()->data(), image.data()->data());
}

TEST(Image, counts_channels_of_every_encoding) {
  const std::pair<ImageEncoding, std::pair<std::size_t, std::size_t>> rows[] = {
      {ImageEncoding::mono8, {1, 1}},       {ImageEncoding::mono16, {1, 2}},
      {ImageEncoding::rgb8, {3, 3}},        {ImageEncoding::rgba8, {4, 4}},
      {ImageEncoding::yuv422, {2, 2}},      {ImageEncoding::mono32f, {1, 4}},
      {ImageEncoding::rgb32f, {3, 12}},     {ImageEncoding::bayer_rggb8, {1, 1}},
      {ImageEncoding::depth16, {1, 2}},     {ImageEncoding::rgba16, {4, 8}},
      {ImageEncoding::nv12, {3, 0}},        {ImageEncoding::i420, {3, 0}},
      {ImageEncoding::planar_rgba8, {4, 0}}};
  for (const auto& [encoding, expected] : rows) {
    const ImageEncodingInfo& row = *encoding_info(encoding);
    const Tensor tensor = *Tensor::create_image(4, 4, row.format, row.dtype, Memory::mem);
    const Image image = *Image::wrap(tensor, encoding);
    EXPECT_EQ(image.channels(), expected.first) << row.name;
    EXPECT_EQ(image.bytes_per_pixel(), expected.second) << row.name;
  }
}

// All encodings, sizes 1..65, any stride: travels as a plain tensor and metadata.
TEST(Image, comes_back_from_its_parts) {
  std::mt19937 random(1);
  for (const ImageEncodingInfo& row : all_encodings()) {
    for (int round = 0; round < 20; ++round) {
      Scene s = scene(row, 1 + random() % 65, 1 + random() % 65, random);
      SCOPED_TRACE(::testing::Message() << row.name << " " << s.image.width() << "x"
                                        << s.image.height() << " step " << s.image.step());
      ASSERT_TRUE(s.image.set_frame_id("f"));
      s.image.set_timestamp_ns(5);
      // What a pool gives for a descriptor: bytes, shape and strides, no format.
      const Tensor plain =
          *Tensor::wrap(s.buffer, s.image.tensor().layout(), s.image.tensor().offset_bytes());
      const auto back = value_of(Image::from_parts(plain, s.image.metadata()));
      EXPECT_EQ(std::memcmp(&back.metadata(), &s.image.metadata(), sizeof(ImageMetadata)), 0);
      EXPECT_EQ(back.tensor().format(), row.format);
      EXPECT_EQ(back.tensor().colorimetry(), Colorimetry::jpeg());
      for (std::size_t i = 0; i < back.tensor().plane_count(); ++i) {
        const ImagePlane plane = *back.tensor().image_plane(i);
        EXPECT_EQ(plane.offset_bytes, s.planes[i].offset);
        EXPECT_EQ(plane.stride_bytes, s.planes[i].stride);
        EXPECT_EQ(plane.row_bytes, s.planes[i].row_bytes);
        EXPECT_EQ(plane.rows, s.planes[i].rows);
      }
    }
  }
}

TEST(Image, takes_a_plane_in_front_of_the_first) {
  const auto buffer = *allocate(16 * 16 * 2, Memory::mem);
  const Tensor::PlaneSource planes[] = {{buffer, 256, 16, 0}, {buffer, 0, 16, 0}};
  const Tensor tensor = *Tensor::wrap_image(planes, 16, 16, PixelFormat::nv12);
  const Image image = *Image::wrap(tensor);
  EXPECT_EQ(image.metadata().planes[1].offset_bytes, -256);
  const auto back = value_of(Image::from_parts(tensor, image.metadata()));
  EXPECT_EQ(back.tensor().image_plane(1)->offset_bytes, 0U);
  EXPECT_EQ(image.data()->size(), 512U);
}

TEST(Image, wraps_tensors_of_its_shape) {
  const Tensor rows = *Tensor::create(DType::u8, {6, 8}, Memory::mem);
  const auto mono = value_of(Image::wrap(rows, ImageEncoding::mono8));
  EXPECT_EQ(mono.width(), 8U);
  EXPECT_EQ(mono.height(), 6U);
  EXPECT_EQ(mono.tensor().buffer(), rows.buffer());
  EXPECT_TRUE(Image::wrap(*Tensor::create(DType::u8, {6, 8, 1}), ImageEncoding::bayer_bggr8));
  EXPECT_TRUE(Image::wrap(*Tensor::create(DType::u8, {1, 6, 8, 3}), ImageEncoding::bgr8));
  EXPECT_TRUE(Image::wrap(*Tensor::create(DType::u8, {3, 6, 8}), ImageEncoding::planar_rgb8));
  EXPECT_EQ(Image::wrap(*Tensor::create(DType::u8, {9, 8}), ImageEncoding::nv12)->height(), 6U);
  // Every second column is no image, every second row is.
  const AxisRange columns[] = {AxisRange::all(6), {0, 4, 2, true}};
  EXPECT_FAILS(Image::wrap(*rows.part(columns), ImageEncoding::mono8), Errc::unsupported);
  const AxisRange every_second[] = {{0, 3, 2, true}};
  EXPECT_EQ(Image::wrap(*rows.part(every_second), ImageEncoding::mono8)->step(), 16U);
  const AxisRange upwards[] = {{5, 6, -1, true}};
  EXPECT_FAILS(Image::wrap(*rows.part(upwards), ImageEncoding::mono8), Errc::unsupported);
}

TEST(Image, refuses_tensors_that_are_something_else) {
  const Tensor tensor = *Tensor::create_image(8, 6, PixelFormat::rgb, DType::u8, Memory::mem);
  const auto refused = [](const Result<Image>& image, Errc code, const char* text) {
    EXPECT_FAILS(image, code, text);
  };
  refused(Image::wrap(tensor, ImageEncoding::bgr8), Errc::invalid_argument, "bgr8");
  refused(Image::wrap(tensor, ImageEncoding::rgb16), Errc::invalid_argument, "rgb16");
  refused(Image::wrap(tensor, static_cast<ImageEncoding>(32)), Errc::invalid_argument, "32");
  refused(Image::wrap(Tensor(), ImageEncoding::rgb8), Errc::invalid_argument, "empty");
  refused(Image::wrap(Tensor()), Errc::invalid_argument, "format");
  refused(Image::wrap(*Tensor::create(DType::u8, {6, 8, 3})), Errc::invalid_argument, "format");
  refused(Image::wrap(*Tensor::create_image(4, 4, PixelFormat::rgb, DType::f16)), Errc::unsupported,
          "f16");
  refused(Image::wrap(*Tensor::create(DType::u8, {6, 8, 4}), ImageEncoding::rgb8),
          Errc::invalid_argument, "channel");
  const auto luma = *allocate(64, Memory::mem);
  const auto chroma = *allocate(32, Memory::mem);
  const Tensor::PlaneSource planes[] = {{luma, 0, 8, 0}, {chroma, 0, 8, 0}};
  refused(Image::wrap(*Tensor::wrap_image(planes, 8, 8, PixelFormat::nv12)), Errc::unsupported,
          "buffers");
  Tensor tiled = tensor;
  tiled.set_modifier(1);
  refused(Image::wrap(tiled), Errc::unsupported, "device");
}

TEST(Image, gives_and_takes_single_pixels) {
  std::mt19937 random(2);
  for (const ImageEncodingInfo& row : all_encodings()) {
    Scene s = scene(row, 2 + random() % 30, 1 + random() % 30, random);
    SCOPED_TRACE(row.name);
    if (s.image.bytes_per_pixel() == 0) {
      EXPECT_FAILS(s.image.pixel(0, 0), Errc::unsupported);
      EXPECT_FAILS(s.image.set_pixel(0, 0, {}), Errc::unsupported);
      continue;
    }
    const std::size_t size = s.image.bytes_per_pixel();
    for (int round = 0; round < 20; ++round) {
      const std::size_t x = random() % s.image.width();
      const std::size_t y = random() % s.image.height();
      const std::size_t at = s.planes[0].offset + y * s.planes[0].stride + x * size;
      auto before = s.bytes();
      const auto pixel = value_of(s.image.pixel(x, y));
      ASSERT_EQ(pixel.size(), size);
      EXPECT_EQ(std::memcmp(pixel.data(), before.data() + at, size), 0);
      const auto value = noise(size, random);
      ASSERT_TRUE(s.image.set_pixel(x, y, value));
      std::copy(value.begin(), value.end(), before.begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_EQ(s.bytes(), before);
    }
    EXPECT_FAILS(s.image.pixel(s.image.width(), 0), Errc::invalid_argument);
    EXPECT_FAILS(s.image.pixel(0, s.image.height()), Errc::invalid_argument);
    EXPECT_FAILS(s.image.pixel(SIZE_MAX, SIZE_MAX), Errc::invalid_argument);
    const auto value = noise(size + 1, random);
    EXPECT_FAILS(s.image.set_pixel(s.image.width(), 0, std::span(value).first(size)),
                 Errc::invalid_argument);
    for (const std::size_t wrong : {std::size_t{0}, size - 1, size + 1}) {
      EXPECT_FAILS(s.image.set_pixel(0, 0, std::span(value).first(wrong)), Errc::invalid_argument,
                   std::to_string(size));
    }
  }
}

// Which byte of the value belongs at byte `column` of plane `i`.
std::byte filled_byte(const FormatInfo& f, std::size_t element, std::span<const std::byte> value,
                      std::size_t i, std::size_t column) {
  if (f.kind == FormatKind::packed) return value[column % value.size()];
  if (f.kind != FormatKind::semi_planar || i == 0) return value[i * element + column % element];
  const bool is_v = (column % 2 == 1) != (f.format == PixelFormat::nv21);
  return value[is_v ? 2 : 1];
}

TEST(Image, fills_its_rows_and_nothing_else) {
  std::mt19937 random(3);
  for (const ImageEncodingInfo& row : all_encodings()) {
    const FormatInfo& f = info(row.format);
    const std::size_t element = size_of(row.dtype);
    for (int round = 0; round < 12; ++round) {
      Scene s = scene(row, 1 + random() % 65, 1 + random() % 65, random);
      SCOPED_TRACE(::testing::Message() << row.name << " " << s.image.width());
      const std::size_t bytes = f.kind == FormatKind::packed
                                    ? f.channels * element << f.chroma_shift_x
                                : f.kind == FormatKind::planar ? f.channels * element
                                                               : 3;
      auto value = noise(bytes + 1, random);
      if (round % 4 == 0) std::fill(value.begin(), value.end(), std::byte{7});
      auto expected = s.bytes();
      for (std::size_t i = 0; i < s.planes.size(); ++i) {
        for (std::size_t y = 0; y < s.planes[i].rows; ++y) {
          for (std::size_t x = 0; x < s.planes[i].row_bytes; ++x) {
            expected[s.planes[i].offset + y * s.planes[i].stride + x] =
                filled_byte(f, element, std::span(value).first(bytes), i, x);
          }
        }
      }
      ASSERT_TRUE(s.image.fill(std::span(value).first(bytes)));
      EXPECT_EQ(s.bytes(), expected);
      EXPECT_FAILS(s.image.fill(value), Errc::invalid_argument);
      EXPECT_FAILS(s.image.fill({}), Errc::invalid_argument);
      EXPECT_EQ(s.bytes(), expected);
    }
  }
}

TEST(Image, fills_with_a_pixel_of_its_own_and_beyond_the_first_cache) {
  std::mt19937 random(4);
  Tensor tensor = *Tensor::create_image(4001, 7, PixelFormat::rgb, DType::f32, Memory::mem);
  Image image = *Image::wrap(tensor);
  ASSERT_TRUE(image.set_pixel(4000, 3, noise(12, random)));
  const auto own = *image.pixel(4000, 3);
  const std::vector<std::byte> value(own.begin(), own.end());
  ASSERT_TRUE(image.fill(own));
  const auto all = *image.data();
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], value[i % 12]) << i;
}

TEST(Image, copies_bytes_in_and_refuses_other_lengths) {
  std::mt19937 random(6);
  for (const ImageEncodingInfo& row : all_encodings()) {
    Scene s = scene(row, 1 + random() % 40, 1 + random() % 40, random);
    const auto bytes = noise(s.image.nbytes() + 1, random);
    ASSERT_TRUE(s.image.copy_from(std::span(bytes).first(s.image.nbytes())));
    const auto back = *s.image.copy_roi(
        {0, 0, static_cast<int>(s.image.width()), static_cast<int>(s.image.height())});
    const auto tight =
        plain_planes(row.format, size_of(row.dtype), s.image.width(), s.image.height(),
                     *tight_stride(row.format, row.dtype, s.image.width()), 0);
    for (const PlainPlane& plane : tight) {
      for (std::size_t y = 0; y < plane.rows; ++y) {
        const std::size_t at = plane.offset + y * plane.stride;
        EXPECT_EQ(std::memcmp(back.data() + at, bytes.data() + at, plane.row_bytes), 0);
      }
    }
    EXPECT_FAILS(s.image.copy_from(bytes), Errc::invalid_argument);
    EXPECT_FAILS(s.image.copy_from({}), Errc::invalid_argument);
  }
}

TEST(Image, is_not_written_where_memory_is_read_only) {
  static constexpr std::array<std::byte, 48> constant{};
  const auto memory = *wrap_memory(static_cast<const void*>(constant.data()), 48, {});
  const Tensor::PlaneSource whole{memory};
  Image image = *Image::wrap(*Tensor::wrap_image({&whole, 1}, 4, 4, PixelFormat::rgb));
  const std::array<std::byte, 3> value{};
  EXPECT_TRUE(image.pixel(3, 3));
  EXPECT_FAILS(image.set_pixel(0, 0, value), Errc::permission);
  EXPECT_FAILS(image.fill(value), Errc::permission);
  EXPECT_FAILS(image.data_mut(), Errc::permission);
  EXPECT_FAILS(image.copy_from(std::vector<std::byte>(48)), Errc::permission);
}

TEST(Image, that_was_moved_from_fails_and_does_not_crash) {
  Image image = *Image::wrap(*Tensor::create_image(4, 4, PixelFormat::rgb, DType::u8, Memory::mem));
  const Image taken = std::move(image);
  const std::array<std::byte, 3> value{};
  EXPECT_FAILS(image.pixel(0, 0), Errc::invalid_argument);  // NOLINT
  EXPECT_FAILS(image.set_pixel(0, 0, value), Errc::invalid_argument);
  EXPECT_FAILS(image.fill(value), Errc::invalid_argument);
  EXPECT_FAILS(image.data(), Errc::invalid_argument);
  EXPECT_FAILS(image.roi({0, 0, 1, 1}), Errc::invalid_argument);
  EXPECT_FAILS(image.copy_roi({0, 0, 1, 1}), Errc::invalid_argument);
  EXPECT_EQ(image.format(), PixelFormat::rgb);
  EXPECT_EQ(image.nbytes(), 0U);
}

}  // namespace
}  // namespace halyard
