// SPDX-License-Identifier: Apache-2.0
// The G2D backend's memory and failures: addresses are found once for each buffer, cache operations
// have an order, errors leave nothing open.
#include <gtest/gtest.h>

#include <thread>

#include "image/g2d/device.h"
#include "image/images.h"
#include "support/allocations.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

constexpr Size memory_frame{48, 32};

class G2dMemory : public testing::Test {
 protected:
  void use(const char* variant) {
    machine_.emplace(variant);
    const Variable forced("HALYARD_FORCE_BACKEND", "g2d");
    processor_.emplace(Processor::create().value());
  }
  void TearDown() override {
    if (!machine_) return;
    processor_.reset();
    const FakeG2dCounts now = machine_->counts();
    EXPECT_EQ(now.opened, now.closed);
    EXPECT_EQ(now.buffers_opened, now.buffers_closed);
  }
  Convert request(F from = F::rgba, F to = F::bgra, Size target = memory_frame) {
    return {.src = machine_->image(random_, memory_frame, from),
            .dst = machine_->image(random_, target, to)};
  }
  /// Runs a thousand frames from three sources into two destinations.
  void run_frames() {
    const Convert first = request();
    const Tensor sources[] = {first.src, request().src, request().src};
    const Tensor targets[] = {first.dst, request().dst};
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
      if (i == 6) before = allocations();
      ASSERT_TRUE(processor_->convert(first, sources[i % 3], targets[i % 2]).has_value());
    }
    EXPECT_EQ(allocations(), before);
  }

  Random random_{94};
  std::optional<G2dMachine> machine_;
  std::optional<Processor> processor_;
};

TEST_F(G2dMemory, a_buffer_is_opened_once) {
  for (const char* variant : {"int", "long"}) {
    use(variant);
    run_frames();
    EXPECT_EQ(machine_->counts().buffers_opened, 5);
    EXPECT_EQ(machine_->counts().buffers_closed, 5);
    EXPECT_EQ(machine_->counts().blits, 1000);
    TearDown();
  }
}

TEST_F(G2dMemory, the_kernel_is_asked_once_where_the_library_opens_no_descriptors) {
  use("phys");
  const PhysKernel kernel(machine_->fake());
  run_frames();
  EXPECT_EQ(kernel.calls(), 5);
  EXPECT_EQ(machine_->counts().buffers_opened, 0);
  EXPECT_EQ(machine_->fake().take_calls().find("clean"), std::string::npos);
}

TEST_F(G2dMemory, the_kernel_is_asked_where_the_library_refuses_a_descriptor) {
  use("int");
  const PhysKernel kernel(machine_->fake());
  machine_->fake().faults().refuses_descriptors = true;
  EXPECT_OK(processor_->convert(request()));
  EXPECT_EQ(kernel.calls(), 2);
}

TEST_F(G2dMemory, a_buffer_without_an_address_is_asked_for_once) {
  use("phys");
  const Convert c = request();
  int calls = 0;
  const conformance::IoctlHook mainline([&](int, unsigned long call, void*) -> std::optional<int> {
    if (call != _IOW('b', 10, unsigned long)) return std::nullopt;
    ++calls;
    return -ENOTTY;
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_FAILS(processor_->convert(c), Errc::unsupported,
                 "no physical address of the source's buffer is known");
  }
  EXPECT_EQ(calls, 1);
}

TEST_F(G2dMemory, an_address_that_the_structs_cannot_hold_is_none) {
  use("int");
  const PhysKernel kernel(machine_->fake());
  machine_->fake().faults().refuses_descriptors = true;
  machine_->fake().place_next_memory(0x100000000);
  EXPECT_FAILS(processor_->convert(request()), Errc::unsupported, "no physical address");
  machine_->fake().place_next_memory(0xFFFFF000);
  EXPECT_FAILS(processor_->convert(request()), Errc::unsupported, "no physical address");
  use("long");
  machine_->fake().place_next_memory(0x100000000);
  EXPECT_OK(processor_->convert(request()));
}

TEST_F(G2dMemory, a_buffer_that_the_library_sees_shorter_is_closed_again) {
  use("int");
  machine_->fake().faults().shortens_buffers = true;
  EXPECT_FAILS(processor_->convert(request()), Errc::unsupported, "no physical address");
  EXPECT_EQ(machine_->counts().buffers_opened, 1);
  EXPECT_EQ(machine_->counts().buffers_closed, 1);
}

TEST_F(G2dMemory, buffers_outlive_processors_and_the_other_way_round) {
  use("int");
  {
    const Convert c = request();
    EXPECT_OK(processor_->convert(c));
    processor_.reset();
    EXPECT_EQ(machine_->counts().closed, 0) << "the buffers keep the device open";
    const Variable forced("HALYARD_FORCE_BACKEND", "g2d");
    processor_.emplace(Processor::create().value());
    EXPECT_OK(processor_->convert(c));
    EXPECT_EQ(machine_->counts().buffers_opened, 2);
  }
  EXPECT_EQ(machine_->counts().buffers_closed, 2);
  EXPECT_EQ(machine_->counts().closed, 1);
}

TEST_F(G2dMemory, two_threads_find_an_address_once) {
  use("int");
  const Convert c = request();
  const Tensor other = machine_->image(random_, memory_frame, F::bgra);
  Processor second = [] {
    const Variable forced("HALYARD_FORCE_BACKEND", "g2d");
    return Processor::create().value();
  }();
  std::thread thread([&] {
    for (int i = 0; i < 50; ++i)
      EXPECT_OK(second.convert(c, c.src, other));
  });
  for (int i = 0; i < 50; ++i)
    EXPECT_OK(processor_->convert(c));
  thread.join();
  EXPECT_EQ(machine_->counts().buffers_opened, 3);
}

TEST_F(G2dMemory, caches_are_handed_over_in_order) {
  use("int");
  Convert c = request(F::rgba, F::rgba, {64, 48});
  c.place = Region{8, 8, 48, 32};
  ASSERT_OK(processor_->convert(c));
  EXPECT_EQ(machine_->fake().take_calls(), "clean flush clear blit finish flush");
  const std::vector<Convert> two{request(), request()};
  ASSERT_OK(processor_->convert_all(two));
  EXPECT_EQ(machine_->fake().take_calls(), "clean flush blit clean flush blit finish flush flush");
}

TEST_F(G2dMemory, a_call_that_fails_is_a_device_error_and_the_next_one_works) {
  use("int");
  Convert c = request(F::rgba, F::rgba, {64, 48});
  c.place = Region{8, 8, 48, 32};
  FakeG2dFaults& faults = machine_->fake().faults();
  faults.failed_blits = 1;
  EXPECT_FAILS(processor_->convert(c), Errc::device, "libg2d: g2d_blit fails: it returns -1");
  EXPECT_OK(processor_->convert(c));
  faults.failed_clears = 1;
  EXPECT_FAILS(processor_->convert(c), Errc::device, "libg2d: g2d_clear fails");
  EXPECT_OK(processor_->convert(c));
  faults.failed_finishes = 1;
  EXPECT_FAILS(processor_->convert(c), Errc::device, "libg2d: g2d_finish fails");
  EXPECT_OK(processor_->convert(c));
  faults.failed_cache_ops = 1;
  EXPECT_FAILS(processor_->convert(c), Errc::device, "libg2d: g2d_cache_op fails");
  EXPECT_OK(processor_->convert(c));
}

TEST_F(G2dMemory, what_was_queued_before_a_failure_is_waited_for) {
  use("int");
  const std::vector<Convert> three{request(), request(), request()};
  machine_->fake().faults().good_blits = 1;
  machine_->fake().faults().failed_blits = 1;
  EXPECT_FAILS(processor_->convert_all(three), Errc::device, "g2d_blit");
  EXPECT_EQ(machine_->counts().blits, 2);
  EXPECT_EQ(machine_->counts().finishes, 1);
  EXPECT_OK(processor_->convert_all(three));
}

TEST_F(G2dMemory, memory_that_must_not_be_written_is_refused_before_any_pixel) {
  use("int");
  const Convert good = request();
  Convert bad = request();
  const auto shared = machine_->buffer(48 * 32 * 4);
  const auto read_only = adopt_dma_buffer(*shared->clone_fd(), 48 * 32 * 4, false).value();
  const Tensor::PlaneSource whole{read_only, 0, 192, 0};
  bad.dst = Tensor::wrap_image({&whole, 1}, 48, 32, F::bgra).value();
  EXPECT_FAILS(processor_->convert(bad), Errc::permission, "read-only");
  const auto before = bytes_of(good.dst);
  const std::vector<Convert> both{good, bad};
  EXPECT_FAILS(processor_->convert_all(both), Errc::permission, "request 1");
  EXPECT_EQ(machine_->counts().blits, 0);
  EXPECT_EQ(bytes_of(good.dst), before);
}

TEST_F(G2dMemory, a_pad_that_cannot_be_mapped_stops_the_call_before_any_pixel) {
  use("int");
  const Convert good = request();
  Convert padded = request(F::rgba, F::rgb, {64, 48});
  padded.place = Region{8, 8, 48, 32};
  const std::vector<Convert> both{good, padded};
  const conformance::IoctlHook broken([](int, unsigned long call, void*) -> std::optional<int> {
    if (call != DMA_BUF_IOCTL_SYNC) return std::nullopt;
    return -EIO;
  });
  EXPECT_FAILS(processor_->convert_all(both), Errc::os, "request 1");
  EXPECT_EQ(machine_->counts().blits, 0);
}

}  // namespace
}  // namespace halyard::test
