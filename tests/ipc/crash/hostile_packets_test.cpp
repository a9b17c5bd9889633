// SPDX-License-Identifier: Apache-2.0
// A hostile or broken peer that says what no honest one does: the others neither crash nor hang,
// keep their connections, their descriptors and what they hold, and count what they lose.
#include <sys/resource.h>

#include <thread>

#include "hostile.h"
#include "ipc/pool/borrowed_arena.h"

namespace halyard {
namespace {

using namespace ipc;           // NOLINT: its parts are what is tested
using namespace ipc::testing;  // NOLINT

TEST_F(Hostile, packets_of_any_kind_do_no_harm) {
  const std::size_t descriptors = open_descriptors();
  const auto pool = *honest.pool();
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
  EXPECT_TRUE(comes_true([&] { return open_descriptors() <= descriptors + 2; }))
      << "what a stranger has brought goes with it";
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
  {
    // Connections are taken in their order: when one is answered, no earlier one is still to come.
    const Stranger stranger;
    EXPECT_TRUE(comes_true([&] {
      const Fd last = Stranger::connect(node->id());
      return last && stranger.ask(last, stranger.packet(key, 4, {}));
    }));
  }
  EXPECT_TRUE(comes_true([&] { return open_descriptors() <= descriptors; }))
      << open_descriptors() << " descriptors, were " << descriptors;
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
  const std::size_t descriptors = open_descriptors();
  Peer peer("many_connections", to_string(node->id()), "connected");
  EXPECT_TRUE(comes_true([&] { return open_descriptors() < descriptors + 170; }));
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
  const auto handle = *(*honest.pool())->alloc({8}, DType::u8);
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
  EXPECT_LT(Clock::now() - begin, 60s) << "whoever asks meanwhile has to wait";
  expect_delivery();
}

TEST_F(Hostile, speaks_in_another_process_s_name) {
  Peer victim("tensor_endpoint", name, "joined");
  const auto handle = *honest.alloc_tensor({64}, DType::u8);
  const std::uint64_t arena_id = slot_of(handle)->home()->identity().arena_id;
  Arena& arena = (*PoolPart::find(arena_id))->service().arena();
  const std::uint32_t slot = slot_of(handle)->place().slot;
  ASSERT_TRUE(honest.send(handle));
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
    PacketHead head{.kind = notice_kind, .from = others[0]};
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
  EXPECT_EQ(honest.stats().subscribers, 2U);
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
    EXPECT_LT(Clock::now() - begin, 60s) << int(manner);
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
  EXPECT_GE(receiver.stats().lost, 48U);
}

}  // namespace
}  // namespace halyard
