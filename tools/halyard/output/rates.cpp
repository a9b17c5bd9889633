// SPDX-License-Identifier: Apache-2.0
// Counts only grow. A count that is smaller comes from a faulty process or another publisher, and
// counts as no growth.
#include "output/rates.h"

#include <algorithm>

namespace halyard::tool {
namespace {

std::uint64_t growth(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

/// Compares reader by reader, because their sum shrinks when a publisher leaves.
void add_reading(const TopicEndpointInfo& before, const TopicEndpointInfo& after,
                 EndpointRate& rate) {
  for (const TopicReader& now : after.readers) {
    const auto known =
        std::find_if(before.readers.begin(), before.readers.end(),
                     [&](const TopicReader& reader) { return reader.publisher == now.publisher; });
    const bool is_new = known == before.readers.end();
    rate.received += is_new ? now.received : growth(known->received, now.received);
    rate.lost += is_new ? now.lost : growth(known->lost, now.lost);
  }
}

}  // namespace

Rates::Rates(const std::vector<TopicInfo>& before, const std::vector<TopicInfo>& after) {
  std::map<std::pair<std::string, std::uint64_t>, const TopicEndpointInfo*> known;
  for (const TopicInfo& topic : before)
    for (const TopicEndpointInfo& endpoint : topic.endpoints)
      known[{endpoint.process.node, endpoint.id}] = &endpoint;
  for (const TopicInfo& topic : after) {
    for (const TopicEndpointInfo& now : topic.endpoints) {
      const auto found = known.find({now.process.node, now.id});
      if (found == known.end() || now.when <= found->second->when) continue;
      const TopicEndpointInfo& then = *found->second;
      EndpointRate rate;
      rate.seconds = std::chrono::duration<double>(now.when - then.when).count();
      rate.sent = growth(then.sent, now.sent);
      rate.sent_bytes = growth(then.sent_bytes, now.sent_bytes);
      add_reading(then, now, rate);
      rates_[found->first] = rate;
    }
  }
}

const EndpointRate* Rates::of(const TopicEndpointInfo& endpoint) const {
  const auto found = rates_.find({endpoint.process.node, endpoint.id});
  return found != rates_.end() ? &found->second : nullptr;
}

bool is_active_publisher(const TopicEndpointInfo& endpoint) noexcept {
  return endpoint.role == TopicRole::publisher || (endpoint.publishes() && endpoint.sent != 0);
}

}  // namespace halyard::tool
