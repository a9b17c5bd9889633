// SPDX-License-Identifier: Apache-2.0
// Network addresses as names of sources.
#pragma once

#include <string>
#include <string_view>

#include "halyard/result.h"

namespace halyard::capture {

enum class Scheme : std::uint8_t { http, rtsp };

/// Whether `path` has a scheme, as in "rtsp://camera/stream". Such a path is never a file.
bool is_address(std::string_view path) noexcept;

/// http and https are Scheme::http, rtsp and rtsps Scheme::rtsp. Errors: unsupported (another
/// scheme; the message names the supported ones).
Result<Scheme> scheme_of(const std::string& address);

/// The address without its user and password, for messages and Frame::source.
std::string without_password(const std::string& address);

}  // namespace halyard::capture
