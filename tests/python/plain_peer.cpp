// SPDX-License-Identifier: Apache-2.0
// The other side of test_topics.py in C++: answers each Pose of a topic by one whose number is one
// higher, until the number is 0.
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "halyard/topic.h"

namespace {

struct Pose {
  static constexpr char message_name[] = "robot.Pose";
  double x = 0;
  double y = 0;
  float heading = 0;
  std::uint32_t number = 0;
  std::uint8_t is_valid = 0;
};

}  // namespace

int main() {
  auto topic = halyard::Topic<Pose>::create("cpp/pose");
  if (!topic) {
    std::fprintf(stderr, "%s\n", topic.error().message().c_str());
    return 1;
  }
  std::puts("joined");
  std::fflush(stdout);
  for (;;) {
    auto pose = topic->recv_for(std::chrono::seconds(20));
    if (!pose) return 2;
    if (pose->number == 0) return 0;
    ++pose->number;
    pose->x += pose->y;
    if (!topic->send(*pose)) return 3;
  }
}
