// SPDX-License-Identifier: Apache-2.0
// A hostile or broken peer: it may spoil its own frames and keep what it was lent, no more.
// Whatever it says or writes, the others neither crash nor hang, and count what they lose.
// Long: one stranger does all of this; what he sends is told beside what comes of it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "halyard/topic.h"
#include "ipc/arena.h"
#include "ipc/borrowed_arena.h"
#include "ipc/frame_message.h"
#include "ipc/peer.h"
#include "ipc/pool_part.h"
#include "ipc/stranger.h"
#include "ipc/topic_entry.h"

namespace halyard {
namespace {

using namespace ipc;           // NOLINT: its parts are what is tested
using namespace ipc::testing;  // NOLINT
using namespace std::chrono_literals;
using Manner = Stranger::Manner;
using Clock = std::chrono::steady_clock;

Fd memory_of(std::uint64_t bytes, int seals) {
  Fd fd(::memfd_create("stranger", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  if (seals != 0) {
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  }
  return fd;
}

TopicConfig as(TopicRole role) {
  TopicConfig config;
  config.role = role;
  return config;
}

class Hostile : public ::testing::Test {
 protected:
  void SetUp() override {
    static int last = 0;
    name = "hostile/topic_" + std::to_string(++last);
    key = "topic/" + name;
    node = *Node::get();
    receiver =
        std::make_unique<Topic<Tensor>>(*Topic<Tensor>::create(name, as(TopicRole::subscriber)));
    honest =
        std::make_unique<Topic<Tensor>>(*Topic<Tensor>::create(name, as(TopicRole::publisher)));
  }

  // The honest publisher's next frame arrives, whatever comes between.
  void expect_delivery() {
    ++number;
    const auto handle = honest->alloc_tensor({8}, DType::u64);
    ASSERT_TRUE(handle) << handle.error().message();
    (*handle->data_as<std::uint64_t>())[0] = number;
    ASSERT_TRUE(honest->send(*handle));
    for (int tries = 0; tries < 1000; ++tries) {
      const auto got = receiver->recv_handle();
      if (!got) continue;
      const auto numbers = got->data_as<const std::uint64_t>();
      if (numbers && (*numbers)[0] == number) return;
    }
    FAIL() << "frame " << number
           << " of the honest publisher did not come: " << receiver->stats().last_error.message();
  }

  std::string name;
  std::string key;
  std::shared_ptr<Node> node;
  std::unique_ptr<Topic<Tensor>> receiver;
  std::unique_ptr<Topic<Tensor>> honest;
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
    Arena::Config config;
    config.max_bytes = 1U << 16U;
    config.first_bytes = 4096;
    config.slots = slots;
    config.arena_id = std::random_device()();
    config.first_generation = 1000;
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
bool read_all(const Tensor& frame) {
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

TEST_F(Hostile, packets_of_any_kind_do_no_harm) {
  const std::size_t descriptors = open_descriptors();
  const auto pool = *honest->pool();
  {
    const Stranger stranger;
    const auto arena = TensorHandle::of(*pool->alloc({1}, DType::u8));
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd pipe[] = {Fd(ends[0]), Fd(ends[1])};
    const Fd unsealed = memory_of(1U << 20U, 0);
    const Fd tiny = memory_of(1, F_SEAL_SHRINK | F_SEAL_GROW);
    const Fd empty = memory_of(0, F_SEAL_SHRINK | F_SEAL_GROW);
    const Fd page = memory_of(4096, F_SEAL_SHRINK | F_SEAL_GROW);
    const Fd huge = memory_of(std::uint64_t{1} << 42U, F_SEAL_SHRINK | F_SEAL_GROW);
    const std::vector<int> kinds = {null.get(), pipe[0].get(), pipe[1].get(), unsealed.get(),
                                    tiny.get(), empty.get(),   page.get(),    huge.get()};
    const std::string pool_key = "pool/" + std::to_string(pool->pool_id());
    const std::uint64_t arena_id = slot_of(*arena)->home()->identity().arena_id;
    const std::vector<std::string> keys = {key, pool_key,     arena_key(arena_id),
                                           "",  "topic/none", std::string(3000, 'x')};
    const std::vector<std::size_t> sizes = {0, 1, 8, 16, 24, 32, 100, 5000};
    Fd socket = Stranger::connect(node->id());
    int dropped = 0;
    for (int round = 0; round < 6000; ++round) {
      std::vector<std::byte> body(sizes[random() % sizes.size()]);
      const bool is_small = random() % 2 == 0;
      for (std::byte& byte : body)
        byte = std::byte(is_small ? random() % 3 * (random() % 4 == 0) : random());
      std::vector<int> fds;
      for (std::size_t i = random() % 4 == 0 ? random() % 17 : random() % 3; i > 0; --i)
        fds.push_back(kinds[random() % kinds.size()]);
      const auto request = static_cast<std::uint32_t>(
          random() % 20 == 0 ? random() : (random() % 2) * 100 + random() % 6);
      auto bytes = stranger.packet(keys[random() % keys.size()], request, body);
      switch (random() % 30) {
        case 0:  // Cut short.
          bytes.resize(random() % bytes.size());
          break;
        case 1:  // Any byte of the head, magic and version among them.
          bytes[random() % 48] = std::byte(random());
          break;
        case 2:  // Longer than any packet may be.
          bytes.resize(20000);
          break;
        case 3:
          for (std::byte& byte : bytes)
            byte = std::byte(random());
          break;
        default:
          break;
      }
      if (bytes.empty()) continue;
      if (!stranger.send(socket, bytes, fds)) {
        socket = Stranger::connect(node->id());
        ++dropped;
        continue;
      }
      // What is wrong ends the connection, all else is answered, a notice excepted.
      for (;;) {
        const auto answer = stranger.receive(socket, 20ms);
        if (answer && answer->head.kind != end_kind) continue;
        if (!answer) {
          socket = Stranger::connect(node->id());
          ++dropped;
        }
        break;
      }
      if (round % 100 == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_delivery()) << "round " << round;
      }
    }
    EXPECT_GT(dropped, 10);
    ASSERT_NO_FATAL_FAILURE(expect_delivery());
  }
  for (int i = 0; i < 2000 && open_descriptors() > descriptors + 2; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_LE(open_descriptors(), descriptors + 2) << "what a stranger has brought goes with it";
}

TEST_F(Hostile, who_takes_no_answers_loses_the_connection) {
  const Stranger stranger;
  const Fd socket = Stranger::connect(node->id());
  const auto bytes = stranger.packet(key, 4, {});
  int sent = 0;
  while (sent < 1'000'000 && stranger.send(socket, bytes))
    ++sent;
  EXPECT_LT(sent, 1'000'000);
  ASSERT_NO_FATAL_FAILURE(expect_delivery());
  const Fd other = Stranger::connect(node->id());
  EXPECT_TRUE(stranger.ask(other, bytes)) << "answers others as before";
}

TEST_F(Hostile, connections_come_and_go) {
  const std::size_t descriptors = open_descriptors();
  for (int i = 0; i < 10'000; ++i)
    ASSERT_TRUE(Stranger::connect(node->id()));
  for (int i = 0; i < 5000 && open_descriptors() > descriptors; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_LE(open_descriptors(), descriptors);
  expect_delivery();
}

// Connects to node `arguments` as often as it can, and stays.
TEST(Peer, DISABLED_many_connections) {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const NodeId to = *node_id_from(Peer::arguments());
  std::vector<Fd> sockets;
  for (int i = 0; i < 3000; ++i)
    sockets.push_back(Stranger::connect(to));
  Peer::tell("connected");
  Peer::next();
}

TEST_F(Hostile, many_connections_leave_descriptors_for_others) {
  Peer peer("many_connections", to_string(node->id()));
  ASSERT_EQ(peer.hear(), "connected");
  std::this_thread::sleep_for(100ms);
  EXPECT_LT(open_descriptors(), 200U);
  expect_delivery();
}

TEST_F(Hostile, endpoints_without_end_are_refused) {
  const std::size_t descriptors = open_descriptors();
  const Stranger stranger;
  {
    std::vector<std::unique_ptr<StrangerEndpoint>> endpoints;
    const StrangerEndpoint first(stranger, node->id(), name, TopicRole::subscriber);
    const auto own = *make_endpoint(TopicFacts{.type = detail::message_type<Tensor>()},
                                    as(TopicRole::subscriber));
    const int fds[] = {own.memory.fd.get(), own.notifier.sender().get()};
    int taken = 0;
    for (std::uint64_t id = 1; id < 2000; ++id) {
      const auto answers = stranger.ask(first.socket(), key, 1, EndpointFacts{id, 2, 0}, fds);
      ASSERT_TRUE(answers);
      taken += (*answers)[0].head.kind == answer_kind ? 1 : 0;
    }
    EXPECT_LE(taken, 2 * 64);
    EXPECT_LT(open_descriptors(), descriptors + 600);
  }
  expect_delivery();
}

TEST_F(Hostile, borrowers_without_end_are_refused) {
  const Stranger stranger;
  const Fd socket = Stranger::connect(node->id());
  const auto handle = *(*honest->pool())->alloc({8}, DType::u8);
  const std::uint64_t arena_id = slot_of(handle)->home()->identity().arena_id;
  const Fd words = memory_of(1024 * 8, F_SEAL_SHRINK | F_SEAL_GROW);
  const int fd = words.get();
  int taken = 0;
  for (std::uint64_t token = 1; token < 400; ++token) {
    const auto answers =
        stranger.ask(socket, arena_key(arena_id), 2, BorrowerToken{token}, std::span(&fd, 1));
    ASSERT_TRUE(answers);
    taken += (*answers)[0].head.kind == answer_kind ? 1 : 0;
  }
  EXPECT_LT(taken, 100) << "others need places, too";
  expect_delivery();
}

TEST_F(Hostile, bad_offers_do_not_occupy_the_node) {
  const Stranger stranger(Manner::is_silent);
  const Fd socket = Stranger::connect(node->id());
  const Fd unsealed = memory_of(1U << 20U, 0);
  const int fds[] = {unsealed.get(), unsealed.get()};
  const auto begin = Clock::now();
  for (std::uint64_t i = 1; i <= 400; ++i) {
    ArenaOffer offer;
    offer.arena_id = i;
    offer.facts.slots = 16;
    ASSERT_TRUE(stranger.ask(socket, key, 3, offer, fds));
  }
  EXPECT_LT(Clock::now() - begin, 10s) << "whoever asks meanwhile has to wait";
  expect_delivery();
}

TEST_F(Hostile, speaks_in_another_process_s_name) {
  Peer victim("tensor_endpoint", name);
  ASSERT_EQ(victim.hear(), "joined");
  const auto handle = *honest->alloc_tensor({64}, DType::u8);
  const std::uint64_t arena_id = slot_of(handle)->home()->identity().arena_id;
  Arena& arena = (*PoolPart::find(arena_id))->service().arena();
  const std::uint32_t slot = slot_of(handle)->place().slot;
  ASSERT_TRUE(honest->send(handle));
  ASSERT_EQ(victim.ask("recv 1000"), "frame 0 0 lost 0");
  const auto is_held = [&] { return arena.stats().references >= 2; };
  ASSERT_TRUE(is_held());
  const std::uint32_t references = arena.references(slot);
  std::vector<NodeId> others;
  for (const auto& entry : std::filesystem::directory_iterator(Stranger::folder()))
    if (const auto id = node_id_from(entry.path().filename().string()); id && *id != node->id())
      others.push_back(*id);
  ASSERT_EQ(others.size(), 1U);
  const auto words_before = arena.stats().references;
  {
    const Stranger stranger;
    PacketHead head;
    head.from = others[0];
    head.kind = notice_kind;
    {
      const Fd socket = Stranger::connect(node->id());
      ASSERT_TRUE(stranger.send(socket, Stranger::packet(head, "", {})));
    }
    // Tokens can be read by all who know the arena.
    head.kind = request_kind;
    head.request = static_cast<std::uint32_t>(ArenaRequest::leave);
    for (const SharedWord& word : arena_header(arena.control().mapped.bytes())->borrowers) {
      const BorrowerToken token{word.load(std::memory_order_relaxed)};
      if (token.number == 0) continue;
      const Fd socket = Stranger::connect(node->id());
      static_cast<void>(stranger.ask(
          socket,
          Stranger::packet(head, arena_key(arena_id), std::as_bytes(std::span(&token, 1)))));
    }
  }
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(arena.stats().references, words_before) << "the victim holds its frame still";
  EXPECT_EQ(arena.references(slot), references);
  EXPECT_EQ(honest->stats().subscribers, 2U);
  EXPECT_EQ(victim.ask("recv 0"), "none lost 0");
}

TEST_F(Hostile, asking_ends_in_time) {
  for (const Manner manner :
       {Manner::is_silent, Manner::floods_answers, Manner::floods_other_numbers}) {
    const Stranger stranger(manner);
    const auto begin = Clock::now();
    const auto answers =
        node->ask(stranger.id(), key, 4, std::span<const std::byte>(), {}, Deadline(300ms));
    EXPECT_FALSE(answers);
    EXPECT_LT(Clock::now() - begin, 5s) << int(manner);
  }
}

TEST_F(Hostile, frames_of_a_silent_process_do_not_hold_up_others) {
  const Stranger stranger(Manner::is_silent);
  StrangerEndpoint endpoint(stranger, node->id(), name, TopicRole::publisher);
  FrameHead head;
  head.owner = stranger.id();
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < 48; ++i) {
    head.arena_id = 77 + i;
    endpoint.publish_frame(head);
    if (i % 16 == 15) {
      ASSERT_NO_FATAL_FAILURE(expect_delivery());
    }
  }
  EXPECT_LT(Clock::now() - begin, 6s);
  EXPECT_GE(receiver->stats().lost, 48U);
}

// Each bit of all that a publisher writes, one after the other, while its frames are read.
TEST_F(Hostile, flipped_bits_of_an_endpoint_are_losses) {
  const Stranger stranger;
  std::unique_ptr<StrangerEndpoint> endpoint;
  std::unique_ptr<StrangerArena> arena;
  std::uint64_t got = 0;
  std::uint64_t lost = 0;
  std::uint64_t sent = 0;
  const auto receive_all = [&] {
    for (int empty = 0, tries = 0; empty < 2 && tries < 200; ++tries) {
      const auto found = receiver->recv();
      lost += found.lost();
      if (found.is_empty()) ++empty;
      if (!found) continue;
      ++got;
      read_all(*found);
    }
  };
  const auto begin_anew = [&] {
    endpoint.reset();
    arena.reset();
    endpoint = std::make_unique<StrangerEndpoint>(stranger, node->id(), name, TopicRole::publisher);
    arena = std::make_unique<StrangerArena>(stranger, name, endpoint->socket());
  };
  const auto works = [&] {
    const std::uint64_t before = got;
    endpoint->publish_frame(arena->head);
    ++sent;
    receive_all();
    return got > before;
  };
  begin_anew();
  ASSERT_TRUE(works()) << receiver->stats().last_error.message();
  const std::size_t bytes = endpoint->memory().size();
  std::uint64_t rejoined = 0;
  for (std::size_t at = 0; at < bytes; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      // Every bit of what a receiver looks at, one of eight of the messages further on.
      if (at > 1024 && bit != at % 8) continue;
      endpoint->publish_frame(arena->head);
      ++sent;
      endpoint->memory()[at] ^= std::byte(1U << bit);
      receive_all();
      static_cast<void>(receiver->has_message());
      endpoint->memory()[at] ^= std::byte(1U << bit);
      if (!works()) {
        begin_anew();
        ++rejoined;
      }
      if (at % 64 == 0 && bit == 0) {
        ASSERT_NO_FATAL_FAILURE(expect_delivery()) << "byte " << at;
      }
    }
  }
  EXPECT_GE(got + lost, sent);
  EXPECT_GT(got, sent / 2);
  std::printf("[   bits   ] sent %llu, received %llu, joined again %llu times\n",
              static_cast<unsigned long long>(sent), static_cast<unsigned long long>(got),
              static_cast<unsigned long long>(rejoined));
  // Many at a time, and never right again.
  for (int round = 0; round < 3000; ++round) {
    if (round % 20 == 0) begin_anew();
    endpoint->publish_frame(arena->head);
    for (std::uint64_t flips = random() % 20; flips > 0; --flips)
      endpoint->memory()[random() % bytes] = std::byte(random());
    receive_all();
    static_cast<void>(receiver->wait_for(0ns));
  }
  expect_delivery();
}

// The same of what an owner says of its slots: offsets, sizes, generations, who may borrow.
TEST_F(Hostile, flipped_bits_of_an_arena_are_losses) {
  const Stranger stranger;
  auto endpoint =
      std::make_unique<StrangerEndpoint>(stranger, node->id(), name, TopicRole::publisher);
  auto arena = std::make_unique<StrangerArena>(stranger, name, endpoint->socket());
  std::uint64_t got = 0;
  std::uint64_t lost = 0;
  std::uint64_t sent = 0;
  const auto send = [&] {
    ++sent;
    endpoint->publish_frame(arena->head);
    for (int tries = 0; tries < 3; ++tries) {
      const auto found = receiver->recv();
      lost += found.lost();
      if (found) ++got;
      if (found) read_all(*found);
    }
  };
  send();
  ASSERT_EQ(got, 1U) << receiver->stats().last_error.message();
  const std::size_t bytes = arena->state().size();
  for (std::size_t at = 0; at < bytes; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      arena->state()[at] ^= std::byte(1U << bit);
      send();
      arena->state()[at] ^= std::byte(1U << bit);
    }
    if (at % 64 == 0) {
      ASSERT_NO_FATAL_FAILURE(expect_delivery()) << "byte " << at;
    }
  }
  EXPECT_EQ(got + lost, sent);
  SlotRecord& record = slot_records(arena->state())[arena->lease.slot];
  const std::uint64_t hostile[] = {0,    1,          7,          8,         63,        65,
                                   4095, 4097,       65535,      65536,     65537,     1U << 31U,
                                   ~0U,  UINT64_MAX, 1ULL << 63, INT64_MAX, 1ULL << 62};
  for (const std::uint64_t offset : hostile)
    for (const std::uint64_t size : hostile)
      for (const std::uint64_t begin : hostile) {
        record.offset.store(offset, std::memory_order_relaxed);
        record.bytes.store(size, std::memory_order_relaxed);
        arena->head.descriptor.offset = begin;
        send();
        arena->head.descriptor.offset = offset;
        send();
      }
  EXPECT_EQ(got + lost, sent);
  expect_delivery();
}

// Heads of messages, valid in all but some fields.
TEST_F(Hostile, heads_of_frames_are_checked) {
  const Stranger stranger;
  StrangerEndpoint endpoint(stranger, node->id(), name, TopicRole::publisher);
  StrangerArena arena(stranger, name, endpoint.socket());
  std::uint64_t got = 0;
  std::uint64_t lost = 0;
  constexpr std::uint64_t rounds = 40'000;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    FrameHead head = arena.head;
    std::array<std::byte, sizeof(FrameHead)> bytes;
    if (round % 2 == 0) {
      head.format = static_cast<std::uint8_t>(random() % 24);
      head.planes = static_cast<std::uint8_t>(random() % 5);
      head.width = static_cast<std::uint32_t>(random() % 3 == 0 ? random() : random() % 20);
      head.height = static_cast<std::uint32_t>(random() % 3 == 0 ? random() : random() % 20);
      for (auto& plane : head.plane)
        plane = {random() % 5 == 0 ? random() : random() % 512,
                 random() % 5 == 0 ? random() : random() % 64};
      head.plane_stride = random() % 5 == 0 ? random() : random() % 256;
      head.descriptor.dtype_code = static_cast<std::uint8_t>(random() % 14);
    }
    std::memcpy(bytes.data(), &head, sizeof(head));
    // Not who has the frame and where: that would be found out first.
    for (std::uint64_t flips = random() % 4; flips > 0; --flips)
      bytes[24 + random() % (sizeof(head) - 24)] = std::byte(random());
    std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof(head));
    endpoint.publish_frame(head);
    const auto found = receiver->recv();
    lost += found.lost();
    if (!found) continue;
    ++got;
    read_all(*found);
  }
  EXPECT_EQ(got + lost, rounds);
  EXPECT_GT(got, 1000U);
  EXPECT_GT(lost, 1000U);
  expect_delivery();
}

// What a subscriber writes: how far it has read, and whether it waits.
TEST_F(Hostile, subscribers_cannot_stop_publishers) {
  const Stranger stranger;
  StrangerEndpoint endpoint(stranger, node->id(), name, TopicRole::subscriber);
  const auto pool = *honest->pool();
  for (std::size_t at = 0; at < sizeof(EndpointHeader) + 4 * sizeof(ReaderRecord); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      endpoint.memory()[at] ^= std::byte(1U << bit);
      ASSERT_NO_FATAL_FAILURE(expect_delivery()) << "byte " << at;
      endpoint.memory()[at] ^= std::byte(1U << bit);
    }
  }
  const std::uint64_t positions[] = {0, 1, 1ULL << 63, UINT64_MAX, UINT64_MAX - 15, 1'000'000};
  for (const std::uint64_t position : positions) {
    for (std::uint32_t i = 0; i < endpoint.own().view.layout().readers; ++i) {
      ReaderRecord& record = endpoint.own().view.records()[i];
      record.publisher.store(random() % 2, std::memory_order_relaxed);
      record.position.store(position, std::memory_order_relaxed);
    }
    endpoint.own().view.header().waits.store(position, std::memory_order_relaxed);
    for (int i = 0; i < 20; ++i)
      ASSERT_NO_FATAL_FAILURE(expect_delivery());
    EXPECT_LE(pool->stats().allocated_slots, 17U);
  }
}

TEST_F(Hostile, subscribers_cannot_stop_publishers_that_wait) {
  struct Plain {
    std::uint64_t value = 0;
  };
  for (const Overflow overflow : {Overflow::block, Overflow::drop_newest}) {
    const std::string topic = name + (overflow == Overflow::block ? "_block" : "_newest");
    TopicConfig config = as(TopicRole::publisher);
    config.depth = 2;
    config.overflow = overflow;
    auto sender = *Topic<Plain>::create(topic, config);
    const Stranger stranger;
    StrangerEndpoint endpoint(stranger, node->id(), topic, TopicRole::subscriber);
    const auto record_publisher = [&](std::uint64_t id) {
      endpoint.own().view.records()[0].publisher.store(id, std::memory_order_relaxed);
    };
    std::uint64_t id = 0;
    const auto look = stranger.ask(endpoint.socket(), stranger.packet("topic/" + topic, 4, {}));
    ASSERT_TRUE(look && look->size() == 2);
    std::memcpy(&id, (*look)[0].body.data(), sizeof(id));
    record_publisher(id);
    const auto begin = Clock::now();
    for (int round = 0; round < 60; ++round) {
      endpoint.own().view.records()[0].position.store(random() % 3 == 0 ? random() : random() % 80,
                                                      std::memory_order_relaxed);
      endpoint.own().view.header().waits.store(random(), std::memory_order_relaxed);
      static_cast<void>(sender.send_for({1}, 5ms).has_value());
    }
    EXPECT_LT(Clock::now() - begin, 5s);
    // A position that changes all the time keeps no send() longer than its timeout.
    std::atomic<bool> stops{false};
    std::thread writer([&] {
      std::uint64_t value = 0;
      while (!stops)
        endpoint.own().view.records()[0].position.store(value += 0x9E3779B97F4A7C15,
                                                        std::memory_order_relaxed);
    });
    for (int round = 0; round < 20; ++round)
      static_cast<void>(sender.send_for({1}, 5ms).has_value());
    stops = true;
    writer.join();
    EXPECT_LT(Clock::now() - begin, 10s);
  }
}

// A publisher that goes on writing nonsense as fast as it can: receiving ends all the same.
TEST_F(Hostile, receiving_ends_while_nonsense_is_sent) {
  const Stranger stranger;
  StrangerEndpoint endpoint(stranger, node->id(), name, TopicRole::publisher);
  std::atomic<bool> stops{false};
  std::thread writer([&] {
    FrameHead head;
    head.owner = node->id();
    while (!stops)
      endpoint.publish_frame(head);
  });
  for (int i = 0; i < 200; ++i) {
    expect_delivery();
    if (HasFatalFailure()) break;
  }
  stops = true;
  writer.join();
}

}  // namespace
}  // namespace halyard
