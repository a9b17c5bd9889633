// SPDX-License-Identifier: Apache-2.0
// A delegate as its users see it: fake_delegate.c, as C and as C++, loaded as a shared object.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "capi/owned.h"
#include "test_paths.h"

namespace {

using namespace halyard::test;

class delegates : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    library = hal_delegate_open(GetParam());
    ASSERT_NE(library, nullptr) << hal_last_error();
    delegate = hal_delegate_instance(library);
    ASSERT_NE(delegate, nullptr);
  }
  void TearDown() override { hal_delegate_close(library); }
  hal_delegate_library* library = nullptr;
  hal_delegate_t delegate = nullptr;
};

TEST_P(delegates, tell_of_their_tensors) {
  EXPECT_EQ(hal_delegate_has_dmabuf(library, delegate), 1);
  EXPECT_EQ(hal_delegate_has_dmabuf(library, library), 0);
  hal_dmabuf_tensor_info info;
  ASSERT_DONE(hal_delegate_tensor_info(library, delegate, 0, &info, sizeof info));
  EXPECT_EQ(info.size, 48U);
  EXPECT_EQ(info.offset, 4096U);
  EXPECT_EQ(info.ndim, 3U);
  EXPECT_EQ(info.shape[2], 3U);
  EXPECT_EQ(info.dtype, HAL_DTYPE_U8);
  EXPECT_GE(info.fd, 0);
}

TEST_P(delegates, and_their_users_may_be_of_different_versions) {
  // A caller from later has more members: what the delegate does not know is 0.
  struct {
    hal_dmabuf_tensor_info info;
    std::size_t later[4];
  } grown;
  std::memset(&grown, 0xFF, sizeof grown);
  ASSERT_DONE(hal_delegate_tensor_info(library, delegate, 0, &grown.info, sizeof grown));
  EXPECT_EQ(grown.info.size, 48U);
  for (const std::size_t member : grown.later)
    EXPECT_EQ(member, 0U);
  EXPECT_ERRNO(-1, EINVAL, hal_delegate_tensor_info(library, delegate, 0, &grown.info, 95));
  hal_camera_adaptor_format_info format;
  EXPECT_ERRNO(-1, EINVAL, hal_delegate_format_info(library, delegate, "rgba", &format, 15));
}

TEST_P(delegates, fail_with_their_own_errno) {
  hal_dmabuf_tensor_info info;
  const auto tell = [&](int index) {
    return hal_delegate_tensor_info(library, delegate, index, &info, sizeof info);
  };
  EXPECT_ERRNO(-1, EINVAL, tell(-1));
  EXPECT_ERRNO(-1, ERANGE, tell(4));
  EXPECT_ERRNO(-1, EIO, tell(3)) << "it sets none";
  EXPECT_DONE(hal_delegate_sync_for_device(library, delegate, 0));
  EXPECT_DONE(hal_delegate_sync_for_cpu(library, delegate, 2));
  EXPECT_ERRNO(-1, ERANGE, hal_delegate_sync_for_cpu(library, delegate, 3));
  EXPECT_EQ(hal_delegate_tensor(library, delegate, 2), nullptr);  // of no shape
  EXPECT_EQ(errno, ENOTSUP);
}

TEST_P(delegates, share_their_memory) {
  Tensor tensor(hal_delegate_tensor(library, delegate, 0));
  ASSERT_TRUE(tensor) << hal_last_error();
  EXPECT_EQ(hal_tensor_len(tensor), 48U);
  paint(tensor, 0x5A);
  tensor.reset();
  hal_dmabuf_tensor_info info;
  ASSERT_DONE(hal_delegate_tensor_info(library, delegate, 0, &info, sizeof info));
  std::vector<unsigned char> bytes(50);
  ASSERT_EQ(::pread(info.fd, bytes.data(), 50, 4095), 50);  // the descriptor is open still
  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(bytes[1], 0x5A);
  EXPECT_EQ(bytes[48], 0x5A);
  EXPECT_EQ(bytes[49], 0);
}

TEST_P(delegates, tell_of_camera_formats) {
  EXPECT_EQ(hal_delegate_has_camera_adaptor(library, delegate, "rgba"), 1);
  EXPECT_EQ(hal_delegate_has_camera_adaptor(library, delegate, "yuyv"), 0);
  hal_camera_adaptor_format_info format;
  ASSERT_DONE(hal_delegate_format_info(library, delegate, "rgba", &format, sizeof format));
  EXPECT_EQ(format.input_channels, 4);
  EXPECT_EQ(format.output_channels, 3);
  EXPECT_STREQ(format.fourcc, "RGBA");
  EXPECT_ERRNO(-1, ENOTSUP,
               hal_delegate_format_info(library, delegate, "yuyv", &format, sizeof format));
}

TEST(delegate_libraries, that_are_none_are_refused) {
  EXPECT_ERRNO(nullptr, ENOENT, hal_delegate_open("/nowhere/delegate.so"));
  EXPECT_ERRNO(nullptr, ENOTSUP, hal_delegate_open("libm.so.6"));
}

INSTANTIATE_TEST_SUITE_P(in_c_and_cpp, delegates,
                         ::testing::Values(HALYARD_FAKE_DELEGATE, HALYARD_FAKE_DELEGATE_CPP));

}  // namespace
