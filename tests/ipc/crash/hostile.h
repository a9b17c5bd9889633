// SPDX-License-Identifier: Apache-2.0
// What a hostile or broken peer needs: memory of its own, an endpoint, an arena; and, beside it, an
// honest publisher and its receiver.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "halyard/topic.h"
#include "ipc/helpers.h"
#include "ipc/peer.h"
#include "ipc/pool/arena.h"
#include "ipc/pool/pool_part.h"
#include "ipc/topic/frame_message.h"
#include "ipc/topic/topic_entry.h"
#include "stranger.h"

namespace halyard::ipc::testing {

using namespace std::chrono_literals;
using test::value_of;
using Manner = Stranger::Manner;
using Clock = std::chrono::steady_clock;

inline Fd memory_of(std::uint64_t bytes, int seals) {
  Fd fd(::memfd_create("stranger", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  if (seals != 0) {
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  }
  return fd;
}

inline TopicConfig as(TopicRole role) {
  return {.role = role};
}

class Hostile : public ::testing::Test {
 protected:
  // The honest publisher's next frame arrives, whatever comes between.
  void expect_delivery() {
    ++number;
    const auto handle = value_of(honest.alloc_tensor({8}, DType::u64));
    (*handle.data_as<std::uint64_t>())[0] = number;
    ASSERT_TRUE(honest.send(handle));
    for (int tries = 0; tries < 1000; ++tries) {
      const auto got = receiver.recv_handle();
      if (!got) continue;
      const auto numbers = got->data_as<const std::uint64_t>();
      if (numbers && (*numbers)[0] == number) return;
    }
    FAIL() << "frame " << number
           << " of the honest publisher did not come: " << receiver.stats().last_error.message();
  }

  static std::string next_name() {
    static int last = 0;
    return "hostile/topic_" + std::to_string(++last);
  }
  const std::string name = next_name();
  const std::string key = "topic/" + name;
  const std::shared_ptr<Node> node = *Node::get();
  Topic<Tensor> receiver = *Topic<Tensor>::create(name, as(TopicRole::subscriber));
  Topic<Tensor> honest = *Topic<Tensor>::create(name, as(TopicRole::publisher));
  std::uint64_t number = 1'000'000;
  std::mt19937_64 random{7};
};

// An endpoint of a stranger, with memory that is right until it is spoilt.
class StrangerEndpoint {
 public:
  StrangerEndpoint(const Stranger& stranger, const NodeId& to, const std::string& topic,
                   TopicRole role)
      : stranger_(stranger), socket_(Stranger::connect(to)), key_("topic/" + topic) {
    auto entry =
        Node::get().value()->registry().enter("topics", folder_name(topic), true, Deadline(1s));
    facts_ = *read_topic(**entry->text());
    own_ = *make_endpoint(facts_, as(role));
    message.resize(message_words(facts_.type));
    const auto answers = ask(TopicRequest::join);
    EXPECT_TRUE(answers && answers->size() >= 2 && (*answers)[0].head.kind == answer_kind);
  }
  ~StrangerEndpoint() { static_cast<void>(ask(TopicRequest::leave)); }

  std::optional<std::vector<Packet>> ask(TopicRequest request) {
    const EndpointFacts facts{own_.id, (own_.publishes ? 1U : 0U) | (own_.subscribes ? 2U : 0U), 0};
    const int fds[] = {own_.memory.fd.get(), own_.notifier.sender().get()};
    return stranger_.ask(socket_, key_, static_cast<std::uint32_t>(request), facts, fds);
  }
  void publish_next() {
    publish(own_.view.ring(), position++, std::span<const std::uint64_t>(message));
  }
  void publish_frame(const FrameHead& head) {
    std::memcpy(message.data(), &head, sizeof(head));
    publish_next();
  }
  std::span<std::byte> memory() const { return own_.memory.mapped.bytes(); }
  TopicService::Own& own() { return own_; }
  const Fd& socket() const { return socket_; }

  std::vector<std::uint64_t> message;
  std::uint64_t position = 0;

 private:
  const Stranger& stranger_;
  Fd socket_;
  std::string key_;
  TopicFacts facts_;
  TopicService::Own own_;
};

// A stranger's arena with a frame in it, which the receiver knows and may borrow from.
class StrangerArena {
 public:
  static constexpr std::uint32_t slots = 4;
  StrangerArena(const Stranger& stranger, const std::string& topic, const Fd& socket) {
    const Arena::Config config{.max_bytes = 1U << 16U,
                               .slots = slots,
                               .first_bytes = 4096,
                               .arena_id = std::random_device()(),
                               .first_generation = 1000};
    auto made = *Arena::create("stranger", config);
    lease = *made->allocate(512);
    service = std::make_unique<PoolService>(std::move(made));
    const Parcel offer = *service->offer();
    const int fds[] = {offer.fds[0].get(), offer.fds[1].get()};
    const auto answers =
        stranger.ask(socket, stranger.packet("topic/" + topic, 3, offer.bytes), fds);
    EXPECT_TRUE(answers);
    for (const Packet& answer : *answers) {
      if (answer.head.kind != answer_kind || answer.body.size() != sizeof(std::uint64_t)) continue;
      std::uint64_t token = 0;
      std::memcpy(&token, answer.body.data(), sizeof(token));
      arena_header(state())->borrowers[0].store(token, std::memory_order_seq_cst);
    }
    head.owner = stranger.id();
    head.arena_id = config.arena_id;
    head.descriptor = *TensorDescriptor::of_layout(
        *Layout::contiguous(DType::f64, std::array<std::size_t, 1>{64}));
    head.descriptor.set_generation(lease.generation);
    head.descriptor.slot_id = lease.slot;
    head.descriptor.offset = lease.offset;
  }
  std::span<std::byte> state() const { return service->arena().control().mapped.bytes(); }

  std::unique_ptr<PoolService> service;
  Arena::Lease lease;
  FrameHead head;
};

// Reads all of a frame: what is not there, or not aligned, shows.
inline bool read_all(const Tensor& frame) {
  const auto map = frame.map(Access::read);
  if (!map) return false;
  if (frame.dtype() == DType::f64) {
    double sum = 0;
    if (const auto numbers = map->flat<const double>())
      for (const double value : *numbers)
        sum += value;
    return sum == sum || true;
  }
  std::uint64_t sum = 0;
  if (const auto bytes = map->flat<const std::uint8_t>())
    for (const std::uint8_t byte : *bytes)
      sum += byte;
  return sum < UINT64_MAX;
}

}  // namespace halyard::ipc::testing
