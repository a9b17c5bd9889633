// SPDX-License-Identifier: Apache-2.0
// The program does not link OpenSSL: only `halyard serve --cert` maps it.
#include "serve/http/tls.h"

#ifdef HALYARD_HAVE_OPENSSL
#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <climits>

namespace halyard::tool {
namespace {

/// Functions of libssl.so.3 and of the libcrypto.so.3 that it loads.
struct Calls {
  decltype(&::TLS_server_method) server_method = nullptr;
  decltype(&::SSL_CTX_new) context_new = nullptr;
  decltype(&::SSL_CTX_free) context_free = nullptr;
  decltype(&::SSL_CTX_ctrl) context_ctrl = nullptr;
  decltype(&::SSL_CTX_use_certificate_chain_file) use_certificate = nullptr;
  decltype(&::SSL_CTX_use_PrivateKey_file) use_key = nullptr;
  decltype(&::SSL_CTX_check_private_key) check_key = nullptr;
  decltype(&::SSL_new) session_new = nullptr;
  decltype(&::SSL_free) session_free = nullptr;
  decltype(&::SSL_set_fd) set_fd = nullptr;
  decltype(&::SSL_set_accept_state) set_accept_state = nullptr;
  decltype(&::SSL_read) read = nullptr;
  decltype(&::SSL_write) write = nullptr;
  decltype(&::SSL_get_error) get_error = nullptr;
  decltype(&::SSL_shutdown) shutdown = nullptr;
  decltype(&::SSL_ctrl) ctrl = nullptr;
  decltype(&::ERR_get_error) last_error = nullptr;
  decltype(&::ERR_clear_error) clear_errors = nullptr;
  decltype(&::ERR_reason_error_string) reason = nullptr;
  bool is_complete = true;

  template <class Function>
  void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    is_complete = is_complete && function != nullptr;
  }
};

void find_all(void* library, Calls& calls) {
  calls.find(library, "TLS_server_method", calls.server_method);
  calls.find(library, "SSL_CTX_new", calls.context_new);
  calls.find(library, "SSL_CTX_free", calls.context_free);
  calls.find(library, "SSL_CTX_ctrl", calls.context_ctrl);
  calls.find(library, "SSL_CTX_use_certificate_chain_file", calls.use_certificate);
  calls.find(library, "SSL_CTX_use_PrivateKey_file", calls.use_key);
  calls.find(library, "SSL_CTX_check_private_key", calls.check_key);
  calls.find(library, "SSL_new", calls.session_new);
  calls.find(library, "SSL_free", calls.session_free);
  calls.find(library, "SSL_set_fd", calls.set_fd);
  calls.find(library, "SSL_set_accept_state", calls.set_accept_state);
  calls.find(library, "SSL_read", calls.read);
  calls.find(library, "SSL_write", calls.write);
  calls.find(library, "SSL_get_error", calls.get_error);
  calls.find(library, "SSL_shutdown", calls.shutdown);
  calls.find(library, "SSL_ctrl", calls.ctrl);
  calls.find(library, "ERR_get_error", calls.last_error);
  calls.find(library, "ERR_clear_error", calls.clear_errors);
  calls.find(library, "ERR_reason_error_string", calls.reason);
}

/// Loaded once and never unloaded.
Result<Calls> load_calls() {
  void* library = ::dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return make_error(Errc::unsupported, "OpenSSL 3 is not installed: apt-get install libssl3",
                      ::dlerror());
  Calls calls;
  find_all(library, calls);
  if (!calls.is_complete)
    return make_error(Errc::unsupported, "libssl.so.3 lacks a function that is needed");
  return calls;
}

Error tls_error(const Calls& calls, const char* what, const std::string& file) {
  const char* reason = calls.reason(calls.last_error());
  calls.clear_errors();
  return make_error(Errc::malformed, what, file + (reason ? std::string(": ") + reason : ""));
}

}  // namespace

struct TlsContext::State {
  Calls calls;
  SSL_CTX* context = nullptr;
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (context != nullptr) calls.context_free(context);
  }
};

namespace {

class TlsChannel final : public Channel {
 public:
  /// `owner` keeps the context and the functions.
  TlsChannel(std::shared_ptr<const void> owner, const Calls& calls, SSL* session, Fd socket)
      : owner_(std::move(owner)), calls_(calls), session_(session), socket_(std::move(socket)) {}
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;
  ~TlsChannel() override { calls_.session_free(session_); }
  int fd() const noexcept override { return socket_.get(); }

  ChannelResult read(std::span<char> into) override {
    calls_.clear_errors();
    return result_of(calls_.read(session_, into.data(), clamped(into.size())));
  }
  ChannelResult write(std::string_view bytes) override {
    calls_.clear_errors();
    return result_of(calls_.write(session_, bytes.data(), clamped(bytes.size())));
  }
  void end_writing() noexcept override {
    calls_.clear_errors();
    static_cast<void>(calls_.shutdown(session_));
    ::shutdown(socket_.get(), SHUT_WR);
  }

 private:
  static int clamped(std::size_t bytes) {
    return static_cast<int>(std::min<std::size_t>(bytes, INT_MAX));
  }
  ChannelResult result_of(int done) const {
    if (done > 0) return {ChannelResult::State::moved, static_cast<std::size_t>(done)};
    switch (calls_.get_error(session_, done)) {
      case SSL_ERROR_WANT_READ:
        return {ChannelResult::State::wants_read};
      case SSL_ERROR_WANT_WRITE:
        return {ChannelResult::State::wants_write};
      default:
        return {};
    }
  }

  std::shared_ptr<const void> owner_;
  const Calls& calls_;
  SSL* session_;
  Fd socket_;
};

}  // namespace

Result<TlsContext> TlsContext::create(const std::string& certificate, const std::string& key) {
  auto state = std::make_shared<State>();
  HALYARD_TRY(state->calls, load_calls());
  const Calls& calls = state->calls;
  state->context = calls.context_new(calls.server_method());
  if (state->context == nullptr) return make_error(Errc::no_memory, "OpenSSL has no memory");
  calls.context_ctrl(state->context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  if (calls.use_certificate(state->context, certificate.c_str()) != 1)
    return tls_error(calls, "--cert is not a certificate in PEM form", certificate);
  if (calls.use_key(state->context, key.c_str(), SSL_FILETYPE_PEM) != 1)
    return tls_error(calls, "--key is not the certificate's key in PEM form", key);
  if (calls.check_key(state->context) != 1)
    return tls_error(calls, "--key belongs to another certificate", key);
  return TlsContext(std::move(state));
}

std::unique_ptr<Channel> TlsContext::channel(Fd socket) const {
  const Calls& calls = state_->calls;
  SSL* session = calls.session_new(state_->context);
  if (session == nullptr) return nullptr;
  constexpr long modes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER;
  calls.ctrl(session, SSL_CTRL_MODE, modes, nullptr);
  calls.set_fd(session, socket.get());
  calls.set_accept_state(session);
  return std::make_unique<TlsChannel>(state_, calls, session, std::move(socket));
}

}  // namespace halyard::tool
#else
namespace halyard::tool {

struct TlsContext::State {};

Result<TlsContext> TlsContext::create(const std::string&, const std::string&) {
  return make_error(Errc::unsupported,
                    "this build has no TLS: install libssl-dev, then configure again");
}

std::unique_ptr<Channel> TlsContext::channel(Fd) const {
  return nullptr;
}

}  // namespace halyard::tool
#endif
