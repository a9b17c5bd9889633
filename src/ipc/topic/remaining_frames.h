// SPDX-License-Identifier: Apache-2.0
// Published frames of destroyed endpoints that other processes may still want to read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "halyard/buffer.h"
#include "ipc/node/node.h"
#include "ipc/topic/topic_service.h"

namespace halyard::ipc {

/// The record in which a subscriber stores how far it has read a publisher; null if there is none.
const ReaderRecord* find_record(const PeerEndpoint& peer, std::uint64_t publisher) noexcept;

/// Keeps the frames of a publisher that has sent `head` messages until its subscribers have read
/// all. No thread waits for that: let_go_of_remaining_frames() checks it, and the rest is released
/// when the process ends. What other processes have mapped stays readable there. Thread-safe.
void keep_until_read(std::vector<std::shared_ptr<Buffer>> frames,
                     std::shared_ptr<TopicService> service, std::shared_ptr<Node> node,
                     std::uint64_t head);
/// Releases the kept frames that all subscribers have read. Thread-safe.
void let_go_of_remaining_frames();

}  // namespace halyard::ipc
