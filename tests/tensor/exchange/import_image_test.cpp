// SPDX-License-Identifier: Apache-2.0
// Images over descriptors: one for all planes or one for each, with strides and offsets that are
// somebody else's choice. Judged by pixels.
#include <gtest/gtest.h>

#include "conformance/buffer_support.h"
#include "halyard/import.h"
#include "halyard/tensor.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using conformance::raw_memfd;

constexpr std::uint64_t tiled = 0x0100000000000002ULL;  // Intel's Y tiling

std::uint8_t mark_byte(std::size_t plane, std::size_t row, std::size_t column) {
  return static_cast<std::uint8_t>(plane * 71 + row * 13 + column * 3 + 1);
}

// Where a plane is put, and where in its object its pixels are expected.
struct Placed {
  std::size_t object, offset;
  std::size_t stride;
};

// Writes marks straight into the objects, past any tensor.
void write_marks(const Fd& object, std::size_t plane, std::size_t offset, std::size_t stride,
                 std::size_t row_bytes, std::size_t rows) {
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<std::uint8_t> row(row_bytes);
    for (std::size_t c = 0; c < row_bytes; ++c)
      row[c] = mark_byte(plane, r, c);
    ASSERT_EQ(
        ::pwrite(object.get(), row.data(), row_bytes, static_cast<off_t>(offset + r * stride)),
        static_cast<ssize_t>(row_bytes));
  }
}

void expect_marks(const Tensor& image) {
  ASSERT_VALUE(const auto map, image.map(Access::read));
  for (std::size_t p = 0; p < map.plane_count(); ++p) {
    const MappedPlane& plane = map.plane(p);
    for (const auto [r, c] : test::grid<std::size_t>(plane.rows, plane.row_bytes))
      ASSERT_EQ(plane.data[r * plane.stride_bytes + c], std::byte{mark_byte(p, r, c)})
          << "plane " << p << ", row " << r << ", column " << c;
  }
}

// Lays `format` over `objects` as told, fills the memory from outside and compares the pixels.
void check(PixelFormat format, std::size_t width, std::size_t height,
           std::span<const Placed> placed, std::span<const Fd> objects) {
  SCOPED_TRACE(std::string(to_string(format)) + " " + std::to_string(width) + "x" +
               std::to_string(height));
  std::vector<PlaneDescriptor> planes;
  for (const Placed& p : placed)
    planes.push_back({objects[p.object].get(), p.stride, p.offset});
  ASSERT_VALUE(const auto image, Importer().import_image(planes, width, height, format));
  for (std::size_t i = 0; i < image.plane_count(); ++i) {
    // In one entry the geometry of the format counts, else what was asked.
    const PlaneGeometry tight = *plane_geometry(format, DType::u8, width, height, 0, i);
    const bool own = placed.size() > 1;
    const PlaneGeometry whole =
        *plane_geometry(format, DType::u8, width, height, own ? 0 : placed[0].stride, i);
    const Placed& where = placed[own ? i : 0];
    const std::size_t stride = !own                ? whole.stride_bytes
                               : where.stride == 0 ? (i == 0 ? tight.stride_bytes : tight.row_bytes)
                                                   : where.stride;
    write_marks(objects[where.object], i, where.offset + (own ? 0 : whole.offset_bytes), stride,
                tight.row_bytes, tight.rows);
  }
  expect_marks(image);
}

TEST(ImportImage, one_descriptor_carries_all_planes) {
  for (const FormatInfo& f : all_formats()) {
    for (const auto& [width, height] : {std::pair<std::size_t, std::size_t>{16, 8}, {17, 5}}) {
      const std::array objects{raw_memfd(65536)};
      check(f.format, width, height, std::array{Placed{0, 0, 0}}, objects);
      check(f.format, width, height, std::array{Placed{0, 4096, 256}}, objects);
    }
  }
}

TEST(ImportImage, two_descriptors_carry_luma_and_chroma) {
  for (const PixelFormat format : {F::nv12, F::nv21, F::nv16, F::nv24}) {
    for (const auto& [width, height] : {std::pair<std::size_t, std::size_t>{16, 8}, {17, 5}}) {
      const std::array objects{raw_memfd(65536), raw_memfd(65536)};
      check(format, width, height, std::array{Placed{0, 0, 0}, Placed{1, 0, 0}}, objects);
      check(format, width, height, std::array{Placed{0, 128, 64}, Placed{1, 64, 96}}, objects);
      check(format, width, height, std::array{Placed{0, 8192, 64}, Placed{0, 100, 80}}, objects);
    }
  }
}

TEST(ImportImage, three_descriptors_carry_i420) {
  const std::array objects{raw_memfd(65536), raw_memfd(65536), raw_memfd(65536)};
  check(F::i420, 17, 5, std::array{Placed{0, 0, 0}, Placed{1, 0, 0}, Placed{2, 0, 0}}, objects);
  check(F::i420, 17, 5, std::array{Placed{0, 64, 64}, Placed{1, 5, 32}, Placed{2, 7, 48}}, objects);
  check(F::i420, 16, 8, std::array{Placed{0, 0, 32}, Placed{0, 4096, 32}, Placed{0, 4112, 32}},
        objects);
}

TEST(ImportImage, planes_of_one_object_are_one_buffer) {
  const Fd fd = raw_memfd(65536);
  const Fd same = *fd.duplicate();
  const std::array<PlaneDescriptor, 2> planes{{{fd.get(), 64, 0}, {same.get(), 64, 4096}}};
  Importer importer;
  const Tensor image = *importer.import_image(planes, 64, 32, F::nv12);
  EXPECT_EQ(image.image_plane(0)->buffer, image.image_plane(1)->buffer);
  EXPECT_EQ(image.image_plane(1)->offset_bytes, 4096U);
  EXPECT_EQ(importer.size(), 1U);
}

TEST(ImportImage, padded_rows_are_written_in_place) {
  const Fd fd = raw_memfd(65536);
  const PlaneDescriptor plane{fd.get(), 128, 256};
  const Tensor image = *Importer().import_image({&plane, 1}, 10, 4, F::rgb);
  {
    const TensorMap map = *image.map(Access::write);
    (*map.view<std::uint8_t, 3>())(3, 9, 2) = 77;
  }
  std::array<std::uint8_t, 1> seen{};
  ASSERT_EQ(::pread(fd.get(), seen.data(), 1, 256 + 3 * 128 + 9 * 3 + 2), 1);
  EXPECT_EQ(seen[0], 77);
}

TEST(ImportImage, other_element_types_have_their_strides_in_bytes) {
  const Fd fd = raw_memfd(65536);
  const PlaneDescriptor plane{fd.get(), 256, 64};
  const Tensor image = *Importer().import_image({&plane, 1}, 20, 4, F::planar_rgb, DType::f32);
  const TensorMap map = *image.map(Access::write);
  (*map.view<float, 3>())(2, 3, 19) = 1.5F;
  float seen = 0;
  ASSERT_EQ(::pread(fd.get(), &seen, 4, 64 + (2 * 4 + 3) * 256 + 19 * 4), 4);
  EXPECT_EQ(seen, 1.5F);
}

TEST(ImportImage, the_last_row_needs_no_padding) {
  const Fd fd = raw_memfd(7 * 64 + 16);
  const PlaneDescriptor plane{fd.get(), 64, 0};
  EXPECT_TRUE(Importer().import_image({&plane, 1}, 16, 8, F::grey));
  EXPECT_FALSE(Importer().import_image({&plane, 1}, 17, 8, F::grey));
}

TEST(ImportImage, keeps_a_modifier_and_refuses_the_cpu) {
  const Fd fd = raw_memfd(4096);
  const std::array<PlaneDescriptor, 2> planes{
      {{fd.get(), 1024, 0, tiled}, {fd.get(), 1024, 4095, tiled}}};
  Tensor image = *Importer().import_image(planes, 640, 480, F::nv12);
  EXPECT_EQ(image.modifier(), tiled);
  EXPECT_EQ(image.row_stride_bytes(), 1024U);
  EXPECT_EQ(image.image_plane(1)->offset_bytes, 4095U);
  EXPECT_FAILS(image.map(Access::read), Errc::unsupported);
  EXPECT_FAILS(image.slice({0, 0, 2, 2}), Errc::unsupported);
  // Its extents were never checked, so no later word makes it mappable.
  image.set_modifier(drm_modifier_linear);
  EXPECT_FAILS(image.map(Access::read), Errc::unsupported);
  EXPECT_FAILS(image.slice({0, 0, 2, 2}), Errc::unsupported);
}

TEST(ImportImage, what_is_made_of_a_tiled_image_stays_away_from_the_cpu) {
  const Fd fd = raw_memfd(100);
  const PlaneDescriptor plane{fd.get(), 64, 0, tiled};
  const Tensor image = *Importer().import_image({&plane, 1}, 64, 64, F::grey);
  Tensor numbers = *image.reshape({64, 64});
  numbers.set_modifier(drm_modifier_linear);
  EXPECT_FAILS(numbers.map(Access::read), Errc::unsupported);
  EXPECT_FAILS(image.with_format(F::bayer_rggb), Errc::invalid_argument) << "there are 100 bytes";
}

TEST(ImportImage, takes_an_untold_modifier_as_linear) {
  const Fd fd = raw_memfd(4096);
  const PlaneDescriptor plane{fd.get(), 64, 0, drm_modifier_invalid};
  const Tensor image = *Importer().import_image({&plane, 1}, 64, 64, F::grey);
  EXPECT_EQ(image.modifier(), drm_modifier_invalid);
  EXPECT_TRUE(image.map(Access::read_write));
}

TEST(ImportImage, a_read_only_descriptor_gives_a_read_only_image) {
  const Fd fd = raw_memfd(4096);
  const Fd read_only = conformance::reopen(fd, O_RDONLY);
  const PlaneDescriptor plane{read_only.get(), 64, 0};
  const Tensor image = *Importer().import_image({&plane, 1}, 64, 64, F::grey);
  EXPECT_TRUE(image.map(Access::read));
  EXPECT_FAILS(image.map(Access::write), Errc::permission);
}

}  // namespace
}  // namespace halyard
