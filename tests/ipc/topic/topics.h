// SPDX-License-Identifier: Apache-2.0
// What tests of topics have in common.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "halyard/topic.h"
#include "ipc/peer.h"
#include "support/result.h"

namespace halyard::ipc::testing {

struct Command {
  std::uint64_t number = 0;
  float speed = 0;
  std::uint32_t check = 0;
};

class Topics : public ::testing::Test {
 protected:
  static std::string next_name() {
    static int last = 0;
    return "test/topic_" + std::to_string(++last);
  }
  template <class T>
  static Topic<T> join(const std::string& name, const TopicConfig& config = {}) {
    auto topic = Topic<T>::create(name, config);
    EXPECT_TRUE(topic) << topic.error().message();
    return *std::move(topic);
  }
  static TopicConfig with_depth(std::uint32_t depth, Overflow overflow = Overflow::drop_oldest) {
    TopicConfig config;
    config.depth = depth;
    config.overflow = overflow;
    return config;
  }
};

}  // namespace halyard::ipc::testing
