// SPDX-License-Identifier: Apache-2.0
// What is told about memory beside its bytes: CPU access, owners of foreign memory, modifiers.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>
#include <thread>

#include "halyard/log.h"
#include "halyard/tensor.h"
#include "support/product.h"
#include "support/result.h"
#include "tensor/tensors.h"

namespace halyard {
namespace {

using F = PixelFormat;
using test::contiguous;
using test::image_of;

// --- CPU access

struct CpuAccessTest : ::testing::Test {
  void SetUp() override {
    set_log_sink([this](LogLevel level, std::string_view target, std::string_view text) {
      if (level == LogLevel::warn && target == "tensor") warnings.emplace_back(text);
    });
  }
  void TearDown() override { set_log_sink({}); }
  std::shared_ptr<Buffer> make(CpuAccess declared) {
    return *allocate(64, {.memory = Memory::mem, .cpu_access = declared});
  }
  std::vector<std::string> warnings;
};

TEST_F(CpuAccessTest, beyond_what_was_declared_is_served_counted_and_told_once) {
  const auto buffer = make(CpuAccess::read);
  const std::uint64_t before = unplanned_cpu_accesses();
  EXPECT_TRUE(buffer->map(Access::read));
  EXPECT_EQ(unplanned_cpu_accesses(), before);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(buffer->map(Access::write));
  EXPECT_TRUE(buffer->map_unclaimed(Access::read_write));
  EXPECT_EQ(unplanned_cpu_accesses(), before + 4);
  ASSERT_EQ(warnings.size(), 1U) << "once per buffer";
  EXPECT_NE(warnings[0].find("'read'"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find("'write'"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find(std::to_string(buffer->id())), std::string::npos) << warnings[0];
  EXPECT_TRUE(make(CpuAccess::none)->map(Access::read));
  EXPECT_EQ(warnings.size(), 2U) << "another buffer is told of again";
}

TEST_F(CpuAccessTest, within_what_was_declared_is_silent) {
  const std::uint64_t before = unplanned_cpu_accesses();
  for (const auto& [declared, access] :
       {std::pair{CpuAccess::read, Access::read}, std::pair{CpuAccess::write, Access::write},
        std::pair{CpuAccess::read_write, Access::read},
        std::pair{CpuAccess::read_write, Access::write},
        std::pair{CpuAccess::read_write, Access::read_write}})
    EXPECT_TRUE(make(declared)->map(access));
  EXPECT_EQ(unplanned_cpu_accesses(), before);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CpuAccessTest, counts_every_combination_that_goes_beyond) {
  std::uint64_t expected = unplanned_cpu_accesses();
  for (const auto& [declared, access] :
       test::product({CpuAccess::none, CpuAccess::read, CpuAccess::write, CpuAccess::read_write},
                     {Access::read, Access::write, Access::read_write})) {
    EXPECT_TRUE(make(declared)->map(access));
    const unsigned beyond = static_cast<unsigned>(access) & ~static_cast<unsigned>(declared);
    expected += beyond != 0 ? 1 : 0;
    EXPECT_EQ(unplanned_cpu_accesses(), expected)
        << to_string(declared) << ", " << static_cast<int>(access);
  }
}

TEST_F(CpuAccessTest, of_a_map_that_was_refused_does_not_count) {
  const auto buffer = make(CpuAccess::none);
  const auto mine = buffer->map(Access::write);
  const std::uint64_t before = unplanned_cpu_accesses();
  std::thread([&] { EXPECT_FAILS(buffer->map(Access::write), Errc::busy); }).join();
  EXPECT_EQ(unplanned_cpu_accesses(), before);
}

TEST_F(CpuAccessTest, can_be_declared_later) {
  const auto buffer = make(CpuAccess::read_write);
  EXPECT_EQ(buffer->cpu_access(), CpuAccess::read_write);
  buffer->set_cpu_access(CpuAccess::none);
  EXPECT_TRUE(buffer->map(Access::read));
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(CpuAccessNames, are_those_of_the_values) {
  EXPECT_EQ(to_string(CpuAccess::none), "none");
  EXPECT_EQ(to_string(CpuAccess::read), "read");
  EXPECT_EQ(to_string(CpuAccess::write), "write");
  EXPECT_EQ(to_string(CpuAccess::read_write), "read_write");
}

// --- foreign memory

TEST(WrapMemory, releases_on_the_thread_of_the_last_user) {
  std::array<std::byte, 64> bytes{};
  std::thread::id released_on;
  int released = 0;
  auto buffer = *wrap_memory(static_cast<void*>(bytes.data()), bytes.size(), [&] {
    released_on = std::this_thread::get_id();
    ++released;
  });
  std::thread::id other;
  std::thread([&other, map = *buffer->map(Access::write), last = std::move(buffer)]() mutable {
    other = std::this_thread::get_id();
    map.writable_bytes()[0] = std::byte{1};
    last.reset();
    map = Map();
  }).join();
  EXPECT_EQ(released, 1);
  EXPECT_EQ(released_on, other);
  EXPECT_EQ(bytes[0], std::byte{1});
}

TEST(WrapMemory, what_is_refused_stays_the_callers) {
  int released = 0;
  const auto release = [&released] { ++released; };
  std::byte one{};
  EXPECT_FAILS(wrap_memory(static_cast<void*>(nullptr), 8, release), Errc::invalid_argument,
               "data");
  EXPECT_FAILS(wrap_memory(static_cast<const void*>(nullptr), 8, release), Errc::invalid_argument);
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX / 2 + 1})
    EXPECT_FAILS(wrap_memory(static_cast<void*>(&one), size, release), Errc::invalid_argument,
                 "size");
  EXPECT_EQ(released, 0);
}

TEST(WrapMemory, spans_and_memory_that_the_caller_keeps) {
  std::array<float, 6> values{1, 2, 3, 4, 5, 6};
  const auto layout = contiguous(DType::f32, {2, 3});
  const auto writable = *wrap_memory(std::span(values));
  EXPECT_EQ(writable->size_bytes(), sizeof values);
  auto tensor = *Tensor::wrap(writable, layout);
  {
    auto map = *tensor.map(Access::read_write);
    auto* const first = reinterpret_cast<float*>(map.writable());
    EXPECT_EQ(first, values.data());
    first[4] = 50;
  }
  EXPECT_EQ(values[4], 50);
  const auto fixed = *wrap_memory(std::span<const float, 6>(values));
  EXPECT_TRUE(fixed->map(Access::read));
  EXPECT_FALSE(fixed->map(Access::write));
  EXPECT_TRUE(wrap_memory(values.data(), sizeof values));
}

TEST(WrapMemory, nothing_may_be_wrapped) {
  int released = 0;
  {
    const auto buffer = wrap_memory(static_cast<void*>(nullptr), 0, [&released] { ++released; });
    ASSERT_TRUE(buffer);
    EXPECT_EQ((*buffer)->size_bytes(), 0U);
    EXPECT_TRUE((*buffer)->map(Access::read_write)->bytes().empty());
    EXPECT_TRUE(Tensor::wrap(*buffer, contiguous(DType::f32, {0, 3})));
    EXPECT_FALSE(Tensor::wrap(*buffer, contiguous(DType::u8, {1})));
  }
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(wrap_memory(static_cast<void*>(nullptr), 0, {})) << "nor is a release needed";
}

struct LastWords final : Attachment {
  explicit LastWords(const std::vector<int>& memory) : memory_(memory) {}
  ~LastWords() override { EXPECT_EQ(memory_[0], 42) << "the memory went first"; }
  const std::vector<int>& memory_;
};

TEST(WrapMemory, what_hangs_on_the_buffer_goes_before_the_memory) {
  std::vector<int> memory{42};
  auto buffer =
      *wrap_memory(static_cast<void*>(memory.data()), sizeof(int), [&memory] { memory[0] = 0; });
  const int owner = 0;
  buffer->attach(&owner, std::make_unique<LastWords>(memory));
  buffer.reset();
  EXPECT_EQ(memory[0], 0);
}

TEST(WrapObject, keeps_its_owner_as_long_as_a_map_lives) {
  auto owner = std::make_shared<std::vector<float>>(16, 1.5F);
  const std::weak_ptr<std::vector<float>> watch = owner;
  auto buffer = *wrap_object(std::span(*owner), owner);
  owner.reset();
  ASSERT_FALSE(watch.expired());
  auto tensor = std::make_unique<Tensor>(
      *Tensor::wrap(std::exchange(buffer, nullptr), contiguous(DType::f32, {4, 4})));
  {
    const TensorMap map = *tensor->map(Access::read_write);
    tensor.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ((*map.view<const float, 2>())(3, 3), 1.5F);
    (*map.view<float, 2>())(0, 0) = 2.5F;
    EXPECT_EQ(watch.lock()->front(), 2.5F) << "no copy";
  }
  EXPECT_TRUE(watch.expired());
}

TEST(WrapObject, of_const_elements_is_read_only) {
  const auto owner = std::make_shared<const std::vector<int>>(4, 7);
  const auto buffer = *wrap_object(std::span(*owner), owner);
  EXPECT_FALSE(buffer->is_writable());
  EXPECT_FAILS(buffer->map(Access::write), Errc::permission);
  EXPECT_FAILS(buffer->map_unclaimed(Access::read_write), Errc::permission);
  const Tensor t = *Tensor::wrap(buffer, contiguous(DType::i32, {4}));
  EXPECT_FAILS(t.map(Access::write), Errc::permission);
  EXPECT_EQ((*t.map(Access::read)->view<const std::int32_t, 1>())(3), 7);
}

TEST(WrapObject, refuses_null_and_lets_the_owner_go) {
  const auto owner = std::make_shared<int>(1);
  EXPECT_FAILS(wrap_object(std::span<int>(static_cast<int*>(nullptr), 4), owner),
               Errc::invalid_argument);
  EXPECT_EQ(owner.use_count(), 1);
}

// --- modifiers

TEST(TensorModifier, keeps_the_cpu_out_unless_it_is_linear) {
  Tensor image = image_of(8, 8, F::rgba);
  EXPECT_EQ(image.modifier(), drm_modifier_linear);
  image.set_modifier(0x0800000000000041ULL);
  for (const Access access : {Access::read, Access::write, Access::read_write}) {
    EXPECT_FAILS(image.map(access), Errc::unsupported, "arm 0x0800000000000041");
    EXPECT_FAILS(image.map_unclaimed(access), Errc::unsupported);
  }
  EXPECT_TRUE(image.buffer()->map(Access::write)) << "and what was refused claims nothing";
  image.set_modifier(drm_modifier_invalid);
  EXPECT_TRUE(image.map(Access::read));
}

TEST(TensorModifier, keeps_copies_out_too) {
  Tensor source = image_of(8, 8, F::rgba);
  Tensor destination = image_of(8, 8, F::rgba);
  source.set_modifier(1);
  EXPECT_FAILS(copy(source, destination), Errc::unsupported);
  EXPECT_FAILS(copy(destination, source), Errc::unsupported);
  EXPECT_FAILS(source.reconfigured(4, 4, F::rgba), Errc::unsupported);
}

}  // namespace
}  // namespace halyard
