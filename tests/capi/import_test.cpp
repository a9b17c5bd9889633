// SPDX-License-Identifier: Apache-2.0
// Imported images in C: planes, strides, who owns descriptors.
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "owned.h"
#include "support/descriptors.h"

namespace {

using namespace halyard::test;

// Shared memory of some bytes, byte i being i modulo 256, by its descriptor.
struct CapiImport : testing::Test {
  static constexpr std::size_t count = 128 * 24;
  Processor processor{hal_image_processor_new()};
  Tensor memory{hal_tensor_new(HAL_DTYPE_U8, &count, 1, HAL_TENSOR_MEMORY_SHM, nullptr)};
  int fd = hal_tensor_clone_fd(memory);

  CapiImport() { fill(memory, 1); }
  ~CapiImport() override { ::close(fd); }

  hal_plane_descriptor* plane(std::size_t stride, std::size_t offset = 0) const {
    hal_plane_descriptor* const made = hal_plane_descriptor_new(fd);
    EXPECT_DONE(hal_plane_descriptor_set_stride(made, stride));
    EXPECT_DONE(hal_plane_descriptor_set_offset(made, offset));
    return made;
  }
  hal_tensor* import(hal_plane_descriptor* image, hal_plane_descriptor* chroma,
                     hal_pixel_format format, std::size_t width = 32,
                     std::size_t height = 8) const {
    return hal_import_image(processor, image, chroma, width, height, format, HAL_DTYPE_U8);
  }
};

TEST_F(CapiImport, maps_padded_rows_of_others) {
  const Tensor grey(import(plane(128, 64), nullptr, HAL_PIXEL_FORMAT_GREY));
  ASSERT_TRUE(grey) << hal_last_error();
  EXPECT_EQ(hal_tensor_row_stride(grey), 128U);
  EXPECT_EQ(hal_tensor_recorded_row_stride(grey), 128U);
  const Map map(hal_tensor_map_create(grey));
  ASSERT_TRUE(map) << hal_last_error();
  EXPECT_EQ(hal_tensor_map_size(map), 128U * 8);
  const auto* const bytes = static_cast<const std::uint8_t*>(hal_tensor_map_data_const(map));
  EXPECT_EQ(bytes[0], 64);
  EXPECT_EQ(bytes[128 + 5], 64 + 128 + 5);
}

TEST_F(CapiImport, takes_chroma_from_a_plane_of_its_own) {
  const Tensor nv12(import(plane(64), plane(64, 1024), HAL_PIXEL_FORMAT_NV12));
  ASSERT_TRUE(nv12) << hal_last_error();
  EXPECT_EQ(hal_tensor_len(nv12), 32U * 12);
  std::array<std::uint8_t, 32 * 12> flat{};
  ASSERT_DONE(hal_tensor_copy_to_flat(nv12, flat.data(), flat.size()));
  EXPECT_EQ(flat[32], 64) << "row 1 of luma";
  EXPECT_EQ(flat[32 * 8 + 3], 3) << "row 0 of chroma lies at 1024";
  EXPECT_EQ(flat[32 * 9], 64);
  const Tensor dst = make_image(32, 8, HAL_PIXEL_FORMAT_RGB);
  EXPECT_DONE(convert(processor, nv12, dst));
  const Tensor nv16(import(plane(64), plane(64, 1024), HAL_PIXEL_FORMAT_NV16));
  EXPECT_TRUE(nv16) << hal_last_error();
}

TEST_F(CapiImport, carries_colorimetry) {
  const hal_colorimetry full{1, 1, 2, 1};
  const Tensor tensor(hal_import_image_27(processor, plane(64), nullptr, 32, 8,
                                          HAL_PIXEL_FORMAT_NV12, HAL_DTYPE_U8, &full));
  ASSERT_TRUE(tensor);
  hal_colorimetry got{};
  EXPECT_DONE(hal_tensor_colorimetry(tensor, &got));
  EXPECT_EQ(got.encoding, 2);
  EXPECT_EQ(got.range, 1);
}

TEST_F(CapiImport, refuses_planes_that_cannot_be) {
  EXPECT_ERRNO(nullptr, EINVAL, import(plane(16), nullptr, HAL_PIXEL_FORMAT_GREY));
  EXPECT_ERRNO(nullptr, EINVAL, import(plane(128, count), nullptr, HAL_PIXEL_FORMAT_GREY));
  EXPECT_ERRNO(nullptr, EINVAL, import(plane(128), nullptr, HAL_PIXEL_FORMAT_GREY, 32, 25));
  EXPECT_ERRNO(nullptr, EINVAL, import(plane(64), plane(64), HAL_PIXEL_FORMAT_NV12)) << "overlap";
  EXPECT_ERRNO(nullptr, EINVAL, import(plane(64), plane(64, 512), HAL_PIXEL_FORMAT_GREY));
  EXPECT_ERRNO(nullptr, EINVAL, import(plane(64), nullptr, HAL_PIXEL_FORMAT_GREY, 0, 8));
  EXPECT_ERRNO(nullptr, EINVAL, import(plane(64), nullptr, static_cast<hal_pixel_format>(50)));
  EXPECT_ERRNO(nullptr, EINVAL, import(nullptr, plane(64), HAL_PIXEL_FORMAT_NV12));
  EXPECT_ERRNO(nullptr, EINVAL,
               hal_import_image(nullptr, plane(64), plane(64, 512), 32, 8, HAL_PIXEL_FORMAT_NV12,
                                HAL_DTYPE_U8));
  auto* const tensor = reinterpret_cast<hal_plane_descriptor*>(memory.get());
  EXPECT_ERRNO(nullptr, EINVAL, import(tensor, plane(64), HAL_PIXEL_FORMAT_NV12));
  EXPECT_ERRNO(nullptr, EINVAL, import(plane(64), tensor, HAL_PIXEL_FORMAT_NV12));
  EXPECT_EQ(hal_tensor_len(memory), count) << "handles of another kind are left alone";
}

TEST_F(CapiImport, frees_a_descriptor_that_is_given_twice_once) {
  hal_plane_descriptor* const twice = plane(64);
  EXPECT_ERRNO(nullptr, EINVAL, import(twice, twice, HAL_PIXEL_FORMAT_NV12));
}

TEST_F(CapiImport, refuses_descriptors_that_are_no_memory) {
  EXPECT_ERRNO(nullptr, EINVAL, hal_plane_descriptor_new(-1));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  EXPECT_ERRNO(nullptr, ENOTSUP,
               import(hal_plane_descriptor_new(ends[0]), nullptr, HAL_PIXEL_FORMAT_GREY));
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_ERRNO(nullptr, EBADF, hal_plane_descriptor_new(ends[0]));
  const Owned<hal_plane_descriptor> made(plane(64));
  EXPECT_ERRNO(-1, EINVAL, hal_plane_descriptor_set_stride(made, 0));
  EXPECT_ERRNO(-1, EINVAL, hal_plane_descriptor_set_stride(nullptr, 64));
}

TEST_F(CapiImport, leaves_no_descriptor_open) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 1000; ++i) {
    const Tensor good(import(plane(64), plane(64, 1024), HAL_PIXEL_FORMAT_NV12));
    const Tensor bad(import(plane(16), nullptr, HAL_PIXEL_FORMAT_GREY));
    ASSERT_TRUE(good && !bad);
  }
  EXPECT_EQ(open_descriptors(), before);
}

// A memfd of 4096 bytes, as somebody else would make it.
int memfd(unsigned flags) {
  const int fd = static_cast<int>(::syscall(SYS_memfd_create, "other", flags));
  EXPECT_EQ(::ftruncate(fd, 4096), 0);
  return fd;
}

TEST_F(CapiImport, refuses_or_seals_memory_that_can_shrink_where_it_is_asked_to) {
  const std::size_t shape = 4096;
  const auto sealed = [&](int from) {
    return Tensor(hal_tensor_from_sealed_fd(HAL_DTYPE_U8, from, &shape, 1, "sealed"));
  };
  const int open_one = memfd(MFD_ALLOW_SEALING);
  EXPECT_TRUE(sealed(open_one)) << hal_last_error();
  EXPECT_EQ(::ftruncate(open_one, 1), -1) << "it is sealed now";
  const int unsealable = memfd(0);
  EXPECT_ERRNO(nullptr, EACCES, sealed(unsealable));
  EXPECT_TRUE(Tensor(hal_tensor_from_fd(HAL_DTYPE_U8, unsealable, &shape, 1, "open")));
  EXPECT_FALSE(sealed(-1));
  ::close(open_one);
  ::close(unsealable);
}

TEST_F(CapiImport, refuses_images_over_memory_that_can_shrink_where_it_is_asked_to) {
  const int other = memfd(0);
  for (const bool required : {false, true}) {
    hal_plane_descriptor* const made = hal_plane_descriptor_new(other);
    EXPECT_DONE(hal_plane_descriptor_set_require_sealed(made, required));
    errno = 0;
    const Tensor image(import(made, nullptr, HAL_PIXEL_FORMAT_GREY));
    EXPECT_EQ(image != nullptr, !required) << hal_last_error();
    EXPECT_EQ(errno, required ? EACCES : 0);
  }
  ::close(other);
}

}  // namespace
