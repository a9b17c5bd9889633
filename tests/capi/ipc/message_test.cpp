// SPDX-License-Identifier: Apache-2.0
// Messages of sensors in C. Another process, which speaks C, sends what it receives on to a second
// topic; this one speaks C++, and finds there what it sent.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "capi/owned.h"
#include "halyard/depth_image.h"
#include "halyard/image_message.h"
#include "halyard/point_cloud.h"
#include "halyard/topic.h"
#include "ipc/peer.h"
#include "support/result.h"

namespace {

using namespace halyard::test;
using halyard::ipc::testing::Peer;

constexpr std::int64_t patience = 10'000'000'000;
constexpr std::chrono::nanoseconds waiting(patience);

struct Pose {
  static constexpr char message_name[] = "test.Pose";
  double x = 0;
  double y = 0;
};

Topic join(const std::string& name, int type) {
  if (type > HAL_MESSAGE_BYTES) {
    return Topic(
        hal_topic_create_struct(name.c_str(), "test.Pose", sizeof(Pose), alignof(Pose), nullptr));
  }
  return Topic(hal_topic_create(name.c_str(), static_cast<hal_message_type>(type), nullptr));
}

int send_on(const hal_topic* out, const hal_message* message, int type) {
  const hal_tensor* const tensor = hal_message_tensor(message);
  hal_sensor_header header{};
  switch (type) {
    case HAL_MESSAGE_TENSOR:
      return hal_topic_send_tensor(out, tensor);
    case HAL_MESSAGE_IMAGE: {
      hal_image_metadata image;
      EXPECT_DONE(hal_message_image(message, &image));
      EXPECT_DONE(hal_message_header(message, &header));
      return hal_topic_send_image(out, tensor, &header, image.encoding);
    }
    case HAL_MESSAGE_DEPTH_IMAGE: {
      hal_depth_image_metadata depth;
      EXPECT_DONE(hal_message_depth_image(message, &depth));
      return hal_topic_send_depth_image(out, tensor, &depth.header, depth.depth_scale,
                                        depth.min_depth, depth.max_depth);
    }
    case HAL_MESSAGE_POINT_CLOUD: {
      hal_point_cloud_metadata cloud;
      EXPECT_DONE(hal_message_point_cloud(message, &cloud));
      return hal_topic_send_point_cloud(out, tensor, &cloud.header, cloud.fields, cloud.field_count,
                                        cloud.is_dense != 0);
    }
    default:
      break;
  }
  std::size_t size = 0;
  const void* const data = hal_message_data(message, &size);
  return hal_topic_send(out, data, size);
}

TEST(Peer, DISABLED_c_sends_on) {
  const int type = std::stoi(Peer::arguments());
  const Topic in = join("sent", type);
  const Topic out = join("sent_on", type);
  Peer::tell(in && out ? "joined" : hal_last_error());
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    Message found;
    if (hal_topic_recv(in, patience, found.out(), nullptr) != 1) {
      Peer::tell("nothing came");
      continue;
    }
    Peer::tell(send_on(out, found, type) == 0 ? "sent on" : hal_last_error());
  }
}

template <class T>
class Relay {
 public:
  explicit Relay(int type)
      : in_(*halyard::Topic<T>::create("sent")),
        out_(*halyard::Topic<T>::create("sent_on")),
        peer_("c_sends_on", std::to_string(type)) {
    EXPECT_EQ(peer_.hear(), "joined");
  }
  halyard::Received<T> pass(const T& message) {
    EXPECT_TRUE(in_.send(message));
    EXPECT_EQ(peer_.ask("next"), "sent on");
    return out_.recv_for(waiting);
  }
  halyard::Topic<T>& in() { return in_; }

 private:
  halyard::Topic<T> in_;
  halyard::Topic<T> out_;
  Peer peer_;
};

template <class Message>
std::vector<std::byte> packed(const Message& message) {
  std::vector<std::byte> bytes(message.nbytes());
  EXPECT_TRUE(copy_packed(message.tensor(), std::span(bytes)));
  return bytes;
}

std::vector<std::byte> counted(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>(i * 31 + 7);
  return bytes;
}

TEST(CapiMessage, passes_tensors_bytes_and_structs) {
  {
    Relay<halyard::Tensor> relay(HAL_MESSAGE_TENSOR);
    const std::size_t shape[2] = {3, 5};
    const auto tensor = *halyard::Tensor::create(halyard::DType::i32, shape, halyard::Memory::mem);
    const auto got = relay.pass(tensor);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->shape()[1], 5U);
    EXPECT_EQ(got->dtype(), halyard::DType::i32);
  }
  {
    Relay<std::vector<std::byte>> relay(HAL_MESSAGE_BYTES);
    const auto got = relay.pass(counted(1000));
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, counted(1000));
  }
  Relay<Pose> relay(HAL_MESSAGE_BYTES + 1);
  const auto got = relay.pass({1.5, -2});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->y, -2);
}

TEST(CapiMessage, passes_images_of_every_encoding) {
  Relay<halyard::Image> relay(HAL_MESSAGE_IMAGE);
  const auto pool = *relay.in().pool();
  for (const halyard::ImageEncodingInfo& row : halyard::all_encodings()) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(hal_image_encoding_name(static_cast<hal_image_encoding>(row.encoding)), row.name);
    auto image = *halyard::Image::create_on(pool, 34, 18, row.encoding);
    ASSERT_TRUE(image.copy_from(counted(image.nbytes())));
    image.set_timestamp_ns(11);
    image.set_colorimetry(halyard::Colorimetry::jpeg());
    ASSERT_TRUE(image.set_frame_id("camera"));
    const auto got = relay.pass(image);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->timestamp_ns(), 11U);
    EXPECT_EQ(got->frame_id(), "camera");
    EXPECT_EQ(got->encoding(), row.encoding);
    EXPECT_EQ(got->colorimetry(), halyard::Colorimetry::jpeg());
    EXPECT_EQ(packed(*got), packed(image));
  }
  EXPECT_STREQ(hal_image_encoding_name(static_cast<hal_image_encoding>(32)), "unknown");
  EXPECT_STREQ(hal_image_encoding_name(static_cast<hal_image_encoding>(-1)), "unknown");
}

TEST(CapiMessage, passes_depth_images) {
  Relay<halyard::DepthImage> relay(HAL_MESSAGE_DEPTH_IMAGE);
  auto depth = *halyard::DepthImage::millimeters(20, 10);
  ASSERT_TRUE(depth.copy_from(counted(depth.nbytes())));
  ASSERT_TRUE(depth.set_depth_scale(0.25F));
  ASSERT_TRUE(depth.set_depth_range(0.5F, 12));
  ASSERT_TRUE(depth.set_frame_id("depth"));
  const auto got = relay.pass(depth);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->depth_scale(), 0.25F);
  EXPECT_EQ(got->min_depth(), 0.5F);
  EXPECT_EQ(got->max_depth(), 12);
  EXPECT_EQ(got->frame_id(), "depth");
  EXPECT_EQ(packed(*got), packed(depth));
}

TEST(CapiMessage, passes_point_clouds) {
  Relay<halyard::PointCloud> relay(HAL_MESSAGE_POINT_CLOUD);
  using Field = halyard::PointField;
  using halyard::PointDatatype;
  const Field fields[] = {*Field::create("x", 0, PointDatatype::float32),
                          *Field::create("y", 4, PointDatatype::float32),
                          *Field::create("z", 8, PointDatatype::float32),
                          *Field::create("ring", 12, PointDatatype::uint16)};
  auto mixed = *halyard::PointCloud::create_fields(5, 1, fields, 16);
  for (halyard::PointCloud cloud : {mixed, *halyard::PointCloud::xyzi(9)}) {
    ASSERT_TRUE(cloud.copy_from(counted(cloud.nbytes())));
    cloud.set_is_dense(false);
    cloud.set_timestamp_ns(5);
    const auto got = relay.pass(cloud);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->point_count(), cloud.point_count());
    EXPECT_EQ(got->point_step(), cloud.point_step());
    ASSERT_EQ(got->fields().size(), cloud.fields().size());
    EXPECT_EQ(got->fields()[3].name(), cloud.fields()[3].name());
    EXPECT_FALSE(got->is_dense());
    EXPECT_EQ(got->timestamp_ns(), 5U);
    EXPECT_EQ(packed(*got), packed(cloud));
  }
}

class CapiSending : public testing::Test {
 protected:
  static Topic make(hal_message_type type) {
    return Topic(hal_topic_create(("sending_" + std::to_string(type)).c_str(), type, nullptr));
  }
  /// What another handle to the topic receives.
  static Message next(const Topic& to) { return receive(to, patience); }
  hal_sensor_header header_{123, "base_link"};
};

TEST_F(CapiSending, images_takes_tensors_of_the_encoding) {
  const Topic from = make(HAL_MESSAGE_IMAGE);
  const Topic to = make(HAL_MESSAGE_IMAGE);
  const Tensor grey = make_image(20, 10, HAL_PIXEL_FORMAT_GREY);
  fill(grey, 1);
  ASSERT_DONE(hal_topic_send_image(from, grey, &header_, -1));
  const Message message = next(to);
  hal_image_metadata metadata;
  ASSERT_DONE(hal_message_image(message, &metadata));
  EXPECT_EQ(metadata.width, 20U);
  EXPECT_EQ(metadata.height, 10U);
  EXPECT_EQ(metadata.encoding, HAL_IMAGE_ENCODING_MONO8);
  EXPECT_EQ(metadata.header.timestamp_ns, 123U);
  EXPECT_STREQ(metadata.header.frame_id, "base_link");
  EXPECT_EQ(hal_tensor_pixel_format(hal_message_tensor(message)), HAL_PIXEL_FORMAT_GREY);
  EXPECT_EQ(hal_message_data(message, nullptr), nullptr);
  hal_depth_image_metadata depth;
  EXPECT_ERRNO(-1, EINVAL, hal_message_depth_image(message, &depth));
  hal_point_cloud_metadata cloud;
  EXPECT_ERRNO(-1, EINVAL, hal_message_point_cloud(message, &cloud));
  const Tensor raw = make_tensor(HAL_DTYPE_U16, {6, 8});
  ASSERT_DONE(hal_topic_send_image(from, raw, nullptr, HAL_IMAGE_ENCODING_DEPTH16));
  ASSERT_DONE(hal_message_image(next(to).get(), &metadata));
  EXPECT_EQ(metadata.encoding, HAL_IMAGE_ENCODING_DEPTH16);
  EXPECT_EQ(metadata.header.timestamp_ns, 0U);
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send_image(from, raw, nullptr, HAL_IMAGE_ENCODING_RGB8));
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send_image(from, raw, nullptr, 32));
  EXPECT_ERROR(-1, EINVAL, "encoding", hal_topic_send_image(from, raw, nullptr, -2));
  std::memset(header_.frame_id, 'x', sizeof header_.frame_id);
  EXPECT_ERROR(-1, EINVAL, "frame_id", hal_topic_send_image(from, grey, &header_, -1));
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send_image(from, nullptr, nullptr, -1));
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send_tensor(from, grey));
}

TEST_F(CapiSending, depth_images_checks_their_numbers) {
  const Topic from = make(HAL_MESSAGE_DEPTH_IMAGE);
  const Topic to = make(HAL_MESSAGE_DEPTH_IMAGE);
  const Tensor depth = make_tensor(HAL_DTYPE_F32, {6, 8});
  ASSERT_DONE(hal_topic_send_depth_image(from, depth, &header_, 1, 0, INFINITY));
  hal_depth_image_metadata metadata;
  ASSERT_DONE(hal_message_depth_image(next(to).get(), &metadata));
  EXPECT_EQ(metadata.width, 8U);
  EXPECT_EQ(metadata.step, 32U);
  EXPECT_EQ(metadata.max_depth, INFINITY);
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send_depth_image(from, depth, nullptr, 0, 0, INFINITY));
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send_depth_image(from, depth, nullptr, 1, 2, 1));
  const Tensor wrong = make_tensor(HAL_DTYPE_F64, {6, 8});
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send_depth_image(from, wrong, nullptr, 1, 0, INFINITY));
}

TEST_F(CapiSending, point_clouds_checks_their_fields) {
  const Topic from = make(HAL_MESSAGE_POINT_CLOUD);
  const Topic to = make(HAL_MESSAGE_POINT_CLOUD);
  const Tensor points = make_tensor(HAL_DTYPE_F32, {100, 4});
  ASSERT_DONE(hal_topic_send_point_cloud(from, points, &header_, nullptr, 0, true));
  hal_point_cloud_metadata metadata;
  ASSERT_DONE(hal_message_point_cloud(next(to).get(), &metadata));
  EXPECT_EQ(metadata.width, 100U);
  EXPECT_EQ(metadata.height, 1U);
  EXPECT_EQ(metadata.point_step, 16U);
  EXPECT_EQ(metadata.field_count, 4U);
  EXPECT_STREQ(metadata.fields[3].name, "intensity");
  EXPECT_EQ(metadata.fields[3].datatype, HAL_POINT_FLOAT32);
  EXPECT_EQ(metadata.is_dense, 1);
  hal_point_field fields[17] = {{"a", 0, 2, HAL_POINT_FLOAT64, {0}}};
  const auto send = [&](std::size_t count) {
    return hal_topic_send_point_cloud(from, points, nullptr, fields, count, false);
  };
  ASSERT_DONE(send(1));
  ASSERT_DONE(hal_message_point_cloud(next(to).get(), &metadata));
  EXPECT_EQ(metadata.fields[0].count, 2U);
  EXPECT_ERROR(-1, EINVAL, "16", send(17));
  EXPECT_ERRNO(-1, EINVAL, send(0));
  fields[0].offset = 8;
  EXPECT_ERRNO(-1, EINVAL, send(1));
  fields[0] = {"b", 0, 1, 9, {0}};
  EXPECT_ERRNO(-1, EINVAL, send(1));
  std::memset(fields[0].name, 'n', sizeof fields[0].name);
  fields[0].datatype = HAL_POINT_FLOAT32;
  EXPECT_ERRNO(-1, EINVAL, send(1));
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send_point_cloud(from, points, nullptr, nullptr, 2, false));
}

// What a publisher that breaks the rules sends is lost, and said so.
TEST_F(CapiSending, nonsense_is_lost) {
  const auto type = halyard::detail::message_type<halyard::Image>();
  auto hostile = *halyard::TopicEndpoint::create("sending_1", type, {});
  const Topic to = make(HAL_MESSAGE_IMAGE);
  const Tensor grey = make_image(20, 10, HAL_PIXEL_FORMAT_GREY);
  auto sent = *halyard::Image::create(20, 10, halyard::ImageEncoding::mono8);
  halyard::ImageMetadata metadata = sent.metadata();
  metadata.width = 70000;
  ASSERT_TRUE(hostile->send(std::as_bytes(std::span(&metadata, 1)), &sent.tensor()));
  metadata = sent.metadata();
  ASSERT_TRUE(hostile->send(std::as_bytes(std::span(&metadata, 1)), &sent.tensor()));
  std::uint64_t lost = 0;
  EXPECT_TRUE(receive(to, patience, &lost));
  EXPECT_EQ(lost, 1U);
  const hal_topic_stats stats = stats_of(to);
  EXPECT_EQ(stats.corrupt, 1U);
  EXPECT_NE(std::string(stats.last_error).find("width"), std::string::npos) << stats.last_error;
}

}  // namespace
