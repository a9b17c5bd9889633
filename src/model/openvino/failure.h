// SPDX-License-Identifier: Apache-2.0
// An exception of OpenVINO as an Error.
#pragma once

#include <exception>

#include "halyard/result.h"

namespace halyard::model {

/// `what`: a literal.
Error failure(Errc code, const char* what, const std::exception& why);

}  // namespace halyard::model
