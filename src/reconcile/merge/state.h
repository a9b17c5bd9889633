// SPDX-License-Identifier: Apache-2.0
// The state of a Reconciled.
#pragma once

#include <string>
#include <vector>

#include "halyard/reconcile.h"
#include "reconcile/merge/draft.h"
#include "reconcile/merge/problem.h"

namespace halyard {

/// A party of a result. It outlives the lists.
struct StoredParty {
  std::string name, engine;
  std::uint32_t process = 0;
};

struct ReconciledState {
  std::vector<StoredParty> parties;
  std::vector<Fact> facts;  ///< by party, key, value and source; their pointers are null
  /// The place where each fact was stated, as bytes of `source_text`.
  struct Source {
    std::uint32_t begin = 0, size = 0;
  };
  std::vector<Source> sources;
  std::string source_text;
  Merged merged;
  Candidate candidate;
  Draft draft;
  Layout layout;
  std::vector<PlaneLayout> planes;
  std::vector<Heap> heaps;
  std::vector<PartyView> views;
  std::vector<DroppedParty> dropped;
  MachineTraits machine;
  std::vector<std::byte>
      unknown_records;  ///< records of a newer library's blob, which are passed on

  std::string_view source_of(std::size_t fact) const noexcept {
    return std::string_view(source_text).substr(sources[fact].begin, sources[fact].size);
  }

  /// For a result that is not shared yet.
  static ReconciledState& edit(Reconciled& result) noexcept {
    return const_cast<ReconciledState&>(*result.state_);
  }
  static const ReconciledState& of(const Reconciled& result) noexcept { return *result.state_; }
  static Reconciled wrap(std::shared_ptr<const ReconciledState> state) {
    return Reconciled(std::move(state));
  }
};

}  // namespace halyard
