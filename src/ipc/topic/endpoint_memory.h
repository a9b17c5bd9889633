// SPDX-License-Identifier: Apache-2.0
// The memory of a topic's endpoint, which only this endpoint writes: its messages, how far it has
// read those of others, and whether it waits. The offsets are documented in docs/shared-memory.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>

#include "base/system/mapped.h"
#include "ipc/node/shared_word.h"
#include "ipc/topic/ring.h"

namespace halyard::ipc {

/// How far a subscriber has read one publisher's messages.
struct alignas(64) ReaderRecord {
  SharedWord publisher;  ///< the id of the publisher's endpoint; 0: unused
  SharedWord position;   ///< messages below this number are read or lost
  SharedWord received;
  SharedWord lost;
  SharedWord unused[4];
};
static_assert(sizeof(ReaderRecord) == 64 && offsetof(ReaderRecord, publisher) == 0 &&
              offsetof(ReaderRecord, position) == 8 && offsetof(ReaderRecord, received) == 16 &&
              offsetof(ReaderRecord, lost) == 24);

struct alignas(64) EndpointHeader {
  static constexpr std::uint64_t magic_value = 0x31646E456F546C48;  ///< "HlToEnd1"
  static constexpr std::uint32_t version_value = 1;
  static constexpr std::uint32_t byte_order_value = 0x01020304;
  /// Bits of `waits`.
  static constexpr std::uint64_t waits_at_head = 1;  ///< by futex, at the heads of publishers
  static constexpr std::uint64_t waits_at_fd = 2;

  std::uint64_t magic = magic_value;
  std::uint32_t version = version_value;
  std::uint32_t byte_order = byte_order_value;
  std::uint64_t id = 0;  ///< random, never 0
  std::uint64_t layout_hash = 0;
  std::uint32_t role = 0;           ///< 1 publisher, 2 subscriber, 3 both
  std::uint32_t message_words = 0;  ///< words of 8 bytes per ring entry, without its state
  std::uint32_t entry_words = 0;    ///< words from one entry to the next
  std::uint32_t entries = 0;        ///< of the ring, a power of two; 0: not a publisher
  std::uint32_t depth = 0;
  std::uint32_t readers = 0;  ///< number of ReaderRecords, one per publisher that it reads
  std::uint64_t reserved = 0;
  // Line 1: the publisher's counters.
  alignas(64) SharedWord head;  ///< messages published so far
  SharedWord sent_bytes;        ///< bytes of frames
  SharedWord refused;
  SharedWord copied;
  // Line 2: the subscriber.
  alignas(64) SharedWord waits;
  // Line 3: the publisher that waits for a free place.
  alignas(64) SharedWord wants_room;
};
static_assert(sizeof(EndpointHeader) == 256 && offsetof(EndpointHeader, magic) == 0 &&
              offsetof(EndpointHeader, version) == 8 &&
              offsetof(EndpointHeader, byte_order) == 12 && offsetof(EndpointHeader, id) == 16 &&
              offsetof(EndpointHeader, layout_hash) == 24 && offsetof(EndpointHeader, role) == 32 &&
              offsetof(EndpointHeader, message_words) == 36 &&
              offsetof(EndpointHeader, entry_words) == 40 &&
              offsetof(EndpointHeader, entries) == 44 && offsetof(EndpointHeader, depth) == 48 &&
              offsetof(EndpointHeader, readers) == 52);
static_assert(offsetof(EndpointHeader, head) == 64 && offsetof(EndpointHeader, sent_bytes) == 72 &&
              offsetof(EndpointHeader, refused) == 80 && offsetof(EndpointHeader, copied) == 88 &&
              offsetof(EndpointHeader, waits) == 128 &&
              offsetof(EndpointHeader, wants_room) == 192);

/// Where the parts lie: the header, the records, the ring.
struct EndpointLayout {
  std::uint32_t readers = 0;
  std::uint32_t entries = 0;
  std::uint32_t entry_words = 0;

  std::size_t records_offset() const noexcept { return sizeof(EndpointHeader); }
  std::size_t ring_offset() const noexcept {
    return records_offset() + std::size_t{readers} * sizeof(ReaderRecord);
  }
  std::size_t size_bytes() const noexcept {
    return ring_offset() + std::size_t{entries} * entry_words * sizeof(SharedWord);
  }
};

/// The memory of an endpoint, of this process or of another.
class EndpointView {
 public:
  EndpointView() = default;
  explicit EndpointView(std::span<std::byte> bytes, const EndpointLayout& layout)
      : begin_(bytes.data()), layout_(layout) {}

  EndpointHeader& header() const noexcept {
    return *std::launder(reinterpret_cast<EndpointHeader*>(begin_));
  }
  ReaderRecord* records() const noexcept {
    return std::launder(reinterpret_cast<ReaderRecord*>(begin_ + layout_.records_offset()));
  }
  const EndpointLayout& layout() const noexcept { return layout_; }
  RingMemory<SharedWord> ring() const noexcept {
    auto* const words = reinterpret_cast<SharedWord*>(begin_ + layout_.ring_offset());
    return {&header().head, words, layout_.entry_words, layout_.entries};
  }
  RingMemory<const SharedWord> readable_ring() const noexcept {
    const RingMemory<SharedWord> mine = ring();
    return {mine.head, mine.states, mine.stride, mine.capacity};
  }

 private:
  std::byte* begin_ = nullptr;
  EndpointLayout layout_;
};

}  // namespace halyard::ipc
