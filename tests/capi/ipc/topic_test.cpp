// SPDX-License-Identifier: Apache-2.0
// Topics in C: joining, limits, messages of bytes, plain structs and tensors, in one process.
#include <gtest/gtest.h>

#include <poll.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "capi/owned.h"
#include "halyard/topic.h"
#include "ipc/peer.h"
#include "support/result.h"

namespace {

using namespace halyard::test;

struct Command {
  static constexpr char message_name[] = "test.Command";
  std::uint64_t number = 0;
  float speed = 0;
  std::uint32_t check = 0;
};

std::string next_name() {
  static int last = 0;
  return "capi/topic_" + std::to_string(++last);
}

Topic join(const std::string& name, hal_message_type type = HAL_MESSAGE_TENSOR,
           const hal_topic_config* config = nullptr) {
  Topic topic(hal_topic_create(name.c_str(), type, config));
  EXPECT_TRUE(topic) << hal_last_error();
  return topic;
}

Topic join_commands(const std::string& name, const hal_topic_config* config = nullptr) {
  Topic topic(hal_topic_create_struct(name.c_str(), "test.Command", sizeof(Command),
                                      alignof(Command), config));
  EXPECT_TRUE(topic) << hal_last_error();
  return topic;
}

int send(const Topic& topic, std::uint64_t number) {
  const Command command{number, 0.5F, 3};
  return hal_topic_send(topic, &command, sizeof command);
}

/// The number of the next command, -1: none.
std::int64_t next(const Topic& topic, std::uint64_t* lost = nullptr) {
  Command command;
  const int got = hal_topic_recv_struct(topic, 0, &command, sizeof command, lost);
  EXPECT_GE(got, 0) << hal_last_error();
  return got == 1 ? static_cast<std::int64_t>(command.number) : -1;
}

TEST(CapiTopic, is_as_its_config_says) {
  const std::string name = next_name();
  hal_topic_config config = hal_topic_config_default();
  EXPECT_EQ(config.depth, HAL_UNSET);
  EXPECT_EQ(config.role, HAL_TOPIC_BOTH);
  EXPECT_EQ(config.block_timeout_ns, 1'000'000'000);
  EXPECT_EQ(config.max_shared_frames, HAL_UNSET);
  const hal_pool_config small = hal_pool_config_small();
  config.depth = 4;
  config.overflow = HAL_OVERFLOW_DROP_NEWEST;
  config.history = 2;
  config.max_endpoints = 2;
  config.pool = &small;
  const Topic topic = join(name, HAL_MESSAGE_TENSOR, &config);
  EXPECT_EQ(hal_topic_name(topic), name);
  const hal_topic_stats stats = stats_of(topic);
  EXPECT_EQ(stats.depth, 4U);
  EXPECT_EQ(stats.overflow, HAL_OVERFLOW_DROP_NEWEST);
  EXPECT_EQ(stats.history, 2U);
  EXPECT_EQ(stats.max_endpoints, 2U);
  EXPECT_STREQ(stats.last_error, "");
  EXPECT_EQ(stats_of(Pool(hal_topic_pool(topic))).pool_size, small.pool_size);
  // As the topic has it.
  const Topic second = join(name);
  EXPECT_EQ(stats_of(second).depth, 4U);
  EXPECT_EQ(stats_of(second).publishers, 1U);
  EXPECT_ERRNO(nullptr, ENOSPC, hal_topic_create(name.c_str(), HAL_MESSAGE_TENSOR, nullptr));
}

TEST(CapiTopic, refuses_what_it_is_not) {
  const std::string name = next_name();
  const Topic topic = join(name);
  hal_topic_config config = hal_topic_config_default();
  config.depth = 17;
  EXPECT_ERROR(nullptr, EEXIST, "depth",
               hal_topic_create(name.c_str(), HAL_MESSAGE_TENSOR, &config));
  EXPECT_ERROR(nullptr, EEXIST, "halyard.Image",
               hal_topic_create(name.c_str(), HAL_MESSAGE_IMAGE, nullptr));
  EXPECT_ERRNO(nullptr, EINVAL, hal_topic_create("", HAL_MESSAGE_IMAGE, nullptr));
  EXPECT_ERRNO(nullptr, EINVAL, hal_topic_create("a//b", HAL_MESSAGE_IMAGE, nullptr));
  EXPECT_ERRNO(nullptr, EINVAL, hal_topic_create("x", static_cast<hal_message_type>(5), nullptr));
  const auto expect_refusal = [](const char* word, auto member, auto value) {
    hal_topic_config wrong = hal_topic_config_default();
    wrong.*member = value;
    EXPECT_ERROR(nullptr, EINVAL, word, hal_topic_create("wrong", HAL_MESSAGE_IMAGE, &wrong));
  };
  expect_refusal("depth", &hal_topic_config::depth, 0);
  expect_refusal("depth", &hal_topic_config::depth, -2);
  expect_refusal("history", &hal_topic_config::history, 4097);
  expect_refusal("max_endpoints", &hal_topic_config::max_endpoints, 1025);
  expect_refusal("max_shared_frames", &hal_topic_config::max_shared_frames, -2);
  expect_refusal("overflow", &hal_topic_config::overflow, 3);
  expect_refusal("role", &hal_topic_config::role, 0);
  expect_refusal("role", &hal_topic_config::role, 4);
}

TEST(CapiTopic, refuses_what_no_struct_is) {
  const auto refuses = [](const char* name, std::size_t size, std::size_t alignment) {
    errno = 0;
    return !Topic(hal_topic_create_struct("wrong", name, size, alignment, nullptr)) &&
           errno == EINVAL;
  };
  EXPECT_TRUE(refuses("", 16, 8));
  EXPECT_TRUE(refuses(std::string(201, 'x').c_str(), 16, 8));
  EXPECT_TRUE(refuses("Command", 0, 8));
  EXPECT_TRUE(refuses("Command", 12, 8));
  EXPECT_TRUE(refuses("Command", 16, 0));
  EXPECT_TRUE(refuses("Command", 18, 6));
  EXPECT_TRUE(refuses("Command", (1 << 20) + 8, 8));
  EXPECT_TRUE(refuses("Command", (std::size_t{1} << 32) + 8, 8)) << "not cut to 32 bits";
}

TEST(CapiTopic, carries_plain_structs_between_c_and_cpp) {
  const std::string name = next_name();
  ASSERT_VALUE(auto cpp, halyard::Topic<Command>::create(name));
  const Topic c = join_commands(name);
  ASSERT_TRUE(c);
  ASSERT_TRUE(cpp.send({7, 1.5F, 9}));
  std::uint64_t lost = 99;
  const Message out = receive(c, 0, &lost);
  EXPECT_EQ(lost, 0U);
  std::size_t size = 0;
  const auto* const got = static_cast<const Command*>(hal_message_data(out, &size));
  ASSERT_EQ(size, sizeof(Command));
  EXPECT_EQ(got->number, 7U);
  EXPECT_EQ(got->check, 9U);
  EXPECT_EQ(hal_message_tensor(out), nullptr);
  EXPECT_ERRNO(nullptr, EINVAL, hal_message_clone_tensor(out));
  hal_sensor_header header;
  EXPECT_ERRNO(-1, EINVAL, hal_message_header(out, &header));
  EXPECT_DONE(send(c, 8));
  const auto received = cpp.recv();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->number, 8U);
  EXPECT_EQ(received->speed, 0.5F);
  // Another size or alignment is another struct.
  EXPECT_ERRNO(nullptr, EEXIST,
               hal_topic_create_struct(name.c_str(), "test.Command", 24, 8, nullptr));
  EXPECT_ERRNO(nullptr, EEXIST,
               hal_topic_create_struct(name.c_str(), "test.Command", 16, 4, nullptr));
  EXPECT_ERROR(-1, EINVAL, "16", hal_topic_send(c, &header, 15));
  EXPECT_ERRNO(-1, EINVAL, hal_topic_recv_struct(c, 0, &header, 17, nullptr));
  EXPECT_ERROR(-1, EINVAL, "test.Command", hal_topic_send_tensor(c, nullptr));
}

TEST(CapiTopic, says_how_many_were_lost) {
  const std::string name = next_name();
  hal_topic_config config = hal_topic_config_default();
  config.depth = 4;
  const Topic from = join_commands(name, &config);
  const Topic to = join_commands(name);
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_EQ(send(from, i), 0);
  std::uint64_t lost = 0;
  EXPECT_EQ(next(to, &lost), 6);
  EXPECT_EQ(lost, 6U);
  EXPECT_EQ(next(to, &lost), 7);
  EXPECT_EQ(lost, 0U);
  const hal_topic_stats stats = stats_of(to);
  EXPECT_EQ(stats.lost, 6U);
  EXPECT_EQ(stats.received, 2U);
  EXPECT_EQ(stats_of(from).sent, 10U);
}

TEST(CapiTopic, keeps_its_overflow_rule) {
  hal_topic_config config = hal_topic_config_default();
  config.depth = 2;
  config.block_timeout_ns = 1'000'000;
  config.overflow = HAL_OVERFLOW_DROP_NEWEST;
  std::string name = next_name();
  const Topic refusing = join_commands(name, &config);
  const Topic behind = join_commands(name);
  EXPECT_EQ(send(refusing, 1), 0);
  EXPECT_EQ(send(refusing, 2), 0);
  EXPECT_ERRNO(-1, ENOSPC, send(refusing, 3));
  EXPECT_EQ(stats_of(refusing).refused, 1U);
  config.overflow = HAL_OVERFLOW_BLOCK;
  name = next_name();
  const Topic waiting = join_commands(name, &config);
  const Topic late = join_commands(name);
  EXPECT_EQ(send(waiting, 1), 0);
  EXPECT_EQ(send(waiting, 2), 0);
  EXPECT_ERRNO(-1, ETIMEDOUT, send(waiting, 3));
  EXPECT_EQ(next(late), 1);
  EXPECT_EQ(send(waiting, 3), 0);
}

TEST(CapiTopic, has_roles_history_and_the_latest_alone) {
  const std::string name = next_name();
  hal_topic_config config = hal_topic_config_default();
  config.history = 3;
  config.role = HAL_TOPIC_PUBLISHER;
  const Topic from = join_commands(name, &config);
  for (std::uint64_t i = 0; i < 5; ++i)
    ASSERT_EQ(send(from, i), 0);
  EXPECT_EQ(next(from), -1);
  config = hal_topic_config_default();
  config.role = HAL_TOPIC_SUBSCRIBER;
  const Topic late = join_commands(name, &config);
  EXPECT_EQ(next(late), 2);
  EXPECT_ERRNO(-1, ENOTSUP, send(late, 9));
  config.latest_only = true;
  const Topic latest = join_commands(name, &config);
  EXPECT_EQ(next(latest), 4);
  config = hal_topic_config_default();
  config.receives_own = true;
  const Topic both = join_commands(next_name(), &config);
  ASSERT_EQ(send(both, 7), 0);
  EXPECT_EQ(next(both), 7);
}

TEST(CapiTopic, carries_bytes_between_c_and_cpp) {
  const std::string name = next_name();
  ASSERT_VALUE(auto cpp, halyard::Topic<std::vector<std::byte>>::create(name));
  const Topic c = join(name, HAL_MESSAGE_BYTES);
  EXPECT_DONE(hal_topic_send(c, "hello", 5));
  EXPECT_DONE(hal_topic_send(c, nullptr, 0));
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send(c, nullptr, 5));
  auto got = cpp.recv();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->size(), 5U);
  EXPECT_EQ((*got)[4], std::byte{'o'});
  got = cpp.recv();
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->empty());
  ASSERT_TRUE(cpp.send(std::vector<std::byte>(70000, std::byte{3})));
  ASSERT_TRUE(cpp.send({}));
  std::size_t size = 0;
  for (const std::size_t wanted : {70000, 0}) {
    const Message out = receive(c, -1);
    const auto* const bytes = static_cast<const std::uint8_t*>(hal_message_data(out, &size));
    ASSERT_NE(bytes, nullptr);
    EXPECT_EQ(size, wanted);
    EXPECT_TRUE(std::all_of(bytes, bytes + size, [](int byte) { return byte == 3; }));
    EXPECT_EQ(hal_message_tensor(out), nullptr);
  }
}

TEST(CapiTopic, carries_tensors_without_copies) {
  const std::string name = next_name();
  const Topic from = join(name);
  ASSERT_VALUE(auto cpp, halyard::Topic<halyard::Tensor>::create(name));
  const Topic to = join(name);
  const std::size_t shape[2] = {8, 4};
  const Tensor tensor(hal_topic_alloc_tensor(from, HAL_DTYPE_F32, shape, 2));
  ASSERT_TRUE(tensor) << hal_last_error();
  fill(tensor, 1);
  ASSERT_DONE(hal_topic_send_tensor(from, tensor));
  EXPECT_EQ(stats_of(from).copied, 0U);
  EXPECT_EQ(cpp.recv()->shape()[1], 4U);
  Message message = receive(to);
  EXPECT_EQ(hal_tensor_dtype(hal_message_tensor(message)), HAL_DTYPE_F32);
  const Tensor kept(hal_message_clone_tensor(message));
  hal_sensor_header header;
  EXPECT_ERRNO(-1, EINVAL, hal_message_header(message, &header));
  message.reset();
  EXPECT_EQ(byte_at(kept, 100), 100);
  // Nobody writes what was sent.
  const Map map(hal_tensor_map_create(tensor));
  EXPECT_EQ(hal_tensor_map_data(map), nullptr);
  // Other memory is copied.
  const Tensor heap = make_image(4, 4, HAL_PIXEL_FORMAT_GREY);
  ASSERT_DONE(hal_topic_send_tensor(from, heap));
  EXPECT_EQ(stats_of(from).copied, 1U);
  EXPECT_EQ(stats_of(from).copied_bytes, 16U);
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send(from, "x", 1));
  EXPECT_ERRNO(-1, EINVAL, hal_topic_send_tensor(from, nullptr));
}

TEST(CapiTopic, waits_for_messages) {
  const std::string name = next_name();
  const Topic from = join_commands(name);
  const Topic to = join_commands(name);
  EXPECT_FALSE(hal_topic_has_message(to));
  EXPECT_EQ(hal_topic_wait(to, 1'000'000), 0);
  hal_message* out = nullptr;
  EXPECT_EQ(hal_topic_recv(to, 1'000'000, &out, nullptr), 0);
  EXPECT_EQ(out, nullptr);
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(send(from, 1), 0);
  });
  EXPECT_EQ(hal_topic_wait(to, -1), 1);
  sender.join();
  EXPECT_TRUE(hal_topic_has_message(to));
  ASSERT_TRUE(receive(to, -1));
  pollfd poll = {hal_topic_fd(to), POLLIN, 0};
  ASSERT_GE(poll.fd, 0);
  EXPECT_EQ(::poll(&poll, 1, 0), 0);
  EXPECT_EQ(send(from, 2), 0);
  EXPECT_EQ(::poll(&poll, 1, 1000), 1);
  EXPECT_EQ(next(to), 2);
  EXPECT_EQ(next(to), -1);
  EXPECT_EQ(::poll(&poll, 1, 0), 0);
}

}  // namespace
