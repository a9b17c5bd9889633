// SPDX-License-Identifier: Apache-2.0
// The tracker, for other files of the extension.
#pragma once

#include <vector>

#include "bindings.h"
#include "halyard/compat/track.h"

namespace halyard::python {

/// Python's ByteTrack.
struct PyByteTrack {
  compat::ByteTrack value;
};

/// A list of TrackInfo.
nb::list track_list(const std::vector<compat::TrackInfo>& tracks);

}  // namespace halyard::python
