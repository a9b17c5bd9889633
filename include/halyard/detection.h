// SPDX-License-Identifier: Apache-2.0
// Detection: the word that decode, track and draw share. None of them knows another.
#pragma once

#include <cstdint>

#include "halyard/export.h"
#include "halyard/geometry.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// One found object.
struct Detection {
  Box box;                   ///< in pixels of the picture it refers to (see Placement::to_source)
  float score = 0;           ///< in [0, 1]
  std::int32_t label = 0;    ///< class index, from 0
  std::int32_t anchor = -1;  ///< index of the network's candidate that it came from, -1: none
  friend bool operator==(const Detection&, const Detection&) = default;
};

}  // namespace halyard
HALYARD_EXPORTS_END
