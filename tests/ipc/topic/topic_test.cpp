// SPDX-License-Identifier: Apache-2.0
// Topics, in one process and in several.
#include "halyard/topic.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "ipc/helpers.h"
#include "support/result.h"
#include "topics.h"

namespace halyard {
namespace {

using namespace ipc::testing;
using namespace std::chrono_literals;
using namespace test;  // NOLINT: its helpers are what tests are written in

// Joins topic `arguments` for tensors, and does what it is told.
TEST(Peer, DISABLED_tensor_endpoint) {
  auto topic = Topic<Tensor>::create(Peer::arguments());
  if (!topic) {
    Peer::tell("error " + topic.error().message());
    return;
  }
  std::vector<Tensor> held;
  Peer::tell("joined");
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    const std::string word = line.substr(0, line.find(' '));
    const int number = line.size() > word.size() ? std::stoi(line.substr(word.size())) : 0;
    if (word == "send") {
      const auto handle = topic->alloc_tensor({480, 640, 3}, DType::u8);
      if (!handle) {
        Peer::tell("error " + handle.error().message());
        continue;
      }
      std::memset(handle->data_slice_mut()->data(), number, handle->size_bytes());
      const auto sent = topic->send_handle(*handle);
      Peer::tell(sent ? "sent" : "error " + sent.error().message());
    } else if (word == "recv") {
      auto got = topic->recv_for(std::chrono::milliseconds(number));
      std::string text = got ? "frame" : "none";
      if (got) {
        const auto map = got->map(Access::read);
        text += " " + std::to_string(int(map->data()[0])) + " " +
                std::to_string(int(map->data()[got->size_bytes() - 1]));
        held.push_back(*std::move(got));
      }
      Peer::tell(text + " lost " + std::to_string(got.lost()));
    } else if (word == "forward") {
      const auto sent = topic->send(held.back());
      Peer::tell(sent ? "sent" : "error " + sent.error().message());
    } else if (word == "drop") {
      held.clear();
      Peer::tell("dropped");
    }
  }
}

TEST_F(Topics, carry_plain_structs) {
  auto [sender, receiver] = join_twice<Command>();
  EXPECT_TRUE(receiver.recv().is_empty());
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_TRUE(sender.send({i, 0.5F, 7}));
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto got = receive(receiver);
    EXPECT_EQ(got.number, i);
    EXPECT_EQ(got.speed, 0.5F);
  }
  EXPECT_TRUE(receiver.recv().is_empty());
  EXPECT_TRUE(sender.recv().is_empty()) << "what it sends, it does not receive";
  ASSERT_TRUE(receiver.send({99, 0, 0}));
  EXPECT_EQ(sender.recv()->number, 99U) << "every endpoint sends and receives";
}

struct Named {
  static constexpr char message_name[] = "test.Named";
  int x = 0;
};
struct AlsoNamed {
  static constexpr char message_name[] = "test.Named";
  int y = 0;
};

TEST_F(Topics, know_structs_by_the_names_that_they_say) {
  auto sender = join<Named>(name);
  auto receiver = join<AlsoNamed>(name);
  ASSERT_TRUE(sender.send({7}));
  EXPECT_EQ(receiver.recv()->y, 7);
  // As a binding says it, which knows no T.
  const auto type = MessageType::plain("test.Named", sizeof(Named), alignof(Named));
  EXPECT_TRUE(TopicEndpoint::create(name, type));
  const auto wider = MessageType::plain("test.Named", sizeof(Named), 8);
  EXPECT_FAILS(TopicEndpoint::create(name, wider), Errc::exists);
}

TEST_F(Topics, count_what_is_lost) {
  auto sender = join<Command>(name, with_depth(4));
  auto receiver = join<Command>(name);
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_TRUE(sender.send({i, 0, 0}));
  auto got = receiver.recv();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->number, 6U);
  EXPECT_EQ(got.lost(), 6U);
  got = receiver.recv();
  EXPECT_EQ(got->number, 7U);
  EXPECT_EQ(got.lost(), 0U);
  EXPECT_EQ(receiver.stats().lost, 6U);
  EXPECT_EQ(sender.stats().sent, 10U);
}

TEST_F(Topics, carry_tensors_without_a_copy) {
  auto [sender, receiver] = join_twice<Tensor>();
  const CopyStats before = copy_stats();
  auto handle = value_of(sender.alloc_tensor({4, 5}, DType::f32));
  (*handle.data_as<float>())[19] = 3;
  ASSERT_TRUE(sender.send_handle(handle));
  EXPECT_FAILS(handle.data_slice_mut(), Errc::permission) << "published is read-only";
  const auto got = receiver.recv_handle();
  ASSERT_TRUE(got) << receiver.stats().last_error.message();
  EXPECT_EQ(got->shape().size(), 2U);
  EXPECT_EQ((*got->data_as<const float>())[19], 3);
  EXPECT_EQ(got->data_slice()->data(), handle.data_slice()->data()) << "the same bytes";
  EXPECT_EQ(copy_stats().copies, before.copies);
  EXPECT_EQ(sender.stats().copied, 0U);
}

TEST_F(Topics, carry_frames_between_processes) {
  auto sender = join<Tensor>(name, with_depth(8));
  Peer peer("tensor_endpoint", name, "joined");
  for (int i = 0; i < 8; ++i) {
    const auto handle = *sender.alloc_tensor({480, 640, 3}, DType::u8);
    std::memset(handle.data_slice_mut()->data(), i + 1, handle.size_bytes());
    ASSERT_TRUE(sender.send(handle));
  }
  for (int i = 1; i <= 8; ++i) {
    const std::string n = std::to_string(i);
    EXPECT_EQ(peer.ask("recv 1000"), "frame " + n + " " + n + " lost 0");
  }
  EXPECT_EQ(peer.ask("recv 0"), "none lost 0");
  EXPECT_EQ(peer.ask("send 55"), "sent");
  auto got = sender.recv_for(5s);
  ASSERT_TRUE(got) << sender.stats().last_error.message();
  const auto pool = *sender.pool();
  // The last of the 8, until the next one is sent, and the peer's one.
  EXPECT_LE(pool->stats().allocated_slots, 9U);
  peer.kill();
  EXPECT_EQ(std::to_integer<int>(got->map(Access::read)->data()[100]), 55);
  got = sender.recv();
  EXPECT_TRUE(got.is_empty());
  EXPECT_TRUE(comes_true([&] { return sender.stats().subscribers == 0; }));
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(sender.send(*sender.alloc_tensor({10}, DType::u8)));
  EXPECT_EQ(pool->stats().allocated_slots, 0U) << "nobody is there to read them";
}

TEST_F(Topics, forward_frames_of_others) {
  auto here = join<Tensor>(name);
  Peer one("tensor_endpoint", name, "joined");
  Peer two("tensor_endpoint", name, "joined");
  ASSERT_EQ(one.ask("send 9"), "sent");
  EXPECT_EQ(two.ask("recv 1000"), "frame 9 9 lost 0");
  ASSERT_EQ(two.ask("forward"), "sent");
  EXPECT_EQ(one.ask("recv 1000"), "frame 9 9 lost 0") << "its own frame comes back";
  for (int i = 0; i < 2; ++i) {
    const auto got = receive(here, 5s);
    EXPECT_EQ(std::to_integer<int>(got.map(Access::read)->data()[5]), 9);
  }
}

TEST_F(Topics, late_subscribers_get_the_history) {
  TopicConfig config = with_depth(8);
  config.history = 3;
  auto sender = join<Command>(name, config);
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_TRUE(sender.send({i, 0, 0}));
  auto late = join<Command>(name);
  for (std::uint64_t i = 7; i < 10; ++i) {
    const auto got = late.recv();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->number, i);
    EXPECT_EQ(got.lost(), 0U);
  }
  EXPECT_TRUE(late.recv().is_empty());
}

TEST_F(Topics, latest_only_gives_the_newest) {
  auto sender = join<Command>(name);
  auto receiver = join<Command>(name, {.latest_only = true});
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_TRUE(sender.send({i, 0, 0}));
  const auto got = receiver.recv();
  EXPECT_EQ(got->number, 9U);
  EXPECT_EQ(got.lost(), 9U);
  EXPECT_TRUE(receiver.recv().is_empty());
}

TEST_F(Topics, drop_newest_refuses_what_does_not_fit) {
  auto sender = join<Command>(name, with_depth(3, Overflow::drop_newest));
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(sender.send({0, 0, 0})) << "nobody reads";
  auto receiver = join<Command>(name);
  for (std::uint64_t i = 0; i < 3; ++i)
    ASSERT_TRUE(sender.send({i, 0, 0}));
  EXPECT_FAILS(sender.send({3, 0, 0}), Errc::exhausted);
  EXPECT_EQ(receiver.recv()->number, 0U);
  ASSERT_TRUE(sender.send({4, 0, 0}));
  for (const std::uint64_t i : {1, 2, 4})
    EXPECT_EQ(receiver.recv()->number, i);
  EXPECT_EQ(receiver.stats().lost, 0U);
  EXPECT_EQ(sender.stats().refused, 1U);
}

TEST_F(Topics, refuse_what_does_not_fit_together) {
  auto topic = join<Command>(name, with_depth(4));
  auto other = Topic<std::uint64_t>::create(name);
  EXPECT_FAILS(other, Errc::exists, "Command");
  EXPECT_FAILS(Topic<Command>::create(name, with_depth(5)), Errc::exists, "wanted 5, found 4");
  EXPECT_FAILS(Topic<Command>::create(name, with_depth(4, Overflow::block)), Errc::exists);
  EXPECT_FAILS(Topic<Command>::create(next_name(), with_depth(0)), Errc::invalid_argument);
  EXPECT_FAILS(Topic<Command>::create(next_name(), with_depth(5000)), Errc::invalid_argument);
  TopicConfig config = with_depth(4);
  config.history = 5;
  EXPECT_FAILS(Topic<Command>::create(next_name(), config), Errc::invalid_argument);
  for (const char* bad : {"", "/a", "a//b", "../a", "a/..", "a b", "a\n", "t\xC3\xA4", "."})
    EXPECT_EQ(code_of(Topic<Command>::create(bad)), Errc::invalid_argument) << bad;
  EXPECT_EQ(code_of(Topic<Command>::create(std::string("a\0b", 3))), Errc::invalid_argument);
  EXPECT_EQ(code_of(Topic<Command>::create(std::string(201, 'a'))), Errc::invalid_argument);
  EXPECT_TRUE(Topic<Command>::create(std::string(200, 'a')));
}

TEST_F(Topics, count_their_endpoints) {
  TopicConfig config;
  config.max_endpoints = 64;
  config.role = TopicRole::subscriber;
  std::vector<Topic<Command>> subscribers;
  for (int i = 0; i < 64; ++i)
    subscribers.push_back(join<Command>(name, config));
  const auto extra = Topic<Command>::create(name, config);
  ASSERT_EQ(code_of(extra), Errc::exhausted);
  config.role = TopicRole::publisher;
  auto sender = join<Command>(name, config);
  EXPECT_EQ(sender.stats().subscribers, 64U);
  ASSERT_TRUE(sender.send({5, 0, 0}));
  for (auto& subscriber : subscribers)
    EXPECT_EQ(subscriber.recv()->number, 5U);
  EXPECT_EQ(code_of(subscribers[0].send({5, 0, 0})), Errc::unsupported);
  subscribers.pop_back();
  EXPECT_EQ(sender.stats().subscribers, 63U);
  config.role = TopicRole::subscriber;
  EXPECT_TRUE(Topic<Command>::create(name, config));
}

TEST_F(Topics, last_messages_outlive_their_publisher) {
  auto receiver = join<Tensor>(name);
  {
    auto sender = join<Tensor>(name);
    for (int i = 0; i < 3; ++i) {
      const auto handle = *sender.alloc_tensor({100}, DType::u8);
      std::memset(handle.data_slice_mut()->data(), i, handle.size_bytes());
      ASSERT_TRUE(sender.send(handle));
    }
  }
  for (int i = 0; i < 3; ++i) {
    const auto got = receiver.recv();
    ASSERT_TRUE(got) << i << receiver.stats().last_error.message();
    EXPECT_EQ(std::to_integer<int>(got->map(Access::read)->data()[0]), i);
  }
  {
    Peer peer("tensor_endpoint", name, "joined");
    ASSERT_EQ(peer.ask("send 7"), "sent");
    peer.kill();
  }
  const auto got = receive(receiver, 1s);
  EXPECT_EQ(std::to_integer<int>(got.map(Access::read)->data()[900'000]), 7);
}

TEST_F(Topics, carry_images_as_images) {
  auto [sender, receiver] = join_twice<Tensor>();
  for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::rgb, PixelFormat::planar_rgb,
                                   PixelFormat::i420, PixelFormat::grey, PixelFormat::yuyv}) {
    auto handle = value_of((*sender.pool())->alloc_image(64, 48, format));
    handle.set_colorimetry(Colorimetry::jpeg());
    handle.set_orientation({Flip::horizontal, Rotation::cw270});
    handle.set_name("left camera");
    ASSERT_TRUE(sender.send(handle));
    const auto got = receive(receiver);
    EXPECT_EQ(got.format(), format);
    EXPECT_EQ(got.width(), 64U);
    EXPECT_EQ(got.height(), 48U);
    EXPECT_EQ(got.colorimetry(), Colorimetry::jpeg());
    EXPECT_EQ(got.orientation(), (Orientation{Flip::horizontal, Rotation::cw270}));
    EXPECT_EQ(got.name(), "left camera");
    EXPECT_EQ(got.plane_count(), handle.plane_count());
  }
  auto whole = *(*sender.pool())->alloc_image(64, 48, PixelFormat::nv12);
  const auto part = value_of(whole.slice({8, 8, 16, 16}));
  ASSERT_TRUE(sender.send(part));
  const auto got = receive(receiver);
  EXPECT_EQ(got.width(), 16U);
  EXPECT_EQ(got.row_stride_bytes(), whole.row_stride_bytes());
}

TEST_F(Topics, copy_what_lies_in_no_pool_and_count_it) {
  auto [sender, receiver] = join_twice<Tensor>();
  Tensor heap = *Tensor::create(DType::i8, {2, 3}, Memory::mem);
  ASSERT_TRUE(heap.set_quantization(Quantization::per_tensor(0.5F, -3)));
  ASSERT_TRUE(sender.send(heap));
  const auto got = receive(receiver);
  EXPECT_EQ(got.quantization(), heap.quantization());
  EXPECT_EQ(sender.stats().copied, 1U);
  EXPECT_EQ(sender.stats().copied_bytes, 6U);
  Tensor photo = *Tensor::create_image(8, 4, PixelFormat::rgb, DType::u8, Memory::mem);
  photo.set_orientation({Flip::none, Rotation::cw90});
  ASSERT_TRUE(sender.send(photo));
  const auto shown = receive(receiver);
  EXPECT_EQ(shown.orientation(), photo.orientation());
  EXPECT_EQ(sender.stats().copied, 2U);
}

TEST_F(Topics, carry_bytes) {
  auto [sender, receiver] = join_twice<std::vector<std::byte>>();
  for (const std::size_t size : {0U, 1U, 100U, 3'000'000U}) {
    const std::vector<std::byte> bytes(size, std::byte(size));
    ASSERT_TRUE(sender.send(bytes));
    const auto got = receive(receiver);
    EXPECT_EQ(got, bytes);
  }
}

TEST_F(Topics, million_sends_leave_nothing_behind) {
  auto [sender, receiver] = join_twice<Tensor>();
  for (int i = 0; i < 1'000'000; ++i) {
    const auto handle = value_of(sender.alloc_tensor({100}, DType::u8));
    ASSERT_TRUE(sender.send(handle));
    if (i % 3 != 0) {
      ASSERT_TRUE(receiver.recv());
    }
  }
  EXPECT_LE((*sender.pool())->stats().allocated_slots, 16U) << "the window";
  EXPECT_EQ(sender.stats().sent, 1'000'000U);
  EXPECT_EQ(receiver.stats().corrupt, 0U);
  // What it has lost was pushed out of the window: it is as far behind as it can be.
  const auto behind = 1'000'000U - receiver.stats().received - receiver.stats().lost;
  EXPECT_GE(behind, 14U);
  EXPECT_LE(behind, 16U);
  std::uint64_t rest = 0;
  while (receiver.recv())
    ++rest;
  EXPECT_EQ(rest, behind);
}

}  // namespace
}  // namespace halyard
