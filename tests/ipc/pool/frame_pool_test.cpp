// SPDX-License-Identifier: Apache-2.0
// Pools of frames: every frame, of every process, lies as the pool says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "descriptor_text.h"
#include "halyard/ipc_info.h"
#include "halyard/pool.h"
#include "ipc/helpers.h"
#include "ipc/topic/topics.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace ipc::testing;
using namespace std::chrono_literals;
using namespace test;  // NOLINT: its helpers are what tests are written in

/// 64 x 48 pixels of NV12 with rows of 256 bytes, and the first plane as a tensor.
FrameLayout nv12_frame() {
  FrameLayout frame;
  frame.size_bytes = 256 * 48 * 3 / 2;
  frame.align_bytes = 4096;
  frame.width = 64;
  frame.height = 48;
  frame.format = PixelFormat::nv12;
  frame.plane_count = 2;
  frame.planes[0] = {0, 256, 0};
  frame.planes[1] = {256 * 48, 256, 0};
  return frame;
}

std::uint32_t next_id() {
  static std::uint32_t last = 700;
  return ++last;
}

std::shared_ptr<TensorPool> frame_pool(std::uint32_t id, const FrameLayout& frame,
                                       std::uint32_t count) {
  return value_of(TensorPool::create(id, *TensorPoolConfig::for_frames(frame, count)));
}

std::size_t pitch_of(const Tensor& image, std::size_t plane = 0) {
  return image.map(Access::read)->plane(plane).stride_bytes;
}

TEST(Peer, DISABLED_frame_member) {
  auto pool = TensorPool::open(static_cast<std::uint32_t>(std::stoul(Peer::arguments())));
  if (!pool) return Peer::tell("error " + pool.error().message());
  const auto frame = (*pool)->alloc_frame();
  if (!frame) return Peer::tell("error " + frame.error().message());
  std::memset(frame->map(Access::write)->writable(), 99, 256);
  Peer::tell(std::to_string(pitch_of(*frame, 1)));
  Peer::tell(to_hex(*frame->descriptor()));
  static_cast<void>(Peer::next());
}

TEST(FramePool, gives_frames_as_it_says) {
  const auto pool = frame_pool(next_id(), nv12_frame(), 3);
  const auto frame = value_of(pool->alloc_frame());
  EXPECT_EQ(pitch_of(frame), 256U);
  EXPECT_EQ(pitch_of(frame, 1), 256U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.map(Access::read)->data()) % 4096, 0U);
  const auto second = pool->alloc_frame();
  const auto third = pool->alloc_frame();
  ASSERT_TRUE(third) << "as many as were asked for";
  EXPECT_FAILS(pool->alloc_frame(), Errc::exhausted);
  EXPECT_FAILS(pool->alloc_frame(5ms), Errc::timeout);
}

TEST(FramePool, waits_for_room) {
  const auto pool = frame_pool(next_id(), nv12_frame(), 1);
  auto frame = std::optional(*pool->alloc_frame());
  std::thread owner([&] {
    std::this_thread::sleep_for(20ms);
    frame.reset();
  });
  EXPECT_TRUE(pool->alloc_frame(10s));
  owner.join();
}

TEST(FramePool, is_the_same_in_every_process) {
  const std::uint32_t id = next_id();
  const auto pool = frame_pool(id, nv12_frame(), 4);
  Peer peer("frame_member", std::to_string(id));
  EXPECT_EQ(peer.hear(), "256");
  const auto attached = value_of(pool->attach(from_hex(peer.hear())));
  EXPECT_EQ((*attached.data_slice())[0], std::byte{99});
  EXPECT_EQ(attached.layout().stride_bytes[0], 256);
}

TEST(FramePool, is_opened_for_the_same_frames_alone) {
  const std::uint32_t id = next_id();
  const auto pool = frame_pool(id, nv12_frame(), 4);
  EXPECT_TRUE(TensorPool::create(id, *TensorPoolConfig::for_frames(nv12_frame(), 4)));
  FrameLayout other = nv12_frame();
  other.planes[1].offset_bytes = 256 * 47;
  other.height = 46;
  EXPECT_FAILS(TensorPool::create(id, *TensorPoolConfig::for_frames(other, 4)), Errc::exists,
               "wanted nv12 64x46");
  EXPECT_EQ(*TensorPool::open(id), pool);
}

TEST(FramePool, shows_what_its_frames_are) {
  const std::uint32_t id = next_id();
  const auto pool = frame_pool(id, nv12_frame(), 4);
  const auto info = value_of(pool_info(id));
  ASSERT_TRUE(info.frame.has_value());
  EXPECT_EQ(info.frame->describe(), "nv12 64x48 pitch 256/256");
  EXPECT_EQ(*info.frame, nv12_frame());
}

TEST(FramePool, fills_frames_where_padding_matters) {
  FrameLayout frame = nv12_frame();
  frame.fill = std::uint8_t{128};
  const auto pool = frame_pool(next_id(), frame, 1);
  for (int round = 0; round < 2; ++round) {
    const auto handle = *pool->alloc_frame();
    const auto map = *handle.map(Access::write);
    const std::span bytes(map.writable(), 256 * 48 * 3 / 2);
    EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{128}; }));
    std::ranges::fill(bytes, std::byte{1});
  }
}

TEST(FramePool, of_nothing_says_so) {
  const auto pool = TensorPool::create(next_id(), TensorPoolConfig::small());
  EXPECT_FAILS((*pool)->alloc_frame(), Errc::unsupported);
  EXPECT_FAILS(TensorPoolConfig::for_frames(FrameLayout(), 1), Errc::invalid_argument);
  EXPECT_FAILS(TensorPoolConfig::for_frames(nv12_frame(), 0), Errc::invalid_argument);
  EXPECT_FAILS(TensorPoolConfig::for_frames(nv12_frame(), 1U << 21U), Errc::invalid_argument);
}

class FrameTopic : public Topics {
 protected:
  Topic<Tensor> topic = join<Tensor>(
      name, {.pool = *TensorPoolConfig::for_frames(nv12_frame(), 20), .receives_own = true});
};

TEST_F(FrameTopic, sends_frames_of_its_pool_without_a_copy) {
  const auto frame = *(*topic.endpoint().pool())->alloc_frame();
  ASSERT_TRUE(topic.send(frame));
  EXPECT_EQ(pitch_of(receive(topic)), 256U);
  EXPECT_EQ(topic.endpoint().stats().copied, 0U);
}

TEST_F(FrameTopic, copies_frames_of_others_into_its_layout) {
  ASSERT_TRUE(topic.send(*Tensor::create_image(64, 48, PixelFormat::nv12)));
  EXPECT_EQ(pitch_of(receive(topic)), 256U);
  EXPECT_EQ(topic.endpoint().stats().copied, 1U);
  EXPECT_FAILS(topic.send(*Tensor::create_image(32, 32, PixelFormat::rgb)), Errc::invalid_argument)
      << "the pool has no frame for it";
}

}  // namespace
}  // namespace halyard
