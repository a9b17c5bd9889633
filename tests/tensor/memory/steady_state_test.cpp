// SPDX-License-Identifier: Apache-2.0
// What a frame costs once all is warm: no system call, no heap allocation, and two ioctls for a
// DMA-BUF. Shown by a child process that the kernel kills at the first other call.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/dma-buf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/system/tsan.h"
#include "conformance/fake_dma.h"
#include "halyard/dmabuf.h"
#include "halyard/recycler.h"
#include "support/allocations.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

using F = PixelFormat;

// One frame's work; false when something in it failed.
using Frame = std::function<bool()>;

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

// Leaves this process no system call but its end and, when asked, ioctl. Not to be taken back.
bool forbid_system_calls(bool allow_ioctl) {
  constexpr std::uint32_t number = offsetof(seccomp_data, nr);
  constexpr std::uint32_t arch = offsetof(seccomp_data, arch);
  const std::uint32_t also = allow_ioctl ? SYS_ioctl : SYS_exit_group;
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, also, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(rules)), rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum ChildExit { all_well = 0, frame_failed = 1, no_seccomp = 2 };

struct Outcome {
  bool refused;  // the kernel does not let us forbid anything
  int exit;      // -1 when a signal ended it
  int signal;
};

// Runs 10 frames freely and 1000 without system calls, in a child. `passed` is asked at its end.
Outcome run_sealed(const Frame& frame, bool allow_ioctl = false,
                   const std::function<bool()>& passed = nullptr) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = true;
    for (int i = 0; i < 10; ++i)
      good = frame() && good;
    if (!forbid_system_calls(allow_ioctl)) ::_exit(no_seccomp);
    for (int i = 0; i < 1000; ++i)
      good = frame() && good;
    ::_exit(good && (!passed || passed()) ? all_well : frame_failed);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return {WIFEXITED(status) && WEXITSTATUS(status) == no_seccomp,
          WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

// Sanitizers make system calls of their own, so there these tests are disabled, and named as such.
#if defined(__SANITIZE_ADDRESS__) || defined(HALYARD_TSAN)
#define SEALED_TEST(name) DISABLED_##name
#else
#define SEALED_TEST(name) name
#endif

#define RUN_SEALED(outcome, ...)                                                    \
  if (architecture == 0) GTEST_SKIP() << "no filter written for this architecture"; \
  const Outcome outcome = run_sealed(__VA_ARGS__);                                  \
  if (outcome.refused) GTEST_SKIP() << "seccomp filters are refused here"

// Maps, writes, reads back.
bool write_and_read(const Tensor& tensor, std::atomic<unsigned>& mark) {
  const auto value = static_cast<int>(++mark & 0x7FU);
  {
    const auto map = tensor.map(Access::write);
    if (!map) return false;
    std::memset(map->writable(), value, tensor.size_bytes());
  }
  const auto map = tensor.map(Access::read);
  return map && *map->data() == static_cast<std::byte>(value);
}

TEST(SteadyState, SEALED_TEST(the_filter_kills_whoever_allocates_fresh_memory)) {
  RUN_SEALED(outcome, [] { return allocate(std::size_t{64} << 20, Memory::shm).has_value(); });
  EXPECT_EQ(outcome.signal, SIGSYS);
}

TEST(SteadyState, SEALED_TEST(the_filter_kills_whoever_maps_a_dma_buf_without_leave_for_ioctl)) {
  const auto buffer =
      *adopt_dma_buffer((*allocate(4096, Memory::shm))->clone_fd().value(), 4096, true);
  RUN_SEALED(outcome, [&] {
    (void)buffer->map(Access::read);
    return true;
  });
  EXPECT_EQ(outcome.signal, SIGSYS);
}

TEST(SteadyState, SEALED_TEST(a_frame_in_heap_memory_makes_no_system_call)) {
  std::atomic<unsigned> mark{0};
  const auto tensor = *Tensor::create(DType::u8, {640, 640, 3}, Memory::mem);
  RUN_SEALED(outcome, [&] { return write_and_read(tensor, mark); });
  EXPECT_EQ(outcome.exit, all_well) << "signal " << outcome.signal;
}

TEST(SteadyState, SEALED_TEST(a_frame_in_shared_memory_makes_no_system_call)) {
  std::atomic<unsigned> mark{0};
  const auto image = *Tensor::create_image(64, 64, F::nv12, DType::u8, Memory::shm);
  RUN_SEALED(outcome, [&] { return write_and_read(image, mark); });
  EXPECT_EQ(outcome.exit, all_well) << "signal " << outcome.signal;
}

TEST(SteadyState, SEALED_TEST(a_recycled_frame_makes_no_system_call)) {
  std::atomic<unsigned> mark{0};
  for (const Memory memory : {Memory::mem, Memory::shm}) {
    Recycler recycler({.shared_kinds = true});
    RUN_SEALED(outcome, [&] {
      const auto frame = recycler.create_image(1920, 1080, F::rgba, DType::u8, memory);
      return frame && write_and_read(frame->slice({0, 0, 64, 1}).value(), mark);
    });
    EXPECT_EQ(outcome.exit, all_well) << "signal " << outcome.signal;
  }
}

// Sync calls of one DMA-BUF, answered here (a memfd replaces it) or passed on to the kernel.
class SyncCounter {
 public:
  SyncCounter(int fd, bool answer)
      : hook_([this, fd, answer](int called, unsigned long request, void*) -> std::optional<int> {
          if (called != fd) return std::nullopt;
          ++(request == DMA_BUF_IOCTL_SYNC ? syncs : others);
          return answer ? std::optional(0) : std::nullopt;
        }) {}
  std::atomic<unsigned> syncs{0};
  std::atomic<unsigned> others{0};

 private:
  conformance::IoctlHook hook_;
};

TEST(SteadyState, SEALED_TEST(a_frame_in_a_dma_buf_makes_two_ioctls_for_a_map)) {
  std::atomic<unsigned> mark{0};
  auto memory = (*allocate(64 * 96, Memory::shm))->clone_fd().value();
  const auto buffer = *adopt_dma_buffer(std::move(memory), 64 * 96, true);
  const Tensor::PlaneSource whole{buffer, 0, 64};
  const auto image = *Tensor::wrap_image({&whole, 1}, 64, 64, F::nv12);
  SyncCounter counter(buffer->fd(), true);
  // A frame maps twice, both planes at once.
  RUN_SEALED(
      outcome, [&] { return write_and_read(image, mark); }, false,
      [&] { return counter.syncs == 1010 * 2 * 2 && counter.others == 0; });
  EXPECT_EQ(outcome.exit, all_well) << "signal " << outcome.signal;
}

TEST(SteadyState, SEALED_TEST(a_frame_in_a_real_dma_buf_makes_two_ioctls_for_a_map)) {
  if (const auto available = memory_available(Memory::dma); !available)
    GTEST_SKIP() << available.error().message();
  std::atomic<unsigned> mark{0};
  const auto image = *Tensor::create_image(64, 64, F::nv12, DType::u8, Memory::dma);
  SyncCounter counter(image.buffer()->fd(), false);
  RUN_SEALED(
      outcome, [&] { return write_and_read(image, mark); }, true,
      [&] { return counter.syncs == 1010 * 2 * 2 && counter.others == 0; });
  EXPECT_EQ(outcome.exit, all_well) << "signal " << outcome.signal;
}

// Heap allocations of a hundred frames, after one to warm up.
std::uint64_t allocations_of(const Frame& frame) {
  EXPECT_TRUE(frame());
  const std::uint64_t before = test::allocations();
  bool good = true;
  for (int i = 0; i < 100; ++i)
    good = frame() && good;
  EXPECT_TRUE(good);
  return test::allocations() - before;
}

TEST(SteadyState, fresh_memory_is_seen_by_the_counter_of_heap_allocations) {
  EXPECT_GE(allocations_of([] { return allocate(64, Memory::mem).has_value(); }), 100U);
}

TEST(SteadyState, mapping_allocates_nothing) {
  std::atomic<unsigned> mark{0};
  const auto tensor = *Tensor::create(DType::u8, {64, 64}, Memory::mem);
  EXPECT_EQ(allocations_of([&] { return write_and_read(tensor, mark); }), 0U);
  for (const PixelFormat format : {F::nv12, F::planar_rgb}) {
    const auto image = *Tensor::create_image(64, 64, format, DType::u8, Memory::shm);
    EXPECT_EQ(allocations_of([&] { return write_and_read(image, mark); }), 0U);
  }
}

TEST(SteadyState, a_recycled_frame_allocates_nothing) {
  std::atomic<unsigned> mark{0};
  Recycler recycler;
  EXPECT_EQ(allocations_of([&] {
              const auto frame = recycler.create_image(64, 64, F::nv12);
              return frame && write_and_read(*frame, mark);
            }),
            0U);
}

TEST(SteadyState, recycled_frames_of_two_sizes_by_turns_allocate_nothing) {
  std::atomic<unsigned> mark{0};
  Recycler recycler;
  Tensor last;  // lives on until the next is filled
  unsigned turn = 0;
  const Frame frame = [&] {
    auto next = recycler.create_image(++turn % 2 == 0 ? 128 : 64, 64, F::rgb);
    if (!next || !write_and_read(*next, mark)) return false;
    last = *std::move(next);
    return true;
  };
  EXPECT_TRUE(frame() && frame());
  EXPECT_EQ(allocations_of(frame), 0U);
}

}  // namespace
}  // namespace halyard
