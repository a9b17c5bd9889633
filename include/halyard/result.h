// SPDX-License-Identifier: Apache-2.0
// Result<T>, Error and Errc: how every call that can fail reports it. Nothing here prints or
// throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "halyard/export.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// The one error code of the library. Values are stable: the C interface returns them.
enum class Errc : std::uint8_t {
  ok = 0,
  invalid_argument = 1,  ///< a caller's value is wrong; the message names it and its limit
  unsupported = 2,       ///< understood, but not served by this build, file kind or backend
  no_memory = 3,         ///< memory of the requested kind is not available
  exhausted = 4,         ///< a fixed capacity is used up (destination too small, pool empty)
  not_found = 5,         ///< file, device, symbol or name does not exist
  exists = 6,            ///< the name is taken
  timeout = 7,           ///< the wait ended before the event
  busy = 8,              ///< held by somebody else
  malformed = 9,         ///< input does not follow its format
  corrupt = 10,          ///< input follows its format but contradicts itself or ends early
  version = 11,          ///< made by an incompatible version
  permission = 12,       ///< the system refuses access
  os = 13,               ///< a system call failed; see os_errno
  device = 14,           ///< a device or driver failed
  cancelled = 15,        ///< the caller asked to stop
};

/// The enumerator's name, for example "invalid_argument". Never empty; "unknown" for a foreign
/// value.
std::string_view to_string(Errc code) noexcept;

/// Why a call failed. `what` is a literal that names the argument and the rule; `detail` adds the
/// values seen. Cheap to copy; reentrant.
struct Error {
  Errc code = Errc::ok;
  int os_errno = 0;                           ///< errno of the failed system call, 0 when none
  const char* what = "";                      ///< static storage, never null
  std::shared_ptr<const std::string> detail;  ///< may be null

  /// One line: what, the detail, and the system's text for os_errno where there is one.
  std::string message() const;
};

/// Builds an Error; `detail` may be empty.
[[gnu::cold]] Error make_error(Errc code, const char* what, std::string detail = {},
                               int os_errno = 0);

/// Prints one line on standard error, the error whose Result was read as a value, and ends the
/// program.
[[noreturn, gnu::cold]] void abort_without_value(const Error& error) noexcept;
/// As above, for error() of a Result that holds a value.
[[noreturn, gnu::cold]] void abort_without_error() noexcept;

/// A value, or the Error that prevented it; names follow std::expected. Ignoring a Result is a
/// compiler warning. Reading the value of a failed Result is a bug and ends the program with the
/// error's text, in every build: check first.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(const T& value) : value_(value), failed_(false) {}
  Result(T&& value) : value_(std::move(value)), failed_(false) {}
  Result(Error error) noexcept : error_(std::move(error)), failed_(true) {}
  /// Makes the value in place, for types that are costly to move.
  explicit Result(std::in_place_t) : value_(), failed_(false) {}

  Result(const Result& other) requires(std::is_copy_constructible_v<T>) : failed_(other.failed_) {
    take(other);
  }
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : failed_(other.failed_) {
    take(std::move(other));
  }
  Result& operator=(const Result& other) requires(std::is_copy_constructible_v<T>) {
    return *this = Result(other);
  }
  /// Ends the program if moving T throws.
  Result& operator=(Result&& other) noexcept {
    if (this == &other) return *this;
    this->~Result();
    return *::new (static_cast<void*>(this)) Result(std::move(other));
  }
  ~Result() {
    if (failed_)
      error_.~Error();
    else
      value_.~T();
  }

  bool has_value() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return !failed_; }

  T& value() & { return require_value(), value_; }
  const T& value() const& { return require_value(), value_; }
  T&& value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  template <class U>
  T value_or(U&& other) const& {
    return failed_ ? static_cast<T>(std::forward<U>(other)) : value_;
  }

  const Error& error() const& { return require_error(), error_; }
  Error&& error() && {
    require_error();
    return std::move(error_);
  }

 private:
  template <class R>
  void take(R&& other) {
    if (failed_)
      ::new (static_cast<void*>(&error_)) Error(std::forward<R>(other).error_);
    else
      ::new (static_cast<void*>(&value_)) T(std::forward<R>(other).value_);
  }
  void require_value() const noexcept {
    if (failed_) [[unlikely]]
      abort_without_value(error_);
  }
  void require_error() const noexcept {
    if (!failed_) [[unlikely]]
      abort_without_error();
  }

  union {
    T value_;
    Error error_;
  };
  bool failed_;
};

/// Success without a value, or the Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  bool has_value() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return !failed_; }
  const Error& error() const& { return error_; }

 private:
  Error error_;
  bool failed_ = false;
};

using Status = Result<void>;

}  // namespace halyard
HALYARD_EXPORTS_END

#define HALYARD_CONCAT_(a, b) a##b
#define HALYARD_CONCAT(a, b) HALYARD_CONCAT_(a, b)
/// Evaluates a Result. On failure returns its Error from the calling function, else binds the
/// value: `HALYARD_TRY(auto map, tensor.map(Access::read));` A line may hold several of these.
#define HALYARD_TRY(declaration, ...) \
  HALYARD_TRY_(HALYARD_CONCAT(halyard_try_, __COUNTER__), declaration, __VA_ARGS__)
#define HALYARD_TRY_(name, declaration, ...) \
  auto name = (__VA_ARGS__);                 \
  if (!name) return std::move(name).error(); \
  declaration = *std::move(name)
/// As above, for a Status or for a Result whose value is not needed.
#define HALYARD_RETURN_IF_ERROR(...)                                                         \
  do {                                                                                       \
    if (auto halyard_check_ = (__VA_ARGS__); !halyard_check_) return halyard_check_.error(); \
  } while (false)
