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
using Bytes = Owned<std::uint8_t>;

Attrs list(const char* party) {
  Attrs attrs(hal_attrs_new(party));
  EXPECT_NE(attrs, nullptr) << hal_last_error();
  return attrs;
}

void set(const Attrs& attrs, const char* key, const char* json) {
  EXPECT_EQ(hal_attrs_set(attrs.get(), key, json), 0) << hal_last_error();
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

Attrs network(std::uint64_t row_align) {
  Attrs attrs = list("network");
  EXPECT_EQ(hal_attrs_set_number(attrs.get(), "t.row_align", row_align), 0);
  return attrs;
}

Reconciled reconcile(const std::vector<hal_attrs*>& lists, Text* report = nullptr) {
  char* text = nullptr;
  Reconciled result(hal_reconcile(lists.data(), lists.size(), 0, &text));
  if (report != nullptr) {
    report->reset(text);
  } else {
    std::free(text);
  }
  return result;
}

Buffer one_buffer() {
  const Attrs first = app();
  const Attrs second = network(64);
  const Reconciled result = reconcile({first.get(), second.get()});
  return Buffer(hal_reconciled_alloc(result.get(), nullptr));
}

TEST(CapiNegotiate, finds_the_buffer_for_all) {
  const Attrs first = app();
  const Attrs second = network(64);
  const Reconciled result = reconcile({first.get(), second.get()});
  ASSERT_NE(result, nullptr) << hal_last_error();
  const Text json(hal_reconciled_json(result.get()));
  EXPECT_NE(std::string(json.get()).find("\"t.strides\":[18432,6144,128,1]"), std::string::npos)
      << json.get();
  EXPECT_GE(hal_reconciled_size(result.get()), 18432U);
  EXPECT_EQ(hal_reconciled_count(result.get()), 1U);
  const Buffer buffer(hal_reconciled_alloc(result.get(), nullptr));
  ASSERT_NE(buffer, nullptr) << hal_last_error();
  EXPECT_STREQ(hal_buffer_heap(buffer.get()), "memfd");
  EXPECT_STREQ(hal_buffer_enforcement(buffer.get()), "advisory");
  const Tensor tensor(hal_buffer_tensor(buffer.get()));
  ASSERT_NE(tensor, nullptr) << hal_last_error();
  std::size_t ndim = 0;
  EXPECT_EQ(hal_tensor_shape(tensor.get(), &ndim)[3], 77U);
  EXPECT_EQ(ndim, 4U);
  hal_buffer_layout layout = {};
  ASSERT_EQ(hal_buffer_get_layout(buffer.get(), &layout), 0) << hal_last_error();
  EXPECT_EQ(layout.dtype, HAL_DTYPE_U8);
  EXPECT_EQ(layout.order, HAL_AXIS_ORDER_NCHW);
  EXPECT_EQ(layout.ndim, 4U);
  EXPECT_EQ(layout.dims[2], 48U);
  EXPECT_EQ(layout.strides[2], 128);
  EXPECT_EQ(layout.offset_bytes, 0U);
  EXPECT_GE(layout.size_bytes, 18432U);
  errno = 0;
  EXPECT_EQ(hal_buffer_image(buffer.get()), nullptr);
  EXPECT_EQ(errno, ENOTSUP);
}

TEST(CapiNegotiate, reports_who_disagrees) {
  const Attrs first = app();
  const Attrs second = network(64);
  Attrs camera = list("camera");
  set(camera, "t.row_exact", "100");
  Text report;
  errno = 0;
  EXPECT_EQ(reconcile({first.get(), second.get(), camera.get()}, &report), nullptr);
  EXPECT_EQ(errno, ENOTSUP);
  ASSERT_NE(report, nullptr);
  EXPECT_NE(std::string(report.get()).find("\"computed\":\"100 mod 64 = 36\""), std::string::npos)
      << report.get();
  EXPECT_TRUE(says("the parties disagree"));
  EXPECT_EQ(hal_attrs_set_optional(camera.get(), 1), 0);
  hal_attrs* lists[] = {first.get(), second.get(), camera.get()};
  const Reconciled result(hal_reconcile(lists, 3, HAL_RECONCILE_ALLOW_DROP, nullptr));
  EXPECT_NE(result, nullptr) << hal_last_error();
}

TEST(CapiNegotiate, asks_engines) {
  const Attrs first = app();
  Attrs dla = list("npu");
  EXPECT_EQ(hal_attrs_set_engine(dla.get(), "cpu.simd32", "{\"vector\": 128}"), 0)
      << hal_last_error();
  const Reconciled result = reconcile({first.get(), dla.get()});
  ASSERT_NE(result, nullptr) << hal_last_error();
  const Text json(hal_reconciled_json(result.get()));
  EXPECT_NE(std::string(json.get()).find("[12288,256,3,1]"), std::string::npos) << json.get();
  errno = 0;
  EXPECT_EQ(hal_attrs_set_engine(dla.get(), "abacus", nullptr), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(hal_attrs_set_engine(dla.get(), "dla", "[1"), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST(CapiNegotiate, refuses_what_a_key_cannot_have) {
  Attrs attrs = app();
  const auto fails = [&](const char* key, const char* json) {
    errno = 0;
    EXPECT_EQ(hal_attrs_set(attrs.get(), key, json), -1) << key;
    return errno;
  };
  EXPECT_EQ(fails("t.dtype", "\"u8\""), EEXIST);
  EXPECT_TRUE(says("app"));
  EXPECT_EQ(fails("t.nothing", "1"), ENOENT);
  EXPECT_EQ(fails("t.row_align", "\"many\""), EINVAL);
  EXPECT_EQ(fails("t.row_align", "{"), EINVAL);
  EXPECT_EQ(fails(nullptr, "1"), EINVAL);
  EXPECT_EQ(fails("t.row_align", nullptr), EINVAL);
  EXPECT_EQ(hal_attrs_accept(attrs.get(), "ZYX", 0), -1);
  EXPECT_EQ(hal_attrs_accept(attrs.get(), "NHWC", 0), 0);
  errno = 0;
  EXPECT_EQ(hal_attrs_accept(attrs.get(), "NHWC", 0), -1);
  EXPECT_EQ(errno, EEXIST);
  for (const char* const name : {"", "a\nb", "\xff"}) {
    errno = 0;
    EXPECT_EQ(hal_attrs_new(name), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
  hal_attrs* const lists[] = {attrs.get()};
  errno = 0;
  EXPECT_EQ(hal_reconcile(lists, 1, 64, nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST(CapiNegotiate, locks_in_turn) {
  const Buffer buffer = one_buffer();
  std::size_t size = 0;
  void* data = hal_buffer_lock(buffer.get(), HAL_CPU_ACCESS_WRITE, -1, &size);
  ASSERT_NE(data, nullptr) << hal_last_error();
  EXPECT_GE(size, 18432U);
  std::memset(data, 7, size);
  errno = 0;
  EXPECT_EQ(hal_buffer_lock(buffer.get(), HAL_CPU_ACCESS_READ, 0, nullptr), nullptr);
  EXPECT_EQ(errno, EBUSY);
  std::thread([&] {
    errno = 0;
    EXPECT_EQ(hal_buffer_lock(buffer.get(), HAL_CPU_ACCESS_READ, 1000, nullptr), nullptr);
    EXPECT_EQ(errno, ETIMEDOUT);
    EXPECT_EQ(hal_buffer_unlock(buffer.get()), -1);
    EXPECT_EQ(errno, EACCES);
  }).join();
  EXPECT_EQ(hal_buffer_unlock(buffer.get()), 0) << hal_last_error();
  errno = 0;
  EXPECT_EQ(hal_buffer_unlock(buffer.get()), -1);
  EXPECT_EQ(errno, EINVAL);
  data = hal_buffer_lock(buffer.get(), HAL_CPU_ACCESS_READ, 0, nullptr);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(static_cast<char*>(data)[100], 7);
  EXPECT_EQ(hal_buffer_unlock(buffer.get()), 0);
  EXPECT_EQ(hal_buffer_lock(buffer.get(), HAL_CPU_ACCESS_NONE, 0, nullptr), nullptr);
}

TEST(CapiNegotiate, tells_of_operations) {
  const Buffer buffer = one_buffer();
  hal_operation_status status = {};
  ASSERT_EQ(hal_buffer_get_status(buffer.get(), 0, &status), 0);
  EXPECT_EQ(status.state, HAL_OPERATION_NONE);
  Operation operation(hal_buffer_submit(buffer.get()));
  ASSERT_NE(operation, nullptr);
  errno = 0;
  EXPECT_EQ(hal_buffer_get_status(buffer.get(), 1000, &status), -1);
  EXPECT_EQ(errno, ETIMEDOUT);
  hal_operation_fail(operation.get(), -5);
  ASSERT_EQ(hal_buffer_get_status(buffer.get(), -1, &status), 0);
  EXPECT_EQ(status.state, HAL_OPERATION_FAILED);
  EXPECT_EQ(status.code, -5);
  operation.reset(hal_buffer_submit(buffer.get()));
  hal_operation_finish(operation.get());
  ASSERT_EQ(hal_buffer_get_status(buffer.get(), -1, &status), 0);
  EXPECT_EQ(status.state, HAL_OPERATION_DONE);
  EXPECT_GT(status.duration_us, 0U);
  operation.reset(hal_buffer_submit(buffer.get()));
  operation.reset();
  ASSERT_EQ(hal_buffer_get_status(buffer.get(), -1, &status), 0);
  EXPECT_EQ(status.code, ECANCELED) << "it was freed and never ended";
  const int fence = ::eventfd(0, EFD_CLOEXEC);
  ASSERT_EQ(hal_buffer_submit_fence(buffer.get(), fence), 0) << hal_last_error();
  EXPECT_EQ(hal_buffer_lock(buffer.get(), HAL_CPU_ACCESS_READ, 1000, nullptr), nullptr);
  EXPECT_EQ(::eventfd_write(fence, 1), 0);
  EXPECT_NE(hal_buffer_lock(buffer.get(), HAL_CPU_ACCESS_READ, -1, nullptr), nullptr);
  EXPECT_EQ(hal_buffer_unlock(buffer.get()), 0);
  errno = 0;
  EXPECT_EQ(hal_buffer_submit_fence(buffer.get(), -1), -1);
  EXPECT_EQ(errno, EINVAL);
  ::close(fence);
}

TEST(CapiNegotiate, gives_buffers_to_other_processes) {
  const Buffer buffer = one_buffer();
  void* data = hal_buffer_lock(buffer.get(), HAL_CPU_ACCESS_WRITE, -1, nullptr);
  ASSERT_NE(data, nullptr);
  static_cast<char*>(data)[9] = 42;
  EXPECT_EQ(hal_buffer_unlock(buffer.get()), 0);
  std::size_t size = 0;
  int fd = -1;
  const Bytes bytes(hal_buffer_export(buffer.get(), "app", &size, &fd));
  ASSERT_NE(bytes, nullptr) << hal_last_error();
  ASSERT_GE(fd, 0);
  const Attrs demanding = network(4096);
  hal_attrs* lists[] = {demanding.get()};
  errno = 0;
  EXPECT_EQ(hal_buffer_import(bytes.get(), size, fd, lists, 1), nullptr);
  EXPECT_EQ(errno, ENOTSUP);
  EXPECT_TRUE(says("128 mod 4096 = 128")) << hal_last_error();
  const Buffer imported(hal_buffer_import(bytes.get(), size, fd, nullptr, 0));
  ASSERT_NE(imported, nullptr) << hal_last_error();
  data = hal_buffer_lock(imported.get(), HAL_CPU_ACCESS_READ, -1, nullptr);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(static_cast<char*>(data)[9], 42);
  EXPECT_EQ(hal_buffer_unlock(imported.get()), 0);
  errno = 0;
  EXPECT_EQ(hal_buffer_import(bytes.get(), size - 1, fd, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EBADMSG);
  EXPECT_EQ(hal_buffer_export(buffer.get(), "stranger", &size, &fd), nullptr);
  EXPECT_EQ(errno, ENOENT);
  ::close(fd);
}

TEST(CapiNegotiate, gives_lists_to_other_processes) {
  const Attrs first = app();
  const Attrs second = network(64);
  hal_attrs* lists[] = {first.get(), second.get()};
  std::size_t size = 0;
  const Bytes bytes(hal_attrs_encode(lists, 2, &size));
  ASSERT_NE(bytes, nullptr) << hal_last_error();
  hal_attrs* out[2] = {};
  errno = 0;
  EXPECT_EQ(hal_attrs_decode(bytes.get(), size, out, 1), -1);
  EXPECT_EQ(errno, ENOSPC);
  ASSERT_EQ(hal_attrs_decode(bytes.get(), size, out, 2), 2);
  const Attrs one(out[0]);
  const Attrs other(out[1]);
  EXPECT_NE(reconcile({one.get(), other.get()}), nullptr);
}

TEST(CapiNegotiate, makes_pools_of_such_frames) {
  const Attrs first = app();
  const Attrs second = network(64);
  const Reconciled result = reconcile({first.get(), second.get()});
  const Pool pool(hal_reconciled_pool(result.get(), 4711, 2));
  ASSERT_NE(pool, nullptr) << hal_last_error();
  const Tensor one(hal_pool_alloc_frame(pool.get(), 0));
  ASSERT_NE(one, nullptr) << hal_last_error();
  std::size_t ndim = 0;
  EXPECT_EQ(hal_tensor_shape(one.get(), &ndim)[2], 48U);
  const Tensor two(hal_pool_alloc_frame(pool.get(), 0));
  EXPECT_NE(two, nullptr);
  errno = 0;
  EXPECT_EQ(hal_pool_alloc_frame(pool.get(), 0), nullptr);
  EXPECT_EQ(errno, ENOSPC);
}

/// Calls with handles that are none of theirs: each gives its error and touches nothing.
void expect_refusals(hal_attrs* attrs, hal_reconciled* reconciled, hal_buffer* buffer) {
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
}

TEST(CapiNegotiate, refuses_handles_of_another_kind) {
  const Attrs attrs = app();
  const Buffer buffer = one_buffer();
  auto* const no_attrs = reinterpret_cast<hal_attrs*>(buffer.get());
  auto* const no_result = reinterpret_cast<hal_reconciled*>(buffer.get());
  auto* const no_buffer = reinterpret_cast<hal_buffer*>(attrs.get());
  auto* const no_operation = reinterpret_cast<hal_operation*>(buffer.get());
  expect_refusals(no_attrs, no_result, no_buffer);
  EXPECT_TRUE(says("of another kind, or freed")) << hal_last_error();
  hal_operation_finish(no_operation);
  hal_operation_fail(no_operation, 5);
  hal_operation_free(no_operation);
  hal_attrs_free(no_attrs);
  hal_reconciled_free(no_result);
  hal_buffer_free(no_buffer);
  EXPECT_NE(hal_buffer_lock(buffer.get(), HAL_CPU_ACCESS_READ, 0, nullptr), nullptr)
      << "handles of another kind are left alone";
  EXPECT_EQ(hal_buffer_unlock(buffer.get()), 0);
  EXPECT_EQ(hal_attrs_set_optional(attrs.get(), 1), 0);
}

TEST(CapiNegotiate, refuses_what_freeing_leaves) {
  // Freed memory is not to be read: this is what a freed handle is until something else lies there.
  alignas(std::max_align_t) std::array<std::byte, 1024> freed = {};
  void* const at = freed.data();
  auto* const operation = static_cast<hal_operation*>(at);
  expect_refusals(static_cast<hal_attrs*>(at), static_cast<hal_reconciled*>(at),
                  static_cast<hal_buffer*>(at));
  hal_operation_finish(operation);
  hal_operation_fail(operation, 5);
  hal_operation_free(operation);
  hal_attrs_free(static_cast<hal_attrs*>(at));
  hal_reconciled_free(static_cast<hal_reconciled*>(at));
  hal_buffer_free(static_cast<hal_buffer*>(at));
}

TEST(CapiNegotiate, ends_operations_of_buffers_that_are_freed) {
  Buffer buffer = one_buffer();
  Operation operation(hal_buffer_submit(buffer.get()));
  ASSERT_NE(operation, nullptr) << hal_last_error();
  const Tensor tensor(hal_buffer_tensor(buffer.get()));
  buffer.reset();
  hal_operation_finish(operation.get());
  operation.reset();
  EXPECT_NE(hal_tensor_len(tensor.get()), 0U);
}

}  // namespace
