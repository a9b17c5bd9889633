// SPDX-License-Identifier: Apache-2.0
// Pools and descriptors in C, in one process and in two.
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "capi/owned.h"
#include "halyard/pool.h"
#include "ipc/peer.h"
#include "support/in_child.h"

namespace {

using namespace halyard::test;
using halyard::ipc::testing::Peer;

hal_pool_config limits(std::uint64_t bytes, std::uint32_t slots) {
  hal_pool_config config = hal_pool_config_default();
  config.pool_size = bytes;
  config.max_slots = slots;
  return config;
}

Tensor alloc(const Pool& pool, hal_dtype dtype, std::initializer_list<std::size_t> shape) {
  Tensor tensor(hal_pool_alloc(pool, dtype, shape.begin(), shape.size()));
  EXPECT_TRUE(tensor) << hal_last_error();
  return tensor;
}

hal_tensor_descriptor descriptor_of(const Tensor& tensor) {
  hal_tensor_descriptor descriptor{};
  EXPECT_DONE(hal_tensor_descriptor_of(tensor, &descriptor));
  return descriptor;
}

// A descriptor as a line that a peer reads.
std::string text_of(const hal_tensor_descriptor& descriptor) {
  std::ostringstream text;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&descriptor);
  for (std::size_t i = 0; i < sizeof descriptor; ++i)
    text << int{bytes[i]} << ' ';
  return text.str();
}

hal_tensor_descriptor descriptor_in(const std::string& line) {
  hal_tensor_descriptor descriptor{};
  std::istringstream text(line);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(&descriptor);
  for (std::size_t i = 0; i < sizeof descriptor; ++i) {
    int byte = 0;
    text >> byte;
    bytes[i] = static_cast<std::uint8_t>(byte);
  }
  return descriptor;
}

int attach_errno(const Pool& pool, const hal_tensor_descriptor& descriptor) {
  errno = 0;
  const Tensor tensor(hal_pool_attach(pool, &descriptor));
  const int attached = errno;
  errno = 0;
  EXPECT_EQ(hal_pool_validate(pool, &descriptor), tensor ? 0 : -1);
  EXPECT_EQ(errno, attached);
  return attached;
}

TEST(CapiPool, has_the_limits_of_the_config) {
  const hal_pool_config small = hal_pool_config_small();
  const hal_pool_config large = hal_pool_config_large();
  EXPECT_EQ(hal_pool_config_default().pool_size, std::uint64_t{1} << 30);
  EXPECT_EQ(small.pool_size, std::uint64_t{64} << 20);
  EXPECT_EQ(small.scrub, HAL_SCRUB_ON_HANDOVER);
  EXPECT_EQ(large.max_slots, 4096U);
  const Pool pool(hal_pool_create(7, &small));
  ASSERT_TRUE(pool) << hal_last_error();
  EXPECT_EQ(hal_pool_id(pool), 7U);
  EXPECT_TRUE(hal_pool_is_owner(pool));
  const hal_pool_stats stats = stats_of(pool);
  EXPECT_EQ(stats.pool_id, 7U);
  EXPECT_EQ(stats.pool_size, small.pool_size);
  EXPECT_EQ(stats.max_slots, 256U);
  EXPECT_EQ(stats.processes, 1U);
  const Pool again(hal_pool_open(7));
  EXPECT_EQ(hal_pool_id(again), 7U);
  EXPECT_ERROR(nullptr, EEXIST, "pool_size", hal_pool_create(7, &large));
  EXPECT_ERRNO(nullptr, ENOENT, hal_pool_open(8));
  hal_pool_config wrong = limits(1 << 20, 0);
  EXPECT_ERROR(nullptr, EINVAL, "max_slots", hal_pool_create(8, &wrong));
  wrong = limits(1 << 20, 16);
  wrong.scrub = 3;
  EXPECT_ERROR(nullptr, EINVAL, "scrub", hal_pool_create(8, &wrong));
}

TEST(CapiPool, gives_tensors_that_other_functions_take) {
  const hal_pool_config config = limits(1 << 20, 8);
  const Pool pool(hal_pool_create(11, &config));
  const std::size_t shape[3] = {2, 3, 4};
  const Tensor tensor = alloc(pool, HAL_DTYPE_F32, {2, 3, 4});
  EXPECT_EQ(hal_tensor_size(tensor), 96U);
  EXPECT_EQ(hal_tensor_memory_type(tensor), HAL_TENSOR_MEMORY_SHM);
  EXPECT_ERRNO(-1, ENOTSUP, hal_tensor_clone_fd(tensor));
  const Tensor image(hal_pool_alloc_image(pool, 64, 32, HAL_PIXEL_FORMAT_RGBA, HAL_DTYPE_U8, 512));
  ASSERT_TRUE(image) << hal_last_error();
  EXPECT_EQ(hal_tensor_row_stride(image), 512U);
  const Processor processor(hal_image_processor_new());
  const Tensor from = halyard::test::make_image(16, 16, HAL_PIXEL_FORMAT_RGB);
  paint(from, 77);
  EXPECT_DONE(convert(processor, from, image));
  EXPECT_EQ(byte_at(image, 512 + 4), 77);
  const hal_pool_stats stats = stats_of(pool);
  EXPECT_EQ(stats.allocated_slots, 2U);
  EXPECT_GE(stats.used_bytes, 96U + 512 * 32);
  EXPECT_ERRNO(nullptr, EINVAL, hal_pool_alloc(pool, HAL_DTYPE_F32, shape, 9));
  EXPECT_ERRNO(nullptr, EINVAL, hal_pool_alloc(pool, static_cast<hal_dtype>(13), shape, 3));
  EXPECT_ERRNO(nullptr, EINVAL,
               hal_pool_alloc_image(pool, 0, 8, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, 0));
  EXPECT_ERRNO(nullptr, EINVAL,
               hal_pool_alloc_image(pool, 64, 8, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, 10));
}

TEST(CapiPool, says_what_is_exhausted) {
  const hal_pool_config config = limits(1 << 16, 2);
  const Pool pool(hal_pool_create(12, &config));
  const Tensor one = alloc(pool, HAL_DTYPE_U8, {100});
  Tensor two = alloc(pool, HAL_DTYPE_U8, {100});
  const std::size_t some = 100;
  const std::size_t many = 1 << 20;
  EXPECT_ERROR(nullptr, ENOSPC, "slot", hal_pool_alloc(pool, HAL_DTYPE_U8, &some, 1));
  EXPECT_ERRNO(nullptr, ETIMEDOUT, hal_pool_alloc_for(pool, HAL_DTYPE_U8, &some, 1, 1'000'000));
  EXPECT_ERRNO(nullptr, ENOSPC, hal_pool_alloc_for(pool, HAL_DTYPE_U8, &many, 1, -1));
  two.reset();
  const Tensor three(hal_pool_alloc_for(pool, HAL_DTYPE_U8, &some, 1, -1));
  EXPECT_TRUE(three) << hal_last_error();
  EXPECT_GE(stats_of(pool).failed_allocations, 2U);
}

TEST(CapiPool, of_the_process_is_one) {
  const Pool pool(hal_pool_default());
  const Pool again(hal_pool_default());
  ASSERT_TRUE(pool) << hal_last_error();
  EXPECT_EQ(hal_pool_id(pool), hal_pool_id(again));
  EXPECT_EQ(hal_pool_id(pool), (*halyard::default_pool())->pool_id());
}

TEST(CapiPool, descriptors_name_tensors) {
  const Pool pool(hal_pool_create(13, nullptr));
  Tensor tensor = alloc(pool, HAL_DTYPE_I16, {4, 6});
  fill(tensor, 3);
  hal_tensor_descriptor descriptor = descriptor_of(tensor);
  EXPECT_EQ(descriptor.pool_id, 13U);
  EXPECT_EQ(descriptor.ndim, 2);
  EXPECT_EQ(descriptor.dims[1], 6U);
  EXPECT_EQ(descriptor.strides[0], 12U);
  EXPECT_EQ(descriptor.dtype_code, 5);
  EXPECT_EQ(descriptor.flags, HAL_DESCRIPTOR_CONTIGUOUS);
  EXPECT_EQ(descriptor.size, 48U);
  {
    const Tensor same(hal_pool_attach(pool, &descriptor));
    ASSERT_TRUE(same) << hal_last_error();
    EXPECT_EQ(hal_tensor_dtype(same), HAL_DTYPE_I16);
    EXPECT_EQ(byte_at(same, 5), 15);
    const Map map(hal_tensor_map_create(same));
    EXPECT_EQ(hal_tensor_map_data(map), nullptr);
  }
  const auto edited_errno = [&](auto edit) {
    hal_tensor_descriptor other = descriptor;
    edit(other);
    return attach_errno(pool, other);
  };
  EXPECT_EQ(edited_errno([](auto& d) { d.pool_id = 14; }), EINVAL);
  EXPECT_EQ(edited_errno([](auto& d) { d.ndim = 9; }), EBADMSG);
  EXPECT_EQ(edited_errno([](auto& d) { d.offset += 1 << 20; }), EBADMSG);
  tensor.reset();
  EXPECT_EQ(attach_errno(pool, descriptor), ENOENT);
  const Tensor elsewhere = halyard::test::make_image(4, 4, HAL_PIXEL_FORMAT_GREY);
  EXPECT_ERROR(-1, EINVAL, "pool", hal_tensor_descriptor_of(elsewhere, &descriptor));
}

TEST(CapiPool, counts_references_without_handles) {
  const Pool pool(hal_pool_create(15, nullptr));
  const std::size_t shape[1] = {100};
  hal_tensor_descriptor descriptor;
  ASSERT_DONE(hal_pool_alloc_slot(pool, HAL_DTYPE_U16, shape, 1, &descriptor));
  std::size_t size = 0;
  auto* const bytes = static_cast<std::uint8_t*>(hal_pool_bytes(pool, &descriptor, &size));
  ASSERT_NE(bytes, nullptr) << hal_last_error();
  EXPECT_EQ(size, 200U);
  bytes[199] = 42;
  EXPECT_DONE(hal_pool_retain(pool, &descriptor));
  EXPECT_DONE(hal_pool_release(pool, &descriptor));
  EXPECT_EQ(bytes, hal_pool_bytes(pool, &descriptor, nullptr));
  const Tensor tensor(hal_pool_attach(pool, &descriptor));
  EXPECT_EQ(byte_at(tensor, 199), 42);
  EXPECT_DONE(hal_pool_release(pool, &descriptor));
  EXPECT_EQ(attach_errno(pool, descriptor), 0) << "the handle has it";
  hal_tensor_descriptor wrong = descriptor;
  wrong.slot_id += 1 << 24;
  EXPECT_ERRNO(-1, EINVAL, hal_pool_retain(pool, &wrong));
  wrong = descriptor;
  wrong.slot_id = 0xFFFFF;
  EXPECT_ERRNO(-1, EBADMSG, hal_pool_release(pool, &wrong));
  wrong = descriptor;
  wrong.size = 1 << 20;
  EXPECT_ERRNO(nullptr, EBADMSG, hal_pool_bytes(pool, &wrong, nullptr));
  wrong = descriptor;
  wrong.generation_low += 2;
  EXPECT_ERRNO(-1, ENOENT, hal_pool_release(pool, &wrong));
  EXPECT_ERRNO(-1, ENOENT, hal_pool_retain(pool, &wrong));
  EXPECT_ERRNO(nullptr, ENOENT, hal_pool_bytes(pool, &wrong, nullptr));
}

TEST(CapiPool, collects_what_ended_processes_left) {
  hal_garbage_report report;
  ASSERT_DONE(hal_collect_garbage(&report));
  {
    Peer peer("c_pool");
    const hal_pool_config config = limits(1 << 20, 8);
    const Pool pool(hal_pool_create(16, &config));
    ASSERT_NE(peer.ask("open 16"), "");
    peer.kill();
  }
  ASSERT_DONE(hal_collect_garbage(&report));
  EXPECT_GE(report.sockets + report.members, 1U);
  EXPECT_EQ(report.skipped, 0U);
}

TEST(Peer, DISABLED_c_pool) {
  Pool pool;
  std::vector<Tensor> mine;
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "open") {
      std::uint32_t id = 0;
      words >> id;
      pool.reset(hal_pool_open(id));
      Peer::tell(pool && !hal_pool_is_owner(pool) ? "opened" : "failed");
    } else if (what == "attach") {
      const hal_tensor_descriptor descriptor = descriptor_in(line.substr(7));
      const Tensor tensor(hal_pool_attach(pool, &descriptor));
      Peer::tell(tensor ? std::to_string(byte_at(tensor, 9)) : hal_last_error());
    } else {
      mine.push_back(alloc(pool, HAL_DTYPE_U8, {50}));
      fill(mine.back(), 2);
      hal_tensor_descriptor descriptor;
      EXPECT_DONE(hal_tensor_descriptor_of(mine.back().get(), &descriptor));
      Peer::tell(text_of(descriptor));
    }
  }
}

TEST(CapiPool, is_shared_by_processes) {
  const hal_pool_config config = limits(1 << 20, 8);
  const Pool pool(hal_pool_create(17, &config));
  Peer peer("c_pool");
  ASSERT_EQ(peer.ask("open 17"), "opened");
  EXPECT_EQ(stats_of(pool).processes, 2U);
  const Tensor mine = alloc(pool, HAL_DTYPE_U8, {20});
  fill(mine, 5);
  EXPECT_EQ(peer.ask("attach " + text_of(descriptor_of(mine))), "45");
  const hal_tensor_descriptor theirs = descriptor_in(peer.ask("alloc"));
  const Tensor tensor(hal_pool_attach(pool, &theirs));
  ASSERT_TRUE(tensor) << hal_last_error();
  EXPECT_EQ(byte_at(tensor, 49), 98);
  EXPECT_ERROR(-1, EINVAL, "attach", hal_pool_retain(pool, &theirs));
  peer.kill();
  EXPECT_EQ(byte_at(tensor, 49), 98) << "a tensor outlives its process";
}

TEST(CapiPool, of_the_parent_is_not_that_of_a_child) {
  const Pool pool(hal_pool_create(18, nullptr));
  const Tensor tensor = alloc(pool, HAL_DTYPE_U8, {4});
  paint(tensor, 9);
  EXPECT_TRUE(halyard::test::is_true_in_child([&] {
    const std::size_t some = 4;
    const bool fails = hal_pool_alloc(pool, HAL_DTYPE_U8, &some, 1) == nullptr && errno == ENOTSUP;
    return fails && byte_at(tensor, 3) == 9;
  }));
}

}  // namespace
