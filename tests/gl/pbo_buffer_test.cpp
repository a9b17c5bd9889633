// SPDX-License-Identifier: Apache-2.0
// Pixel buffers against the suite of all buffers, and what they add.
#include "gl/memory/pbo_buffer.h"

#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "conformance/buffer.h"
#include "conformance/buffer_sharing.h"
#include "halyard/tensor.h"
#include "support/result.h"
#include "worker.h"

namespace halyard {
namespace conformance {
namespace {

BufferKind pixel_buffer() {
  BufferKind kind{"pbo", Memory::pbo, false,
                  [](std::size_t size) -> Result<std::shared_ptr<Buffer>> {
                    HALYARD_TRY(auto worker, gl::Worker::shared(true));
                    HALYARD_TRY(auto made, gl::PboBuffer::create(std::move(worker), size));
                    return std::shared_ptr<Buffer>(std::move(made));
                  }};
  kind.needs_device = kind.slow = true;
  kind.widens = false;
  // Without it, each buffer would make a context, which takes a millisecond.
  kind.device = []() -> std::shared_ptr<void> {
    return gl::Worker::shared(true).value_or(nullptr);
  };
  return kind;
}

const auto kinds = testing::Values(pixel_buffer());
const auto name_of = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(opengl, BufferConformance, kinds, name_of);
INSTANTIATE_TEST_SUITE_P(opengl, BufferSharing, kinds, name_of);

}  // namespace
}  // namespace conformance

namespace test {
namespace {

std::shared_ptr<gl::PboBuffer> made(const std::shared_ptr<gl::Worker>& worker, std::size_t size) {
  auto buffer = gl::PboBuffer::create(worker, size);
  EXPECT_OK(buffer);
  return *buffer;
}

TEST(PixelBuffers, hold_the_bytes_that_opengl_sees) {
  WORKER_OR_SKIP(worker);
  const auto buffer = made(worker, 256);
  {
    ASSERT_VALUE(const auto map, buffer->map(Access::write));
    map.writable_bytes()[200] = std::byte{42};
  }
  // OpenGL copies within the buffer, and the CPU sees it.
  EXPECT_OK(worker->run([&]() -> Status {
    glBindBuffer(GL_COPY_READ_BUFFER, buffer->name());
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER, 200, 8, 1);
    glBindBuffer(GL_COPY_READ_BUFFER, 0);
    return {};
  }));
  ASSERT_VALUE(const auto map, buffer->map(Access::read));
  EXPECT_EQ(map.bytes()[8], std::byte{42});
  EXPECT_EQ(map.bytes()[9], std::byte{0});
}

TEST(PixelBuffers, keep_their_worker_alive_and_end_with_it) {
  auto worker = any_worker();
  if (worker == nullptr) GTEST_SKIP() << "no OpenGL ES on this machine";
  const std::size_t before = gl::live_pixel_buffers();
  std::weak_ptr<gl::Worker> watched = worker;
  auto first = made(worker, 64), second = made(worker, 64);
  worker.reset();
  EXPECT_EQ(gl::live_pixel_buffers(), before + 2);
  EXPECT_OK(first->map(Access::read_write));
  first.reset();
  EXPECT_FALSE(watched.expired());
  EXPECT_OK(second->map(Access::read_write));
  second.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(gl::live_pixel_buffers(), before);
}

TEST(PixelBuffers, may_be_mapped_on_the_worker_and_released_there) {
  WORKER_OR_SKIP(worker);
  auto buffer = made(worker, 100);
  EXPECT_OK(worker->run([&]() -> Status {
    HALYARD_TRY(auto map, buffer->map(Access::write));
    map.writable_bytes()[0] = std::byte{7};
    return {};
  }));
  EXPECT_EQ(buffer->map(Access::read)->bytes()[0], std::byte{7});
  EXPECT_OK(worker->run([&]() -> Status {
    buffer.reset();
    return {};
  }));
}

TEST(PixelBuffers, that_opengl_cannot_hold_are_refused) {
  WORKER_OR_SKIP(worker);
  for (const std::size_t size : {std::size_t{1} << 62, SIZE_MAX})
    EXPECT_FAILS(gl::PboBuffer::create(worker, size), Errc::no_memory, std::to_string(size));
  EXPECT_OK(gl::PboBuffer::create(worker, 16)) << "the worker goes on";
}

TEST(PixelBuffers, of_many_rounds_leave_none_behind) {
  WORKER_OR_SKIP(worker);
  const std::size_t before = gl::live_pixel_buffers();
  for (int i = 0; i < 1000; ++i) {
    const auto buffer = made(worker, 4096);
    EXPECT_OK(buffer->map(Access::write));
  }
  EXPECT_OK(worker->run([] { return Status(); }));  // after what was posted
  EXPECT_EQ(gl::live_pixel_buffers(), before);
}

TEST(PixelBuffers, make_images_that_the_cpu_reads_and_writes) {
  WORKER_OR_SKIP(worker);
  ::setenv("HALYARD_ALLOW_SOFTWARE_GL", "1", 1);
  const auto image = Tensor::create_image(33, 7, PixelFormat::nv12, DType::u8, Memory::pbo);
  const auto bytes = allocate(10, Memory::pbo);
  ::unsetenv("HALYARD_ALLOW_SOFTWARE_GL");
  ASSERT_OK(image);
  EXPECT_EQ(image->memory(), Memory::pbo);
  {
    ASSERT_VALUE(const auto map, image->map(Access::write));
    map.plane(1).writable[3] = std::byte{9};
  }
  EXPECT_EQ(image->map(Access::read)->plane(1).data[3], std::byte{9});
  EXPECT_OK(bytes);
  if (worker->capabilities().is_software) {
    EXPECT_FAILS(allocate(10, Memory::pbo), Errc::unsupported, "HALYARD_ALLOW_SOFTWARE_GL");
  }
}

}  // namespace
}  // namespace test
}  // namespace halyard
