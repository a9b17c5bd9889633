// SPDX-License-Identifier: Apache-2.0
// Pixel buffers as CUDA sees them, with a runtime without a device that copies between OpenGL and
// the addresses that it gives.
#include "gl/memory/cuda_pbo.h"

#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "support/cuda/fake_cudart.h"
#include "support/in_child.h"
#include "support/result.h"
#include "support/threads.h"
#include "worker.h"

namespace halyard::test {
namespace {

constexpr std::size_t size_bytes = 1000;

struct CudaPboTest : FakeCudaTest {
  std::shared_ptr<gl::Worker> worker = any_worker();
  std::shared_ptr<Buffer> buffer;

  void SetUp() override {
    if (worker == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
    buffer = make();
  }
  // What was posted to the worker runs before the counts are read.
  void TearDown() override {
    buffer.reset();
    finish();
  }
  void finish() {
    if (worker == nullptr) return;
    EXPECT_OK(worker->run([] { return Status(); }));
  }
  std::shared_ptr<gl::PboBuffer> make() { return *gl::PboBuffer::create(worker, size_bytes); }
  Result<DeviceMap> map(void* stream = nullptr) {
    return map_device(buffer, DeviceKind::cuda, stream);
  }
};

std::byte* bytes_of(const DeviceMap& map) {
  return static_cast<std::byte*>(map.address());
}

TEST_F(CudaPboTest, cuda_and_the_cpu_see_the_same_bytes) {
  {
    ASSERT_VALUE(const auto written, buffer->map(Access::write));
    std::memset(written.writable_bytes().data(), 9, size_bytes);
  }
  {
    ASSERT_VALUE(const DeviceMap seen, map());
    EXPECT_EQ(seen.size_bytes(), size_bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(seen.address()) % 256, 0U);
    EXPECT_EQ(bytes_of(seen)[size_bytes - 1], std::byte{9});
    bytes_of(seen)[3] = std::byte{42};
  }
  ASSERT_VALUE(const auto read, buffer->map(Access::read));
  EXPECT_EQ(read.bytes()[3], std::byte{42});
  EXPECT_EQ(read.bytes()[4], std::byte{9});
}

TEST_F(CudaPboTest, sees_what_opengl_wrote_before) {
  const auto& pixels = static_cast<gl::PboBuffer&>(*buffer);
  { buffer->map(Access::write)->writable_bytes()[200] = std::byte{7}; }
  EXPECT_OK(worker->run([&]() -> Status {
    glBindBuffer(GL_COPY_READ_BUFFER, pixels.name());
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER, 200, 8, 1);
    glBindBuffer(GL_COPY_READ_BUFFER, 0);
    return {};
  }));
  ASSERT_VALUE(const DeviceMap seen, map());
  EXPECT_EQ(bytes_of(seen)[8], std::byte{7});
}

TEST_F(CudaPboTest, is_registered_at_the_first_map_and_until_the_buffer_is_deleted) {
  EXPECT_OK(buffer->map(Access::read));
  EXPECT_EQ(cuda.calls("cudaGraphicsGLRegisterBuffer"), 0) << "whoever needs no CUDA pays nothing";
  for (int round = 0; round < 3; ++round)
    EXPECT_OK(map());
  EXPECT_EQ(cuda.calls("cudaGraphicsGLRegisterBuffer"), 1);
  EXPECT_EQ(cuda.calls("cudaGraphicsMapResources"), 3);
  EXPECT_EQ(cuda.calls("cudaGraphicsUnmapResources"), 3);
  EXPECT_EQ(cuda.live(), 1);
  EXPECT_EQ(cuda.mapped(), 0);
  const std::size_t alive = gl::live_pixel_buffers();
  buffer.reset();
  finish();
  EXPECT_EQ(cuda.calls("cudaGraphicsUnregisterResource"), 1);
  EXPECT_EQ(cuda.live(), 0);
  EXPECT_EQ(gl::live_pixel_buffers(), alive - 1);
}

TEST_F(CudaPboTest, many_buffers_leave_nothing_behind) {
  const std::size_t alive = gl::live_pixel_buffers();
  for (int i = 0; i < 200; ++i) {
    const std::shared_ptr<Buffer> one = make();
    EXPECT_OK(map_device(one, DeviceKind::cuda));
  }
  finish();
  EXPECT_EQ(cuda.live(), 0);
  EXPECT_EQ(gl::live_pixel_buffers(), alive);
  EXPECT_EQ(cuda.calls("cudaGraphicsUnregisterResource"), 200);
}

TEST_F(CudaPboTest, cuda_and_the_cpu_exclude_each_other) {
  {
    ASSERT_VALUE(const auto mapped, buffer->map(Access::read));
    EXPECT_FAILS(map(), Errc::busy, "the CPU has the buffer mapped");
    EXPECT_EQ(cuda.mapped(), 0);
  }
  {
    ASSERT_VALUE(const DeviceMap seen, map());
    EXPECT_FAILS(buffer->map(Access::read), Errc::busy, "exclusive use");
    EXPECT_FAILS(map(), Errc::busy, "mapped already");
  }
  EXPECT_OK(buffer->map(Access::read_write));
  EXPECT_OK(map());
}

TEST_F(CudaPboTest, cuda_and_opengl_exclude_each_other) {
  auto& pixels = static_cast<gl::PboBuffer&>(*buffer);
  ASSERT_OK(pixels.hold_for_device());
  EXPECT_OK(pixels.hold_for_device()) << "OpenGL may read and write one buffer in one call";
  pixels.release_from_device();
  EXPECT_FAILS(map(), Errc::busy, "another device uses the buffer");
  pixels.release_from_device();
  {
    ASSERT_VALUE(const DeviceMap seen, map());
    EXPECT_FAILS(pixels.hold_for_device(), Errc::busy, "another device");
    EXPECT_FAILS(pixels.hold_alone(), Errc::busy, "another device");
  }
  ASSERT_OK(pixels.hold_for_device());
  pixels.release_from_device();
}

TEST_F(CudaPboTest, a_failure_of_each_call_is_named_and_leaves_nothing_behind) {
  const struct {
    const char* function;
    int code;
    Errc errc;
    const char* text;
  } rows[] = {
      {"cudaGLGetDevices", 100, Errc::unsupported, "no CUDA device: cudaErrorNoDevice (100)"},
      {"cudaSetDevice", 46, Errc::unsupported, "cannot use the device of OpenGL"},
      {"cudaGraphicsGLRegisterBuffer", 801, Errc::unsupported, "cudaErrorNotSupported (801)"},
      {"cudaGraphicsGLRegisterBuffer", 2, Errc::no_memory, "register"},
      {"cudaGraphicsMapResources", 999, Errc::device, "cannot map the pixel buffer"},
      {"cudaGraphicsResourceGetMappedPointer", 999, Errc::device, "no address"},
  };
  for (const auto& row : rows) {
    buffer = make();
    cuda.fail(row.function, row.code, 1);
    EXPECT_FAILS(map(), row.errc, row.text);
    EXPECT_EQ(cuda.mapped(), 0) << row.function;
    EXPECT_OK(buffer->map(Access::read_write)) << row.function;
    EXPECT_OK(map()) << "the next map succeeds after " << row.function;
  }
  buffer.reset();
  finish();
  EXPECT_EQ(cuda.live(), 0);
}

TEST_F(CudaPboTest, failures_of_ends_are_logged) {
  {
    ASSERT_VALUE(const DeviceMap seen, map());
    cuda.fail("cudaGraphicsUnmapResources", 999, 1);
  }
  EXPECT_FAILS(map(), Errc::device, "cannot map") << "CUDA still has it mapped";
  EXPECT_OK(buffer->map(Access::read));
  buffer.reset();
  finish();
  EXPECT_STREQ(cuda.faults(), "a resource is mapped twice\na mapped resource is unregistered\n");
  cuda.reset();
}

TEST_F(CudaPboTest, an_opengl_without_a_cuda_device_is_unsupported) {
  cuda.set("gl_devices", 0);
  EXPECT_FAILS(map(), Errc::unsupported, "the OpenGL context is on no CUDA device");
  EXPECT_EQ(cuda.calls("cudaGraphicsGLRegisterBuffer"), 0);
}

TEST_F(CudaPboTest, is_on_the_device_of_opengl) {
  cuda.set("devices", 3);
  cuda.set("gl_device", 2);
  {
    ASSERT_VALUE(const DeviceMap seen, map());
    EXPECT_EQ(seen.device_number(), 2);
  }
  cuda.set("gl_device", 0);
  buffer = make();
  ASSERT_VALUE(const DeviceMap seen, map());
  EXPECT_EQ(seen.device_number(), 0);
}

TEST_F(CudaPboTest, addresses_that_are_not_aligned_or_too_short_are_refused) {
  cuda.set("misalign_bytes", 64);
  EXPECT_FAILS(map(), Errc::unsupported, "multiple of 256");
  EXPECT_EQ(cuda.mapped(), 0);
  cuda.set("misalign_bytes", 0);
  cuda.set("missing_bytes", 1);
  EXPECT_FAILS(map(), Errc::device, "999 of 1000 bytes");
  EXPECT_EQ(cuda.mapped(), 0);
  cuda.set("missing_bytes", 0);
  EXPECT_OK(map());
}

TEST_F(CudaPboTest, is_mapped_and_unmapped_on_the_stream_that_was_given) {
  int stream = 0;
  ASSERT_VALUE(auto seen, map(&stream));  // the fake notes an unmap on another stream
  EXPECT_EQ(seen.stream(), &stream);
  std::thread([ended = std::move(seen)]() mutable {
    const DeviceMap here = std::move(ended);
  }).join();
  EXPECT_FAILS(map(reinterpret_cast<void*>(2)), Errc::invalid_argument, "cudaStreamPerThread");
}

TEST_F(CudaPboTest, waits_for_its_stream_where_another_one_reads) {
  ASSERT_VALUE(auto seen, map());
  EXPECT_EQ(cuda.calls("cudaStreamSynchronize"), 0);
  EXPECT_OK(seen.wait());
  EXPECT_EQ(cuda.calls("cudaStreamSynchronize"), 1);
  cuda.fail("cudaStreamSynchronize", 700, 1);
  EXPECT_FAILS(seen.wait(), Errc::device, "700");
  const DeviceMap moved = std::move(seen);
  EXPECT_FAILS(seen.wait(), Errc::invalid_argument, "moved from");
  EXPECT_OK(moved.wait());
}

TEST_F(CudaPboTest, a_map_keeps_the_buffer_and_may_end_on_the_worker) {
  ASSERT_VALUE(auto seen, map());
  buffer.reset();
  bytes_of(seen)[0] = std::byte{1};
  EXPECT_OK(worker->run([&]() -> Status {
    const DeviceMap here = std::move(seen);
    return {};
  }));
  finish();
  EXPECT_EQ(cuda.live(), 0);
}

TEST_F(CudaPboTest, threads_map_in_turns) {
  std::atomic<int> served{0};
  on_threads(4, [&](std::size_t i) {
    for (int round = 0; round < 50; ++round) {
      if (i == 3) {
        const auto mapped = buffer->map(Access::read_write);
        EXPECT_TRUE(mapped || code_of(mapped) == Errc::busy);
        continue;
      }
      const auto seen = map();
      if (seen) {
        ++served;
        bytes_of(*seen)[0] = std::byte{1};
      } else {
        EXPECT_EQ(code_of(seen), Errc::busy) << seen.error().message();
      }
    }
  });
  EXPECT_GT(served, 0);
  EXPECT_EQ(cuda.calls("cudaGraphicsGLRegisterBuffer"), 1);
}

TEST_F(CudaPboTest, a_child_of_fork_does_not_call_cuda) {
  ASSERT_VALUE(DeviceMap seen, map());
  std::shared_ptr<Buffer> other = make();
  EXPECT_TRUE(is_true_in_child([&] {
    const bool is_refused = code_of(map_device(other, DeviceKind::cuda)) == Errc::unsupported;
    { const DeviceMap ended = std::move(seen); }
    const bool is_lost = code_of(map()) == Errc::device;
    buffer.reset();
    return is_refused && is_lost && std::string_view(cuda.faults()).empty();
  }));
}

TEST_F(CudaPboTest, other_devices_and_other_pixel_buffers_have_no_address) {
  EXPECT_FAILS(map_device(buffer, DeviceKind::opencl), Errc::unsupported, "opencl");
  struct Other final : Buffer {
    Other() : Buffer(64, Memory::pbo) {}
    ~Other() override { release_attachments(); }
    Result<std::span<std::byte>> begin_access(Access) override {
      return make_error(Errc::unsupported, "access: none");
    }
    void end_access(Access) noexcept override {}
  };
  const std::shared_ptr<Buffer> other = std::make_shared<Other>();
  EXPECT_FAILS(map_device(other, DeviceKind::cuda), Errc::unsupported, "another OpenGL");
}

}  // namespace
}  // namespace halyard::test
