// SPDX-License-Identifier: Apache-2.0
// Negotiated buffers in C: lists, results, memory, locks, and other processes.
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <thread>
#include <vector>

#include "capi/owned.h"

namespace {

using namespace halyard::test;
using Attrs = Owned<hal_attrs>;
using Reconciled = Owned<hal_reconciled>;
using Buffer = Owned<hal_buffer>;
using Operation = Owned<hal_operation>;
using Text = Owned<char>;
using OwnedBytes = Owned<std::uint8_t>;

Attrs list(const char* party) {
  Attrs attrs(hal_attrs_new(party));
  EXPECT_NE(attrs, nullptr) << hal_last_error();
  return attrs;
}

void set(const Attrs& attrs, const char* key, const char* json) {
  EXPECT_DONE(hal_attrs_set(attrs, key, json));
}

/// A tensor [1, 3, 48, 77] of u8 that `app` reads and writes, in shared memory.
Attrs app() {
  Attrs attrs = list("app");
  set(attrs, "t.dtype", "\"u8\"");
  set(attrs, "t.shape", "[1, 3, 48, 77]");
  set(attrs, "g.cpu", "\"read_write\"");
  set(attrs, "g.perm", "\"read_write\"");
  set(attrs, "g.heaps", "[\"memfd\"]");
  return attrs;
}

Attrs network_of(std::uint64_t row_align) {
  Attrs attrs = list("network");
  EXPECT_DONE(hal_attrs_set_number(attrs, "t.row_align", row_align));
  return attrs;
}

Reconciled reconcile(const std::vector<hal_attrs*>& lists, Text* report = nullptr) {
  Text text;
  Reconciled result(hal_reconcile(lists.data(), lists.size(), 0, text.out()));
  if (report != nullptr) *report = std::move(text);
  return result;
}

bool has(const Text& text, const char* words) {
  return std::string(text).find(words) != std::string::npos;
}

struct CapiNegotiate : testing::Test {
  const Attrs first = app();
  const Attrs second = network_of(64);
  const Reconciled result = reconcile({first, second});
  Buffer buffer{hal_reconciled_alloc(result, nullptr)};
};

TEST_F(CapiNegotiate, finds_the_buffer_for_all) {
  ASSERT_NE(result, nullptr) << hal_last_error();
  const Text json(hal_reconciled_json(result));
  EXPECT_TRUE(has(json, "\"t.strides\":[18432,6144,128,1]")) << json.get();
  EXPECT_GE(hal_reconciled_size(result), 18432U);
  EXPECT_EQ(hal_reconciled_count(result), 1U);
  ASSERT_NE(buffer, nullptr) << hal_last_error();
  EXPECT_STREQ(hal_buffer_heap(buffer), "memfd");
  EXPECT_STREQ(hal_buffer_enforcement(buffer), "advisory");
  const Tensor tensor(hal_buffer_tensor(buffer));
  ASSERT_NE(tensor, nullptr) << hal_last_error();
  std::size_t ndim = 0;
  EXPECT_EQ(hal_tensor_shape(tensor, &ndim)[3], 77U);
  EXPECT_EQ(ndim, 4U);
  hal_buffer_layout layout = {};
  ASSERT_DONE(hal_buffer_get_layout(buffer, &layout));
  EXPECT_EQ(layout.dtype, HAL_DTYPE_U8);
  EXPECT_EQ(layout.order, HAL_AXIS_ORDER_NCHW);
  EXPECT_EQ(layout.ndim, 4U);
  EXPECT_EQ(layout.dims[2], 48U);
  EXPECT_EQ(layout.strides[2], 128);
  EXPECT_EQ(layout.offset_bytes, 0U);
  EXPECT_GE(layout.size_bytes, 18432U);
  EXPECT_ERRNO(nullptr, ENOTSUP, hal_buffer_image(buffer));
}

TEST_F(CapiNegotiate, reports_who_disagrees) {
  Attrs camera = list("camera");
  set(camera, "t.row_exact", "100");
  Text report;
  EXPECT_ERROR(nullptr, ENOTSUP, "the parties disagree",
               reconcile({first, second, camera}, &report));
  ASSERT_NE(report, nullptr);
  EXPECT_TRUE(has(report, "\"computed\":\"100 mod 64 = 36\"")) << report.get();
  EXPECT_DONE(hal_attrs_set_optional(camera, 1));
  hal_attrs* lists[] = {first, second, camera};
  EXPECT_TRUE(Reconciled(hal_reconcile(lists, 3, HAL_RECONCILE_ALLOW_DROP, nullptr)));
}

TEST_F(CapiNegotiate, asks_engines) {
  Attrs dla = list("npu");
  EXPECT_DONE(hal_attrs_set_engine(dla, "cpu.simd32", "{\"vector\": 128}"));
  const Text json(hal_reconciled_json(reconcile({first, dla})));
  ASSERT_TRUE(json) << hal_last_error();
  EXPECT_TRUE(has(json, "[12288,256,3,1]")) << json.get();
  EXPECT_ERRNO(-1, ENOENT, hal_attrs_set_engine(dla, "abacus", nullptr));
  EXPECT_ERRNO(-1, EINVAL, hal_attrs_set_engine(dla, "dla", "[1"));
}

TEST_F(CapiNegotiate, refuses_what_a_key_cannot_have) {
  Attrs attrs = app();
  EXPECT_ERROR(-1, EEXIST, "app", hal_attrs_set(attrs, "t.dtype", "\"u8\""));
  EXPECT_ERRNO(-1, ENOENT, hal_attrs_set(attrs, "t.nothing", "1"));
  EXPECT_ERRNO(-1, EINVAL, hal_attrs_set(attrs, "t.row_align", "\"many\""));
  EXPECT_ERRNO(-1, EINVAL, hal_attrs_set(attrs, "t.row_align", "{"));
  EXPECT_ERRNO(-1, EINVAL, hal_attrs_set(attrs, nullptr, "1"));
  EXPECT_ERRNO(-1, EINVAL, hal_attrs_set(attrs, "t.row_align", nullptr));
  EXPECT_EQ(hal_attrs_accept(attrs, "ZYX", 0), -1);
  EXPECT_DONE(hal_attrs_accept(attrs, "NHWC", 0));
  EXPECT_ERRNO(-1, EEXIST, hal_attrs_accept(attrs, "NHWC", 0));
  for (const char* const name : {"", "a\nb", "\xff"})
    EXPECT_ERRNO(nullptr, EINVAL, hal_attrs_new(name));
  hal_attrs* const lists[] = {attrs};
  EXPECT_ERRNO(nullptr, EINVAL, hal_reconcile(lists, 1, 64, nullptr));
}

TEST_F(CapiNegotiate, locks_in_turn) {
  std::size_t size = 0;
  void* data = hal_buffer_lock(buffer, HAL_CPU_ACCESS_WRITE, -1, &size);
  ASSERT_NE(data, nullptr) << hal_last_error();
  EXPECT_GE(size, 18432U);
  std::memset(data, 7, size);
  EXPECT_ERRNO(nullptr, EBUSY, hal_buffer_lock(buffer, HAL_CPU_ACCESS_READ, 0, nullptr));
  std::thread([&] {
    EXPECT_ERRNO(nullptr, ETIMEDOUT, hal_buffer_lock(buffer, HAL_CPU_ACCESS_READ, 1000, nullptr));
    EXPECT_ERRNO(-1, EACCES, hal_buffer_unlock(buffer));
  }).join();
  EXPECT_DONE(hal_buffer_unlock(buffer));
  EXPECT_ERRNO(-1, EINVAL, hal_buffer_unlock(buffer));
  data = hal_buffer_lock(buffer, HAL_CPU_ACCESS_READ, 0, nullptr);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(static_cast<char*>(data)[100], 7);
  EXPECT_DONE(hal_buffer_unlock(buffer));
  EXPECT_EQ(hal_buffer_lock(buffer, HAL_CPU_ACCESS_NONE, 0, nullptr), nullptr);
}

TEST_F(CapiNegotiate, tells_of_operations) {
  hal_operation_status status = {};
  ASSERT_DONE(hal_buffer_get_status(buffer, 0, &status));
  EXPECT_EQ(status.state, HAL_OPERATION_NONE);
  Operation operation(hal_buffer_submit(buffer));
  ASSERT_NE(operation, nullptr);
  EXPECT_ERRNO(-1, ETIMEDOUT, hal_buffer_get_status(buffer, 1000, &status));
  hal_operation_fail(operation, -5);
  ASSERT_DONE(hal_buffer_get_status(buffer, -1, &status));
  EXPECT_EQ(status.state, HAL_OPERATION_FAILED);
  EXPECT_EQ(status.code, -5);
  operation.reset(hal_buffer_submit(buffer));
  hal_operation_finish(operation);
  ASSERT_DONE(hal_buffer_get_status(buffer, -1, &status));
  EXPECT_EQ(status.state, HAL_OPERATION_DONE);
  EXPECT_GT(status.duration_us, 0U);
  operation.reset(hal_buffer_submit(buffer));
  operation.reset();
  ASSERT_DONE(hal_buffer_get_status(buffer, -1, &status));
  EXPECT_EQ(status.code, ECANCELED) << "it was freed and never ended";
  const int fence = ::eventfd(0, EFD_CLOEXEC);
  ASSERT_DONE(hal_buffer_submit_fence(buffer, fence));
  EXPECT_EQ(hal_buffer_lock(buffer, HAL_CPU_ACCESS_READ, 1000, nullptr), nullptr);
  EXPECT_EQ(::eventfd_write(fence, 1), 0);
  EXPECT_NE(hal_buffer_lock(buffer, HAL_CPU_ACCESS_READ, -1, nullptr), nullptr);
  EXPECT_DONE(hal_buffer_unlock(buffer));
  EXPECT_ERRNO(-1, EINVAL, hal_buffer_submit_fence(buffer, -1));
  ::close(fence);
}

TEST_F(CapiNegotiate, gives_buffers_to_other_processes) {
  void* data = hal_buffer_lock(buffer, HAL_CPU_ACCESS_WRITE, -1, nullptr);
  ASSERT_NE(data, nullptr);
  static_cast<char*>(data)[9] = 42;
  EXPECT_DONE(hal_buffer_unlock(buffer));
  std::size_t size = 0;
  int fd = -1;
  const OwnedBytes bytes(hal_buffer_export(buffer, "app", &size, &fd));
  ASSERT_NE(bytes, nullptr) << hal_last_error();
  ASSERT_GE(fd, 0);
  const Attrs demanding = network_of(4096);
  hal_attrs* lists[] = {demanding};
  EXPECT_ERROR(nullptr, ENOTSUP, "128 mod 4096 = 128",
               hal_buffer_import(bytes, size, fd, lists, 1));
  const Buffer imported(hal_buffer_import(bytes, size, fd, nullptr, 0));
  ASSERT_NE(imported, nullptr) << hal_last_error();
  data = hal_buffer_lock(imported, HAL_CPU_ACCESS_READ, -1, nullptr);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(static_cast<char*>(data)[9], 42);
  EXPECT_DONE(hal_buffer_unlock(imported));
  EXPECT_ERRNO(nullptr, EBADMSG, hal_buffer_import(bytes, size - 1, fd, nullptr, 0));
  EXPECT_ERRNO(nullptr, ENOENT, hal_buffer_export(buffer, "stranger", &size, &fd));
  ::close(fd);
}

TEST_F(CapiNegotiate, gives_lists_to_other_processes) {
  hal_attrs* lists[] = {first, second};
  std::size_t size = 0;
  const OwnedBytes bytes(hal_attrs_encode(lists, 2, &size));
  ASSERT_NE(bytes, nullptr) << hal_last_error();
  hal_attrs* out[2] = {};
  EXPECT_ERRNO(-1, ENOSPC, hal_attrs_decode(bytes, size, out, 1));
  ASSERT_EQ(hal_attrs_decode(bytes, size, out, 2), 2);
  const Attrs one(out[0]);
  const Attrs other(out[1]);
  EXPECT_NE(reconcile({one, other}), nullptr);
}

TEST_F(CapiNegotiate, makes_pools_of_such_frames) {
  const Pool pool(hal_reconciled_pool(result, 4711, 2));
  ASSERT_NE(pool, nullptr) << hal_last_error();
  const Tensor one(hal_pool_alloc_frame(pool, 0));
  ASSERT_NE(one, nullptr) << hal_last_error();
  std::size_t ndim = 0;
  EXPECT_EQ(hal_tensor_shape(one, &ndim)[2], 48U);
  const Tensor two(hal_pool_alloc_frame(pool, 0));
  EXPECT_TRUE(two);
  EXPECT_ERRNO(nullptr, ENOSPC, hal_pool_alloc_frame(pool, 0));
}

/// Calls with handles that are none of theirs: each gives its error and touches nothing.
void expect_refusals(hal_attrs* attrs, hal_reconciled* reconciled, hal_buffer* buffer,
                     hal_operation* operation) {
  std::size_t size = 0;
  int fd = -1;
  hal_buffer_layout layout = {};
  hal_operation_status status = {};
  hal_attrs* const lists[] = {attrs};
  EXPECT_ERRNO(-1, EINVAL, hal_attrs_set(attrs, "t.dtype", "\"u8\""));
  EXPECT_ERRNO(-1, EINVAL, hal_attrs_set_number(attrs, "t.row_align", 64));
  EXPECT_ERRNO(-1, EINVAL, hal_attrs_accept(attrs, "NCHW", 0));
  EXPECT_ERRNO(-1, EINVAL, hal_attrs_set_engine(attrs, "cpu", nullptr));
  EXPECT_ERRNO(-1, EINVAL, hal_attrs_set_optional(attrs, 1));
  EXPECT_ERRNO(nullptr, EINVAL, hal_attrs_encode(lists, 1, &size));
  EXPECT_ERRNO(nullptr, EINVAL, hal_reconcile(lists, 1, 0, nullptr));
  EXPECT_ERRNO(nullptr, EINVAL, hal_reconciled_json(reconciled));
  EXPECT_ERRNO(nullptr, EINVAL, hal_reconciled_alloc(reconciled, nullptr));
  EXPECT_ERRNO(nullptr, EINVAL, hal_reconciled_pool(reconciled, 4712, 2));
  EXPECT_EQ(hal_reconciled_size(reconciled), 0U);
  EXPECT_EQ(hal_reconciled_count(reconciled), 0U);
  EXPECT_ERRNO(nullptr, EINVAL, hal_buffer_tensor(buffer));
  EXPECT_ERRNO(nullptr, EINVAL, hal_buffer_image(buffer));
  EXPECT_ERRNO(-1, EINVAL, hal_buffer_get_layout(buffer, &layout));
  EXPECT_EQ(hal_buffer_heap(buffer), nullptr);
  EXPECT_EQ(hal_buffer_enforcement(buffer), nullptr);
  EXPECT_ERRNO(nullptr, EINVAL, hal_buffer_lock(buffer, HAL_CPU_ACCESS_READ, 0, &size));
  EXPECT_ERRNO(-1, EINVAL, hal_buffer_unlock(buffer));
  EXPECT_ERRNO(nullptr, EINVAL, hal_buffer_submit(buffer));
  EXPECT_ERRNO(-1, EINVAL, hal_buffer_submit_fence(buffer, 0));
  EXPECT_ERRNO(-1, EINVAL, hal_buffer_get_status(buffer, 0, &status));
  EXPECT_ERRNO(nullptr, EINVAL, hal_buffer_export(buffer, "app", &size, &fd));
  EXPECT_EQ(fd, -1);
  EXPECT_TRUE(says("of another kind, or freed")) << hal_last_error();
  hal_operation_finish(operation);
  hal_operation_fail(operation, 5);
  hal_operation_free(operation);
  hal_attrs_free(attrs);
  hal_reconciled_free(reconciled);
  hal_buffer_free(buffer);
}

TEST_F(CapiNegotiate, refuses_handles_of_another_kind) {
  const Attrs attrs = app();
  expect_refusals(
      reinterpret_cast<hal_attrs*>(buffer.get()), reinterpret_cast<hal_reconciled*>(buffer.get()),
      reinterpret_cast<hal_buffer*>(attrs.get()), reinterpret_cast<hal_operation*>(buffer.get()));
  EXPECT_NE(hal_buffer_lock(buffer, HAL_CPU_ACCESS_READ, 0, nullptr), nullptr)
      << "handles of another kind are left alone";
  EXPECT_DONE(hal_buffer_unlock(buffer));
  EXPECT_DONE(hal_attrs_set_optional(attrs, 1));
}

TEST_F(CapiNegotiate, refuses_what_freeing_leaves) {
  // Freed memory is not to be read: this is what a freed handle is until something else lies there.
  alignas(std::max_align_t) std::array<std::byte, 1024> freed = {};
  void* const at = freed.data();
  expect_refusals(static_cast<hal_attrs*>(at), static_cast<hal_reconciled*>(at),
                  static_cast<hal_buffer*>(at), static_cast<hal_operation*>(at));
}

TEST_F(CapiNegotiate, ends_operations_of_buffers_that_are_freed) {
  Operation operation(hal_buffer_submit(buffer));
  ASSERT_NE(operation, nullptr) << hal_last_error();
  const Tensor tensor(hal_buffer_tensor(buffer));
  buffer.reset();
  hal_operation_finish(operation);
  operation.reset();
  EXPECT_NE(hal_tensor_len(tensor), 0U);
}

}  // namespace
