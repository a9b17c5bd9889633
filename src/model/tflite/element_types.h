// SPDX-License-Identifier: Apache-2.0
// What .tflite files have in common, whatever runs them.
#pragma once

#include <optional>
#include <string>

#include "halyard/format.h"

namespace halyard::model::tflite {

/// Of TfLiteType; nullopt: no DType.
std::optional<DType> dtype_of_type(int type) noexcept;

/// Whether the file begins as a model. The libraries trust what follows.
bool has_identifier(const std::string& path);

}  // namespace halyard::model::tflite
