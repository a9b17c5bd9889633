// SPDX-License-Identifier: Apache-2.0
// Every tracker, as it comes.
#pragma once

#include <gtest/gtest.h>

#include "halyard/track.h"

namespace halyard::test {

enum class Kind { hal, paper, oc_sort, sort };
inline constexpr Kind all_kinds[] = {Kind::hal, Kind::paper, Kind::oc_sort, Kind::sort};

inline const char* name_of(Kind kind) {
  constexpr const char* names[] = {"bytetrack", "bytetrack_paper", "ocsort", "sort"};
  return names[static_cast<int>(kind)];
}

/// `change(options)` may set what all kinds have.
template <class Change>
Tracker make_tracker(Kind kind, Change change) {
  const auto changed = [&](auto options) {
    change(options);
    return options;
  };
  switch (kind) {
    case Kind::hal:
      return *ByteTrack::create(changed(ByteTrackOptions{}));
    case Kind::paper:
      return *ByteTrack::paper(changed(ByteTrackPaperOptions{}));
    case Kind::oc_sort:
      return *OcSort::create(changed(OcSortOptions{}));
    case Kind::sort:
      break;
  }
  return *Sort::create(changed(SortOptions{}));
}
inline Tracker make_tracker(Kind kind) {
  return make_tracker(kind, [](auto&) {});
}

class EveryTracker : public ::testing::TestWithParam<Kind> {};

inline std::string kind_name(const ::testing::TestParamInfo<Kind>& info) {
  return name_of(info.param);
}

}  // namespace halyard::test
