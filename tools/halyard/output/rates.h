// SPDX-License-Identifier: Apache-2.0
// Rates of topics' endpoints, from their counts at two moments.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "halyard/ipc_info.h"

namespace halyard::tool {

/// Counts of an endpoint between two moments.
struct EndpointRate {
  double seconds = 0;
  std::uint64_t sent = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t lost = 0;

  double sent_per_s() const { return static_cast<double>(sent) / seconds; }
  double bytes_per_s() const { return static_cast<double>(sent_bytes) / seconds; }
  double received_per_s() const { return static_cast<double>(received) / seconds; }
  double lost_per_s() const { return static_cast<double>(lost) / seconds; }
};

/// Rates of the endpoints that exist at both moments.
class Rates {
 public:
  Rates() = default;
  Rates(const std::vector<TopicInfo>& before, const std::vector<TopicInfo>& after);
  /// Null if the endpoint is new.
  const EndpointRate* of(const TopicEndpointInfo& endpoint) const;

 private:
  std::map<std::pair<std::string, std::uint64_t>, EndpointRate> rates_;
};

/// Whether to list the endpoint as a publisher. Endpoints can send by default, but most never do;
/// those count only after they have sent.
bool is_active_publisher(const TopicEndpointInfo& endpoint) noexcept;

}  // namespace halyard::tool
