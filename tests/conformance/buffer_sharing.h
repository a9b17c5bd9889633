// SPDX-License-Identifier: Apache-2.0
// The half of the buffer suite that needs two buffers or two processes; included by buffer.h. A
// kind without a descriptor must say so instead.
#pragma once

#include "conformance/buffer.h"
#include "halyard/import.h"
#include "support/result.h"

namespace halyard::conformance {

class BufferSharing : public BufferConformance {};

/// Ends the test for kinds without a descriptor, having seen them refuse to give one.
#define HALYARD_NEEDS_FD(buffer)                             \
  do {                                                       \
    ASSERT_TRUE(buffer);                                     \
    if (!GetParam().has_fd) {                                \
      EXPECT_EQ((buffer)->fd(), -1);                         \
      EXPECT_FAILS((buffer)->clone_fd(), Errc::unsupported); \
      EXPECT_FALSE((buffer)->identity().has_value());        \
      return;                                                \
    }                                                        \
  } while (false)

/// Fills a buffer with bytes that depend on `seed`.
inline bool write_pattern(Buffer& buffer, int seed) {
  const auto map = buffer.map(Access::write);
  if (!map) return false;
  const auto bytes = map->writable_bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed));
  return true;
}

inline bool has_pattern(Buffer& buffer, int seed) {
  const auto map = buffer.map(Access::read);
  if (!map) return false;
  const auto bytes = map->bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed))) return false;
  }
  return true;
}

/// What a child does with a descriptor: sees the parent's bytes and writes its own. 0: all well.
inline int read_and_answer(int fd) {
  Importer importer;
  const auto buffer = importer.import_buffer(fd);
  if (!buffer) return 1;
  if (!has_pattern(**buffer, 1)) return 2;
  return write_pattern(**buffer, 2) ? 0 : 3;
}

TEST_P(BufferSharing, a_child_reads_and_writes_the_same_bytes) {
  const auto buffer = make(12288);
  HALYARD_NEEDS_FD(buffer);
  ASSERT_TRUE(write_pattern(*buffer, 1));
  EXPECT_EQ(in_child([&] { return read_and_answer(buffer->fd()); }), 0);
  EXPECT_TRUE(has_pattern(*buffer, 2));
}

TEST_P(BufferSharing, a_child_reads_and_writes_through_a_descriptor_that_was_sent) {
  const auto buffer = make(12288);
  HALYARD_NEEDS_FD(buffer);
  ASSERT_TRUE(write_pattern(*buffer, 1));
  const SocketPair sockets;
  ASSERT_TRUE(send_fd(sockets.near.get(), buffer->fd()));
  EXPECT_EQ(in_child([&] {
              const Fd received = receive_fd(sockets.far.get());
              return received ? read_and_answer(received.get()) : 9;
            }),
            0);
  EXPECT_TRUE(has_pattern(*buffer, 2));
}

TEST_P(BufferSharing, outlives_the_process_that_made_it) {
  HALYARD_NEEDS_FD(make(4096));
  const SocketPair sockets;
  ASSERT_EQ(in_child([&] {
              const auto buffer = GetParam().make(12288);
              if (!buffer || !write_pattern(**buffer, 5)) return 1;
              return send_fd(sockets.near.get(), (*buffer)->fd()) ? 0 : 2;
            }),
            0);
  const Fd received = receive_fd(sockets.far.get());
  Importer importer;
  ASSERT_VALUE(const auto buffer, importer.import_buffer(received.get(), {.size_bytes = 12288}));
  EXPECT_TRUE(has_pattern(*buffer, 5));
}

TEST_P(BufferSharing, clones_of_its_descriptor_are_the_callers_own) {
  auto buffer = make(4096);
  HALYARD_NEEDS_FD(buffer);
  ASSERT_TRUE(write_pattern(*buffer, 3));
  const Fd clone = *buffer->clone_fd();
  EXPECT_NE(clone.get(), buffer->fd());
  EXPECT_EQ(::fcntl(clone.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(*clone.identity(), *buffer->identity());
  buffer.reset();
  EXPECT_TRUE(has_pattern(**Importer().import_buffer(clone.get()), 3));
}

TEST_P(BufferSharing, imported_twice_is_one_buffer) {
  const auto buffer = make(4096);
  HALYARD_NEEDS_FD(buffer);
  Importer importer;
  const Fd clone = *buffer->clone_fd();
  ASSERT_VALUE(const auto first, importer.import_buffer(buffer->fd()));
  ASSERT_VALUE(const auto second, importer.import_buffer(clone.get(), {.size_bytes = 4096}));
  EXPECT_EQ(first, second);
  EXPECT_EQ(first->memory(), GetParam().memory);
  EXPECT_EQ(first->identity(), buffer->identity());
  EXPECT_EQ(first->is_writable(), true);
  ASSERT_TRUE(write_pattern(*first, 8));
  EXPECT_TRUE(has_pattern(*buffer, 8));
  EXPECT_EQ(importer.size(), 1U);
}

TEST_P(BufferSharing, another_object_has_another_identity) {
  const auto buffer = make(4096);
  HALYARD_NEEDS_FD(buffer);
  const auto other = make(4096);
  EXPECT_NE(buffer->identity(), other->identity());
  Importer importer;
  EXPECT_NE(*importer.import_buffer(buffer->fd()), *importer.import_buffer(other->fd()));
}

// Four holders of the same memory are given up in every order; who is left still sees the bytes.
TEST_P(BufferSharing, is_given_up_in_any_order) {
  const auto probe = make(4096);
  HALYARD_NEEDS_FD(probe);
  Importer importer;
  const Holdings before = holdings();
  std::array<int, 4> order{0, 1, 2, 3};
  do {
    auto buffer = make(4096);
    ASSERT_TRUE(write_pattern(*buffer, 6));
    Fd clone = *buffer->clone_fd();
    auto imported = *importer.import_buffer(clone.get());
    Map map = *imported->map(Access::read);
    for (const int step : order) {
      if (step == 0) buffer.reset();
      if (step == 1) map = Map();
      if (step == 2) imported.reset();
      if (step == 3) clone.reset();
      EXPECT_TRUE(!buffer || has_pattern(*buffer, 6));
      EXPECT_TRUE(!imported || has_pattern(*imported, 6));
      EXPECT_TRUE(!clone || has_pattern(**importer.import_buffer(clone.get()), 6));
      EXPECT_TRUE(map.bytes().empty() || map.bytes()[0] == std::byte{6});
    }
    EXPECT_EQ(importer.size(), 0U);
    EXPECT_EQ(holdings(), before);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(BufferSharing, importing_leaves_nothing_behind) {
  const auto buffer = make(4096);
  HALYARD_NEEDS_FD(buffer);
  Importer importer;
  const auto round = [&] {
    ASSERT_VALUE(const auto imported, importer.import_buffer(buffer->fd()));
    ASSERT_VALUE(const auto map, imported->map(Access::write));
    map.writable_bytes()[0] = std::byte{1};
  };
  round();
  const Holdings before = holdings();
  for (int i = 0; i < rounds() && !HasFatalFailure(); ++i)
    round();
  EXPECT_EQ(holdings(), before);
  EXPECT_EQ(importer.size(), 0U);
}

}  // namespace halyard::conformance
