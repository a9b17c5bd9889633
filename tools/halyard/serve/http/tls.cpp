// SPDX-License-Identifier: Apache-2.0
#include "serve/http/tls.h"

#include <utility>

#ifdef HALYARD_HAVE_OPENSSL
#include <boost/asio/ssl/context.hpp>

namespace halyard::tool {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

Error tls_error(const char* what, const std::string& file, const error_code& error) {
  return make_error(Errc::malformed, what, file + ": " + error.message());
}

}  // namespace

Result<TlsContext> TlsContext::create(const std::string& certificate, const std::string& key) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  ::SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  error_code error;
  context->use_certificate_chain_file(certificate, error);
  if (error) return tls_error("--cert is not a certificate in PEM form", certificate, error);
  context->use_private_key_file(key, ssl::context::pem, error);
  // OpenSSL compares the key with the certificate as it reads it.
  if (error &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == X509_R_KEY_VALUES_MISMATCH)
    return tls_error("--key belongs to another certificate", key, error);
  if (error) return tls_error("--key is not the certificate's key in PEM form", key, error);
  return TlsContext(std::move(context));
}

}  // namespace halyard::tool
#else
namespace halyard::tool {

Result<TlsContext> TlsContext::create(const std::string&, const std::string&) {
  return make_error(Errc::unsupported,
                    "this build has no TLS: install libssl-dev, then configure again");
}

}  // namespace halyard::tool
#endif
