// SPDX-License-Identifier: Apache-2.0
// BufferPlan: several buffers and copies between them, for parties that no single buffer serves.
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
  /// The buffer of these parties. With several groups, its party "(content)" holds the extents,
  /// element type and kinds that all parties set together.
  Reconciled buffer;
};

/// Each new content of one group's buffer is copied to another's.
struct PlanCopy {
  std::size_t from = 0, to = 0;  ///< indices into BufferPlan::groups
  std::uint64_t bytes = 0;       ///< size of the destination buffer
  Conflict why;                  ///< why the two groups cannot share a buffer; may be empty
};

struct BufferPlan {
  std::vector<PlanGroup> groups;  ///< in the order of the names of their first parties
  std::vector<PlanCopy> copies;   ///< from the group that has the writer to all others
  /// {"ok": true, "groups": [{"parties": [...], "outputs": {...}}], "copies": [{"from", "to",
  /// "bytes", "conflicts"}]}.
  std::string to_json() const;
  std::string to_text() const;
};

/// Splits the parties into the fewest groups that each agree on a buffer. For up to 12 parties the
/// count is minimal; for more it is small (each party joins the first group that accepts it). If
/// all parties agree, the plan has one group and no copy. Extents, element type and kinds are the
/// same in all groups. A group that names no image format uses one that the other parties name. The
/// group of the writer is the source of all copies. The writer is a party with an exact stride or
/// one that writes into padding, else one that writes, else one that holds buffers; of several, the
/// first by name. Optional parties are treated like all others. The order of the lists does not
/// matter. Thread-safe. Errors: those of reconcile(); unsupported if a party has no buffer even by
/// itself, or if element types or extents differ, which a copy cannot change (`conflict` receives
/// the report).
Result<BufferPlan> plan_buffers(std::span<const EngineParty> parties,
                                const ReconcileOptions& options = {}, Conflict* conflict = nullptr);
Result<BufferPlan> plan_buffers(std::span<const AttributeList> lists,
                                const ReconcileOptions& options = {}, Conflict* conflict = nullptr);

}  // namespace halyard
HALYARD_EXPORTS_END
