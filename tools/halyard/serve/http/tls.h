// SPDX-License-Identifier: Apache-2.0
// TLS by OpenSSL.
#pragma once

#include <memory>
#include <string>

#include "halyard/result.h"

namespace boost::asio::ssl {
class context;
}

namespace halyard::tool {

/// A certificate with its key. Thread-safe.
class TlsContext {
 public:
  /// PEM files: the certificate followed by those that sign it, and its key without a passphrase.
  /// TLS 1.2 and 1.3. Errors: unsupported (a build without OpenSSL: the message names what to
  /// install), malformed (a file that is not what it must be, or a key of another certificate).
  static Result<TlsContext> create(const std::string& certificate, const std::string& key);

  boost::asio::ssl::context& get() const noexcept { return *context_; }

 private:
  using Context = std::shared_ptr<boost::asio::ssl::context>;
  explicit TlsContext(Context context) noexcept : context_(std::move(context)) {}
  Context context_;
};

}  // namespace halyard::tool
