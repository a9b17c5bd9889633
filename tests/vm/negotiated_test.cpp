// SPDX-License-Identifier: Apache-2.0
// Negotiated buffers in DMA-BUFs of the kernel: two processes agree, one writes, the other reads;
// and a fence of the kernel holds up a lock.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "halyard/buffer_exchange.h"
#include "halyard/dmabuf.h"
#include "reconcile/agreed.h"
#include "support/result.h"
#include "vm/devices.h"

namespace halyard::vm {
namespace {

using test::value_of;

std::byte pattern(std::size_t at) {
  return static_cast<std::byte>(at * 7 + 3);
}

class NegotiatedTest : public ::testing::TestWithParam<Heap> {
 protected:
  void SetUp() override {
    const std::string node = GetParam() == Heap::udmabuf ? "/dev/udmabuf" : "/dev/dma_heap/system";
    HALYARD_NEEDS(std::filesystem::exists(node), node);
  }

  /// 60 x 40 pixels of four channels with rows of 256 bytes, in memory of this heap.
  Result<Reconciled> agree(const AttributeList& peer, Attach attach = Attach::dma) const {
    AttributeList app("app");
    HALYARD_RETURN_IF_ERROR(app.set_dtype(DType::u8));
    HALYARD_RETURN_IF_ERROR(app.set_shape({1, 4, 40, 60}));
    HALYARD_RETURN_IF_ERROR(app.set_cpu(CpuAccess::read_write));
    HALYARD_RETURN_IF_ERROR(app.set_heaps({GetParam()}));
    HALYARD_RETURN_IF_ERROR(app.set(Key::exported, 1));
    AttributeList engine("engine");
    HALYARD_RETURN_IF_ERROR(engine.set(Key::attach, static_cast<std::uint64_t>(attach)));
    const AttributeList lists[] = {app, engine, peer};
    return reconcile(lists);
  }
};
INSTANTIATE_TEST_SUITE_P(Heaps, NegotiatedTest,
                         ::testing::Values(Heap::udmabuf, Heap::dmabuf_system),
                         [](const auto& info) {
                           return std::string(info.param == Heap::udmabuf ? "udmabuf" : "system");
                         });

/// What the peer does: asks for rows of 256 bytes, and reads what comes.
int read_as_peer(int socket) {
  AttributeList peer("peer");
  if (!peer.set_cpu(CpuAccess::read) || !peer.set(Key::row_align, 256)) return 1;
  if (!send_lists(socket, std::span(&peer, 1))) return 2;
  const AttributeList* const own = &peer;
  auto buffer = receive_buffer(socket, std::span(&own, 1));
  if (!buffer) return 3;
  if (buffer->tensor()->layout().stride_bytes[2] != 256) return 4;
  const auto lock = buffer->lock(Access::read, std::chrono::seconds(10));
  if (!lock) return 5;
  for (std::size_t at = 0; at < lock->bytes().size(); ++at)
    if (lock->bytes()[at] != pattern(at)) return 6;
  return buffer->lock(Access::write) ? 7 : 0;
}

TEST_P(NegotiatedTest, two_processes_agree_and_one_reads_what_the_other_wrote) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const Fd mine(ends[0]);
  const Fd theirs(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(read_as_peer(theirs.get()));
  const auto lists = value_of(receive_lists(mine.get(), std::chrono::seconds(10)));
  const auto result = value_of(agree(lists.at(0)));
  auto buffers = value_of(allocate_negotiated(result));
  EXPECT_EQ(buffers.at(0).heap(), GetParam());
  EXPECT_EQ(buffers.at(0).enforcement(), Enforcement::advisory);
  {
    auto lock = value_of(buffers.at(0).lock(Access::write));
    for (std::size_t at = 0; at < lock.writable_bytes().size(); ++at)
      lock.writable_bytes()[at] = pattern(at);
    EXPECT_TRUE(lock.unlock());
  }
  const Status sent = send_buffer(mine.get(), buffers.at(0), "peer");
  EXPECT_TRUE(sent) << sent.error().message();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "where the peer stopped";
}

// An engine that lets go of the memory: it is kept attached, or not given out at all.
TEST_P(NegotiatedTest, stays_attached_for_who_takes_the_address_alone) {
  AttributeList peer("peer");
  const auto result = value_of(agree(peer, Attach::address_only));
  EXPECT_TRUE(result.needs_anchor());
  const auto buffers = allocate_negotiated(result);
  if (GetParam() == Heap::udmabuf) {
    ASSERT_TRUE(buffers) << buffers.error().message();
    EXPECT_EQ(buffers->at(0).anchor(), AnchorState::none) << "udmabuf synchronises for itself";
    return;
  }
  if (buffers) {
    EXPECT_EQ(buffers->at(0).anchor(), AnchorState::held);
  } else {
    EXPECT_FAILS(buffers, Errc::unsupported, "attached");
  }
}

}  // namespace
}  // namespace halyard::vm
