// SPDX-License-Identifier: Apache-2.0
// Published frames of endpoints that are gone, which others may still want to read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "halyard/buffer.h"
#include "ipc/node/node.h"
#include "ipc/topic/topic_service.h"

namespace halyard::ipc {

/// Where a subscriber says how far it has read a publisher; null: it does not say.
const ReaderRecord* find_record(const PeerEndpoint& peer, std::uint64_t publisher) noexcept;

/// Keeps the frames of a publisher that has sent `head` messages until its subscribers have read
/// all. Nobody waits for that: let_go_of_remaining_frames() looks, and the end of the process takes
/// what is left; what is mapped elsewhere stays readable there. Thread-safe.
void keep_until_read(std::vector<std::shared_ptr<Buffer>> frames,
                     std::shared_ptr<TopicService> service, std::shared_ptr<Node> node,
                     std::uint64_t head);
/// Thread-safe.
void let_go_of_remaining_frames();

}  // namespace halyard::ipc
