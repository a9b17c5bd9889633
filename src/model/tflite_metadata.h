// SPDX-License-Identifier: Apache-2.0
// The text that exporters append to a .tflite file as a ZIP archive. Stored entries only.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "halyard/result.h"
#include "model/session.h"

namespace halyard::model {

/// Text of the first stored .txt or .json entry of a ZIP archive at the end of `file`. Empty when
/// there is no archive, no such entry, or the archive contradicts itself.
std::string_view appended_text(std::span<const std::byte> file) noexcept;

/// The top-level entries of the dict that the file carries; empty where there is none.
Metadata read_tflite_metadata(const std::string& path);

}  // namespace halyard::model
