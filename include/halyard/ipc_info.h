// SPDX-License-Identifier: Apache-2.0
// What an observer sees of pools and topics without taking part in them, and how it removes what
// ended processes left behind.
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

/// A process as others know it.
struct IpcProcess {
  std::string node;  ///< 32 hexadecimal digits, random: names this process and never another one
  /// Its process id, where the kernel tells it: not across PID namespaces.
  std::optional<std::int32_t> pid;
};

/// A member that could not be observed: it is stopped or overloaded, or what it says is nonsense.
struct UnobservedProcess {
  IpcProcess process;
  Error error;
};

/// A process that has a part of a pool mapped.
struct PoolBorrower {
  IpcProcess process;
  std::uint32_t slots = 0;  ///< that it holds now
  std::uint64_t bytes = 0;  ///< of the tensors in them
};

/// The part of a pool that one process allocates from.
struct PoolPartInfo {
  IpcProcess owner;
  std::uint32_t index = 0;           ///< upper 8 bits of its descriptors' slot_id
  std::uint32_t used_slots = 0;      ///< held by the owner, by borrowers, or by both
  std::uint64_t used_bytes = 0;      ///< of these slots
  std::uint64_t reserved_bytes = 0;  ///< memory taken from the system
  std::uint64_t peak_used_bytes = 0;
  std::uint64_t failed_allocations = 0;
  bool waits_for_room = false;   ///< somebody in the owner's process is in alloc_for()
  std::uint32_t held_slots = 0;  ///< by handles and topics' windows of the owner itself
  std::uint64_t held_bytes = 0;
  std::vector<PoolBorrower> borrowers;
};

/// A pool and the processes that have it open.
struct PoolInfo {
  std::uint32_t id = 0;
  std::uint64_t pool_size = 0;  ///< bytes
  std::uint32_t max_slots = 0;
  std::uint32_t slot_alignment = 0;  ///< bytes
  std::optional<FrameLayout> frame;  ///< what all its frames are, where it is made for some
  std::vector<PoolPartInfo> parts;   ///< by index
  std::vector<UnobservedProcess> unobserved;

  /// Sums over all parts.
  std::uint64_t used_slots() const noexcept;
  std::uint64_t used_bytes() const noexcept;
  std::uint64_t reserved_bytes() const noexcept;
  std::uint64_t failed_allocations() const noexcept;
};

/// How far a subscriber has read one publisher. Counts begin when the two meet.
struct TopicReader {
  std::uint64_t publisher = 0;  ///< TopicEndpointInfo::id of the publisher
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
  std::uint64_t waiting = 0;  ///< messages in the publisher's window that it has not read yet
};

/// An endpoint of a topic. Counts are the endpoint's own statements: a faulty process may count
/// wrongly.
struct TopicEndpointInfo {
  IpcProcess process;
  std::uint64_t id = 0;  ///< random, not 0
  TopicRole role = TopicRole::both;
  std::uint64_t sent = 0;
  std::uint64_t sent_bytes = 0;  ///< of frames, and of what messages have beside them
  std::uint64_t refused = 0;     ///< messages that send() did not take, by the overflow rule
  std::uint64_t copied = 0;      ///< frames that lay in no pool and were copied into the topic's
  bool waits_for_message = false;
  bool waits_for_room = false;
  std::vector<TopicReader> readers;              ///< of a subscriber: one for each publisher
  std::chrono::steady_clock::time_point when{};  ///< the counts are of this moment

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
  std::uint32_t pool_id = 0;                 ///< TopicEndpoint::pool(), which may not be open
  std::vector<TopicEndpointInfo> endpoints;  ///< by process and id
  std::vector<UnobservedProcess> unobserved;

  std::size_t publishers() const noexcept;
  std::size_t subscribers() const noexcept;
};

/// What collect_garbage() removed.
struct GarbageReport {
  std::uint32_t sockets = 0;  ///< of processes that have ended
  std::uint32_t members = 0;  ///< of pools and topics
  std::uint32_t files = 0;    ///< that were never finished
  std::uint32_t entries = 0;  ///< pools and topics that no process has open
  /// Pools and topics that another process was entering; they are as they were.
  std::uint32_t skipped = 0;
};

// The calls below ask the processes that take part, over their sockets in the registry of this
// user, or group, and namespace (docs/env.md). They join nothing and lock nothing, and write only
// their own socket, which goes away with the call unless this process takes part itself. What other
// processes answer is checked; one that does not answer in 300 ms, or answers nonsense, is listed
// as unobserved. All are thread-safe.

/// All pools that a living process has open, by id. An entry that cannot be read is left out.
/// Errors: permission, invalid_argument (a variable), exhausted, os.
Result<std::vector<PoolInfo>> list_pools();
/// One of them. Errors: those of list_pools(), not_found, corrupt (its entry cannot be read).
Result<PoolInfo> pool_info(std::uint32_t id);
/// All topics that a living process has joined, by name. An entry that cannot be read is left out.
/// Errors: those of list_pools().
Result<std::vector<TopicInfo>> list_topics();
/// One of them. Errors: those of list_pools(), invalid_argument (no name of a topic), not_found,
/// corrupt (its entry cannot be read).
Result<TopicInfo> topic_info(std::string_view name);

/// Removes what ended processes left in the registry. Joining does the same for the pool or topic
/// that is joined; this does it for all. What living processes use is not touched. Errors: those of
/// list_pools().
Result<GarbageReport> collect_garbage();

}  // namespace halyard
HALYARD_EXPORTS_END
