// SPDX-License-Identifier: Apache-2.0
// Frames in DMA-BUFs through topics, or in what takes their place (dma_buffers.h).
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "dma_buffers.h"
#include "halyard/recycler.h"
#include "ipc/crash/stranger.h"
#include "ipc/helpers.h"
#include "ipc/pool/dma_frame.h"
#include "topics.h"

namespace halyard::ipc::testing {
namespace {

using namespace std::chrono_literals;
using test::receive;

// Commands: "take" receives a frame and keeps it, "drop" lets go of the oldest, "look" tells the
// first byte of the newest, "forward" sends the newest on, "buffers" tells how many came.
TEST(Peer, DISABLED_dma_reader) {
  const std::string name = Peer::arguments();
  auto topic = *Topic<Tensor>::create(name, {.role = TopicRole::subscriber});
  auto next = *Topic<Tensor>::create(name + "/next", {.role = TopicRole::publisher});
  std::vector<Tensor> frames;
  Peer::tell("joined");
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    if (line == "take") {
      auto got = topic.recv_for(5s);
      if (got) frames.push_back(*std::move(got));
      Peer::tell(got ? std::string(to_string(frames.back().memory())) : "nothing");
    } else if (line == "drop") {
      frames.erase(frames.begin());
      Peer::tell("dropped");
    } else if (line == "look") {
      Peer::tell(frames.empty() ? "none" : std::to_string(first_byte(frames.back())));
    } else if (line == "write") {
      Peer::tell(std::string(to_string(code_of(frames.back().map(Access::write)))));
    } else if (line == "forward") {
      Peer::tell(next.send(frames.back()) ? "sent" : "refused");
    } else if (line == "buffers") {
      Peer::tell(std::to_string(topic.stats().buffers));
    }
  }
}

TEST(Peer, DISABLED_dma_sender) {
  auto topic = *Topic<Tensor>::create(Peer::arguments());
  Peer::tell("joined");
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    Tensor tensor = dma_tensor(4096);
    fill(tensor, std::stoi(line));
    Peer::tell(topic.send(tensor) ? "sent" : "refused");
  }
}

class DmaTopics : public Topics {
 protected:
  // What the memory of a received frame is called: of a stand-in, what it is.
  static std::string kind() { return memory_available(Memory::dma) ? "dma" : "shm"; }
};

TEST_F(DmaTopics, pass_frames_without_a_copy) {
  auto topic = join<Tensor>(name);
  Peer reader("dma_reader", name, "joined");
  Tensor tensor = dma_tensor(1 << 20);
  fill(tensor, 7);
  ASSERT_TRUE(topic.send(tensor));
  EXPECT_EQ(reader.ask("take"), kind());
  EXPECT_EQ(reader.ask("look"), "7");
  // It is the same memory: a careless sender shows it.
  fill(tensor, 8);
  EXPECT_EQ(reader.ask("look"), "8");
  EXPECT_EQ(reader.ask("write"), "permission");
  EXPECT_EQ(topic.stats().copied, 0U);
  reader.say("");
  EXPECT_TRUE(reader.end());
}

TEST_F(DmaTopics, pass_a_descriptor_once_for_each_buffer_and_subscriber) {
  auto topic = join<Tensor>(name);
  Peer first("dma_reader", name, "joined");
  std::vector<Tensor> ring;
  for (int i = 0; i < 4; ++i)
    ring.push_back(dma_tensor(8192));
  const auto send_round = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      fill(ring[static_cast<std::size_t>(i) % 4], i);
      ASSERT_TRUE(topic.send(ring[static_cast<std::size_t>(i) % 4]));
      ASSERT_EQ(first.ask("take"), kind());
      ASSERT_EQ(first.ask("look"), std::to_string(i));
      ASSERT_EQ(first.ask("drop"), "dropped");
    }
  };
  send_round(0, 100);
  EXPECT_EQ(first.ask("buffers"), "4");
  // One that comes later is not left out.
  Peer second("dma_reader", name, "joined");
  send_round(100, 108);
  for (int i = 0; i < 8; ++i)
    ASSERT_EQ(second.ask("take"), kind());
  EXPECT_EQ(second.ask("look"), "107");
  EXPECT_EQ(second.ask("buffers"), "4");
  EXPECT_EQ(first.ask("buffers"), "4");
}

TEST_F(DmaTopics, ask_for_a_buffer_that_was_not_passed) {
  TopicConfig config = with_depth(4);
  config.history = 4;
  auto topic = join<Tensor>(name, config);
  Tensor tensor = dma_tensor(4096);
  fill(tensor, 3);
  ASSERT_TRUE(topic.send(tensor));
  Peer late("dma_reader", name, "joined");
  EXPECT_EQ(late.ask("take"), kind());
  EXPECT_EQ(late.ask("look"), "3");
  EXPECT_EQ(late.ask("buffers"), "1");
}

TEST_F(DmaTopics, hold_a_buffer_until_its_reader_lets_go) {
  auto topic = join<Tensor>(name, with_depth(2));
  Peer reader("dma_reader", name, "joined");
  std::weak_ptr<Buffer> first;
  {
    Tensor tensor = dma_tensor(4096);
    first = tensor.buffer();
    ASSERT_TRUE(topic.send(tensor));
  }
  ASSERT_EQ(reader.ask("take"), kind());
  // The next frames push it out of the window.
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(topic.send(dma_tensor(4096)));
  EXPECT_FALSE(first.expired());
  ASSERT_EQ(reader.ask("drop"), "dropped");
  // Nothing is sent or allocated here any more: the reader's notice does it.
  EXPECT_TRUE(comes_true([&] { return first.expired(); }));
}

TEST_F(DmaTopics, a_reader_that_stopped_keeps_no_more_buffers_than_allowed) {
  auto topic = *Topic<Tensor>::create(name, {.max_shared_frames = 2});
  auto slow = *Topic<Tensor>::create(name, {.role = TopicRole::subscriber});
  std::vector<std::weak_ptr<Buffer>> sent;
  for (int n = 0; n < 6; ++n) {
    Tensor tensor = dma_tensor(4096);
    fill(tensor, n);
    sent.push_back(tensor.buffer());
    ASSERT_TRUE(topic.send(tensor));
  }
  const auto kept = [&] {
    return std::count_if(sent.begin(), sent.end(),
                         [](const auto& each) { return !each.expired(); });
  };
  EXPECT_EQ(kept(), 2);
  EXPECT_EQ(topic.stats().copied, 4U);
  for (int n = 0; n < 6; ++n) {
    const auto got = slow.recv();
    ASSERT_TRUE(got);
    EXPECT_EQ(first_byte(*got), n);
  }
  // What has been read is released by the next message; from then on frames are shared again.
  Tensor next = dma_tensor(4096);
  ASSERT_TRUE(topic.send(next));
  const auto copied = topic.stats().copied;
  ASSERT_TRUE(topic.send(next));
  EXPECT_EQ(topic.stats().copied, copied);
}

TEST_F(DmaTopics, take_back_what_a_killed_reader_had) {
  auto topic = join<Tensor>(name, with_depth(1));
  Peer reader("dma_reader", name, "joined");
  Tensor tensor = dma_tensor(4096);
  const std::weak_ptr<Buffer> buffer = tensor.buffer();
  ASSERT_TRUE(topic.send(tensor));
  tensor = {};
  ASSERT_EQ(reader.ask("take"), kind());
  ASSERT_TRUE(topic.send(dma_tensor(4096)));
  EXPECT_FALSE(buffer.expired());
  reader.kill();
  EXPECT_TRUE(comes_true([&] { return buffer.expired(); }));
}

TEST_F(DmaTopics, show_a_frame_whose_sender_was_killed) {
  auto topic = join<Tensor>(name);
  Peer sender("dma_sender", name, "joined");
  ASSERT_EQ(sender.ask("9"), "sent");
  sender.kill();
  const auto got = receive(topic, 5s);
  EXPECT_EQ(first_byte(got), 9);
}

TEST_F(DmaTopics, work_inside_one_process) {
  auto [sender, receiver] = join_twice<Tensor>();
  Tensor tensor = dma_tensor(4096);
  fill(tensor, 5);
  ASSERT_TRUE(sender.send(tensor));
  const auto got = receive(receiver, 5s);
  EXPECT_EQ(first_byte(got), 5);
  EXPECT_FAILS(got.map(Access::write), Errc::permission);
  fill(tensor, 6);
  EXPECT_EQ(first_byte(got), 6);
}

TEST_F(DmaTopics, carry_images_and_parts_of_tensors) {
  auto [sender, receiver] = join_twice<Tensor>();
  const auto luma = dma_buffer(64 * 48);
  const auto chroma = dma_buffer(64 * 24 + 4096);
  const Tensor::PlaneSource planes[] = {{luma, 0, 64, 0}, {chroma, 4096, 64, 0}};
  Tensor image = *Tensor::wrap_image(planes, 60, 48, PixelFormat::nv12, DType::u8);
  {
    const auto map = *chroma->map(Access::write);
    map.writable_bytes()[4096] = std::byte{77};
  }
  ASSERT_TRUE(sender.send(image));
  const auto got = receive(receiver, 5s);
  ASSERT_TRUE(got.is_image());
  EXPECT_EQ(got.width(), 60U);
  const auto plane = *got.image_plane(1);
  EXPECT_EQ(plane.offset_bytes, 4096U);
  EXPECT_NE(plane.buffer, got.buffer());
  const auto map = *plane.buffer->map(Access::read);
  EXPECT_EQ(map.bytes()[4096], std::byte{77});

  const std::size_t shape[] = {8, 16};
  Tensor rows = *Tensor::wrap(dma_buffer(128), *Layout::contiguous(DType::u8, shape));
  {
    const auto bytes = *rows.map(Access::write);
    const auto flat = *bytes.flat<std::uint8_t>();
    std::iota(flat.begin(), flat.end(), std::uint8_t{0});
  }
  const AxisRange range{2, 3};
  ASSERT_TRUE(sender.send(*rows.part(std::span(&range, 1))));
  const auto part = receive(receiver, 5s);
  EXPECT_EQ(part.shape()[0], 3U);
  EXPECT_EQ(first_byte(part), 32);
}

TEST_F(DmaTopics, hold_a_frame_that_is_sent_on_for_its_last_reader) {
  if (!memory_available(Memory::dma)) GTEST_SKIP() << "no DMA-BUF here";
  auto topic = join<Tensor>(name, with_depth(1));
  Peer middle("dma_reader", name, "joined");
  auto last = join<Tensor>(name + "/next");
  Tensor tensor = dma_tensor(4096);
  fill(tensor, 11);
  const std::weak_ptr<Buffer> buffer = tensor.buffer();
  ASSERT_TRUE(topic.send(tensor));
  tensor = {};
  ASSERT_EQ(middle.ask("take"), kind());
  ASSERT_EQ(middle.ask("forward"), "sent");
  ASSERT_EQ(middle.ask("drop"), "dropped");
  auto got = last.recv_for(5s);
  ASSERT_TRUE(got);
  EXPECT_EQ(first_byte(*got), 11);
  ASSERT_TRUE(topic.send(dma_tensor(4096)));
  // The last frame that was sent on stays in that topic's window: a newer one takes its place.
  ASSERT_EQ(middle.ask("take"), kind());
  ASSERT_EQ(middle.ask("forward"), "sent");
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(buffer.expired());
  got = {};
  EXPECT_TRUE(comes_true([&] { return buffer.expired(); }));
}

TEST_F(DmaTopics, do_not_let_a_recycler_reuse_a_buffer_too_early) {
  if (!memory_available(Memory::dma)) GTEST_SKIP() << "no DMA-BUF here";
  auto topic = join<Tensor>(name, with_depth(1));
  Peer reader("dma_reader", name, "joined");
  Recycler recycler({.shared_kinds = true});
  const auto send_one = [&](std::uint64_t& id) {
    Tensor image = *recycler.create_image(64, 64, PixelFormat::rgb, DType::u8, Memory::dma);
    id = image.buffer()->id();
    ASSERT_TRUE(topic.send(image));
  };
  std::uint64_t ids[6] = {};
  for (int i = 0; i < 3; ++i) {
    send_one(ids[i]);
    ASSERT_EQ(reader.ask("take"), "dma");
  }
  // The reader has three, so there are three.
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[0], ids[2]);
  EXPECT_NE(ids[1], ids[2]);
  ASSERT_EQ(reader.ask("drop"), "dropped");
  EXPECT_TRUE(comes_true([&] { return recycler.stats().idle_buffers == 1; }));
  send_one(ids[3]);
  EXPECT_EQ(ids[3], ids[0]);
}

TEST_F(DmaTopics, stay_level_over_ten_thousand_frames) {
  auto [sender, receiver] = join_twice<Tensor>();
  std::vector<Tensor> ring;
  for (int i = 0; i < 4; ++i)
    ring.push_back(dma_tensor(4096));
  std::size_t descriptors = 0;
  for (std::size_t i = 0; i < 10000; ++i) {
    ASSERT_TRUE(sender.send(ring[i % 4]));
    ASSERT_TRUE(receiver.recv());
    if (i == 100) descriptors = open_descriptors();
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(receiver.stats().buffers, 4U);
}

// A camera that is set up anew has other buffers, and nothing says that the old ones are gone.
TEST_F(DmaTopics, forget_buffers_that_are_not_used_any_more) {
  auto [sender, receiver] = join_twice<Tensor>();
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(sender.send(dma_tensor(64)));
    ASSERT_TRUE(receiver.recv());
  }
  EXPECT_LE(open_descriptors(), before + 300);
}

TEST(DmaFrames, refuse_lists_that_are_nonsense) {
  BufferList list;
  list.count = 1;
  const auto read = [&](std::size_t bytes = sizeof(BufferList)) {
    return code_of(read_list(std::as_bytes(std::span(&list, 1)).first(bytes)));
  };
  EXPECT_EQ(read(), Errc::ok);
  EXPECT_EQ(read(63), Errc::malformed);
  list.count = 0;
  EXPECT_EQ(read(), Errc::malformed);
  list.count = 4;
  EXPECT_EQ(read(), Errc::malformed);
  list = {};
  list.count = 1;
  list.magic ^= 1;
  EXPECT_EQ(read(), Errc::malformed);
}

TEST(DmaFrames, refuse_descriptors_that_are_not_what_was_said) {
  ReceivedBuffers buffers;
  const auto take = [&](std::uint64_t id, std::uint64_t bytes, Fd fd) {
    return code_of(buffers.take(PassedBuffer{{1, 2}, {id, bytes}, std::move(fd)}));
  };
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd write_end(ends[1]);
  EXPECT_EQ(take(1, 64, Fd(ends[0])), Errc::invalid_argument);
  const auto memfd = [](std::size_t bytes, unsigned flags) {
    Fd fd(::memfd_create("test", MFD_CLOEXEC | flags));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    return fd;
  };
  EXPECT_EQ(take(2, 8192, memfd(4096, MFD_ALLOW_SEALING)), Errc::invalid_argument);
  // Memory that its owner can take away again.
  EXPECT_EQ(take(3, 4096, memfd(4096, 0)), Errc::permission);
  EXPECT_EQ(take(4, 4096, memfd(4096, MFD_ALLOW_SEALING)), Errc::ok);
  EXPECT_EQ(take(4, 4096, memfd(4096, MFD_ALLOW_SEALING)), Errc::ok);
  EXPECT_EQ(buffers.count(), 1U);
}

}  // namespace
}  // namespace halyard::ipc::testing
