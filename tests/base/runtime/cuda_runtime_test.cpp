// SPDX-License-Identifier: Apache-2.0
// Finding the CUDA runtime, and every reason why it cannot be used.
#include "base/runtime/cuda_runtime.h"

#include <gtest/gtest.h>

#include <array>

#include "support/cuda/fake_cudart.h"
#include "support/in_child.h"
#include "support/result.h"
#include "test_paths.h"

namespace halyard {
namespace {

using CudaRuntimeTest = test::FakeCudaTest;
using Names = std::array<const char*, 2>;

constexpr const char* absent = "/no/such/folder/libcudart.so";

TEST_F(CudaRuntimeTest, is_the_first_object_that_has_all_functions) {
  for (const Names& names : {Names{HALYARD_FAKE_CUDART, absent}, Names{absent, HALYARD_FAKE_CUDART},
                             Names{HALYARD_PARTIAL_CUDART, HALYARD_FAKE_CUDART}}) {
    ASSERT_VALUE(const CudaRuntime found, CudaRuntime::open(names));
    int device = -1;
    EXPECT_EQ(found.get_device(&device), 0);
    EXPECT_EQ(device, 0);
    EXPECT_EQ(cuda.calls("cudaGetDevice"), 1) << "the object is the fake";
    cuda.reset();
  }
}

TEST_F(CudaRuntimeTest, that_is_absent_is_refused_with_what_to_do) {
  const Names names{absent, "/no/other/libcudart.so.12"};
  EXPECT_FAILS(CudaRuntime::open(names), Errc::unsupported, "LD_LIBRARY_PATH");
  EXPECT_FAILS(CudaRuntime::open(names), Errc::unsupported, absent);
  EXPECT_FAILS(CudaRuntime::open({}), Errc::invalid_argument, "names");
}

TEST_F(CudaRuntimeTest, without_a_function_is_refused_by_its_name) {
  for (const Names& names :
       {Names{HALYARD_PARTIAL_CUDART, absent}, Names{absent, HALYARD_PARTIAL_CUDART}}) {
    EXPECT_FAILS(CudaRuntime::open(names), Errc::unsupported, "cudaFree");
    EXPECT_FAILS(CudaRuntime::open(names), Errc::unsupported, HALYARD_PARTIAL_CUDART);
  }
}

TEST_F(CudaRuntimeTest, without_a_device_is_refused) {
  const std::array names{HALYARD_FAKE_CUDART};
  cuda.set("devices", 0);
  EXPECT_FAILS(CudaRuntime::open(names), Errc::unsupported, "it counts 0");
  cuda.fail("cudaGetDeviceCount", 100, 1);
  EXPECT_FAILS(CudaRuntime::open(names), Errc::unsupported, "cudaErrorNoDevice (100)");
}

TEST_F(CudaRuntimeTest, that_does_not_get_on_with_the_driver_gives_way_to_the_next) {
  const Names names{HALYARD_FAKE_CUDART, HALYARD_FAKE_CUDART};
  cuda.fail("cudaGetDeviceCount", 35, 1);
  EXPECT_OK(CudaRuntime::open(names));
  cuda.fail("cudaGetDeviceCount", 35, 2);
  EXPECT_FAILS(CudaRuntime::open(names), Errc::unsupported, "(35)");
}

TEST_F(CudaRuntimeTest, turns_codes_into_errors_and_clears_them) {
  const std::array names{HALYARD_FAKE_CUDART};
  ASSERT_VALUE(const CudaRuntime found, CudaRuntime::open(names));
  EXPECT_OK(found.check(0, Errc::device, "no error"));
  cuda.fail("cudaGetDevice", 801, 1);
  int device = 0;
  EXPECT_FAILS(found.check(found.get_device(&device), Errc::device, "a text"), Errc::device,
               "a text: cudaErrorNotSupported (801): as the test wants");
  EXPECT_EQ(found.get_last_error(), 0) << "the program does not see it";
  EXPECT_FAILS(found.check(2, Errc::device, "a text"), Errc::no_memory, "a text");
}

TEST_F(CudaRuntimeTest, of_the_process_is_found_once_and_lost_by_fork) {
  const auto first = cuda_runtime();
  ASSERT_OK(first);
  const auto second = cuda_runtime();
  ASSERT_OK(second);
  EXPECT_EQ(*first, *second);
  EXPECT_LE(cuda.calls("cudaGetDeviceCount"), 1);
  EXPECT_TRUE(test::is_true_in_child([this] {
    const auto child = cuda_runtime();
    return !child && child.error().message().find("forked") != std::string::npos &&
           std::string_view(cuda.faults()).empty();
  }));
}

TEST_F(CudaRuntimeTest, changes_the_device_of_a_thread_for_a_scope) {
  const std::array names{HALYARD_FAKE_CUDART};
  ASSERT_VALUE(const CudaRuntime found, CudaRuntime::open(names));
  cuda.set("devices", 3);
  ASSERT_EQ(found.set_device(1), 0);
  const auto current = [&] {
    int device = -1;
    found.get_device(&device);
    return device;
  };
  {
    const CudaDeviceScope scope(found, 2);
    EXPECT_EQ(current(), 2);
  }
  EXPECT_EQ(current(), 1);
  cuda.reset();
  { const CudaDeviceScope scope(found, 1); }
  EXPECT_EQ(cuda.calls("cudaSetDevice"), 0) << "it is the device already";
  cuda.fail("cudaGetDevice", 1, 1);
  { const CudaDeviceScope scope(found, 2); }
  EXPECT_EQ(cuda.calls("cudaSetDevice"), 0) << "the device to come back to is unknown";
  found.set_device(0);
}

}  // namespace
}  // namespace halyard
