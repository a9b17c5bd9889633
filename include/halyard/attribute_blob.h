// SPDX-License-Identifier: Apache-2.0
// Attribute lists and results of a negotiation as bytes for other processes; and the check whether
// an existing buffer also serves a further party.
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

/// Max size of a blob in bytes.
inline constexpr std::size_t attribute_blob_limit = 65536;

/// Encodes lists for the process that reconciles. The bytes do not depend on the order of the
/// lists. A list without a process id gets the id of this process. Thread-safe. Errors:
/// invalid_argument (a null list), exhausted (more bytes than attribute_blob_limit).
Result<std::vector<std::byte>> encode_lists(std::span<const AttributeList* const> lists);
Result<std::vector<std::byte>> encode_lists(std::span<const AttributeList> lists);
/// Decodes the lists of a blob. The blob may be hostile. Errors: malformed (not a blob of lists),
/// version, corrupt, unsupported (an unknown key whose bit 15 is set: the message has its number),
/// those of AttributeList::set() and accept().
Result<std::vector<AttributeList>> decode_lists(std::span<const std::byte> blob);

/// Encodes a result as `party` may see it: the access rights of each other party are left out.
/// Thread-safe. Errors: invalid_argument (`party` is empty), not_found (no such party), exhausted.
Result<std::vector<std::byte>> encode_result(const Reconciled& result, std::string_view party);
/// Decodes the result of a blob. The blob may be hostile: the parties' attributes are checked like
/// lists of this process, and everything else is computed from them again. digest() is the
/// sender's; views() holds only the party's own view. Errors: those of decode_lists(), and corrupt
/// (the parties disagree, or the recomputed result differs from the sender's).
Result<Reconciled> decode_result(std::span<const std::byte> blob);

/// Checks whether a buffer of `result` in memory of `heap`, unchanged, also serves these lists: for
/// parties that join after the allocation. `conflict` receives the report of what does not fit; in
/// the report the buffer is the party "(buffer)". Thread-safe. Errors: unsupported (it does not
/// serve them: the message is the report), those of reconcile().
Status validate(const Reconciled& result, Heap heap, std::span<const AttributeList* const> lists,
                Conflict* conflict = nullptr);

/// Returns the result with further parties, which validate() must accept: the same buffer, and also
/// their views. Errors: those of validate(), exists (the result already has a party of that name).
Result<Reconciled> attach_parties(const Reconciled& result, Heap heap,
                                  std::span<const AttributeList* const> lists,
                                  Conflict* conflict = nullptr);

}  // namespace halyard
HALYARD_EXPORTS_END
