// SPDX-License-Identifier: Apache-2.0
// Checks of the options that all trackers have.

#include "track/method.h"

#include "base/text/format_error.h"

namespace halyard::track {

Status check_option(bool holds, const char* what, double value) {
  if (holds) return {};
  return fail(Errc::invalid_argument, what, "{}", value);
}

Status check_common(const Common& common) {
  HALYARD_RETURN_IF_ERROR(check_option(common.max_coast.count() >= 0,
                                       "max_coast: must not be negative",
                                       static_cast<double>(common.max_coast.count())));
  HALYARD_RETURN_IF_ERROR(check_option(common.frame_interval.count() > 0,
                                       "frame_interval: must be above 0",
                                       static_cast<double>(common.frame_interval.count())));
  return check_option(common.max_tracks >= 1 && common.max_tracks <= 65536,
                      "max_tracks: must be in 1..65536", common.max_tracks);
}

}  // namespace halyard::track
