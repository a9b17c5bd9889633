// SPDX-License-Identifier: Apache-2.0
#include "capture/network/address.h"

#include <algorithm>
#include <cctype>

#include "base/text/format_error.h"

namespace halyard::capture {
namespace {

constexpr std::string_view mark = "://";

bool is_scheme_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
}

}  // namespace

bool is_address(std::string_view path) noexcept {
  const std::size_t at = path.find(mark);
  return at != std::string_view::npos && at > 0 &&
         std::all_of(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(at), is_scheme_char);
}

Result<Scheme> scheme_of(const std::string& address) {
  std::string scheme = address.substr(0, address.find(mark));
  for (char& c : scheme)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (scheme == "http" || scheme == "https") return Scheme::http;
  if (scheme == "rtsp" || scheme == "rtsps") return Scheme::rtsp;
  return fail(Errc::unsupported, "source: its scheme must be http, https, rtsp or rtsps", "{}",
              without_password(address));
}

std::string without_password(const std::string& address) {
  const std::size_t mark_at = address.find(mark);
  if (mark_at == std::string::npos) return address;
  const std::size_t host = mark_at + mark.size();
  const std::string_view authority =
      std::string_view(address).substr(host, address.find_first_of("/?#", host) - host);
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return address;
  return address.substr(0, host) + address.substr(host + at + 1);
}

}  // namespace halyard::capture
