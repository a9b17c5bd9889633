// SPDX-License-Identifier: Apache-2.0
// What tests of topics have in common.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "halyard/topic.h"
#include "ipc/helpers.h"
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
  /// A topic of this test alone.
  const std::string name = next_name();

  static std::string next_name() {
    static int last = 0;
    return "test/topic_" + std::to_string(++last);
  }
  template <class T>
  static Topic<T> join(const std::string& name, const TopicConfig& config = {}) {
    return test::value_of(Topic<T>::create(name, config));
  }
  /// Two endpoints of the test's topic.
  template <class T>
  std::pair<Topic<T>, Topic<T>> join_twice(const TopicConfig& config = {}) const {
    return {join<T>(name, config), join<T>(name, config)};
  }
  static TopicConfig with_depth(std::uint32_t depth, Overflow overflow = Overflow::drop_oldest) {
    return {.depth = depth, .overflow = overflow};
  }
};

}  // namespace halyard::ipc::testing
