// SPDX-License-Identifier: Apache-2.0
// One list per process. It is checked when an endpoint is made and when one is destroyed.
#include "ipc/topic/remaining_frames.h"

#include <mutex>
#include <utility>

#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"

namespace halyard::ipc {
namespace {

struct Remaining {
  std::vector<std::shared_ptr<Buffer>> frames;
  std::shared_ptr<TopicService> service;
  std::shared_ptr<Node> node;
  std::uint64_t head = 0;

  // Whether all subscribers have read all messages.
  bool is_read() const {
    for (const auto& peer : service->peers()) {
      if (!peer->subscribes || peer->has_left || !node->is_alive(peer->node)) continue;
      const ReaderRecord* const record = find_record(*peer, service->own().id);
      if (record != nullptr && record->position.load(std::memory_order_acquire) < head)
        return false;
    }
    return true;
  }
};
struct AllRemaining {
  RankedMutex<LockRank::remaining_frames> mutex;
  std::vector<Remaining> list;
};
constinit PerProcess<AllRemaining> all_remaining;

}  // namespace

const ReaderRecord* find_record(const PeerEndpoint& peer, std::uint64_t publisher) noexcept {
  const ReaderRecord* const records = peer.view.records();
  for (std::uint32_t i = 0; i < peer.view.layout().readers; ++i)
    if (records[i].publisher.load(std::memory_order_acquire) == publisher) return &records[i];
  return nullptr;
}

void keep_until_read(std::vector<std::shared_ptr<Buffer>> frames,
                     std::shared_ptr<TopicService> service, std::shared_ptr<Node> node,
                     std::uint64_t head) {
  Remaining remaining{std::move(frames), std::move(service), std::move(node), head};
  if (remaining.frames.empty() || remaining.is_read()) return;
  AllRemaining& all = all_remaining.get();
  const std::lock_guard lock(all.mutex);
  all.list.push_back(std::move(remaining));
}

void let_go_of_remaining_frames() {
  // The frames are destroyed outside the lock.
  std::vector<Remaining> read;
  AllRemaining& all = all_remaining.get();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.list, [&](Remaining& remaining) {
    if (!remaining.is_read()) return false;
    read.push_back(std::move(remaining));
    return true;
  });
}

}  // namespace halyard::ipc
