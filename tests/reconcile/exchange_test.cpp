// SPDX-License-Identifier: Apache-2.0
// Buffers between processes: what each may do there, and what is refused.
#include "halyard/buffer_exchange.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "base/system/socket_message.h"
#include "reconcile/agreed.h"
#include "reconcile/attributes/blob.h"
#include "support/descriptors.h"
#include "support/sanitized.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;
using namespace test;  // NOLINT: its helpers are what tests are written in

struct Sockets {
  explicit Sockets(int type = SOCK_SEQPACKET) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
    one = Fd(ends[0]);
    other = Fd(ends[1]);
  }
  Fd one, other;
};

/// How often the shared memory of this test is mapped here.
std::size_t memory_maps() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("/memfd:") != std::string::npos ? 1 : 0;
  return count;
}

/// Parties of two processes; `perm` is what the peer, of another process, asks for.
std::string with_peer(const std::string& perm, const std::string& heap = "memfd") {
  return R"([{"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 3, 48, 77],
    "g.cpu": "read_write", "g.perm": "read_write", "g.export": true, "g.heaps": [")" +
         heap + R"("]}}, {"name": "peer", "pid": 1, "keys": {"g.cpu": ")" +
         (perm == "read" ? "read" : "read_write") + R"(", "g.perm": ")" + perm +
         R"(", "t.row_align": 32}}])";
}

NegotiatedBuffer shared(const std::string& perm) {
  return value_of(allocate_negotiated(agreed(with_peer(perm)))).at(0);
}

Result<NegotiatedBuffer> import_of(const ExportedBuffer& exported,
                                   const ImportBufferOptions& options = {}) {
  const int fd = exported.fd.get();
  return import_buffer(exported.blob, std::span(&fd, 1), {}, options);
}

std::byte pattern(std::size_t at) {
  return static_cast<std::byte>(at * 31 + 7);
}

void write_pattern(NegotiatedBuffer& buffer) {
  const auto lock = value_of(buffer.lock(Access::write));
  for (std::size_t at = 0; at < lock.writable_bytes().size(); ++at)
    lock.writable_bytes()[at] = pattern(at);
}

bool has_pattern(NegotiatedBuffer& buffer) {
  const auto lock = value_of(buffer.lock(Access::read));
  std::mt19937 random(1);
  for (int k = 0; k < 10; ++k) {
    const std::size_t at = random() % lock.bytes().size();
    if (lock.bytes()[at] != pattern(at)) return false;
  }
  return true;
}

TEST(Exchange, shows_the_importer_the_same_bytes_and_layout) {
  auto buffer = shared("read");
  write_pattern(buffer);
  auto imported = value_of(import_of(value_of(export_buffer(buffer, "peer"))));
  EXPECT_TRUE(has_pattern(imported));
  EXPECT_EQ(imported.attributes().digest(), buffer.attributes().digest());
  EXPECT_EQ(value_of(imported.tensor()).layout().stride_bytes,
            value_of(buffer.tensor()).layout().stride_bytes);
  EXPECT_EQ(imported.heap(), Heap::memfd);
  EXPECT_EQ(imported.permission(), Permission::read);
}

// Two processes negotiate, one allocates and writes, the other reads: the whole way.
TEST(Exchange, goes_between_two_processes) {
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const Sockets sockets(type);
    const pid_t child = ::fork();
    if (child == 0) {
      AttributeList peer("peer");
      bool is_good = peer.set_cpu(CpuAccess::read) && peer.set(Key::row_align, 256) &&
                     send_lists(sockets.other.get(), std::span(&peer, 1));
      const AttributeList* const own = &peer;
      auto buffer = receive_buffer(sockets.other.get(), std::span(&own, 1));
      is_good = is_good && buffer && has_pattern(*buffer) &&
                buffer->tensor()->layout().stride_bytes[2] == 256 && !buffer->lock(Access::write);
      ::_exit(is_good ? 0 : 1);
    }
    auto lists = value_of(receive_lists(sockets.one.get()));
    ASSERT_EQ(lists.at(0).process(), static_cast<std::uint32_t>(child));
    lists.push_back(
        value_of(parties_from_json("{\"parties\": " + with_peer("read") + "}"))[0].list);
    auto buffer = value_of(allocate_negotiated(value_of(reconcile(lists)))).at(0);
    write_pattern(buffer);
    EXPECT_TRUE(send_buffer(sockets.one.get(), buffer, "peer"));
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

TEST(Exchange, gives_no_more_than_was_asked_for) {
  const auto buffer = shared("read");
  EXPECT_FAILS(export_buffer(buffer, "peer", Permission::read_write), Errc::permission);
  EXPECT_FAILS(export_buffer(buffer, "stranger"), Errc::not_found);
  const auto exported = value_of(export_buffer(buffer, "peer"));
  EXPECT_FAILS(import_of(exported, {.permission = Permission::read_write}), Errc::permission,
               "read was exported");
}

TEST(Exchange, gives_reading_to_whom_wants_no_more) {
  const auto buffer = shared("read_write");
  auto reads = value_of(
      import_of(value_of(export_buffer(buffer, "peer")), {.permission = Permission::read}));
  EXPECT_EQ(reads.permission(), Permission::read);
  EXPECT_FAILS(reads.lock(Access::write), Errc::permission);
  EXPECT_FALSE(reads.buffer()->is_writable());
  auto writes = value_of(import_of(value_of(export_buffer(buffer, "peer"))));
  write_pattern(writes);
  EXPECT_TRUE(has_pattern(reads));
  auto narrowed = value_of(import_of(value_of(export_buffer(buffer, "peer", Permission::read))));
  EXPECT_EQ(narrowed.permission(), Permission::read);
}

TEST(Exchange, keeps_readers_from_writing_where_nobody_else_writes) {
  auto buffer = shared("read");
  EXPECT_EQ(buffer.enforcement(), Enforcement::hard);
  const auto exported = value_of(export_buffer(buffer, "peer"));
  const std::string path = "/proc/self/fd/" + std::to_string(exported.fd.get());
  const Fd again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  for (const int fd : {exported.fd.get(), again.get()}) {
    EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    EXPECT_EQ(::pwrite(fd, "x", 1, 0), -1);
    EXPECT_EQ(::ftruncate(fd, 1), -1);
  }
  auto imported = value_of(import_of(exported));
  EXPECT_EQ(imported.enforcement(), Enforcement::hard);
  write_pattern(buffer);
  EXPECT_TRUE(has_pattern(imported)) << "its maker writes on";
}

TEST(Exchange, says_that_writers_are_trusted_where_there_are_two) {
  const auto buffer = shared("read_write");
  EXPECT_EQ(buffer.enforcement(), Enforcement::advisory);
  const auto imported = value_of(import_of(value_of(export_buffer(buffer, "peer"))));
  EXPECT_EQ(imported.enforcement(), Enforcement::advisory);
}

TEST(Exchange, needs_memory_with_a_descriptor) {
  const auto buffer = value_of(allocate_negotiated(agreed(R"([{"name": "app", "keys": {
    "t.dtype": "u8", "t.shape": [1, 1, 8, 8], "g.cpu": "read"}}])")))
                          .at(0);
  EXPECT_EQ(buffer.heap(), Heap::heap);
  EXPECT_FAILS(export_buffer(buffer, "app"), Errc::unsupported, "g.export");
}

// Parties that come late.

std::vector<AttributeList> viewer(const std::string& keys) {
  return {value_of(parties_from_json(R"({"parties": [{"name": "viewer", "pid": 1, "keys": )" +
                                     keys + "}]}"))[0]
              .list};
}

TEST(Exchange, lets_late_parties_in_that_the_buffer_serves) {
  auto buffer = shared("read");
  const auto fits = viewer(R"({"g.cpu": "read", "t.row_align": 16})");
  const AttributeList* list = fits.data();
  const auto more = value_of(attach(buffer, std::span(&list, 1)));
  EXPECT_EQ(more.buffer(), buffer.buffer());
  write_pattern(buffer);
  const auto exported = value_of(export_buffer(more, "viewer"));
  auto imported = value_of(import_of(exported));
  EXPECT_TRUE(has_pattern(imported));
  const auto lock = value_of(buffer.lock(Access::write));
  EXPECT_FAILS(NegotiatedBuffer(more).lock(Access::read), Errc::busy) << "it is the same buffer";
}

TEST(Exchange, keeps_late_parties_out_that_it_does_not_serve) {
  const auto buffer = shared("read");
  const auto demanding = viewer(R"({"t.row_align": 256})");
  const AttributeList* list = demanding.data();
  Conflict conflict;
  EXPECT_FAILS(attach(buffer, std::span(&list, 1), &conflict), Errc::unsupported,
               "96 mod 256 = 96");
  EXPECT_EQ(conflict.items.size(), 1U);
  const auto exported = value_of(export_buffer(buffer, "peer"));
  const int fd = exported.fd.get();
  EXPECT_FAILS(import_buffer(exported.blob, std::span(&fd, 1), std::span(&list, 1)),
               Errc::unsupported);
  EXPECT_TRUE(
      import_buffer(exported.blob, std::span(&fd, 1), std::span(&list, 1), {.validates = false}));
}

// What a hostile peer sends.

TEST(Exchange, refuses_a_wrong_count_of_descriptors) {
  const auto exported = value_of(export_buffer(shared("read"), "peer"));
  EXPECT_FAILS(import_buffer(exported.blob, {}), Errc::invalid_argument);
  const int two[] = {exported.fd.get(), exported.fd.get()};
  EXPECT_FAILS(import_buffer(exported.blob, two), Errc::invalid_argument, "party \"peer\": 2");
}

TEST(Exchange, refuses_a_wrong_count_of_descriptors_that_a_socket_gives) {
  const auto exported = value_of(export_buffer(shared("read"), "peer"));
  const int fds[] = {exported.fd.get(), exported.fd.get()};
  const std::size_t before = test::open_descriptors(), maps_before = memory_maps();
  for (const std::size_t count : {0U, 2U}) {
    const Sockets sockets;
    ASSERT_TRUE(send_all(sockets.one.get(), exported.blob, std::span(fds).first(count),
                         Deadline(milliseconds(1000))));
    EXPECT_FAILS(receive_buffer(sockets.other.get()), Errc::invalid_argument, "one descriptor");
  }
  EXPECT_EQ(test::open_descriptors(), before);
  EXPECT_EQ(memory_maps(), maps_before);
}

TEST(Exchange, refuses_memory_that_is_not_what_was_said) {
  const auto exported = value_of(export_buffer(shared("read"), "peer"));
  const auto with = [&](Fd fd) {
    const int number = fd.get();
    return error_of(import_buffer(exported.blob, std::span(&number, 1))).code;
  };
  EXPECT_EQ(with(Fd()), Errc::invalid_argument);
  EXPECT_EQ(with(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC))), Errc::invalid_argument);
  const auto memory = [](std::size_t size, bool is_sealed) {
    Fd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(size)), 0);
    // One that may not be sealed any more can shrink for ever.
    const int seals = is_sealed ? F_SEAL_SHRINK : F_SEAL_SEAL;
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
    return fd;
  };
  EXPECT_EQ(with(memory(4096, true)), Errc::corrupt) << "too small";
  EXPECT_EQ(with(memory(1 << 20, false)), Errc::permission) << "its owner can shrink it";
  const Fd larger = memory(1 << 20, true);
  const int fd = larger.get();
  EXPECT_TRUE(import_buffer(exported.blob, std::span(&fd, 1))) << "more than is needed";
}

TEST(Exchange, refuses_memory_above_the_limit) {
  const auto exported = value_of(export_buffer(shared("read"), "peer"));
  EXPECT_FAILS(import_of(exported, {.max_bytes = 100}), Errc::exhausted);
}

TEST(Exchange, refuses_every_changed_blob_and_maps_nothing) {
  const auto exported = value_of(export_buffer(shared("read"), "peer"));
  const int fd = exported.fd.get();
  const std::size_t before = test::open_descriptors(), maps_before = memory_maps();
  std::mt19937 random(7);
  for (std::size_t at = 0; at < exported.blob.size(); ++at) {
    auto changed = exported.blob;
    changed[at] ^= static_cast<std::byte>(1U << (random() % 8));
    const bool is_minor_version = at == 6 || at == 7;
    EXPECT_EQ(import_buffer(changed, std::span(&fd, 1)).has_value(), is_minor_version) << at;
    ASSERT_EQ(memory_maps(), maps_before) << at;
    if (at < blob_head_bytes) continue;
    const auto hash = blob_hash(std::span(changed).subspan(blob_head_bytes));
    std::memcpy(changed.data() + 16, hash.data(), hash.size());
    const auto forged = import_buffer(changed, std::span(&fd, 1));
    if (!forged) continue;
    EXPECT_LE(forged->attributes().allocated_bytes(), forged->buffer()->size_bytes()) << at;
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST(Exchange, waits_no_longer_than_told_and_tells_of_the_end) {
  const Sockets sockets;
  EXPECT_FAILS(receive_buffer(sockets.one.get(), {}, {}, milliseconds(5)), Errc::timeout);
  EXPECT_FAILS(receive_lists(sockets.one.get(), milliseconds(5)), Errc::timeout);
  Sockets closed(SOCK_STREAM);
  closed.other = Fd();
  EXPECT_FAILS(receive_buffer(closed.one.get()), Errc::not_found);
  EXPECT_FAILS(receive_buffer(-1), Errc::invalid_argument);
  EXPECT_FAILS(send_buffer(-1, shared("read"), "peer"), Errc::invalid_argument);
  Sockets junk(SOCK_STREAM);
  const std::string text(200, 'x');
  ASSERT_EQ(::write(junk.one.get(), text.data(), text.size()), 200);
  EXPECT_FAILS(receive_buffer(junk.other.get()), Errc::malformed);
}

TEST(Exchange, is_refused_by_a_sealed_module) {
  const auto exported = value_of(export_buffer(shared("read"), "peer"));
  BufferModule module;
  auto first = import_of(exported, {.module = &module});
  EXPECT_TRUE(first);
  EXPECT_EQ(module.live_buffers(), 1U);
  EXPECT_TRUE(module.seal());
  EXPECT_FAILS(import_of(exported, {.module = &module}), Errc::permission, "party \"peer\"");
}

// A peer that dies with a lock in its hands takes nothing with it.
TEST(Exchange, outlives_peers_that_are_killed) {
  auto buffer = shared("read_write");
  const std::size_t before = test::open_descriptors();
  for (int round = 0; round < 1000 / test::slowness; ++round) {
    const Sockets sockets;
    const pid_t child = ::fork();
    if (child == 0) {
      auto peer = receive_buffer(sockets.other.get());
      peer->lock(Access::write).value().keep();
      ::kill(::getpid(), SIGKILL);
    }
    ASSERT_TRUE(send_buffer(sockets.one.get(), buffer, "peer"));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_TRUE(buffer.lock(Access::write, milliseconds(0)));
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST(Exchange, of_what_nobody_maps_maps_nothing) {
  const auto buffer = value_of(allocate_negotiated(agreed(R"([{"name": "npu", "keys": {
    "t.dtype": "u8", "t.shape": [1, 1, 64, 64], "g.policy": "unmapped", "g.export": true,
    "g.perm": "read_write"}}, {"name": "peer", "pid": 1, "keys": {"g.perm": "read_write"}}])")))
                          .at(0);
  auto imported = value_of(import_of(value_of(export_buffer(buffer, "peer"))));
  EXPECT_FAILS(imported.lock(Access::read), Errc::unsupported);
  const std::string inode = std::to_string(imported.buffer()->identity()->inode);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    EXPECT_EQ(line.find(" " + inode + " "), std::string::npos) << line;
}

}  // namespace
}  // namespace halyard
