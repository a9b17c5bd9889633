// SPDX-License-Identifier: Apache-2.0
// JPEG and PNG in C.
#include <array>
#include <fstream>
#include <iterator>
#include <vector>

#include "halyard/codec.h"
#include "halyard/import.h"
#include "owned.h"
#include "support/folder.h"

namespace {

using namespace halyard::test;
using Bytes = std::vector<std::uint8_t>;

Bytes read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
}

// A JPEG of 24 x 16 pixels, the left half dark, the right half bright.
Bytes jpeg(const halyard::test::Folder& folder) {
  const Tensor image = make_image(24, 16, HAL_PIXEL_FORMAT_GREY);
  {
    const Map map(hal_tensor_map_create(image));
    auto* const at = static_cast<std::uint8_t*>(hal_tensor_map_data(map));
    for (std::size_t i = 0; i < hal_tensor_map_size(map); ++i)
      at[i] = i % 24 < 12 ? 30 : 220;
  }
  const std::string path = folder / "written.jpg";
  EXPECT_DONE(hal_tensor_save_jpeg(image, path.c_str(), 95));
  return read(path);
}

int decode(hal_tensor* into, const Bytes& file, int format = -1) {
  return hal_tensor_decode_image(into, file.data(), file.size(), format, nullptr, nullptr);
}

int decode_27(hal_tensor* into, const std::uint8_t* data, std::size_t size) {
  return hal_tensor_decode_image_27(into, data, size, nullptr, nullptr, nullptr, nullptr);
}

// With an EXIF segment that says only the orientation.
Bytes oriented(Bytes file, std::uint8_t tag) {
  const Bytes segment{0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0,    0,    'M', 'M',
                      0,    42,   0, 0,  0,   8,   0,   1,   0x01, 0x12, 0,   3,
                      0,    0,    0, 1,  0,   tag, 0,   0,   0,    0,    0,   0};
  file.insert(file.begin() + 2, segment.begin(), segment.end());
  return file;
}

TEST(CapiCodec, decodes_in_both_forms) {
  const halyard::test::Folder folder;
  const Bytes file = jpeg(folder);
  const Tensor tensor = make_image(24, 16, HAL_PIXEL_FORMAT_RGB);
  std::size_t width = 0;
  std::size_t height = 0;
  errno = 77;
  ASSERT_DONE(hal_tensor_decode_image(tensor, file.data(), file.size(), HAL_PIXEL_FORMAT_RGB,
                                      &width, &height));
  EXPECT_EQ(errno, 77);
  EXPECT_EQ(width, 24U);
  EXPECT_EQ(height, 16U);
  EXPECT_NEAR(byte_at(tensor, 0), 30, 3);
  EXPECT_NEAR(byte_at(tensor, 23 * 3), 220, 3);
  EXPECT_DONE(decode(tensor, file));
  EXPECT_EQ(hal_tensor_pixel_format(tensor), HAL_PIXEL_FORMAT_GREY) << "the file's own";
  EXPECT_DONE(decode_27(tensor, file.data(), file.size()));
  hal_colorimetry colours{};
  hal_tensor_colorimetry(tensor, &colours);
  EXPECT_EQ(colours.range, 1) << "full";
}

TEST(CapiCodec, limits_count_in_every_call_that_decodes) {
  const halyard::test::Folder folder;
  const Bytes file = jpeg(folder);
  const std::string path = folder / "written.jpg";
  const Tensor tensor = make_image(24, 16, HAL_PIXEL_FORMAT_RGB);
  const std::size_t usual = hal_decode_limit_get(HAL_DECODE_LIMIT_PIXELS);
  EXPECT_EQ(usual, std::size_t{1} << 28);
  ASSERT_DONE(hal_decode_limit_set(HAL_DECODE_LIMIT_PIXELS, 24 * 16 - 1));
  EXPECT_EQ(hal_decode_limit_get(HAL_DECODE_LIMIT_PIXELS), 383U);
  const char* const limit = "limits.max_pixels";
  EXPECT_ERROR(-1, EBADMSG, limit, decode(tensor, file));
  EXPECT_ERROR(-1, EBADMSG, limit,
               hal_tensor_decode_image_file(tensor, path.c_str(), -1, nullptr, nullptr));
  EXPECT_ERROR(-1, EBADMSG, limit, decode_27(tensor, file.data(), file.size()));
  EXPECT_ERRNO(nullptr, EBADMSG, hal_tensor_load_file(path.c_str(), HAL_PIXEL_FORMAT_RGB));
  ASSERT_DONE(hal_decode_limit_set(HAL_DECODE_LIMIT_PIXELS, usual));
  EXPECT_DONE(decode(tensor, file));
}

TEST(CapiCodec, each_limit_is_a_field_of_its_own) {
  std::array<std::size_t, 8> before{};
  for (int i = 0; i < 8; ++i) {
    const auto limit = static_cast<hal_decode_limit>(i);
    before[static_cast<std::size_t>(i)] = hal_decode_limit_get(limit);
    EXPECT_DONE(hal_decode_limit_set(limit, 100 + static_cast<std::size_t>(i)));
  }
  const halyard::DecodeLimits now = halyard::DecodeLimits::defaults();
  EXPECT_EQ(now, (halyard::DecodeLimits{100, 101, 102, 103, 104, 105, 106, 107}));
  for (int i = 0; i < 8; ++i)
    hal_decode_limit_set(static_cast<hal_decode_limit>(i), before[static_cast<std::size_t>(i)]);
  EXPECT_EQ(halyard::DecodeLimits::defaults(), halyard::DecodeLimits{});
  EXPECT_ERRNO(-1, EINVAL, hal_decode_limit_set(static_cast<hal_decode_limit>(8), 1));
  EXPECT_EQ(hal_decode_limit_get(static_cast<hal_decode_limit>(-1)), 0U);
}

TEST(CapiCodec, tells_every_orientation_as_mirror_then_turn) {
  const halyard::test::Folder folder;
  const Bytes plain = jpeg(folder);
  const Tensor tensor = make_image(24, 16, HAL_PIXEL_FORMAT_RGB);
  constexpr std::array<std::pair<int, bool>, 9> expected{{{0, false},
                                                          {0, false},
                                                          {0, true},
                                                          {180, false},
                                                          {180, true},
                                                          {270, true},
                                                          {90, false},
                                                          {90, true},
                                                          {270, false}}};
  for (std::uint8_t tag = 1; tag <= 8; ++tag) {
    const Bytes file = oriented(plain, tag);
    std::uint16_t degrees = 1;
    bool mirrored = tag % 2 == 0;
    std::size_t width = 0;
    ASSERT_DONE(hal_tensor_decode_image_27(tensor, file.data(), file.size(), &width, nullptr,
                                           &degrees, &mirrored));
    EXPECT_EQ(degrees, expected[tag].first) << int{tag};
    EXPECT_EQ(mirrored, expected[tag].second) << int{tag};
    EXPECT_EQ(width, 24U) << "as stored";
  }
}

// HAL's programs turn the image themselves; nothing may turn it before.
TEST(CapiCodec, converts_decoded_images_as_they_are_stored) {
  const halyard::test::Folder folder;
  const Bytes file = oriented(jpeg(folder), 6);
  const Tensor tensor = make_image(24, 16, HAL_PIXEL_FORMAT_GREY);
  ASSERT_DONE(decode(tensor, file, HAL_PIXEL_FORMAT_GREY));
  const Processor processor{hal_image_processor_new()};
  const Tensor stored = make_image(24, 16, HAL_PIXEL_FORMAT_GREY);
  ASSERT_DONE(convert(processor, tensor, stored));
  EXPECT_NEAR(byte_at(stored, 23), 220, 3) << "the right half is bright";
  const Tensor rotated = make_image(16, 24, HAL_PIXEL_FORMAT_GREY);
  ASSERT_DONE(convert(processor, tensor, rotated, HAL_ROTATION_ROTATE90));
  EXPECT_NEAR(byte_at(rotated, 15), 30, 3) << "the left half is on top";
}

TEST(CapiCodec, loads_images_upright_in_any_format) {
  const halyard::test::Folder folder;
  const std::string path = folder / "rotated.jpg";
  write(path, oriented(jpeg(folder), 6));
  for (const auto format : {HAL_PIXEL_FORMAT_RGB, HAL_PIXEL_FORMAT_GREY, HAL_PIXEL_FORMAT_NV12,
                            HAL_PIXEL_FORMAT_PLANAR_RGB, HAL_PIXEL_FORMAT_BGRA}) {
    const Tensor tensor(hal_tensor_load_file(path.c_str(), format));
    ASSERT_TRUE(tensor) << format << hal_last_error();
    EXPECT_EQ(hal_tensor_pixel_format(tensor), format);
    EXPECT_EQ(hal_tensor_width(tensor), 16U) << "a rotation by 90 degrees";
    EXPECT_EQ(hal_tensor_height(tensor), 24U);
  }
  const Tensor grey(hal_tensor_load_file(path.c_str(), HAL_PIXEL_FORMAT_GREY));
  EXPECT_NEAR(byte_at(grey, 8), 30, 3) << "the left half is on top";
  EXPECT_NEAR(byte_at(grey, 23 * hal_tensor_row_stride(grey) + 8), 220, 3);
}

TEST(CapiCodec, tells_what_is_wrong_with_data) {
  const halyard::test::Folder folder;
  const Bytes file = jpeg(folder);
  Bytes half(file.begin(), file.begin() + static_cast<long>(file.size() / 2));
  const Tensor tensor = make_image(24, 16, HAL_PIXEL_FORMAT_RGB);
  const Tensor small = make_image(4, 4, HAL_PIXEL_FORMAT_RGB);
  const Tensor floats = make_image(24, 16, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_F32);
  EXPECT_ERRNO(-1, EBADMSG, decode(tensor, half));
  EXPECT_ERRNO(-1, EBADMSG, decode(tensor, {1, 2, 3, 4}));
  EXPECT_ERRNO(-1, EBADMSG, decode(floats, file));
  EXPECT_ERRNO(-1, ENOSPC, decode(small, file));
  EXPECT_EQ(hal_tensor_width(small), 4U) << "failing changes nothing";
  EXPECT_ERRNO(-1, EINVAL, decode(tensor, file, HAL_PIXEL_FORMAT_NV12));
  EXPECT_ERRNO(-1, EINVAL, decode(tensor, file, -2));
  EXPECT_ERRNO(-1, EINVAL, decode(nullptr, file));
  EXPECT_ERRNO(-1, EINVAL, decode_27(tensor, nullptr, 4));
  EXPECT_ERRNO(-1, EINVAL, decode_27(tensor, file.data(), 0));
  EXPECT_ERRNO(-1, EBADMSG, decode_27(tensor, half.data(), half.size()));
}

TEST(CapiCodec, tells_what_is_wrong_with_files) {
  const halyard::test::Folder folder;
  const std::string good = folder / "written.jpg";
  const std::string empty = folder / "empty.jpg";
  jpeg(folder);
  write(empty, {});
  const Tensor tensor = make_image(24, 16, HAL_PIXEL_FORMAT_RGB);
  const auto decode = [&](const char* path) {
    return hal_tensor_decode_image_file(tensor, path, -1, nullptr, nullptr);
  };
  const auto decode_27 = [&](const char* path) {
    return hal_tensor_decode_image_file_27(tensor, path, nullptr, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(decode(good.c_str()), 0);
  EXPECT_EQ(decode_27(good.c_str()), 0);
  for (const auto& [path, code] : {std::pair<std::string, int>{folder / "none.jpg", ENOENT},
                                   {empty, EINVAL},
                                   {"\xff", EINVAL},
                                   {"", EINVAL}}) {
    EXPECT_ERRNO(-1, code, decode(path.c_str()));
    EXPECT_ERRNO(-1, code, decode_27(path.c_str()));
    EXPECT_ERRNO(nullptr, code, hal_tensor_load_file(path.c_str(), HAL_PIXEL_FORMAT_RGB));
  }
  EXPECT_ERRNO(-1, EINVAL, decode(nullptr));
  EXPECT_ERRNO(nullptr, EINVAL,
               hal_tensor_load_file(good.c_str(), static_cast<hal_pixel_format>(-1)));
  EXPECT_ERRNO(nullptr, ENOTSUP, hal_tensor_load_file(good.c_str(), HAL_PIXEL_FORMAT_BAYER_RGGB));
}

TEST(CapiCodec, saves_rows_at_their_own_pitch) {
  const halyard::test::Folder folder;
  const std::string path = folder / "part.jpg";
  const Tensor whole = make_image(64, 16, HAL_PIXEL_FORMAT_RGB);
  paint(whole, 255);
  const Tensor part(hal_tensor_view(whole, hal_region_new(8, 0, 16, 16)));
  paint(make_image(1, 1, HAL_PIXEL_FORMAT_RGB), 0);
  for (const int quality : {0, 101, -5, 80}) {
    ASSERT_DONE(hal_tensor_save_jpeg(part, path.c_str(), quality));
    const Tensor back(hal_tensor_load_file(path.c_str(), HAL_PIXEL_FORMAT_GREY));
    ASSERT_TRUE(back);
    EXPECT_EQ(hal_tensor_width(back), 16U);
    for (const std::size_t at : {0U, 100U, 255U})
      EXPECT_GT(byte_at(back, at), 250);
  }
  EXPECT_ERRNO(-1, ENOENT, hal_tensor_save_jpeg(part, (folder / "no/where.jpg").c_str(), 80));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_save_jpeg(part, nullptr, 80));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_save_jpeg(part, "\xc0\x80", 80));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_save_jpeg(nullptr, path.c_str(), 80));
  const Tensor floats = make_image(16, 16, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_F32);
  EXPECT_ERRNO(-1, ENOTSUP, hal_tensor_save_jpeg(floats, path.c_str(), 80));
}

}  // namespace
