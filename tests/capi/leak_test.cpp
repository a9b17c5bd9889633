// SPDX-License-Identifier: Apache-2.0
// 10^5 calls of the C interface leave the heap as it was.
#include <array>
#include <filesystem>

#include "heap.h"
#include "owned.h"
#include "support/folder.h"

namespace {

using namespace halyard::test;

// About 30 calls, and as many failures on the way as successes.
void round(hal_image_processor* processor, const char* path) {
  const std::array<std::size_t, 2> shape{12, 8};
  const Tensor raw(hal_tensor_new(HAL_DTYPE_U8, shape.data(), 2, HAL_TENSOR_MEMORY_MEM, "input"));
  EXPECT_DONE(hal_tensor_set_format(raw, HAL_PIXEL_FORMAT_NV12));
  EXPECT_DONE(hal_tensor_set_quantization(raw, 0.5F, 3));
  const Owned<HalTensorQuant> quant(hal_tensor_quantization(raw));
  const Owned<char> name(hal_tensor_name(raw));
  const Tensor dst(
      hal_image_processor_create_image(processor, 8, 8, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8));
  hal_crop crop = hal_crop_new();
  hal_crop_set_letterbox(&crop, 1, 2, 3, 4);
  EXPECT_DONE(hal_image_processor_convert(processor, raw, dst, HAL_ROTATION_ROTATE90, HAL_FLIP_NONE,
                                          &crop));
  EXPECT_DONE(hal_image_processor_convert_deferred(processor, raw, dst, HAL_ROTATION_NONE,
                                                   HAL_FLIP_NONE, nullptr));
  EXPECT_DONE(hal_image_processor_flush(processor));
  const Map map(hal_tensor_map_create(dst));
  const Tensor part(hal_tensor_view(dst, hal_region_new(0, 0, 4, 4)));
  const Tensor outside(hal_tensor_view(dst, hal_region_new(6, 6, 4, 4)));
  EXPECT_FALSE(outside);
  const int fd = hal_tensor_clone_fd(raw);
  EXPECT_EQ(fd, -1);
  EXPECT_EQ(hal_tensor_new(static_cast<hal_dtype>(99), shape.data(), 2, HAL_TENSOR_MEMORY_MEM, ""),
            nullptr);
  EXPECT_DONE(hal_tensor_decode_image_file_27(dst, path, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(hal_tensor_decode_image(dst, reinterpret_cast<const std::uint8_t*>(path), 4, -1,
                                    nullptr, nullptr),
            -1);
  const Owned<HalImageDesc> desc(hal_image_desc_new(4, 4, HAL_PIXEL_FORMAT_GREY, HAL_DTYPE_F32));
  const Tensor made(hal_tensor_new_image_desc(desc));
  EXPECT_EQ(hal_import_image(processor, hal_plane_descriptor_new(0), nullptr, 4, 4,
                             HAL_PIXEL_FORMAT_GREY, HAL_DTYPE_U8),
            nullptr);
}

TEST(CapiLeaks, stay_none_over_a_hundred_thousand_calls) {
  const halyard::test::Folder folder;
  const std::string path = folder / "small.jpg";
  ASSERT_DONE(
      hal_tensor_save_jpeg(make_image(8, 8, HAL_PIXEL_FORMAT_GREY).get(), path.c_str(), 80));
  const Processor processor(hal_image_processor_new());
  for (int i = 0; i < 50; ++i)
    round(processor, path.c_str());
  const std::size_t before = heap_bytes();
  for (int i = 0; i < 3500; ++i)
    round(processor, path.c_str());
  EXPECT_LT(heap_bytes(), before + 4096) << "3500 rounds of 30 calls";
}

}  // namespace
