// SPDX-License-Identifier: Apache-2.0
// Conversions with fences on the CPU: it waits before it reads, and has written when it returns.
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "image/images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;
using namespace std::chrono_literals;

Fd event() {
  return Fd(::eventfd(0, EFD_CLOEXEC));
}

class FenceTest : public testing::Test {
 protected:
  Random random_{3};
  Processor cpu_ = Processor::create({.backend = ComputeBackend::cpu}).value();
  Convert request_{.src = random_image(random_, 38, 26, F::nv12),
                   .dst = zero_image(22, 30, F::rgb)};
};

TEST_F(FenceTest, the_cpu_has_written_when_it_returns) {
  const auto result = cpu_.convert_with_fence(request_);
  ASSERT_OK(result);
  EXPECT_FALSE(result->done);
  const auto fenced = bytes_of(request_.dst);
  const auto placement = cpu_.convert(request_);
  ASSERT_OK(placement);
  EXPECT_EQ(bytes_of(request_.dst), fenced);
  EXPECT_EQ(result->placement.content(), placement->content());
}

TEST_F(FenceTest, the_cpu_waits_before_it_reads) {
  const Fd fence = event();
  const auto untouched = bytes_of(request_.dst);
  std::atomic<bool> has_returned{false};
  std::thread converter([&] {
    EXPECT_OK(cpu_.convert_with_fence(request_, fence.get()));
    has_returned = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(has_returned);
  EXPECT_EQ(bytes_of(request_.dst), untouched);
  ::eventfd_write(fence.get(), 1);
  converter.join();
  EXPECT_NE(bytes_of(request_.dst), untouched);
}

TEST_F(FenceTest, a_wrong_descriptor_is_refused_before_anything_is_written) {
  const auto untouched = bytes_of(request_.dst);
  EXPECT_FAILS(cpu_.convert_with_fence(request_, 1 << 20), Errc::invalid_argument);
  EXPECT_EQ(bytes_of(request_.dst), untouched);
}

}  // namespace
}  // namespace halyard::test
