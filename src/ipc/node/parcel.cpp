// SPDX-License-Identifier: Apache-2.0
// Ids of processes as text.
#include "ipc/node/parcel.h"

#include <charconv>

#include "base/text/format_error.h"

namespace halyard::ipc {

std::string to_string(const NodeId& id) {
  return fmt::format("{:016x}{:016x}", id.high, id.low);
}

std::optional<NodeId> node_id_from(std::string_view text) noexcept {
  if (text.size() < 32) return std::nullopt;
  NodeId id;
  const char* const begin = text.data();
  const auto high = std::from_chars(begin, begin + 16, id.high, 16);
  const auto low = std::from_chars(begin + 16, begin + 32, id.low, 16);
  if (high.ec != std::errc() || high.ptr != begin + 16 || low.ec != std::errc() ||
      low.ptr != begin + 32)
    return std::nullopt;
  return id;
}

}  // namespace halyard::ipc
