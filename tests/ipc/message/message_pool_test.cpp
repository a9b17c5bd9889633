// SPDX-License-Identifier: Apache-2.0
// Messages in the memory of a pool, named by descriptors, here and in another process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "halyard/depth_image.h"
#include "halyard/image_message.h"
#include "halyard/point_cloud.h"
#include "halyard/pool.h"
#include "ipc/helpers.h"
#include "scene.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

// Pools of this test program: a number that no other process uses.
std::uint32_t pool_number() {
  static std::uint32_t next = 0;
  return static_cast<std::uint32_t>(::getpid()) * 64 + next++ % 64;
}

std::shared_ptr<TensorPool> small_pool() {
  return value_of(TensorPool::create(pool_number(), TensorPoolConfig::small()));
}

// What a topic carries of a message.
template <class Message>
struct Sent {
  TensorDescriptor descriptor;
  std::remove_cvref_t<decltype(std::declval<Message>().metadata())> metadata;
};

template <class Message>
Sent<Message> sent(const Message& message) {
  const auto handle = TensorHandle::of(message.tensor());
  EXPECT_TRUE(handle) << handle.error().message();
  return {*handle->descriptor(), message.metadata()};
}

template <class Message>
Result<Message> received(TensorPool& pool, const Sent<Message>& message) {
  HALYARD_TRY(const TensorHandle handle, pool.attach(message.descriptor));
  return Message::from_parts(handle, message.metadata);
}

TEST(MessagePool, carries_every_encoding_by_its_descriptor) {
  const auto pool = small_pool();
  for (const ImageEncodingInfo& row : all_encodings()) {
    for (const std::size_t stride : {std::size_t{0}, std::size_t{1024}}) {
      SCOPED_TRACE(row.name);
      auto image = value_of(Image::create_on(pool, 34, 18, row.encoding, stride));
      EXPECT_EQ(image.step(), stride == 0 ? image.step() : stride);
      ASSERT_TRUE(image.copy_from(counted(image.nbytes())));
      image.set_timestamp_ns(3);
      ASSERT_TRUE(image.set_frame_id("camera"));
      const auto back = value_of(received(*pool, sent(image)));
      EXPECT_EQ(back.encoding(), row.encoding);
      EXPECT_EQ(back.step(), image.step());
      EXPECT_EQ(back.timestamp_ns(), 3U);
      EXPECT_EQ(back.frame_id(), "camera");
      EXPECT_EQ(packed(back), packed(image));
    }
  }
  EXPECT_EQ(pool->stats().allocated_slots, 0U);
}

TEST(MessagePool, carries_parts_of_images) {
  const auto pool = small_pool();
  for (const ImageEncoding encoding :
       {ImageEncoding::rgb8, ImageEncoding::nv12, ImageEncoding::i420, ImageEncoding::planar_rgb8,
        ImageEncoding::nv24, ImageEncoding::yuv422}) {
    SCOPED_TRACE(to_string(encoding));
    Image image = *Image::create_on(pool, 64, 48, encoding);
    ASSERT_TRUE(image.copy_from(counted(image.nbytes())));
    for (const Region& region : {Region{0, 0, 64, 48}, Region{2, 4, 30, 20}, Region{62, 46, 2, 2},
                                 Region{0, 24, 64, 24}, Region{32, 0, 31, 47}}) {
      const Image part = *image.roi(region);
      const auto back = value_of(received(*pool, sent(part)));
      EXPECT_EQ(packed(back), *image.copy_roi(region));
    }
  }
}

TEST(MessagePool, lets_receivers_read_and_not_write) {
  const auto pool = small_pool();
  Image image = *Image::create_on(pool, 8, 8, ImageEncoding::rgb8);
  ASSERT_TRUE(image.fill(std::array{std::byte{1}, std::byte{2}, std::byte{3}}));
  Image back = *received(*pool, sent(image));
  EXPECT_EQ((*back.pixel(7, 7))[2], std::byte{3});
  EXPECT_FAILS(back.data_mut(), Errc::permission);
  EXPECT_FAILS(back.fill(std::array<std::byte, 3>{}), Errc::permission);
  EXPECT_FAILS(back.set_pixel(0, 0, std::array<std::byte, 3>{}), Errc::permission);
  DepthImage depth = *DepthImage::millimeters(8, 8, pool);
  ASSERT_TRUE(depth.set_depth(7, 7, 1.5F));
  DepthImage seen = *received(*pool, sent(depth));
  EXPECT_EQ(*seen.get_depth(7, 7), 1.5F);
  EXPECT_FAILS(seen.set_depth(7, 7, 1), Errc::permission);
}

TEST(MessagePool, keeps_the_slot_as_long_as_a_message_or_a_part_is_there) {
  const auto pool = small_pool();
  {
    auto image = Image::create_on(pool, 64, 64, ImageEncoding::rgb8);
    ASSERT_TRUE(image);
    const Image part = *image->roi({0, 0, 8, 8});
    const Sent<Image> name = sent(*image);
    image = *Image::create_on(pool, 64, 64, ImageEncoding::rgb8);
    EXPECT_EQ(pool->stats().allocated_slots, 2U);
    EXPECT_TRUE(received(*pool, name));
  }
  EXPECT_EQ(pool->stats().allocated_slots, 0U);
}

TEST(MessagePool, carries_clouds_with_and_without_points) {
  const auto pool = small_pool();
  const std::array<std::array<float, 4>, 3> points = {{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 0, 1, 2}}};
  const PointCloud cloud = *PointCloud::from_xyzi(points, pool);
  const auto back = value_of(received(*pool, sent(cloud)));
  EXPECT_EQ((*back.extract_xyz())[2], (std::array{9.0F, 0.0F, 1.0F}));
  EXPECT_EQ((*back.field<const float>("intensity"))(1), 8);
  EXPECT_FAILS(back.field<float>("intensity"), Errc::permission);
  const PointCloud nothing = *PointCloud::xyz(0, pool);
  const auto empty = value_of(received(*pool, sent(nothing)));
  EXPECT_EQ(empty.point_count(), 0U);
}

TEST(MessagePool, refuses_what_is_gone_and_what_never_fits) {
  const auto pool = small_pool();
  Sent<Image> name;
  {
    const Image image = *Image::create_on(pool, 8, 8, ImageEncoding::rgb8);
    name = sent(image);
  }
  EXPECT_FAILS(received(*pool, name), Errc::not_found);
  EXPECT_FAILS(Image::create_on(pool, 65535, 65535, ImageEncoding::rgb32f), Errc::exhausted);
}

TEST(MessagePool, makes_results_where_it_is_told) {
  const auto pool = small_pool();
  const DepthImage depth = *DepthImage::meters(8, 8, pool);
  const auto meters = depth.to_meters(pool);
  const auto units = depth.to_millimeters(pool);
  const auto cloud = depth.deproject({1, 1, 0, 0}, pool);
  ASSERT_TRUE(meters && units && cloud);
  EXPECT_EQ(pool->stats().allocated_slots, 4U);
  EXPECT_TRUE(TensorHandle::of(cloud->tensor()));
  EXPECT_EQ(TensorHandle::of(Image::create(8, 8, ImageEncoding::rgb8)->tensor())->pool(),
            *default_pool());
}

// ---- another process ----

void write_all(int fd, const void* data, std::size_t bytes) {
  ASSERT_EQ(::write(fd, data, bytes), static_cast<ssize_t>(bytes));
}

// In the child: 0 when the image is the one that was sent.
int look_at(int fd, std::uint32_t pool_id) {
  Sent<Image> message;
  if (::read(fd, &message, sizeof message) != sizeof message) return 1;
  const auto pool = TensorPool::open(pool_id);
  if (!pool) return 2;
  const auto image = received(**pool, message);
  if (!image) return 3;
  if (image->frame_id() != "camera" || image->encoding() != ImageEncoding::nv12) return 4;
  return packed(*image) == counted(image->nbytes()) ? 0 : 5;
}

TEST(MessagePool, shows_an_image_to_another_process) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::uint32_t id = pool_number();
  const pid_t child = ::fork();  // before the pool is there
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(look_at(ends[0], id));
  const auto pool = *TensorPool::create(id, TensorPoolConfig::small());
  Image image = *Image::create_on(pool, 64, 48, ImageEncoding::nv12);
  ASSERT_TRUE(image.copy_from(counted(image.nbytes())));
  ASSERT_TRUE(image.set_frame_id("camera"));
  const Sent<Image> message = sent(image);
  write_all(ends[1], &message, sizeof message);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace halyard
