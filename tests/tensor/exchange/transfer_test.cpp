// SPDX-License-Identifier: Apache-2.0
// Tensors over Unix sockets, between peers that mean well; the others: transfer_hostile_test.cpp.
#include "halyard/transfer.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include <csignal>
#include <thread>

#include "raw_message.h"
#include "sent_tensors.h"
#include "support/result.h"
#include "support/threads.h"
#include "tensor/memory/touch.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;

// An importer of its own acts as the other process: buffers are not those of the sender.
struct OtherSide {
  Importer importer;
  Result<Tensor> receive(const Fd& socket, milliseconds timeout = milliseconds(-1)) {
    return receive_tensor(socket.get(), {.timeout = timeout, .importer = &importer});
  }
};

class TransferOver : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(sockets, TransferOver,
                         ::testing::Values(SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM,
                                           SOCK_STREAM | SOCK_NONBLOCK,
                                           SOCK_SEQPACKET | SOCK_NONBLOCK),
                         [](const auto& type) {
                           const int kind = type.param & ~SOCK_NONBLOCK;
                           const std::string name = kind == SOCK_STREAM      ? "stream"
                                                    : kind == SOCK_SEQPACKET ? "seqpacket"
                                                                             : "datagram";
                           return kind == type.param ? name : name + "_nonblocking";
                         });

TEST_P(TransferOver, brings_all_that_a_tensor_is_and_no_copy) {
  const Sockets sockets(GetParam());
  OtherSide other;
  const auto tensors = sent_tensors();
  const auto before = held();
  const CopyStats copies = copy_stats();
  for (const auto& [what, tensor] : tensors) {
    SCOPED_TRACE(what);
    ASSERT_TRUE(send_tensor(sockets.near.get(), tensor));
    ASSERT_VALUE(const auto received, other.receive(sockets.far));
    expect_same(tensor, received);
    EXPECT_NE(tensor.buffer(), received.buffer());
    EXPECT_TRUE(aliases(tensor, received) || tensor.element_count() == 0);
    EXPECT_TRUE(stays_inside(received));
    // Written here, read there.
    if (!is_linear(tensor.modifier()) || tensor.element_count() == 0) continue;
    tensor.map(Access::write)->writable()[0] = std::byte{0x5A};
    EXPECT_EQ(received.map(Access::read)->data()[0], std::byte{0x5A});
  }
  EXPECT_EQ(copy_stats().copies, copies.copies);
  EXPECT_EQ(held(), before);
}

TEST_P(TransferOver, several_messages_keep_their_order_and_borders) {
  const Sockets sockets(GetParam());
  OtherSide other;
  for (const char* name : {"first", "", "a third one, which is longer"}) {
    Tensor tensor = *Tensor::create(DType::f32, {3}, Memory::shm);
    tensor.set_name(name);
    ASSERT_TRUE(send_tensor(sockets.near.get(), tensor));
  }
  for (const char* name : {"first", "", "a third one, which is longer"})
    EXPECT_EQ(other.receive(sockets.far)->name(), name);
}

TEST_P(TransferOver, the_same_buffer_is_found_again) {
  const Sockets sockets(GetParam());
  OtherSide other;
  const auto image = *Tensor::create_image(32, 32, PixelFormat::rgb, DType::u8, Memory::shm);
  ASSERT_TRUE(send_tensor(sockets.near.get(), image));
  ASSERT_TRUE(send_tensor(sockets.near.get(), *image.slice({4, 4, 8, 8})));
  const auto whole = other.receive(sockets.far);
  const auto part = other.receive(sockets.far);
  ASSERT_TRUE(whole && part);
  EXPECT_EQ(whole->buffer()->id(), part->buffer()->id());
  EXPECT_TRUE(aliases(*whole, *part));
  EXPECT_EQ(other.importer.size(), 1U);
}

TEST_P(TransferOver, a_wait_ends_in_time_and_may_be_repeated) {
  const Sockets sockets(GetParam());
  OtherSide other;
  EXPECT_FAILS(other.receive(sockets.far, milliseconds(0)), Errc::timeout);
  EXPECT_FAILS(other.receive(sockets.far, milliseconds(20)), Errc::timeout);
  ASSERT_TRUE(send_tensor(sockets.near.get(), *Tensor::create(DType::u8, {4}, Memory::shm)));
  EXPECT_TRUE(other.receive(sockets.far, milliseconds(0)));
  EXPECT_FAILS(other.receive(sockets.far, milliseconds(0)), Errc::timeout);
}

TEST_P(TransferOver, a_full_socket_ends_the_sending_in_time) {
  const Sockets sockets(GetParam());
  const auto tensor = *Tensor::create(DType::u8, {4}, Memory::shm);
  Errc code = Errc::ok;
  std::size_t sent = 0;
  while (code == Errc::ok && sent < 100'000) {
    code = code_of(send_tensor(sockets.near.get(), tensor, milliseconds(1)));
    sent += code == Errc::ok;
  }
  EXPECT_EQ(code, Errc::timeout);
  // All that has left arrives whole, and then there is room again.
  OtherSide other;
  for (std::size_t i = 0; i < sent; ++i)
    ASSERT_TRUE(other.receive(sockets.far, milliseconds(0))) << i;
  EXPECT_TRUE(send_tensor(sockets.near.get(), tensor, milliseconds(1)));
}

TEST_P(TransferOver, a_long_message_goes_through_a_small_socket_buffer) {
  const Sockets sockets(GetParam());
  Tensor tensor = *Tensor::create(DType::u8, {4}, Memory::shm);
  tensor.set_name(std::string(50'000, 'n'));
  const int size = 4096;
  ASSERT_EQ(::setsockopt(sockets.near.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
  if ((GetParam() & ~SOCK_NONBLOCK) != SOCK_STREAM) {
    EXPECT_FAILS(send_tensor(sockets.near.get(), tensor), Errc::invalid_argument);
    return;
  }
  // In pieces; without a reader only a part leaves, which is told from nothing.
  std::thread sender([&] { EXPECT_TRUE(send_tensor(sockets.near.get(), tensor)); });
  OtherSide other;
  const auto received = other.receive(sockets.far);
  sender.join();
  ASSERT_OK(received);
  EXPECT_EQ(received->name(), tensor.name());
  EXPECT_FAILS(send_tensor(sockets.near.get(), tensor, milliseconds(0)), Errc::corrupt);
}

TEST_P(TransferOver, a_peer_that_has_gone_is_told_from_silence) {
  const auto tensor = *Tensor::create(DType::u8, {4}, Memory::shm);
  Sockets sockets(GetParam());
  ASSERT_TRUE(send_tensor(sockets.near.get(), tensor));
  sockets.near.reset();
  OtherSide other;
  EXPECT_TRUE(other.receive(sockets.far));
  if ((GetParam() & ~SOCK_NONBLOCK) == SOCK_DGRAM) {
    // Datagram sockets have no end; the peer's may be bound again by another.
    EXPECT_FAILS(other.receive(sockets.far, milliseconds(0)), Errc::timeout);
  } else {
    EXPECT_FAILS(other.receive(sockets.far), Errc::not_found);
  }
  EXPECT_FAILS(send_tensor(sockets.far.get(), tensor), Errc::os);  // and no SIGPIPE
}

TEST_P(TransferOver, up_to_ten_thousand_tensors_leave_nothing_behind) {
  const Sockets sockets(GetParam());
  OtherSide other;
  auto before = held();
  const int rounds = std::min(10'000, conformance::many_rounds());
  for (int round = 0; round < rounds; ++round) {
    const auto tensor = *Tensor::create(DType::u8, {64}, Memory::shm);
    ASSERT_TRUE(send_tensor(sockets.near.get(), tensor));
    ASSERT_VALUE(const auto received, other.receive(sockets.far));
    ASSERT_EQ(received.map(Access::read)->data()[63], std::byte{0});
    if (round == 0) before = held();
  }
  before.descriptors -= 2;
  before.shared_mappings -= 2;
  EXPECT_EQ(held(), before);
  EXPECT_EQ(other.importer.size(), 0U);
}

TEST(Transfer, the_sender_itself_may_be_the_receiver) {
  const Sockets sockets(SOCK_SEQPACKET);
  const auto tensor = *Tensor::create(DType::u8, {4}, Memory::shm);
  ASSERT_TRUE(send_tensor(sockets.near.get(), tensor));
  ASSERT_TRUE(send_tensor(sockets.near.get(), tensor));
  const auto first = receive_tensor(sockets.far.get());
  const auto second = receive_tensor(sockets.far.get());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->buffer(), second->buffer());
  EXPECT_TRUE(aliases(*first, tensor));
}

TEST(Transfer, another_process_reads_and_writes_the_same_bytes) {
  const Sockets sockets(SOCK_STREAM);
  const auto image = *Tensor::create_image(33, 17, PixelFormat::nv12, DType::u8, Memory::shm);
  image.map(Access::write)->plane(1).writable[5] = std::byte{42};
  const int answer = conformance::in_child([&] {
    ReceiveOptions options;
    options.timeout = milliseconds(10'000);
    if (!send_tensor(sockets.near.get(), image)) return 1;
    const auto received = receive_tensor(sockets.far.get(), options);
    if (!received || received->width() != 33) return 2;
    const auto map = received->map(Access::read_write);
    if (!map || map->plane(1).data[5] != std::byte{42}) return 3;
    map->plane(1).writable[6] = std::byte{43};
    return 0;
  });
  EXPECT_EQ(answer, 0);
  EXPECT_EQ(image.map(Access::read)->plane(1).data[6], std::byte{43});
}

TEST(Transfer, brings_dma_buffers) {
  const auto available = memory_available(Memory::dma);
  if (!available && !conformance::in_machine()) GTEST_SKIP() << available.error().message();
  ASSERT_VALUE(const auto image,
               Tensor::create_image(33, 17, PixelFormat::nv12, DType::u8, Memory::dma));
  const Sockets sockets(SOCK_STREAM);
  OtherSide other;
  ASSERT_TRUE(send_tensor(sockets.near.get(), image));
  ASSERT_VALUE(const auto received, other.receive(sockets.far));
  EXPECT_EQ(received.memory(), Memory::dma);
  expect_same(image, received);
  image.map(Access::write)->plane(1).writable[5] = std::byte{42};
  EXPECT_EQ(received.map(Access::read)->plane(1).data[5], std::byte{42});
}

TEST(Transfer, memory_without_a_descriptor_is_refused_and_nothing_leaves) {
  const Sockets sockets(SOCK_SEQPACKET);
  EXPECT_FAILS(send_tensor(sockets.near.get(), *Tensor::create(DType::u8, {4}, Memory::mem)),
               Errc::unsupported);
  EXPECT_FAILS(receive_tensor(sockets.far.get(), {.timeout = milliseconds(0)}), Errc::timeout);
}

TEST(Transfer, only_connected_unix_sockets_will_do) {
  const auto tensor = *Tensor::create(DType::u8, {4}, Memory::shm);
  const auto refused = [&](int socket) {
    const auto sent = send_tensor(socket, tensor);
    const auto received = receive_tensor(socket, {.timeout = milliseconds(0)});
    EXPECT_FAILS(sent, Errc::invalid_argument, "socket");
    return code_of(received);
  };
  EXPECT_EQ(refused(-1), Errc::invalid_argument);
  EXPECT_EQ(refused(1 << 20), Errc::invalid_argument);
  EXPECT_EQ(refused(tensor.buffer()->fd()), Errc::invalid_argument);
  const Fd inet(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (inet) {
    EXPECT_EQ(refused(inet.get()), Errc::invalid_argument);
  }
  const Fd lonely(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  EXPECT_EQ(refused(lonely.get()), Errc::invalid_argument);
}

TEST(Transfer, a_signal_does_not_end_the_wait) {
  struct sigaction ignore = {};
  struct sigaction old = {};
  ignore.sa_handler = [](int) {};  // and no SA_RESTART: system calls fail with EINTR
  ASSERT_EQ(::sigaction(SIGUSR1, &ignore, &old), 0);
  const Sockets sockets(SOCK_STREAM);
  const auto tensor = *Tensor::create(DType::u8, {4}, Memory::shm);
  const pthread_t receiver = ::pthread_self();
  std::thread sender([&] {
    for (int i = 0; i < 20; ++i) {
      ::pthread_kill(receiver, SIGUSR1);
      std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_TRUE(send_tensor(sockets.near.get(), tensor));
  });
  const auto received = receive_tensor(sockets.far.get());
  sender.join();
  ::sigaction(SIGUSR1, &old, nullptr);
  EXPECT_OK(received);
}

TEST(Transfer, threads_with_sockets_of_their_own_find_one_buffer) {
  const auto tensor = *Tensor::create(DType::u8, {4}, Memory::shm);
  OtherSide other;
  std::array<std::optional<Tensor>, 4> received;
  test::on_threads(received.size(), [&](std::size_t k) {
    const Sockets sockets(SOCK_STREAM);
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(send_tensor(sockets.near.get(), tensor));
      ASSERT_VALUE(auto one, other.receive(sockets.far));
      received[k] = std::move(one);
    }
  });
  for (const auto& slot : received)
    EXPECT_TRUE(aliases(tensor, *slot));
}

}  // namespace
}  // namespace halyard
