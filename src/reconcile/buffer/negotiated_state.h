// SPDX-License-Identifier: Apache-2.0
// The state of a NegotiatedBuffer.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/local.h"
#include "halyard/negotiated_buffer.h"
#include "reconcile/buffer/buffer_access.h"

namespace halyard {

/// What is decided when the memory is made.
struct MemoryFacts {
  Heap heap = Heap::heap;
  Enforcement enforcement = Enforcement::none;
  AnchorState anchor = AnchorState::none;
  Permission permission = Permission::read_write;
  CpuAccess cpu = CpuAccess::none;
  std::string party{};  ///< the party that the buffer is for; empty: no single one
};

struct HALYARD_LOCAL NegotiatedBuffer::State {
  State(CpuPolicy agreed, std::shared_ptr<Buffer> memory, Map kept, const MemoryFacts& decided)
      : policy(agreed),
        buffer(std::move(memory)),
        facts(decided),
        access(buffer, std::move(kept), agreed, decided.party) {}

  CpuPolicy policy;
  std::shared_ptr<Buffer> buffer;
  MemoryFacts facts;
  std::optional<Tensor> tensor, image;
  BufferAccess access;
  std::shared_ptr<void> member;  ///< counts the buffer in a module as long as it lives

  /// Makes a buffer over `memory`, which must satisfy the result.
  static Result<NegotiatedBuffer> make(const Reconciled& result, std::shared_ptr<Buffer> memory,
                                       const MemoryFacts& facts);
  /// The same buffer with another result, which has more parties.
  static NegotiatedBuffer with_result(const NegotiatedBuffer& buffer, const Reconciled& result);
  static State& of(NegotiatedBuffer& buffer) noexcept { return *buffer.state_; }
};

/// The view of a party, or the union of all views for an empty name. Errors: not_found.
Result<PartyView> view_of(const Reconciled& result, std::string_view party);

}  // namespace halyard
