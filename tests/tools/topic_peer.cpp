// SPDX-License-Identifier: Apache-2.0
// A process of a topic, for the tests of commands that observe it. It ends when standard input
// does.
//   halyard_topic_peer frames NAME HZ        publishes NV12 images of 64 x 48, as Tensor
//   halyard_topic_peer images NAME HZ        the same as Image
//   halyard_topic_peer numbers NAME HZ       publishes plain structs
//   halyard_topic_peer subscribe NAME MS     keeps the last Tensor, and rests so long after each
//   halyard_topic_peer view NAME MS          the same of Images
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "halyard/image_message.h"
#include "halyard/topic.h"

namespace {

using namespace halyard;
using Clock = std::chrono::steady_clock;

struct Number {
  std::uint64_t value = 0;
  std::uint8_t tag[4] = {0xDE, 0xAD, 0xBE, 0xEF};
  std::uint8_t padding[4] = {};
};

bool goes_on() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) == 0;
}

template <class T>
Topic<T> join(const char* name, TopicRole role) {
  TopicConfig config;
  config.depth = 4;
  config.role = role;
  auto topic = Topic<T>::create(name, config);
  if (!topic) {
    std::fprintf(stderr, "%s\n", topic.error().message().c_str());
    std::exit(1);
  }
  std::puts("ready");
  std::fflush(stdout);
  return *std::move(topic);
}

template <class T>
Result<Tensor> make_frame(Topic<T>& topic) {
  HALYARD_TRY(const auto pool, topic.pool());
  HALYARD_TRY(auto frame, pool->alloc_image(64, 48, PixelFormat::nv12));
  frame.set_name("left");
  return Tensor(frame);
}

Result<Image> make_image(Topic<Image>& topic) {
  HALYARD_TRY(const Tensor frame, make_frame(topic));
  return Image::wrap(frame);
}

template <class T, class Make>
int publish(const char* name, double hz, const Make& make) {
  auto topic = join<T>(name, TopicRole::publisher);
  const auto period =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / hz));
  for (auto next = Clock::now(); goes_on(); next += period) {
    std::this_thread::sleep_until(next);
    const Result<T> message = make(topic);
    if (!message || !topic.send(*message)) return 1;
  }
  return 0;
}

template <class T>
int subscribe(const char* name, int rest_ms) {
  auto topic = join<T>(name, TopicRole::subscriber);
  std::optional<T> kept;
  while (goes_on()) {
    auto frame = topic.recv_for(std::chrono::milliseconds(20));
    if (!frame) continue;
    kept = *std::move(frame);
    std::this_thread::sleep_for(std::chrono::milliseconds(rest_ms));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string role = argv[1];
  if (role == "frames") return publish<Tensor>(argv[2], std::atof(argv[3]), make_frame<Tensor>);
  if (role == "images") return publish<Image>(argv[2], std::atof(argv[3]), make_image);
  if (role == "numbers") {
    std::uint64_t value = 0;
    return publish<Number>(argv[2], std::atof(argv[3]),
                           [&](Topic<Number>&) -> Result<Number> { return Number{value++}; });
  }
  if (role == "subscribe") return subscribe<Tensor>(argv[2], std::atoi(argv[3]));
  if (role == "view") return subscribe<Image>(argv[2], std::atoi(argv[3]));
  return 2;
}
