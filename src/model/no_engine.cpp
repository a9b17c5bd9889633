// SPDX-License-Identifier: Apache-2.0
// Replaces the runtime in builds without one; its messages tell how to get one.
#ifndef HALYARD_HAVE_OPENVINO

#include "base/text/format_error.h"
#include "model/session.h"

namespace halyard::model {

Result<Loaded> load(const std::string& path, const EngineOptions&, Metadata) {
  return fail(Errc::unsupported, "this build has no inference engine",
              "{}: install one with `pip install openvino` into .venv and configure again", path);
}

std::string describe_runtime() {
  return "openvino: not in this build; `pip install openvino` into .venv and configure again";
}

}  // namespace halyard::model

#endif
