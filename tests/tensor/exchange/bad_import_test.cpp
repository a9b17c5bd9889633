// SPDX-License-Identifier: Apache-2.0
// Hostile and mistaken input to importing and wrapping: each is an error that names the argument,
// and nothing stays open or mapped.
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <limits>
#include <thread>

#include "conformance/buffer_support.h"
#include "halyard/import.h"
#include "halyard/tensor.h"
#include "support/result.h"

namespace halyard {
namespace {

using F = PixelFormat;
using conformance::holdings;
using conformance::in_child;
using conformance::raw_memfd;
using conformance::reopen;

constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();

// Holds each test to leaving nothing behind; what a test opens itself must be closed by its end.
class BadImport : public ::testing::Test {
 protected:
  void SetUp() override {
    // A first thread leaves its stack and its heap behind for the next ones.
    std::thread([] { EXPECT_FALSE(fd_kind(-1)); }).join();
    before_ = holdings();
  }
  void TearDown() override { EXPECT_EQ(holdings(), before_); }

  // The failure of `result`, whose text must hold all of `words`.
  template <class T>
  static void expect_refused(const Result<T>& result, Errc code,
                             std::initializer_list<std::string_view> words) {
    EXPECT_FAILS(result, code) << "was taken";
    for (const std::string_view word : words)
      EXPECT_FAILS(result, word) << "'" << word << "' is not in: " << result.error().message();
  }

  static void expect_no_memory_behind(const Fd& fd, std::string_view what) {
    ASSERT_TRUE(fd);
    Importer importer;
    expect_refused(fd_kind(fd.get()), Errc::invalid_argument, {"fd", what});
    expect_refused(importer.import_buffer(fd.get()), Errc::invalid_argument, {"fd", what});
    const PlaneDescriptor plane{fd.get()};
    expect_refused(importer.import_image({&plane, 1}, 2, 2, F::grey), Errc::invalid_argument,
                   {"fd", what});
    EXPECT_EQ(importer.size(), 0U);
    EXPECT_GE(::fcntl(fd.get(), F_GETFD), 0) << "the caller's descriptor is the caller's";
  }

 private:
  conformance::Holdings before_;
};

TEST_F(BadImport, negative_and_closed_descriptors) {
  Importer importer;
  const int closed = raw_memfd(4096).get();
  for (const int fd : {-1, std::numeric_limits<int>::min()}) {
    expect_refused(fd_kind(fd), Errc::invalid_argument, {"fd", "negative"});
    expect_refused(importer.import_buffer(fd), Errc::invalid_argument, {"fd", "negative"});
  }
  for (const int fd : {closed, std::numeric_limits<int>::max()}) {
    expect_refused(fd_kind(fd), Errc::invalid_argument, {"fd", "closed"});
    expect_refused(importer.import_buffer(fd), Errc::invalid_argument, {"fd", "closed"});
  }
}

TEST_F(BadImport, descriptors_that_are_no_memory) {
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Fd reading(ends[0]);
  const Fd writing(ends[1]);
  expect_no_memory_behind(reading, "a pipe");
  expect_no_memory_behind(writing, "a pipe");
  const conformance::SocketPair sockets;
  expect_no_memory_behind(sockets.near, "a socket");
  expect_no_memory_behind(Fd(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), "a directory");
  expect_no_memory_behind(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)), "a device");
  expect_no_memory_behind(Fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), "a regular file");
  expect_no_memory_behind(Fd(::eventfd(0, EFD_CLOEXEC)), "eventfd");
}

TEST_F(BadImport, descriptors_that_cannot_be_read) {
  const Fd fd = raw_memfd(4096);
  Importer importer;
  for (const int flags : {O_WRONLY, O_PATH}) {
    const Fd blind = reopen(fd, flags);
    ASSERT_TRUE(blind);
    expect_refused(importer.import_buffer(blind.get()), Errc::permission, {"fd", "reading"});
  }
}

TEST_F(BadImport, objects_that_are_too_small) {
  Importer importer;
  const Fd fd = raw_memfd(4096);
  expect_refused(importer.import_buffer(fd.get(), {.size_bytes = 4097}), Errc::invalid_argument,
                 {"size", "4097", "4096"});
  expect_refused(importer.import_buffer(fd.get(), {.size_bytes = huge}), Errc::invalid_argument,
                 {"size"});
  const Fd empty = raw_memfd(0);
  expect_refused(importer.import_buffer(empty.get()), Errc::invalid_argument, {"size", "0"});
}

TEST_F(BadImport, objects_that_no_address_space_holds) {
  const Fd fd = raw_memfd(std::size_t{1} << 62U);
  if (!fd) GTEST_SKIP() << "this kernel makes no such object";
  EXPECT_FAILS(Importer().import_buffer(fd.get()), Errc::no_memory);
}

// Reads every byte of what a map offers; 1: the map was refused as corrupt.
int touch(Buffer& buffer) {
  const auto map = buffer.map(Access::read);
  if (!map) return map.error().code == Errc::corrupt ? 1 : 2;
  unsigned sum = 0;
  for (const std::byte b : map->bytes())
    sum += std::to_integer<unsigned>(b);
  return sum == 0 ? 0 : 3;
}

TEST_F(BadImport, memory_that_its_owner_truncates) {
  EXPECT_EQ(in_child([] {
              const Fd fd = raw_memfd(65536);
              const auto buffer = *Importer().import_buffer(fd.get());
              if (touch(*buffer) != 0 || ::ftruncate(fd.get(), 4096) != 0) return 10;
              return touch(*buffer);
            }),
            1);
  const Fd fd = raw_memfd(65536);
  const auto buffer = *Importer().import_buffer(fd.get());
  ASSERT_EQ(::ftruncate(fd.get(), 100), 0);
  expect_refused(buffer->map(Access::write), Errc::corrupt, {"memory", "65536", "100"});
  ASSERT_EQ(::ftruncate(fd.get(), 65536), 0);
  EXPECT_TRUE(buffer->map(Access::write)) << "the refused map holds no claim";
}

// What the seal is for: without it a look at the size at each map is all that can be done. The
// child dies of a signal, or of the sanitizer's report about it.
TEST_F(BadImport, memory_that_is_truncated_during_a_map_ends_the_process) {
  EXPECT_NE(in_child([] {
              const Fd fd = raw_memfd(65536);
              const auto buffer = *Importer().import_buffer(fd.get());
              const auto map = *buffer->map(Access::read);
              if (::ftruncate(fd.get(), 4096) != 0) return 0;
              return static_cast<int>(*const_cast<const volatile std::byte*>(&map.bytes()[65535]));
            }),
            0);
}

TEST_F(BadImport, sealed_memory_cannot_be_truncated_even_during_a_map) {
  const Fd fd = raw_memfd(65536);
  const auto buffer = *Importer().import_buffer(fd.get(), {.require_sealed = true});
  const auto map = *buffer->map(Access::read);
  EXPECT_EQ(::ftruncate(fd.get(), 4096), -1);
  EXPECT_EQ(map.bytes()[65535], std::byte{0});
}

TEST_F(BadImport, memory_that_cannot_be_sealed) {
  const Fd sealed_against_seals = raw_memfd(4096, 0);
  const Fd other = raw_memfd(4096);
  const Fd read_only = reopen(other, O_RDONLY);
  Importer importer;
  for (const int fd : {sealed_against_seals.get(), read_only.get()})
    expect_refused(importer.import_buffer(fd, {.require_sealed = true}), Errc::permission,
                   {"require_sealed", "memfd"});
}

TEST_F(BadImport, an_object_above_the_limit) {
  const Fd fd = raw_memfd(65536);
  Importer importer;
  EXPECT_TRUE(importer.import_buffer(fd.get(), {.max_bytes = 65536}));
  expect_refused(importer.import_buffer(fd.get(), {.size_bytes = 16, .max_bytes = 65535}),
                 Errc::exhausted, {"max_bytes", "65536", "65535"});
}

// Images over one 64 KiB object.
class BadImage : public BadImport {
 protected:
  void refuse(std::initializer_list<PlaneDescriptor> planes, PixelFormat format,
              std::initializer_list<std::string_view> words, DType dtype = DType::u8) {
    const Fd fd = raw_memfd(65536);
    std::vector<PlaneDescriptor> given(planes);
    for (PlaneDescriptor& plane : given)
      plane.fd = fd.get();
    Importer importer;
    expect_refused(importer.import_image(given, 64, 32, format, dtype), Errc::invalid_argument,
                   words);
    EXPECT_EQ(importer.size(), 0U);
  }
};

TEST_F(BadImage, strides_below_the_row) {
  refuse({{-1, 63}}, F::grey, {"stride", "63"});
  refuse({{-1, 191}}, F::rgb, {"stride", "191"});
  refuse({{-1, 64}, {-1, 63, 8192}}, F::nv12, {"stride", "plane 1", "63"});
  refuse({{-1, 64}, {-1, 32, 8192}, {-1, 31, 16384}}, F::i420, {"stride", "plane 2"});
  refuse({{-1, 257}}, F::grey, {"stride", "257"}, DType::f32);
}

TEST_F(BadImage, strides_whose_product_overflows) {
  for (const std::size_t stride : {huge, huge - 63, huge / 2, huge / 32 + 1, huge / 64}) {
    refuse({{-1, stride}}, F::grey, {});
    refuse({{-1, stride}}, F::planar_rgb, {});
    refuse({{-1, stride}}, F::nv12, {});
    refuse({{-1, 64}, {-1, stride, 8192}}, F::nv12, {"plane 1"});
    refuse({{-1, 64}, {-1, 64}, {-1, stride}}, F::i420, {});
    refuse({{-1, stride, 0, 1}}, F::grey, {});
  }
  const Fd fd = raw_memfd(65536);
  const PlaneDescriptor plane{fd.get(), huge - 63};
  // A single row needs no stride to stay inside, but shapes and strides are signed.
  expect_refused(Importer().import_image({&plane, 1}, 64, 1, F::grey), Errc::invalid_argument,
                 {"stride"});
}

TEST_F(BadImage, offsets_past_the_end) {
  for (const std::size_t offset : {std::size_t{65536}, std::size_t{63489}, huge, huge - 2047}) {
    refuse({{-1, 64, offset}}, F::grey, {"offset", "65536"});
    refuse({{-1, 64}, {-1, 64, offset + 1024}}, F::nv12, {"plane"});
  }
  refuse({{-1, 64, 65536, 1}}, F::grey, {"offset"});
  refuse({{-1, 64, huge, 1}}, F::grey, {"offset"});
}

TEST_F(BadImage, offsets_between_elements) {
  refuse({{-1, 256, 2}}, F::grey, {"offset", "2"}, DType::f32);
  refuse({{-1, 128, 4096}, {-1, 128, 8193}}, F::nv12, {"offset", "plane 1"}, DType::u16);
}

TEST_F(BadImage, planes_that_overlap) {
  refuse({{-1, 64, 0}, {-1, 64, 0}}, F::nv12, {"overlap", "0 and 1"});
  refuse({{-1, 64, 0}, {-1, 64, 64 * 32 - 1}}, F::nv12, {"overlap"});
  refuse({{-1, 64, 2048}, {-1, 64, 2048 - 64 * 16 + 1}}, F::nv12, {"overlap"});
  refuse({{-1, 64, 0}, {-1, 32, 4096}, {-1, 32, 4096 + 15 * 32}}, F::i420, {"overlap", "1 and 2"});
}

TEST_F(BadImage, planes_that_overlap_through_two_buffers_of_one_object) {
  const Fd fd = raw_memfd(65536);
  const Fd read_only = reopen(fd, O_RDONLY);
  const std::array<PlaneDescriptor, 2> planes{{{fd.get(), 64, 0}, {read_only.get(), 64, 2047}}};
  expect_refused(Importer().import_image(planes, 64, 32, F::nv12), Errc::invalid_argument,
                 {"overlap"});
}

TEST_F(BadImage, wrong_counts_of_planes) {
  refuse({}, F::grey, {"planes", "0"});
  refuse({{-1}, {-1}}, F::rgba, {"planes", "2"});
  refuse({{-1}, {-1}, {-1}}, F::nv12, {"planes", "3"});
  refuse({{-1}, {-1}}, F::i420, {"planes", "2"});
  refuse({{-1}, {-1}, {-1}, {-1}, {-1}}, F::i420, {"planes", "5"});
}

TEST_F(BadImage, modifiers_that_differ_or_hide_a_plane) {
  refuse({{-1, 64, 0, 1}, {-1, 64, 8192, 2}}, F::nv12, {"modifier", "plane 1"});
  refuse({{-1, 64, 0, 1}, {-1, 64, 8192}}, F::nv12, {"modifier"});
  // Only linear pixels tell where the second plane is.
  refuse({{-1, 64, 0, 0x0100000000000002ULL}}, F::nv12, {"planes"});
}

TEST_F(BadImage, a_bad_second_descriptor_gives_the_first_one_back) {
  const Fd fd = raw_memfd(65536);
  const std::array<PlaneDescriptor, 2> planes{{{fd.get(), 64}, {-1, 64}}};
  Importer importer;
  expect_refused(importer.import_image(planes, 64, 32, F::nv12), Errc::invalid_argument, {"fd"});
  EXPECT_EQ(importer.size(), 0U);
}

TEST_F(BadImage, sizes_outside_the_limits) {
  const Fd fd = raw_memfd(65536);
  const PlaneDescriptor plane{fd.get()};
  for (const auto& [width, height] :
       {std::pair<std::size_t, std::size_t>{0, 4}, {4, 0}, {65536, 1}, {1, huge}, {huge, huge}})
    expect_refused(Importer().import_image({&plane, 1}, width, height, F::grey),
                   Errc::invalid_argument, {"size"});
}

// Tensors over imported memory.
class BadWrap : public BadImport {
 protected:
  std::shared_ptr<Buffer> memory() { return *Importer().import_buffer(raw_memfd(4096).get()); }
  static Layout layout(DType dtype, std::initializer_list<std::size_t> shape,
                       std::initializer_list<std::ptrdiff_t> strides) {
    Layout result{.dtype = dtype, .rank = static_cast<std::uint8_t>(shape.size())};
    std::copy_n(shape.begin(), std::min(shape.size(), max_rank), result.shape.begin());
    std::copy_n(strides.begin(), std::min(strides.size(), max_rank), result.stride_bytes.begin());
    return result;
  }
};

TEST_F(BadWrap, ranks_0_and_9) {
  const std::array<std::size_t, 9> ones{1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (const std::size_t rank : {0U, 9U}) {
    const auto shape = std::span(ones).first(rank);
    expect_refused(Layout::contiguous(DType::u8, shape), Errc::invalid_argument, {"rank"});
    expect_refused(Tensor::create(DType::u8, shape, Memory::mem), Errc::invalid_argument, {"rank"});
    Layout wrong = layout(DType::u8, {1}, {1});
    wrong.rank = static_cast<std::uint8_t>(rank);
    expect_refused(Tensor::wrap(memory(), wrong), Errc::invalid_argument, {"rank"});
  }
}

TEST_F(BadWrap, products_of_2_to_the_63_and_of_zero) {
  const std::size_t half = std::size_t{1} << 31U;
  for (const auto& shape :
       {std::vector<std::size_t>{half, half, 2}, {huge}, {huge, 2}, {0, huge, 2}, {huge / 2, 4}})
    expect_refused(Tensor::create(DType::u8, shape, Memory::mem), Errc::invalid_argument,
                   {"overflows"});
  // Strides of 0 keep such shapes inside any memory.
  expect_refused(Tensor::wrap(memory(), layout(DType::u8, {half, half, 2}, {0, 0, 0})),
                 Errc::invalid_argument, {"shape", "overflows"});
  expect_refused(Tensor::wrap(memory(), layout(DType::f32, {huge / 4 + 2}, {0})),
                 Errc::invalid_argument, {"shape", "overflows"});
  const auto none = Tensor::create(DType::u8, {4, 0, 4}, Memory::mem);
  ASSERT_TRUE(none) << "an empty tensor is legal";
  EXPECT_EQ(none->size_bytes(), 0U);
}

TEST_F(BadWrap, strides_and_offsets_that_leave_the_memory) {
  const std::ptrdiff_t lowest = std::numeric_limits<std::ptrdiff_t>::min();
  const std::ptrdiff_t highest = std::numeric_limits<std::ptrdiff_t>::max();
  for (const std::ptrdiff_t stride :
       {std::ptrdiff_t{-1}, std::ptrdiff_t{1366}, lowest, highest, highest / 2 + 1})
    expect_refused(Tensor::wrap(memory(), layout(DType::u8, {4}, {stride})), Errc::invalid_argument,
                   {"layout"});
  for (const std::size_t offset : {std::size_t{4097}, std::size_t{4095}, huge, huge / 2 + 1})
    expect_refused(Tensor::wrap(memory(), layout(DType::u8, {4}, {1}), offset),
                   Errc::invalid_argument, {"offset"});
  expect_refused(Tensor::wrap(nullptr, layout(DType::u8, {4}, {1})), Errc::invalid_argument,
                 {"buffer"});
}

TEST_F(BadWrap, views_that_are_misaligned_or_of_the_wrong_type) {
  expect_refused(Tensor::wrap(memory(), layout(DType::f32, {4}, {4}), 2), Errc::invalid_argument,
                 {"offset", "2"});
  const Tensor odd = *Tensor::wrap(memory(), layout(DType::f32, {4}, {6}));
  const TensorMap odd_map = *odd.map(Access::read);
  expect_refused(odd_map.view<const float, 1>(), Errc::invalid_argument, {"stride"});
  const Tensor tensor = *Tensor::wrap(memory(), layout(DType::f32, {4, 4}, {16, 4}));
  const TensorMap map = *tensor.map(Access::read);
  expect_refused(map.view<const std::int32_t, 2>(), Errc::invalid_argument, {"dtype"});
  expect_refused(map.view<const float, 1>(), Errc::invalid_argument, {"rank"});
  expect_refused(map.view<float, 2>(), Errc::permission, {"read-only"});
  EXPECT_TRUE((map.view<const float, 2>()));
}

TEST_F(BadWrap, two_threads_that_write_the_same_bytes) {
  const Tensor tensor = *Tensor::wrap(memory(), layout(DType::u8, {64, 64}, {64, 1}));
  const Tensor same = tensor;
  const TensorMap mine = *tensor.map(Access::write);
  std::thread([&] {
    expect_refused(same.map(Access::write), Errc::busy, {"access", "another thread"});
    EXPECT_TRUE(same.map(Access::read));
  }).join();
}

TEST_F(BadWrap, memory_whose_exporter_has_died) {
  const conformance::SocketPair sockets;
  ASSERT_EQ(in_child([&] {
              const Fd fd = raw_memfd(8192);
              return conformance::send_fd(sockets.near.get(), fd.get()) ? 0 : 1;
            }),
            0);
  const Fd received = conformance::receive_fd(sockets.far.get());
  ASSERT_VALUE(const auto buffer, Importer().import_buffer(received.get(), {.size_bytes = 8192}));
  EXPECT_EQ(touch(*buffer), 0);
  ASSERT_EQ(::ftruncate(received.get(), 0), 0);
  EXPECT_EQ(touch(*buffer), 1);
}

}  // namespace
}  // namespace halyard
