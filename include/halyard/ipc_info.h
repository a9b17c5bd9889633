// SPDX-License-Identifier: Apache-2.0
// Observes pools and topics without joining them, and removes the remains of processes that have
// ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/topic.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// A process that takes part in pools and topics.
struct IpcProcess {
  std::string node;  ///< 32 random hexadecimal digits; identifies this process, never reused
  /// Its process id, if the kernel reports it: not across PID namespaces.
  std::optional<std::int32_t> pid;
};

/// A member that could not be observed: it is stopped or overloaded, or its answer is invalid.
struct UnobservedProcess {
  IpcProcess process;
  Error error;
};

/// A process that has a part of a pool mapped.
struct PoolBorrower {
  IpcProcess process;
  std::uint32_t slots = 0;  ///< slots that it holds now
  std::uint64_t bytes = 0;  ///< bytes of the tensors in these slots
};

/// The part of a pool from which one process allocates.
struct PoolPartInfo {
  IpcProcess owner;
  std::uint32_t index = 0;           ///< upper 8 bits of its descriptors' slot_id
  std::uint32_t used_slots = 0;      ///< slots held by the owner, by borrowers, or by both
  std::uint64_t used_bytes = 0;      ///< bytes of these slots
  std::uint64_t reserved_bytes = 0;  ///< memory allocated from the system
  std::uint64_t peak_used_bytes = 0;
  std::uint64_t failed_allocations = 0;
  bool waits_for_room = false;   ///< a thread of the owner's process waits in alloc_for()
  std::uint32_t held_slots = 0;  ///< slots held by handles and topic windows of the owner itself
  std::uint64_t held_bytes = 0;
  std::vector<PoolBorrower> borrowers;
};

/// A pool and the processes that have it open.
struct PoolInfo {
  std::uint32_t id = 0;
  std::uint64_t pool_size = 0;  ///< bytes
  std::uint32_t max_slots = 0;
  std::uint32_t slot_alignment = 0;  ///< bytes
  std::optional<FrameLayout> frame;  ///< layout of all frames, if the pool was made for frames
  std::vector<PoolPartInfo> parts;   ///< in the order of their indices
  std::vector<UnobservedProcess> unobserved;

  /// Sums over all parts.
  std::uint64_t used_slots() const noexcept;
  std::uint64_t used_bytes() const noexcept;
  std::uint64_t reserved_bytes() const noexcept;
  std::uint64_t failed_allocations() const noexcept;
};

/// How far a subscriber has read one publisher. Counts begin when the two connect.
struct TopicReader {
  std::uint64_t publisher = 0;  ///< TopicEndpointInfo::id of the publisher
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
  std::uint64_t waiting = 0;  ///< messages in the publisher's window that it has not read yet
};

/// An endpoint of a topic. The endpoint itself reports the counts: those of a faulty process may be
/// wrong.
struct TopicEndpointInfo {
  IpcProcess process;
  std::uint64_t id = 0;  ///< random, not 0
  TopicRole role = TopicRole::both;
  std::uint64_t sent = 0;
  std::uint64_t sent_bytes = 0;  ///< bytes of frames and of the rest of the messages
  std::uint64_t refused = 0;     ///< messages that send() refused because of the overflow rule
  std::uint64_t copied = 0;      ///< frames outside any pool, copied into the topic's pool
  bool waits_for_message = false;
  bool waits_for_room = false;
  std::vector<TopicReader> readers;              ///< of a subscriber: one entry per publisher
  std::chrono::steady_clock::time_point when{};  ///< time of the counts

  bool publishes() const noexcept { return (static_cast<unsigned>(role) & 1U) != 0; }
  bool subscribes() const noexcept { return (static_cast<unsigned>(role) & 2U) != 0; }
  /// Sums over all readers.
  std::uint64_t received() const noexcept;
  std::uint64_t lost() const noexcept;
};

/// A topic and the endpoints that have joined it.
struct TopicInfo {
  std::string name;
  MessageType type;
  std::uint32_t depth = 0;
  Overflow overflow = Overflow::drop_oldest;
  std::uint32_t history = 0;
  std::uint32_t max_endpoints = 0;
  std::uint32_t pool_id = 0;                 ///< id of TopicEndpoint::pool(), which may not be open
  std::vector<TopicEndpointInfo> endpoints;  ///< ordered by process and id
  std::vector<UnobservedProcess> unobserved;

  std::size_t publishers() const noexcept;
  std::size_t subscribers() const noexcept;
};

/// What collect_garbage() removed.
struct GarbageReport {
  std::uint32_t sockets = 0;  ///< sockets of processes that have ended
  std::uint32_t members = 0;  ///< members of pools and topics
  std::uint32_t files = 0;    ///< files that were never completed
  std::uint32_t entries = 0;  ///< entries of pools and topics that no process has open
  /// Pools and topics that another process was joining; they are not changed.
  std::uint32_t skipped = 0;
};

// The functions below ask the participating processes over their sockets in the registry of this
// user, or group, and namespace (docs/env.md). They join nothing and lock nothing. They create only
// their own socket, which is removed at the end of the call unless this process takes part itself.
// Answers of other processes are checked; a process that does not answer in 300 ms, or answers with
// invalid data, is listed as unobserved. All are thread-safe.

/// All pools that a living process has open, ordered by id. An entry that cannot be read is left
/// out. Errors: permission, invalid_argument (an environment variable), exhausted, os.
Result<std::vector<PoolInfo>> list_pools();
/// One pool. Errors: those of list_pools(), not_found, corrupt (its entry cannot be read).
Result<PoolInfo> pool_info(std::uint32_t id);
/// All topics that a living process has joined, ordered by name. An entry that cannot be read is
/// left out. Errors: those of list_pools().
Result<std::vector<TopicInfo>> list_topics();
/// One topic. Errors: those of list_pools(), invalid_argument (not a legal topic name), not_found,
/// corrupt (its entry cannot be read).
Result<TopicInfo> topic_info(std::string_view name);

/// Removes the remains of ended processes from the registry, for all pools and topics; joining a
/// pool or topic does the same for that one. Nothing that living processes use is changed. Errors:
/// those of list_pools().
Result<GarbageReport> collect_garbage();

}  // namespace halyard
HALYARD_EXPORTS_END
