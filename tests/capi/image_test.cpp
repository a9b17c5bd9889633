// SPDX-License-Identifier: Apache-2.0
// Image tensors in C: strides, formats, parts, alignment, and what is refused.
#include <array>
#include <limits>
#include <vector>

#include "owned.h"

namespace {

using namespace halyard::test;

TEST(CapiImage, knows_every_format) {
  struct Row {
    hal_pixel_format format;
    std::array<std::size_t, 3> shape;
    std::size_t rank, channels;
    bool planar;
  };
  const std::array rows{
      Row{HAL_PIXEL_FORMAT_YUYV, {6, 8, 2}, 3, 2, false},
      Row{HAL_PIXEL_FORMAT_NV12, {9, 8}, 2, 1, true},
      Row{HAL_PIXEL_FORMAT_NV16, {12, 8}, 2, 1, true},
      Row{HAL_PIXEL_FORMAT_RGBA, {6, 8, 4}, 3, 4, false},
      Row{HAL_PIXEL_FORMAT_RGB, {6, 8, 3}, 3, 3, false},
      Row{HAL_PIXEL_FORMAT_GREY, {6, 8, 1}, 3, 1, false},
      Row{HAL_PIXEL_FORMAT_PLANAR_RGB, {3, 6, 8}, 3, 3, true},
      Row{HAL_PIXEL_FORMAT_PLANAR_RGBA, {4, 6, 8}, 3, 4, true},
      Row{HAL_PIXEL_FORMAT_BGRA, {6, 8, 4}, 3, 4, false},
      Row{HAL_PIXEL_FORMAT_VYUY, {6, 8, 2}, 3, 2, false},
      Row{HAL_PIXEL_FORMAT_NV24, {18, 8}, 2, 1, true},
  };
  for (const Row& row : rows) {
    const Tensor tensor = make_image(8, 6, row.format);
    ASSERT_TRUE(tensor) << row.format << hal_last_error();
    std::size_t rank = 0;
    const std::size_t* const shape = hal_tensor_shape(tensor, &rank);
    ASSERT_EQ(rank, row.rank) << row.format;
    EXPECT_TRUE(std::equal(shape, shape + rank, row.shape.begin())) << row.format;
    EXPECT_EQ(hal_tensor_width(tensor), 8U);
    EXPECT_EQ(hal_tensor_height(tensor), 6U);
    EXPECT_EQ(hal_tensor_pixel_format(tensor), row.format);
    EXPECT_EQ(hal_tensor_channels(tensor), row.channels) << row.format;
    EXPECT_EQ(hal_tensor_is_planar(tensor), row.planar) << row.format;
  }
}

TEST(CapiImage, pads_rows_of_semi_planar_images_alone) {
  const Tensor rgb = make_image(30, 6, HAL_PIXEL_FORMAT_RGB);
  EXPECT_EQ(hal_tensor_row_stride(rgb), 90U);
  EXPECT_EQ(hal_tensor_effective_row_stride(rgb), 90U);
  EXPECT_EQ(hal_tensor_recorded_row_stride(rgb), 0U) << "flat";
  const Tensor nv12 = make_image(31, 6, HAL_PIXEL_FORMAT_NV12);
  EXPECT_EQ(hal_tensor_row_stride(nv12), 64U);
  EXPECT_EQ(hal_tensor_recorded_row_stride(nv12), 64U);
  EXPECT_EQ(hal_tensor_size(nv12), 31U * 9);
  const Map map(hal_tensor_map_create(nv12));
  EXPECT_EQ(hal_tensor_map_len(map), 31U * 9);
  EXPECT_EQ(hal_tensor_map_size(map), 64U * 9) << "all rows at their stride";
  EXPECT_ERRNO(0U, EINVAL, hal_tensor_recorded_row_stride(nullptr));
  EXPECT_ERRNO(0U, EINVAL, hal_tensor_effective_row_stride(nullptr));
  EXPECT_ERRNO(0U, EINVAL, hal_tensor_row_stride(nullptr));
}

TEST(CapiImage, refuses_sizes_and_values_that_are_none) {
  constexpr auto mem = HAL_TENSOR_MEMORY_MEM;
  constexpr auto rgb = HAL_PIXEL_FORMAT_RGB;
  constexpr auto u8 = HAL_DTYPE_U8;
  EXPECT_ERRNO(nullptr, EINVAL, hal_tensor_new_image(0, 4, rgb, u8, mem));
  EXPECT_ERRNO(nullptr, EINVAL, hal_tensor_new_image(4, 0, rgb, u8, mem));
  EXPECT_ERRNO(nullptr, EINVAL, hal_tensor_new_image(70000, 4, rgb, u8, mem));
  for (const int wrong : {-1, 20, 1000}) {
    EXPECT_ERROR(nullptr, EINVAL, "format",
                 hal_tensor_new_image(4, 4, static_cast<hal_pixel_format>(wrong), u8, mem));
    EXPECT_ERRNO(nullptr, EINVAL,
                 hal_tensor_new_image(4, 4, rgb, static_cast<hal_dtype>(wrong), mem));
    EXPECT_ERROR(nullptr, EINVAL, "access",
                 hal_tensor_new_image_27(4, 4, rgb, u8, mem, static_cast<HalCpuAccess>(wrong)));
  }
}

TEST(CapiImage, makes_what_a_descriptor_says) {
  const Owned<HalImageDesc> desc(hal_image_desc_new(8, 6, HAL_PIXEL_FORMAT_GREY, HAL_DTYPE_U8));
  ASSERT_TRUE(desc);
  hal_image_desc_set_memory(desc, HAL_TENSOR_MEMORY_SHM);
  hal_image_desc_set_access(desc, HAL_CPU_ACCESS_NONE);
  const std::uint64_t before = hal_compression_fallback_count();
  hal_image_desc_set_compression(desc, HAL_COMPRESSION_ANY);
  const Processor processor(hal_image_processor_new());
  const Tensor tensor(hal_tensor_new_image_desc(desc));
  const Tensor other(hal_image_processor_create_image_desc(processor, desc));
  ASSERT_TRUE(tensor && other) << hal_last_error();
  EXPECT_EQ(hal_tensor_memory_type(tensor), HAL_TENSOR_MEMORY_SHM);
  EXPECT_EQ(hal_tensor_compression(tensor), HAL_COMPRESSION_NONE) << "linear here";
  EXPECT_EQ(hal_compression_fallback_count(), before + 2);
  const std::uint64_t maps = hal_unplanned_cpu_access_count();
  EXPECT_TRUE(Map(hal_tensor_map_create(tensor)));
  EXPECT_EQ(hal_unplanned_cpu_access_count(), maps + 1) << "no access was declared";
  hal_image_desc_set_compression(desc, HAL_COMPRESSION_AFBC);
  EXPECT_ERRNO(nullptr, ENOTSUP, hal_tensor_new_image_desc(desc));
  hal_image_desc_set_access(desc, HAL_CPU_ACCESS_READ);
  EXPECT_ERRNO(nullptr, EINVAL, hal_tensor_new_image_desc(desc));
  hal_image_desc_set_compression(desc, static_cast<HalCompression>(6));
  EXPECT_ERRNO(nullptr, EINVAL, hal_tensor_new_image_desc(desc));
  EXPECT_ERRNO(nullptr, EINVAL, hal_image_processor_create_image_desc(nullptr, desc));
  EXPECT_ERRNO(nullptr, EINVAL, hal_image_desc_new(0, 6, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8));
}

TEST(CapiImage, shows_parts_of_images_and_batches) {
  Tensor image = make_image(8, 6, HAL_PIXEL_FORMAT_RGB);
  fill(image, 1);
  const Tensor part(hal_tensor_view(image, hal_region_new(2, 1, 4, 3)));
  ASSERT_TRUE(part) << hal_last_error();
  EXPECT_EQ(hal_tensor_width(part), 4U);
  EXPECT_EQ(hal_tensor_row_stride(part), 24U) << "the whole image's";
  EXPECT_EQ(hal_tensor_recorded_row_stride(part), 24U);
  image.reset();
  EXPECT_EQ(byte_at(part, 0), 24 + 6) << "parts keep the bytes";
  const Tensor row(hal_tensor_view(part, hal_region_new(0, 0, 4, 1)));
  EXPECT_EQ(hal_tensor_recorded_row_stride(row), 0U) << "one row is flat";
  for (const hal_region outside : {hal_region{0, 0, 5, 3}, hal_region{4, 0, 1, 1},
                                   hal_region{0, 0, 0, 1}, hal_region{SIZE_MAX, 0, 2, 1}}) {
    EXPECT_ERRNO(nullptr, EINVAL, hal_tensor_view(part, outside));
  }
  const Tensor raw = make_tensor(HAL_DTYPE_U8, {3, 2, 2});
  fill(raw, 1);
  const Tensor second(hal_tensor_batch(raw, 1));
  ASSERT_TRUE(second);
  EXPECT_EQ(hal_tensor_len(second), 4U);
  EXPECT_EQ(byte_at(second, 0), 4);
  EXPECT_ERRNO(nullptr, EINVAL, hal_tensor_batch(raw, 3));
  EXPECT_ERRNO(nullptr, EINVAL, hal_tensor_batch(part, 0)) << "a single image";
  EXPECT_ERRNO(nullptr, EINVAL, hal_tensor_view(raw, hal_region_new(0, 0, 1, 1)));
}

TEST(CapiImage, reshapes_and_labels_in_place) {
  const Tensor tensor = make_image(8, 6, HAL_PIXEL_FORMAT_RGB);
  const std::array<std::size_t, 2> flat{12, 12};
  EXPECT_DONE(hal_tensor_reshape(tensor, flat.data(), 2));
  EXPECT_EQ(hal_tensor_width(tensor), 0U) << "no image any more";
  EXPECT_EQ(hal_tensor_channels(tensor), 0U);
  EXPECT_DONE(hal_tensor_set_format(tensor, HAL_PIXEL_FORMAT_NV12));
  EXPECT_EQ(hal_tensor_height(tensor), 8U);
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_set_format(tensor, HAL_PIXEL_FORMAT_RGB));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_set_format(tensor, static_cast<hal_pixel_format>(99)));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_reshape(tensor, flat.data(), 1));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_reshape(tensor, flat.data(), 0));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_reshape(tensor, flat.data(), 9));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_reshape(tensor, nullptr, 1));
  EXPECT_EQ(hal_tensor_pixel_format(tensor), HAL_PIXEL_FORMAT_NV12) << "failing keeps it";
}

TEST(CapiImage, copies_without_padding) {
  const Tensor nv12 = make_image(30, 4, HAL_PIXEL_FORMAT_NV12);
  fill(nv12, 1);
  std::vector<std::uint8_t> flat(30 * 6);
  ASSERT_DONE(hal_tensor_copy_to_flat(nv12, flat.data(), flat.size()));
  for (std::size_t i = 0; i < flat.size(); ++i)
    ASSERT_EQ(flat[i], static_cast<std::uint8_t>(i / 30 * 64 + i % 30)) << i;
  EXPECT_ERROR(-1, EINVAL, "179", hal_tensor_copy_to_flat(nv12, flat.data(), flat.size() - 1));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_copy_to_flat(nv12, flat.data(), flat.size() + 1));
  EXPECT_ERRNO(-1, EINVAL, hal_tensor_copy_to_flat(nv12, nullptr, flat.size()));
}

TEST(CapiImage, copies_floats_to_an_unaligned_address) {
  const Tensor tensor = make_image(4, 2, HAL_PIXEL_FORMAT_PLANAR_RGB, HAL_DTYPE_F32);
  fill(tensor, 3);
  std::vector<std::uint8_t> bytes(4 * 2 * 3 * 4 + 1);
  ASSERT_DONE(hal_tensor_copy_to_flat(tensor, bytes.data() + 1, bytes.size() - 1));
  EXPECT_EQ(bytes[2], 3);
  EXPECT_EQ(bytes.back(), static_cast<std::uint8_t>(95 * 3));
}

TEST(CapiImage, aligns_widths_for_gpus) {
  EXPECT_EQ(hal_gpu_dma_buf_pitch_alignment_bytes(), 64U);
  EXPECT_EQ(hal_align_width_for_gpu_pitch(3004, 4), 3008U);
  EXPECT_EQ(hal_align_width_for_gpu_pitch(1281, 4), 1296U);
  EXPECT_EQ(hal_align_width_for_gpu_pitch(641, 3), 704U);
  EXPECT_EQ(hal_align_width_for_gpu_pitch(640, 3), 640U);
  constexpr std::size_t maximum = std::numeric_limits<std::size_t>::max();
  for (const auto& [width, bpp] :
       {std::pair{std::size_t{0}, std::size_t{4}}, std::pair{std::size_t{7}, std::size_t{0}},
        std::pair{maximum, std::size_t{3}}, std::pair{maximum / 2, std::size_t{3}}})
    EXPECT_EQ(hal_align_width_for_gpu_pitch(width, bpp), width);
  EXPECT_EQ(hal_align_width_for_pixel_format(641, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8), 704U);
  EXPECT_EQ(hal_align_width_for_pixel_format(641, HAL_PIXEL_FORMAT_RGBA, HAL_DTYPE_F16), 648U);
  EXPECT_EQ(hal_align_width_for_pixel_format(641, HAL_PIXEL_FORMAT_NV12, HAL_DTYPE_U8), 704U);
  EXPECT_EQ(hal_align_width_for_pixel_format(641, HAL_PIXEL_FORMAT_YUYV, HAL_DTYPE_U8), 672U);
  EXPECT_EQ(hal_align_width_for_pixel_format(7, static_cast<hal_pixel_format>(-1), HAL_DTYPE_U8),
            7U);
}

}  // namespace
