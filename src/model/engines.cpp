// SPDX-License-Identifier: Apache-2.0
// engines(): what each known runtime tells about itself.
#include <fmt/ranges.h>

#include <utility>

#include "halyard/model.h"
#include "model/runtimes.h"

namespace halyard {
namespace {

EngineInfo described(const model::KnownRuntime& known) {
  EngineInfo info{known.name, {}, {}, known.extensions, {}, known.install, known.is_only_named};
  const auto runtime = known.load();
  if (!runtime) {
    info.usable = runtime.error();
    return info;
  }
  auto devices = (*runtime)->devices();
  if (!devices) {
    info.usable = devices.error();
    return info;
  }
  info.version = (*runtime)->version();
  info.devices = *std::move(devices);
  return info;
}

}  // namespace

std::vector<EngineInfo> engines() {
  std::vector<EngineInfo> found;
  for (const model::KnownRuntime& known : model::known_runtimes())
    found.push_back(described(known));
  return found;
}

std::vector<std::string> available_engines() {
  std::vector<std::string> lines;
  for (const EngineInfo& info : engines()) {
    if (info.usable)
      lines.push_back(
          fmt::format("{} {}: {}", info.name, info.version, fmt::join(info.devices, ", ")));
    else if (info.install.empty())
      lines.push_back(fmt::format("{}: not usable: {}", info.name, info.usable.error().message()));
    else
      lines.push_back(fmt::format("{}: not usable: {}: `{}`", info.name,
                                  info.usable.error().message(), info.install));
  }
  return lines;
}

}  // namespace halyard
