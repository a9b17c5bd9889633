// SPDX-License-Identifier: Apache-2.0
// A network that OpenVINO has compiled.
#pragma once

#include <memory>

#include "model/runtime.h"
// OpenVINO's headers cause warnings that this build enables.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wextra"
#include <openvino/openvino.hpp>
#pragma GCC diagnostic pop

namespace halyard::model {

std::unique_ptr<RuntimeSession> make_openvino_session(ov::CompiledModel compiled);

}  // namespace halyard::model
