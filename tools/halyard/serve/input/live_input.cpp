// SPDX-License-Identifier: Apache-2.0
#include "serve/input/live_input.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "input/inputs.h"
#include "report.h"

namespace halyard::tool {
namespace {

/// Not a file that can be read from its beginning.
bool is_stream(const std::string& path) {
  return path.find("://") != std::string::npos || path.starts_with("topic:") ||
         path.starts_with("/dev/") || path.starts_with("camera:") || path.starts_with("libcamera:");
}

}  // namespace

Result<PipelineSource> open_live_input(const std::vector<std::string>& paths,
                                       const FrameSourceOptions& reading) {
  if (paths.size() == 1) {
    HALYARD_TRY(auto source, PipelineSource::open(paths[0], reading));
    source.name = without_user(paths[0]);
    return source;
  }
  if (std::any_of(paths.begin(), paths.end(), is_stream))
    return make_error(Errc::invalid_argument,
                      "a camera, an address or a topic must be the only input");
  auto is_cancelled = std::make_shared<std::atomic<bool>>(false);
  FrameSourceOptions options = reading;
  options.load.is_cancelled = [is_cancelled, own = reading.load.is_cancelled] {
    return is_cancelled->load() || (own && own());
  };
  HALYARD_TRY(auto opened, Inputs::open(paths, options));
  auto inputs = std::make_shared<Inputs>(std::move(opened));
  PipelineSource out;
  out.name = paths[0] + " and others";
  out.rate = inputs->rate();
  out.next = [inputs] { return inputs->next(); };
  out.cancel = [is_cancelled] { is_cancelled->store(true); };
  return out;
}

}  // namespace halyard::tool
