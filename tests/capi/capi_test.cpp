// SPDX-License-Identifier: Apache-2.0
// The C interface from C++: what it refuses, what it keeps alive, errno and messages by thread.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <thread>

#include "dlpack_structs.h"
#include "halyard/dlpack.h"
#include "owned.h"

namespace {

using namespace halyard::test;

constexpr std::array<std::size_t, 2> shape{2, 3};

Tensor make(hal_tensor_memory memory, hal_dtype dtype = HAL_DTYPE_I32, const char* name = nullptr) {
  return Tensor(hal_tensor_new(dtype, shape.data(), shape.size(), memory, name));
}

Tensor from_fd(int fd, std::size_t rows = 2) {
  const std::array<std::size_t, 2> extents{rows, 3};
  return Tensor(hal_tensor_from_fd(HAL_DTYPE_I32, fd, extents.data(), extents.size(), "imported"));
}

std::string name_of(const Tensor& tensor) {
  const Owned<char> name(hal_tensor_name(tensor));
  return name ? name : "(null)";
}

// Six i32 elements of somebody else, and a count of the calls of the deleter.
struct Producer {
  std::array<std::int32_t, 6> memory{0, 1, 2, 3, 4, 5};
  std::array<std::int64_t, 2> extents{2, 3};
  std::array<std::int64_t, 2> strides{3, 1};
  int deleted = 0;
  DLManagedTensorVersioned managed{};

  Producer() {
    managed.version = {1, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      ++static_cast<Producer*>(self->manager_ctx)->deleted;
    };
    managed.dl_tensor = {memory.data(), {1, 0}, 2, {0, 32, 1}, extents.data(), strides.data(), 0};
  }
};

TEST(Capi, knows_the_enumerators_of_the_cpp_types) {
  for (int value = HAL_DTYPE_U8; value <= HAL_DTYPE_BOOL; ++value) {
    const auto dtype = static_cast<hal_dtype>(value);
    const Tensor tensor = make(HAL_TENSOR_MEMORY_MEM, dtype);
    ASSERT_TRUE(tensor) << value;
    EXPECT_EQ(hal_tensor_dtype(tensor), dtype);
    EXPECT_EQ(hal_tensor_dtype_size(tensor), halyard::size_of(static_cast<halyard::DType>(value)));
  }
}

TEST(Capi, refuses_values_that_are_no_enumerator) {
  for (const int value : {-1, 13, 1000}) {
    EXPECT_ERROR(nullptr, EINVAL, "dtype",
                 make(HAL_TENSOR_MEMORY_MEM, static_cast<hal_dtype>(value)));
  }
  for (const int value : {-1, 4, 254, 256}) {
    EXPECT_ERROR(nullptr, EINVAL, "memory", make(static_cast<hal_tensor_memory>(value)));
  }
}

TEST(Capi, falls_back_for_automatic_memory_alone) {
  EXPECT_TRUE(make(HAL_TENSOR_MEMORY_AUTO));
  // Pixel buffers need a GPU, or leave to do without.
  const Tensor pbo = make(HAL_TENSOR_MEMORY_PBO);
  if (!pbo) {
    EXPECT_EQ(errno, ENOTSUP);
    EXPECT_NE(std::string(hal_last_error()).find("display: "), std::string::npos);
  }
}

TEST(Capi, maps_pixel_buffers_of_opengl) {
  ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
  const Tensor tensor = make(HAL_TENSOR_MEMORY_PBO);
  ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
  if (!tensor) GTEST_SKIP() << hal_last_error();
  EXPECT_EQ(hal_tensor_memory_type(tensor.get()), HAL_TENSOR_MEMORY_PBO);
  for (const int round : {0, 1}) {
    const Owned<hal_tensor_map> map(hal_tensor_map_create(tensor.get()));
    ASSERT_TRUE(map);
    auto* const bytes = static_cast<unsigned char*>(hal_tensor_map_data(map.get()));
    EXPECT_EQ(bytes[1], round == 0 ? 0 : 77);
    bytes[1] = 77;
  }
}

TEST(Capi, keeps_names_that_are_utf8_and_no_others) {
  EXPECT_EQ(name_of(make(HAL_TENSOR_MEMORY_MEM)), "(null)");
  for (const char* name : {"boxes", "B\xc3\xb8je", "\xe2\x9a\x93", "\xf0\x9f\x9b\xa5"})
    EXPECT_EQ(name_of(make(HAL_TENSOR_MEMORY_MEM, HAL_DTYPE_U8, name)), name);
  for (const char* name : {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xe0\x80\x80",
                           "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\x80", "\xe2\x9a\x41"}) {
    const Tensor tensor = make(HAL_TENSOR_MEMORY_MEM, HAL_DTYPE_U8, name);
    ASSERT_TRUE(tensor);
    EXPECT_EQ(name_of(tensor), "(null)");
  }
}

TEST(Capi, keeps_errno_and_messages_apart_by_thread) {
  EXPECT_FALSE(make(static_cast<hal_tensor_memory>(4)));
  const std::string mine = hal_last_error();
  std::thread([] {
    EXPECT_STREQ(hal_last_error(), "");
    EXPECT_EQ(hal_tensor_map_create(nullptr), nullptr);
    EXPECT_TRUE(says("tensor"));
  }).join();
  EXPECT_EQ(hal_last_error(), mine);
}

TEST(Capi, shares_memory_by_descriptor) {
  const Tensor tensor = make(HAL_TENSOR_MEMORY_SHM);
  const int fd = hal_tensor_clone_fd(tensor);
  ASSERT_GE(fd, 0);
  const Tensor other = from_fd(fd);
  ASSERT_TRUE(other) << hal_last_error();
  EXPECT_EQ(name_of(other), "imported");
  EXPECT_EQ(::close(fd), 0) << "the caller's descriptor stays the caller's";
  const Map writing(hal_tensor_map_create(tensor));
  const Map reading(hal_tensor_map_create(other));
  static_cast<std::int32_t*>(hal_tensor_map_data(writing))[5] = 42;
  EXPECT_EQ(static_cast<const std::int32_t*>(hal_tensor_map_data_const(reading))[5], 42);
}

TEST(Capi, refuses_descriptors_that_are_no_memory_of_that_size) {
  EXPECT_ERRNO(nullptr, EINVAL, from_fd(-1));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  EXPECT_ERRNO(nullptr, EINVAL, from_fd(ends[0]));
  ::close(ends[0]);
  ::close(ends[1]);
  errno = 0;
  EXPECT_FALSE(from_fd(ends[0])) << "closed";
  EXPECT_NE(errno, 0);
  const Tensor small = make(HAL_TENSOR_MEMORY_SHM);
  const int fd = hal_tensor_clone_fd(small);
  EXPECT_ERRNO(nullptr, EINVAL, from_fd(fd, 1U << 20));
  ::close(fd);
}

TEST(Capi, gives_no_descriptor_of_the_heap) {
  EXPECT_ERRNO(-1, ENOTSUP, hal_tensor_clone_fd(make(HAL_TENSOR_MEMORY_MEM)));
}

TEST(Capi, lets_readers_on_several_threads_map_at_once) {
  const Tensor tensor = make(HAL_TENSOR_MEMORY_SHM);
  const Map mine(hal_tensor_map_create(tensor));
  std::thread([&tensor] {
    const Map theirs(hal_tensor_map_create(tensor));
    EXPECT_TRUE(theirs) << hal_last_error();
  }).join();
}

TEST(Capi, maps_read_only_memory_to_read) {
  Producer producer;
  producer.managed.flags = 1;
  {
    const Tensor tensor(hal_tensor_from_dlpack_versioned(&producer.managed));
    ASSERT_TRUE(tensor);
    const Map map(hal_tensor_map_create(tensor));
    ASSERT_TRUE(map) << hal_last_error();
    EXPECT_EQ(hal_tensor_map_data(map), nullptr);
    EXPECT_EQ(hal_tensor_map_data_const(map), producer.memory.data());
    EXPECT_ERRNO(nullptr, EACCES, hal_tensor_to_dlpack(tensor));
    EXPECT_EQ(hal_tensor_to_dlpack_versioned(tensor, false), nullptr);
    DLManagedTensorVersioned* const again = hal_tensor_to_dlpack_versioned(tensor, true);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->flags, 1U);
    again->deleter(again);
    EXPECT_EQ(producer.deleted, 0);
  }
  EXPECT_EQ(producer.deleted, 1);
}

TEST(Capi, counts_the_gaps_between_rows_into_a_maps_size) {
  Producer producer;
  producer.extents = {2, 2};
  const Tensor tensor(hal_tensor_from_dlpack_versioned(&producer.managed));
  const Map map(hal_tensor_map_create(tensor));
  EXPECT_EQ(hal_tensor_map_len(map), 4U);
  EXPECT_EQ(hal_tensor_map_size(map), 20U);
  EXPECT_EQ(hal_tensor_size(tensor), 16U);
}

TEST(Capi, leaves_a_refused_dlpack_tensor_to_the_caller) {
  Producer producer;
  producer.managed.version.major = 2;
  EXPECT_ERROR(nullptr, EPROTO, "version", hal_tensor_from_dlpack_versioned(&producer.managed));
  producer.managed.version.major = 1;
  producer.managed.dl_tensor.device.device_type = 2;
  EXPECT_ERRNO(nullptr, ENOTSUP, hal_tensor_from_dlpack_versioned(&producer.managed));
  EXPECT_EQ(producer.deleted, 0);
}

TEST(Capi, takes_the_older_form) {
  const Tensor tensor = make(HAL_TENSOR_MEMORY_SHM);
  const Tensor back(hal_tensor_from_dlpack(hal_tensor_to_dlpack(tensor)));
  ASSERT_TRUE(back) << hal_last_error();
  const Map one(hal_tensor_map_create(tensor));
  const Map other(hal_tensor_map_create(back));
  EXPECT_EQ(hal_tensor_map_data(one), hal_tensor_map_data(other));
}

}  // namespace
