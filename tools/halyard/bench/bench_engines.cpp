// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_engines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "options/nearest.h"
#include "options/values.h"

namespace halyard::tool {
namespace {

BenchEngine candidate(const EngineInfo& info, bool is_named, const std::string& model) {
  BenchEngine out;
  out.name = info.name;
  out.is_named = is_named;
  const auto& known = info.extensions;
  const std::string extension = extension_of(model);
  const auto leave_out = [&out](BenchState state, std::string reason) {
    out.state = state;
    out.reason = std::move(reason);
    return out;
  };
  if (!known.empty() && std::find(known.begin(), known.end(), extension) == known.end())
    return leave_out(BenchState::unfit, fmt::format("reads {}", fmt::join(known, ", ")));
  if (!info.usable) {
    out.install = info.install;
    return leave_out(BenchState::missing, info.usable.error().message());
  }
  if (info.needs_name && !is_named)
    return leave_out(BenchState::unnamed,
                     fmt::format("trusts the file that it opens: --engine {} runs it", info.name));
  return out;
}

}  // namespace

std::string_view to_string(BenchState state) noexcept {
  switch (state) {
    case BenchState::measured:
      return "measured";
    case BenchState::missing:
      return "missing";
    case BenchState::unfit:
      return "unfit";
    case BenchState::unnamed:
      return "unnamed";
    case BenchState::failed:
      return "failed";
  }
  return "unknown";
}

Result<std::vector<BenchEngine>> choose_engines(std::span<const EngineInfo> known,
                                                std::span<const std::string> names,
                                                const std::string& model) {
  std::vector<std::string> known_names;
  for (const EngineInfo& info : known)
    known_names.push_back(info.name);
  for (const std::string& name : names)
    if (std::find(known_names.begin(), known_names.end(), name) == known_names.end())
      return make_error(Errc::invalid_argument, "there is no such engine",
                        fmt::format("'{}' is not {}{}", name, listed(known_names),
                                    did_you_mean(name, known_names)));
  std::vector<BenchEngine> out;
  for (const EngineInfo& info : known) {
    const bool is_named = std::find(names.begin(), names.end(), info.name) != names.end();
    if (names.empty() || is_named) out.push_back(candidate(info, is_named, model));
  }
  return out;
}

bool is_complete(std::span<const BenchEngine> engines) noexcept {
  const auto is = [](BenchState state) {
    return [state](const BenchEngine& one) { return one.state == state; };
  };
  const bool is_missed = std::any_of(engines.begin(), engines.end(), [](const BenchEngine& one) {
    return one.state == BenchState::failed || (one.is_named && one.state != BenchState::measured);
  });
  return !is_missed && std::any_of(engines.begin(), engines.end(), is(BenchState::measured));
}

}  // namespace halyard::tool
