// SPDX-License-Identifier: Apache-2.0
// Tensor messages from peers that break the rules: an error that says so, and nothing left behind.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <functional>

#include "halyard/transfer.h"
#include "raw_message.h"
#include "sent_tensors.h"
#include "support/result.h"
#include "tensor/memory/touch.h"

namespace halyard {
namespace {

using conformance::raw_memfd;
using conformance::reopen;
using std::chrono::milliseconds;

// Two buffers and something in every field.
Tensor sample() {
  const Tensor::PlaneSource planes[] = {{shared_buffer(4096), 64, 64, 0},
                                        {shared_buffer(4096), 0, 32, 0}};
  Tensor tensor = *Tensor::wrap_image(planes, 17, 9, PixelFormat::nv12);
  tensor.set_name("hostile");
  EXPECT_TRUE(tensor.set_quantization(Quantization::per_tensor(0.5F, 3)));
  return tensor;
}

// A peer on a socket of one type, and what it would send if it meant well.
class Peer {
 public:
  explicit Peer(int type) : type_(type) {}
  // What a receiver of its own importer makes of one message; checks that nothing stays open.
  Error refused(const std::function<void(Sockets&)>& attack) {
    const auto before = held();
    Error error;
    {
      Sockets sockets(type_);
      attack(sockets);
      const auto between = held();
      Importer importer;
      const auto received =
          receive_tensor(sockets.far.get(), {.timeout = milliseconds(0), .importer = &importer});
      if (!received) error = received.error();
      EXPECT_EQ(held(), between);
      EXPECT_EQ(importer.size(), 0U);
      EXPECT_FALSE(error.code != Errc::ok && error.message().empty());
    }
    EXPECT_EQ(held(), before);
    return error;
  }
  void expect_refused(Errc code, std::string_view text,
                      const std::function<void(Sockets&)>& attack) {
    const Error error = refused(attack);
    EXPECT_EQ(error.code, code) << error.message();
    EXPECT_NE(error.message().find(text), std::string::npos) << error.message();
  }

 protected:
  const int type_;
  const Tensor tensor_ = sample();
  const RawMessage good_{tensor_};
};

class HostilePeer : public Peer, public ::testing::TestWithParam<int> {
 protected:
  HostilePeer() : Peer(GetParam()) {}
};
class HostileStreamPeer : public Peer, public ::testing::Test {
 protected:
  HostileStreamPeer() : Peer(SOCK_STREAM) {}
};
class HostilePacketPeer : public HostilePeer {};

INSTANTIATE_TEST_SUITE_P(sockets, HostilePacketPeer, ::testing::Values(SOCK_SEQPACKET, SOCK_DGRAM),
                         [](const auto& type) {
                           return type.param == SOCK_SEQPACKET ? "seqpacket" : "datagram";
                         });
INSTANTIATE_TEST_SUITE_P(sockets, HostilePeer,
                         ::testing::Values(SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM),
                         [](const auto& type) {
                           return type.param == SOCK_STREAM      ? "stream"
                                  : type.param == SOCK_SEQPACKET ? "seqpacket"
                                                                 : "datagram";
                         });

TEST_P(HostilePeer, cuts_the_message_at_any_byte_and_leaves) {
  for (std::size_t size = 1; size < good_.bytes.size(); ++size) {
    SCOPED_TRACE(size);
    expect_refused(Errc::corrupt, "", [&](Sockets& sockets) {
      send_raw(sockets.near, good_.first(size), {good_.fds});
      sockets.near.reset();
    });
  }
}

TEST_P(HostilePeer, cuts_the_message_at_any_byte_and_waits) {
  for (std::size_t size = 1; size < good_.bytes.size(); ++size) {
    SCOPED_TRACE(size);
    expect_refused(Errc::corrupt, "", [&](Sockets& sockets) {
      send_raw(sockets.near, good_.first(size), {good_.fds});
    });
  }
}

TEST_P(HostilePeer, flips_any_bit) {
  const auto before = held();
  for (std::size_t bit = 0; bit < good_.bytes.size() * 8; ++bit) {
    Sockets sockets(type_);
    auto bytes = good_.bytes;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    send_raw(sockets.near, bytes, {good_.fds});
    Importer importer;
    const auto received =
        receive_tensor(sockets.far.get(), {.timeout = milliseconds(0), .importer = &importer});
    if (received) {
      ASSERT_TRUE(stays_inside(*received)) << bit;
    } else {
      ASSERT_FALSE(received.error().message().empty());
    }
  }
  EXPECT_EQ(held(), before);
}

TEST_P(HostilePeer, sends_the_message_twice_in_one) {
  auto twice = good_.bytes;
  twice.insert(twice.end(), good_.bytes.begin(), good_.bytes.end());
  Sockets sockets(type_);
  send_raw(sockets.near, twice, {good_.fds});
  if (type_ == SOCK_STREAM) {
    // The second has no descriptors.
    EXPECT_TRUE(receive_tensor(sockets.far.get()));
  }
  EXPECT_FAILS(receive_tensor(sockets.far.get()), Errc::corrupt);
}

TEST_P(HostilePeer, sends_too_few_descriptors) {
  for (const std::size_t count : {0U, 1U}) {
    expect_refused(Errc::corrupt, "descriptors", [&](Sockets& sockets) {
      std::vector<std::vector<int>> groups;
      if (count != 0) groups.push_back({good_.fds[0]});
      send_raw(sockets.near, good_.bytes, groups);
    });
  }
}

TEST_P(HostilePeer, sends_too_many_descriptors) {
  for (const std::size_t count : {3U, 4U, 5U, 6U, 17U, 18U, 19U, 100U, 253U}) {
    const Error error = refused([&](Sockets& sockets) {
      std::vector<int> fds(count, good_.fds[0]);
      send_raw(sockets.near, good_.bytes, {fds});
    });
    EXPECT_TRUE(error.code == Errc::corrupt || error.code == Errc::malformed) << error.message();
    EXPECT_NE(error.message().find("descriptors"), std::string::npos) << error.message();
  }
}

TEST_P(HostilePeer, may_spread_the_descriptors_over_control_messages) {
  Sockets sockets(type_);
  send_raw(sockets.near, good_.bytes, {{good_.fds[0]}, {good_.fds[1]}});
  ASSERT_VALUE(const auto received, receive_tensor(sockets.far.get()));
  expect_same(tensor_, received);
}

TEST_P(HostilePeer, may_be_asked_for_credentials) {
  Sockets sockets(type_);
  const int on = 1;
  ASSERT_EQ(::setsockopt(sockets.far.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
  send_raw(sockets.near, good_.bytes, {good_.fds});
  EXPECT_TRUE(receive_tensor(sockets.far.get()));
  expect_refused(Errc::malformed, "", [&](Sockets& asked) {
    ASSERT_EQ(::setsockopt(asked.far.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
    send_raw(asked.near, good_.bytes, {std::vector<int>(20, good_.fds[0])});
  });
}

TEST_P(HostilePeer, may_be_asked_for_a_process_descriptor_which_is_closed) {
  if (!brings_pidfd(type_)) GTEST_SKIP() << "no SO_PASSPIDFD, which Linux 6.5 has";
  const auto before = held();
  {
    Sockets sockets(type_);
    ASSERT_TRUE(ask_for_pidfd(sockets.far));
    send_raw(sockets.near, good_.bytes, {good_.fds});
    ASSERT_VALUE(const auto received, receive_tensor(sockets.far.get()));
    expect_same(tensor_, received);
  }
  EXPECT_EQ(held(), before);
}

TEST_F(HostileStreamPeer, sends_descriptors_with_later_bytes) {
  for (const std::size_t at : {1U, 15U, 16U, 40U}) {
    SCOPED_TRACE(at);
    expect_refused(Errc::malformed, "", [&](Sockets& sockets) {
      send_raw(sockets.near, good_.first(at));
      send_raw(sockets.near, std::span(good_.bytes).subspan(at), {good_.fds});
    });
    // The same when there were some with the first byte too.
    expect_refused(Errc::malformed, "", [&](Sockets& sockets) {
      send_raw(sockets.near, good_.first(at), {good_.fds});
      send_raw(sockets.near, std::span(good_.bytes).subspan(at), {good_.fds});
    });
  }
}

TEST_F(HostileStreamPeer, sends_one_byte_at_a_time) {
  Sockets sockets(type_);
  for (std::size_t i = 0; i < good_.bytes.size(); ++i) {
    const std::vector<std::vector<int>> groups(i == 0 ? 1 : 0, good_.fds);
    send_raw(sockets.near, std::span(good_.bytes).subspan(i, 1), groups);
  }
  ASSERT_VALUE(const auto received, receive_tensor(sockets.far.get()));
  expect_same(tensor_, received);
}

TEST_P(HostilePeer, sends_more_than_any_message_has) {
  const std::vector<std::byte> noise(tensor_message_limit + 1, std::byte{'H'});
  expect_refused(Errc::malformed, "",
                 [&](Sockets& sockets) { send_raw(sockets.near, noise, {good_.fds}); });
}

TEST_P(HostilePacketPeer, sends_packets_without_bytes) {
  const Error bare = refused([](Sockets& sockets) { send_raw(sockets.near, {}); });
  EXPECT_EQ(bare.code, GetParam() == SOCK_DGRAM ? Errc::corrupt : Errc::not_found);
  expect_refused(Errc::corrupt, "",
                 [&](Sockets& sockets) { send_raw(sockets.near, {}, {good_.fds}); });
}

TEST_P(HostilePeer, sends_more_descriptors_than_this_process_may_open) {
  Sockets sockets(type_);
  send_raw(sockets.near, good_.bytes, {good_.fds});
  rlimit old = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  const auto before = held();
  const Fd next = *sockets.near.duplicate();
  // One number is left.
  const rlimit tight = {static_cast<rlim_t>(next.get()) + 1, old.rlim_max};
  std::vector<Fd> fill;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  for (auto fd = sockets.near.duplicate(); fd; fd = sockets.near.duplicate())
    fill.push_back(*std::move(fd));
  const auto received = receive_tensor(sockets.far.get());
  fill.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_FAILS(received, Errc::malformed);
  EXPECT_EQ(held().descriptors, before.descriptors + 1);
}

struct BadMemory {
  const char* what;
  Errc code;
  std::function<Fd()> make;
};

Fd pipe_end() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Fd other(ends[1]);
  return Fd(ends[0]);
}

// On a disk: a file on tmpfs is shared memory.
Fd regular_file() {
  return Fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
}

TEST_P(HostilePeer, sends_descriptors_of_other_things) {
  const BadMemory cases[] = {
      {"pipe", Errc::invalid_argument, pipe_end},
      {"directory", Errc::invalid_argument,
       [] { return Fd(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }},
      {"regular file", Errc::invalid_argument, regular_file},
      {"socket", Errc::invalid_argument,
       [] { return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }},
      {"device", Errc::invalid_argument,
       [] { return Fd(::open("/dev/zero", O_RDWR | O_CLOEXEC)); }},
      {"path only", Errc::invalid_argument,
       [] { return Fd(::open("/proc/self/exe", O_PATH | O_CLOEXEC)); }},
      {"memfd that cannot be sealed", Errc::permission, [] { return raw_memfd(4096, 0); }},
      {"memfd that is too small", Errc::invalid_argument, [] { return raw_memfd(4095); }},
      {"empty memfd", Errc::invalid_argument, [] { return raw_memfd(0); }},
  };
  for (const BadMemory& bad : cases) {
    const Fd fd = bad.make();
    ASSERT_TRUE(fd) << bad.what;
    for (const std::size_t place : {0U, 1U}) {
      const Error error = refused([&](Sockets& sockets) {
        std::vector<int> fds = good_.fds;
        fds[place] = fd.get();
        send_raw(sockets.near, good_.bytes, {fds});
      });
      EXPECT_EQ(error.code, bad.code) << bad.what << ": " << error.message();
    }
  }
}

TEST_P(HostilePeer, sends_memory_that_can_shrink) {
  const Fd fd = raw_memfd(4096, 0);
  const auto send = [&](Sockets& sockets) {
    send_raw(sockets.near, good_.bytes, {{fd.get(), good_.fds[1]}});
  };
  expect_refused(Errc::permission, "", send);
  // Taken by those who ask for it; then every map looks at the size.
  Sockets sockets(type_);
  send(sockets);
  ASSERT_VALUE(const auto received, receive_tensor(sockets.far.get(), {.require_sealed = false}));
  EXPECT_TRUE(stays_inside(received));
  ASSERT_EQ(::ftruncate(fd.get(), 64), 0);
  EXPECT_FALSE(received.map(Access::read));
}

TEST_P(HostilePeer, sends_memory_that_is_larger_than_all_limits) {
  // Sparse: it costs the peer nothing.
  const Fd fd = raw_memfd(std::size_t{5} << 30);
  ASSERT_TRUE(fd);
  expect_refused(Errc::exhausted, "max_bytes", [&](Sockets& sockets) {
    send_raw(sockets.near, good_.bytes, {{fd.get(), good_.fds[1]}});
  });
}

TEST_P(HostilePeer, sends_more_memory_than_the_receiver_allows) {
  struct Case {
    std::size_t max_buffer_bytes, max_bytes;
    bool is_taken;
  };
  const auto size = [&](int fd) {
    struct stat status {};
    EXPECT_EQ(::fstat(fd, &status), 0);
    return static_cast<std::size_t>(status.st_size);
  };
  const std::size_t first = size(good_.fds[0]);
  const std::size_t second = size(good_.fds[1]);
  const std::size_t larger = std::max(first, second);
  for (const Case& each :
       {Case{larger, first + second, true}, Case{larger - 1, first + second, false},
        Case{larger, first + second - 1, false}, Case{0, 0, true}}) {
    Sockets sockets(type_);
    send_raw(sockets.near, good_.bytes, {{good_.fds[0], good_.fds[1]}});
    const auto received =
        receive_tensor(sockets.far.get(),
                       {.max_buffer_bytes = each.max_buffer_bytes, .max_bytes = each.max_bytes});
    EXPECT_EQ(received.has_value(), each.is_taken) << each.max_buffer_bytes << each.max_bytes;
    if (!received) {
      EXPECT_FAILS(received, Errc::exhausted);
    }
  }
}

TEST_P(HostilePeer, sends_memory_that_may_only_be_read) {
  const Fd fd = reopen(*Fd::duplicate(good_.fds[0]), O_RDONLY);
  ASSERT_TRUE(fd);
  Sockets sockets(type_);
  send_raw(sockets.near, good_.bytes, {{fd.get(), good_.fds[1]}});
  ASSERT_VALUE(const auto received, receive_tensor(sockets.far.get()));
  EXPECT_TRUE(stays_inside(received));
  EXPECT_FAILS(received.map(Access::write), Errc::permission);
}

TEST_P(HostilePeer, sends_one_memory_as_two) {
  // Both planes would lie in it, over one another: luma from byte 64 on, chroma from byte 0.
  expect_refused(Errc::corrupt, "", [&](Sockets& sockets) {
    send_raw(sockets.near, good_.bytes, {{good_.fds[0], good_.fds[0]}});
  });
}

}  // namespace
}  // namespace halyard
