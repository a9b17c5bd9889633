// SPDX-License-Identifier: Apache-2.0
// What parties say, and what they agreed on, as bytes for other processes; and whether a buffer
// that exists serves one party more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "halyard/attributes.h"
#include "halyard/export.h"
#include "halyard/reconcile.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Most bytes of a blob.
inline constexpr std::size_t attribute_blob_limit = 65536;

/// Lists as bytes, for the process that reconciles. The same bytes whatever their order. A list
/// without a process id gets this process's. Thread-safe. Errors: invalid_argument (a null list),
/// exhausted (more bytes than attribute_blob_limit).
Result<std::vector<std::byte>> encode_lists(std::span<const AttributeList* const> lists);
Result<std::vector<std::byte>> encode_lists(std::span<const AttributeList> lists);
/// The lists of a blob, which may be hostile. Errors: malformed (no blob of lists), version,
/// corrupt, unsupported (a key that must be understood and is not: the text has its number), those
/// of AttributeList::set() and accept().
Result<std::vector<AttributeList>> decode_lists(std::span<const std::byte> blob);

/// A result as bytes, as `party` may see it: what the others may do with the buffer is left out.
/// Thread-safe. Errors: not_found (no such party), exhausted.
Result<std::vector<std::byte>> encode_result(const Reconciled& result, std::string_view party);
/// The result of a blob, which may be hostile: what the parties say is checked like the lists of
/// this process, and everything else is computed from it anew. digest() is that of the sender;
/// views() has the party's own alone. Errors: those of decode_lists(), and corrupt (the parties
/// disagree, or agree on something else here than there).
Result<Reconciled> decode_result(std::span<const std::byte> blob);

/// Whether a buffer of `result` in memory of `heap` serves these lists too, as it is: for parties
/// that come when it is allocated already. `conflict` gets the report of what does not fit, in
/// which the buffer is the party "(buffer)". Thread-safe. Errors: unsupported (it does not: the
/// text is the report), those of reconcile().
Status validate(const Reconciled& result, Heap heap, std::span<const AttributeList* const> lists,
                Conflict* conflict = nullptr);

/// The result with parties more, which validate() must accept: the same buffer, and their views.
/// Errors: those of validate(), exists (a party of that name has taken part).
Result<Reconciled> attach_parties(const Reconciled& result, Heap heap,
                                  std::span<const AttributeList* const> lists,
                                  Conflict* conflict = nullptr);

}  // namespace halyard
HALYARD_EXPORTS_END
