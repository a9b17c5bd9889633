// SPDX-License-Identifier: Apache-2.0
// TLS by OpenSSL, which is loaded when the first context is made.
#pragma once

#include <memory>
#include <string>

#include "halyard/result.h"
#include "serve/http/channel.h"

namespace halyard::tool {

/// A certificate with its key. Thread-safe.
class TlsContext {
 public:
  /// PEM files: the certificate followed by those that sign it, and its key without a passphrase.
  /// TLS 1.2 and 1.3. Errors: unsupported (a build without OpenSSL's headers, a system without its
  /// library: the message names what to install), malformed (a file that is not what it must be,
  /// or a key of another certificate).
  static Result<TlsContext> create(const std::string& certificate, const std::string& key);

  /// The server's side of a connection; the socket must be non-blocking. Null without memory.
  std::unique_ptr<Channel> channel(Fd socket) const;

 private:
  struct State;
  explicit TlsContext(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace halyard::tool
