// SPDX-License-Identifier: Apache-2.0
// BufferPlan: several buffers and copies between them, where no single one serves all parties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halyard/buffer_engine.h"
#include "halyard/export.h"
#include "halyard/reconcile.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Parties that share a buffer.
struct PlanGroup {
  std::vector<std::string> parties;  ///< by name
  /// The buffer of these parties. What is in it is said by the party "(content)" where it is others
  /// who say it.
  Reconciled buffer;
};

/// Each new content of one group's buffer goes to another's.
struct PlanCopy {
  std::size_t from = 0, to = 0;  ///< groups
  std::uint64_t bytes = 0;       ///< of the copy's destination
  Conflict why;                  ///< what keeps the two groups from sharing; may be empty
};

struct BufferPlan {
  std::vector<PlanGroup> groups;  ///< by their first parties' names
  std::vector<PlanCopy> copies;   ///< from the group that has the writer to all others
  /// {"ok": true, "groups": [{"parties": [...], "outputs": {...}}], "copies": [{"from", "to",
  /// "bytes", "conflicts"}]}.
  std::string to_json() const;
  std::string to_text() const;
};

/// Splits the parties into the fewest groups that each agree on a buffer: exactly the fewest for up
/// to 12 parties, few for more (each party joins the first group that takes it). One group and no
/// copy where all agree. Extents, element type and kinds are the same in all groups, and a group
/// that names no image format takes one of the others'. The writer is who has a stride that cannot
/// be another or writes into padding, else who writes, else who holds buffers; the first by name of
/// several. Optional
/// parties are parties like others. The order of the lists does not matter. Thread-safe. Errors:
/// those of reconcile(); unsupported where a party agrees with nobody, not even by itself
/// (`conflict` gets the report): element types or extents that differ, which no copy mends.
Result<BufferPlan> plan_buffers(std::span<const EngineParty> parties,
                                const ReconcileOptions& options = {}, Conflict* conflict = nullptr);
Result<BufferPlan> plan_buffers(std::span<const AttributeList> lists,
                                const ReconcileOptions& options = {}, Conflict* conflict = nullptr);

}  // namespace halyard
HALYARD_EXPORTS_END
