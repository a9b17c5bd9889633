// SPDX-License-Identifier: Apache-2.0
// Handles of attribute lists and negotiated buffers, and checks of their arguments.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "capi/arguments.h"
#include "capi/handles.h"
#include "halyard/buffer_engine.h"
#include "halyard/c/negotiate.h"
#include "halyard/negotiated_buffer.h"

struct hal_attrs {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("attr");
  halyard::capi::Tag tag{kind};
  halyard::EngineParty party;
};

struct hal_reconciled {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("recn");
  halyard::capi::Tag tag{kind};
  halyard::Reconciled result;
};

struct hal_buffer {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("nbuf");
  halyard::capi::Tag tag{kind};
  mutable halyard::NegotiatedBuffer buffer;  ///< its functions are safe for threads that share it
};

struct hal_operation {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("oper");
  halyard::capi::Tag tag{kind};
  halyard::BufferOperation operation;
};

namespace halyard::capi {

/// A text that a caller passed. Errors: invalid_argument (NULL, not UTF-8).
Result<std::string> text_from(const char* text, const char* name);
/// The lists of handles. Errors: invalid_argument (NULL, another kind, more than 1024).
Result<std::vector<const hal_attrs*>> lists_from(hal_attrs* const* lists, std::size_t count);
/// A copy of the bytes that free() releases. Errors: no_memory.
Result<std::uint8_t*> copied(std::span<const std::byte> bytes);

}  // namespace halyard::capi
