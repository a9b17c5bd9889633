// SPDX-License-Identifier: Apache-2.0
// Messages of sensors through topics: what arrives is what was sent, in the same memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "halyard/depth_image.h"
#include "halyard/image_message.h"
#include "halyard/point_cloud.h"
#include "halyard/pool.h"
#include "halyard/topic.h"
#include "ipc/helpers.h"
#include "scene.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

std::string topic_name(const char* what) {
  return "messages." + std::to_string(::getpid()) + "." + what;
}

TEST(MessageTopic, carries_images_of_every_encoding) {
  auto publisher = Topic<Image>::create(topic_name("image"));
  auto subscriber = Topic<Image>::create(topic_name("image"));
  ASSERT_TRUE(publisher) << publisher.error().message();
  ASSERT_TRUE(subscriber) << subscriber.error().message();
  const auto pool = *publisher->pool();
  for (const ImageEncodingInfo& row : all_encodings()) {
    SCOPED_TRACE(row.name);
    auto image = value_of(Image::create_on(pool, 34, 18, row.encoding));
    ASSERT_TRUE(image.copy_from(counted(image.nbytes())));
    image.set_timestamp_ns(11);
    image.set_colorimetry(Colorimetry::jpeg());
    ASSERT_TRUE(image.set_frame_id("camera"));
    must(publisher->send(image));
    auto got = receive(*subscriber);
    EXPECT_EQ(got.timestamp_ns(), 11U);
    EXPECT_EQ(got.frame_id(), "camera");
    EXPECT_EQ(got.encoding(), row.encoding);
    EXPECT_EQ(got.colorimetry(), Colorimetry::jpeg());
    EXPECT_EQ(packed(got), packed(image));
    EXPECT_FALSE(got.data_mut());
    EXPECT_FALSE(image.data_mut());  // published
  }
  EXPECT_EQ(publisher->stats().copied, 0U);
}

TEST(MessageTopic, carries_parts_of_images) {
  auto publisher = *Topic<Image>::create(topic_name("part"));
  auto subscriber = *Topic<Image>::create(topic_name("part"));
  for (const ImageEncoding encoding : {ImageEncoding::rgb8, ImageEncoding::nv12,
                                       ImageEncoding::i420, ImageEncoding::planar_rgb8}) {
    SCOPED_TRACE(to_string(encoding));
    Image image = *Image::create_on(*publisher.pool(), 64, 48, encoding);
    ASSERT_TRUE(image.copy_from(counted(image.nbytes())));
    for (const Region& region :
         {Region{2, 4, 30, 20}, Region{62, 46, 2, 2}, Region{32, 0, 31, 47}}) {
      must(publisher.send(*image.roi(region)));
      auto got = receive(subscriber);
      EXPECT_EQ(packed(got), *image.copy_roi(region));
    }
  }
  EXPECT_EQ(publisher.stats().copied, 0U);
}

TEST(MessageTopic, carries_clouds_and_depths) {
  auto clouds = *Topic<PointCloud>::create(topic_name("cloud"));
  auto seen_clouds = *Topic<PointCloud>::create(topic_name("cloud"));
  const std::array<std::array<float, 4>, 2> points = {{{1, 2, 3, 4}, {5, 6, 7, 8}}};
  ASSERT_TRUE(clouds.send(*PointCloud::from_xyzi(points)));
  auto cloud = seen_clouds.recv();
  ASSERT_TRUE(cloud) << seen_clouds.stats().last_error.message();
  EXPECT_EQ((*cloud->extract_xyz())[1], (std::array{5.0F, 6.0F, 7.0F}));
  EXPECT_EQ((*cloud->field<const float>("intensity"))(1), 8);
  ASSERT_TRUE(clouds.send(*PointCloud::xyz(0)));
  cloud = seen_clouds.recv();
  ASSERT_TRUE(cloud) << seen_clouds.stats().last_error.message();
  EXPECT_EQ(cloud->point_count(), 0U);

  auto depths = *Topic<DepthImage>::create(topic_name("depth"));
  auto seen_depths = *Topic<DepthImage>::create(topic_name("depth"));
  for (const DType dtype : {DType::u16, DType::f32}) {
    DepthImage image = *DepthImage::create(9, 7, dtype);
    ASSERT_TRUE(image.copy_from(std::vector<std::byte>(image.nbytes())));
    ASSERT_TRUE(image.set_depth(8, 6, 1.5F));
    ASSERT_TRUE(image.set_depth_range(0.5F, 9));
    ASSERT_TRUE(depths.send(image));
    auto depth = receive(seen_depths);
    EXPECT_EQ(*depth.get_depth(8, 6), 1.5F);
    EXPECT_EQ(depth.max_depth(), 9);
    EXPECT_EQ(depth.depth_statistics()->count, 1U);
  }
}

TEST(MessageTopic, copies_what_lies_in_no_pool) {
  auto publisher = *Topic<Image>::create(topic_name("heap"));
  auto subscriber = *Topic<Image>::create(topic_name("heap"));
  for (const PixelFormat format :
       {PixelFormat::rgb, PixelFormat::nv12, PixelFormat::i420, PixelFormat::planar_rgb}) {
    SCOPED_TRACE(to_string(format));
    Image image = *Image::wrap(*Tensor::create_image(34, 18, format, DType::u8, Memory::mem));
    ASSERT_TRUE(image.copy_from(counted(image.nbytes())));
    const Image part = *image.roi({2, 2, 21, 11});
    for (const Image* sent : {&std::as_const(image), &part}) {
      must(publisher.send(*sent));
      auto got = receive(subscriber);
      EXPECT_EQ(packed(got), packed(*sent));
    }
  }
  auto clouds = *Topic<PointCloud>::create(topic_name("heap.cloud"));
  auto seen = *Topic<PointCloud>::create(topic_name("heap.cloud"));
  Tensor numbers = *Tensor::create(DType::f32, {9, 5}, Memory::mem);
  ASSERT_TRUE(copy_packed(counted(180), numbers));
  const AxisRange coordinates[] = {AxisRange::all(9), {0, 3, 1, true}};
  const PointCloud spread = *PointCloud::wrap(*numbers.part(coordinates));
  ASSERT_TRUE(clouds.send(spread));
  auto got = receive(seen);
  EXPECT_EQ(packed(got), packed(spread));
}

struct Speed {
  static constexpr char message_name[] = "robot.Speed";
  double forward = 0;
  float turn = 0;
};

TEST(MessageTopic, knows_plain_structs_by_name_size_and_alignment) {
  const MessageType type = detail::message_type<Speed>();
  const MessageType same = MessageType::plain("robot.Speed", 16, 8);
  EXPECT_EQ(same.name, type.name);
  EXPECT_EQ(same.layout_hash, type.layout_hash);
  EXPECT_EQ(same.inline_bytes, 16U);
  EXPECT_FALSE(same.has_frame);
  EXPECT_NE(MessageType::plain("robot.Speed", 16, 4).layout_hash, type.layout_hash);
  EXPECT_NE(MessageType::plain("robot.Speed", 24, 8).layout_hash, type.layout_hash);
  // Refused where it is used, not cut to 32 bits.
  const std::size_t huge = (std::size_t{1} << 32) + 16;
  EXPECT_FAILS(TopicEndpoint::create(topic_name("huge"), MessageType::plain("huge", huge, 8)),
               Errc::invalid_argument);
}

struct FirstBuild {
  static constexpr char message_name[] = "test.Pose";
  float x, y;
  std::int32_t id;
};
struct SecondBuild {
  static constexpr char message_name[] = "test.Pose";
  std::int32_t id;
  float x, y;
};

TEST(MessageTopic, knows_plain_structs_by_the_types_of_their_members) {
  const std::string name = topic_name("pose");
  const auto sender = value_of(Topic<FirstBuild>::create(name));
  EXPECT_FAILS(Topic<SecondBuild>::create(name), Errc::exists, "members");
  // A binding that does not know the members takes the caller's word for them.
  const auto unknown = MessageType::plain("test.Pose", 12, 4);
  EXPECT_EQ(unknown.members_hash, 0U);
  EXPECT_TRUE(TopicEndpoint::create(name, unknown));
  const std::string other = topic_name("other_pose");
  const auto first = TopicEndpoint::create(other, unknown);
  EXPECT_TRUE(first);
  EXPECT_TRUE(Topic<SecondBuild>::create(other));
}

}  // namespace
}  // namespace halyard
