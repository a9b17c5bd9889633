// SPDX-License-Identifier: Apache-2.0
// Formats a request as one line of text, for messages.
#pragma once

#include <string>

#include "halyard/image.h"

namespace halyard::test {

/// Format, dtype, size, pitch, offset, colorimetry and quantization of an image.
std::string describe(const Tensor& image);
/// Both images and all fields that do not have their default.
std::string describe(const Convert& request);

}  // namespace halyard::test
