// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of OpenVINO's models.
#pragma once

#include "model/runtime.h"
// OpenVINO's headers cause warnings that this build enables.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wextra"
#include <openvino/openvino.hpp>
#pragma GCC diagnostic pop

namespace halyard::model {

Port to_port(const ov::Output<const ov::Node>& from);

}  // namespace halyard::model
