// SPDX-License-Identifier: Apache-2.0
// The memory policy: what automatic takes, what explicit kinds refuse, what options carry.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "halyard/buffer.h"
#include "halyard/dmabuf.h"
#include "halyard/tensor.h"
#include "support/result.h"
#include "support/threads.h"

namespace halyard {
namespace {

Memory kind_of(const Result<std::shared_ptr<Buffer>>& buffer) {
  return buffer ? (*buffer)->memory() : Memory::automatic;
}

AllocateOptions with(Memory memory) {
  return {.memory = memory};
}

TEST(AllocateKinds, an_explicit_kind_is_served_or_refused_and_never_replaced) {
  for (const Memory kind : {Memory::mem, Memory::shm, Memory::dma, Memory::pbo}) {
    const auto buffer = allocate(64, kind);
    EXPECT_EQ(buffer.has_value(), memory_available(kind).has_value()) << to_string(kind);
    if (buffer) {
      EXPECT_EQ((*buffer)->memory(), kind);
    } else {
      EXPECT_EQ(buffer.error().message(), memory_available(kind).error().message());
      EXPECT_FALSE(buffer.error().message().empty());
    }
  }
}

TEST(AllocateKinds, automatic_takes_dma_then_shm) {
  const Memory first = memory_available(Memory::dma)   ? Memory::dma
                       : memory_available(Memory::shm) ? Memory::shm
                                                       : Memory::mem;
  EXPECT_EQ(kind_of(allocate(64, Memory::automatic)), first);
}

TEST(AllocateKinds, automatic_with_a_heap_that_is_not_there_takes_shm) {
  auto options = with(Memory::automatic);
  options.dma_heaps = {"no such heap"};
  EXPECT_EQ(kind_of(allocate(64, options)), Memory::shm);
  options.memory = Memory::dma;
  EXPECT_FAILS(allocate(64, options), Errc::unsupported, "no such heap");
}

TEST(AllocateKinds, a_bad_heap_name_is_the_callers_mistake) {
  auto options = with(Memory::dma);
  options.dma_heaps = {"../mem"};
  EXPECT_FAILS(allocate(64, options), Errc::invalid_argument, "'../mem'");
}

TEST(AllocateKinds, pixel_buffers_come_from_an_opengl_processor) {
  EXPECT_FAILS(memory_available(Memory::pbo), Errc::unsupported, "needs OpenGL");
}

TEST(AllocateKinds, kinds_that_do_not_exist_are_refused) {
  EXPECT_FAILS(allocate(64, static_cast<Memory>(77)), Errc::invalid_argument);
}

TEST(AllocateKinds, no_bytes_are_legal_for_mem_only) {
  EXPECT_EQ(kind_of(allocate(0, Memory::mem)), Memory::mem);
  EXPECT_EQ(kind_of(allocate(0, Memory::automatic)), Memory::mem);
  for (const Memory kind : {Memory::shm, Memory::dma, Memory::pbo})
    EXPECT_FAILS(allocate(0, kind), Errc::invalid_argument);
}

TEST(AllocateOptions, carry_the_declared_cpu_access) {
  for (const Memory kind : {Memory::mem, Memory::shm, Memory::automatic}) {
    auto options = with(kind);
    options.cpu_access = CpuAccess::read;
    EXPECT_EQ((*allocate(64, options))->cpu_access(), CpuAccess::read);
  }
  EXPECT_EQ((*allocate(64, Memory::mem))->cpu_access(), CpuAccess::read_write);
}

TEST(AllocateOptions, carry_the_label) {
  auto options = with(Memory::shm);
  options.label = "left camera";
  const auto buffer = *allocate(64, options);
  const auto link =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(buffer->fd())).string();
  EXPECT_NE(link.find("left camera"), std::string::npos) << link;
}

TEST(MemoryAvailable, answers_many_threads_alike) {
  for (const Memory kind : {Memory::shm, Memory::dma, Memory::pbo, Memory::mem}) {
    std::vector<std::string> answers(8);
    test::on_threads(answers.size(), [&](std::size_t i) {
      const auto available = memory_available(kind);
      answers[i] = available ? "yes" : available.error().message();
    });
    const auto served = allocate(4096, kind);
    for (const auto& answer : answers)
      EXPECT_EQ(answer, served ? "yes" : served.error().message()) << to_string(kind);
  }
}

// The environment is read once, so each of these asks a process of its own.
class AllocateInEnvironment : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
  void TearDown() override {
    for (const char* name : {"HALYARD_TENSOR_FORCE_MEM", "EDGEFIRST_TENSOR_FORCE_MEM",
                             "HALYARD_TENSOR_DMA_HEAP", "EDGEFIRST_TENSOR_DMA_HEAP"})
      ::unsetenv(name);
  }
  static void exit_with_kind() {
    ::_exit(static_cast<int>(kind_of(allocate(64, Memory::automatic))));
  }
  // 0 when the refusal of dma names the heap.
  static void exit_with_refusal_of(const char* heap) {
    const auto refused = allocate(64, Memory::dma);
    const bool named = !refused && refused.error().message().find(heap) != std::string::npos;
    ::_exit(named ? 0 : 1);
  }
  static bool served_by_heap(int status) {
    return WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(Memory::mem);
  }
  static bool not_served_by_heap(int status) {
    return WIFEXITED(status) && !served_by_heap(status);
  }
};

TEST_F(AllocateInEnvironment, force_mem_makes_automatic_take_the_heap) {
  ::setenv("HALYARD_TENSOR_FORCE_MEM", "1", 1);
  EXPECT_EXIT(exit_with_kind(), served_by_heap, "");
}

TEST_F(AllocateInEnvironment, force_mem_leaves_the_rows_of_packed_images_tight) {
  ::setenv("HALYARD_TENSOR_FORCE_MEM", "1", 1);
  EXPECT_EXIT(
      ::_exit(static_cast<int>(Tensor::create_image(33, 2, PixelFormat::grey)->row_stride_bytes())),
      ::testing::ExitedWithCode(33), "");
}

TEST_F(AllocateInEnvironment, force_mem_is_taken_by_its_older_name) {
  ::setenv("EDGEFIRST_TENSOR_FORCE_MEM", "true", 1);
  EXPECT_EXIT(exit_with_kind(), served_by_heap, "");
  ::setenv("HALYARD_TENSOR_FORCE_MEM", "0", 1);
  EXPECT_EXIT(exit_with_kind(), not_served_by_heap, "");
}

TEST_F(AllocateInEnvironment, force_mem_leaves_explicit_kinds_alone) {
  ::setenv("HALYARD_TENSOR_FORCE_MEM", "1", 1);
  EXPECT_EXIT(::_exit(static_cast<int>(kind_of(allocate(64, Memory::shm)))), not_served_by_heap,
              "");
}

TEST_F(AllocateInEnvironment, the_heaps_to_try_may_be_named) {
  ::setenv("EDGEFIRST_TENSOR_DMA_HEAP", "older,name", 1);
  EXPECT_EXIT(exit_with_refusal_of("older,name"), ::testing::ExitedWithCode(0), "");
  ::setenv("HALYARD_TENSOR_DMA_HEAP", "first:second,third", 1);
  EXPECT_EXIT(exit_with_refusal_of("first second,third"), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace halyard
