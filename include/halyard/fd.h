// SPDX-License-Identifier: Apache-2.0
// Fd: an owned file descriptor. It owns, duplicates and identifies; it does not read or write.
#pragma once

#include <cstdint>

#include "halyard/export.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Identity of the kernel object behind a descriptor; equal for every duplicate of it.
struct FdIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FdIdentity&, const FdIdentity&) = default;
};

/// Identity of the object behind a borrowed descriptor. Errors: invalid_argument (negative), os.
Result<FdIdentity> fd_identity(int borrowed);

/// Owns one file descriptor; the destructor closes it. Move-only. Thread-bound.
class Fd {
 public:
  Fd() = default;
  /// Takes ownership of `fd`; negative means empty.
  explicit Fd(int fd) noexcept : fd_(fd < 0 ? -1 : fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  /// Duplicates a borrowed descriptor with close-on-exec. Errors: invalid_argument (negative), os.
  static Result<Fd> duplicate(int borrowed);

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Passes ownership of the descriptor to the caller, who must close it.
  int release() noexcept;
  void reset() noexcept;
  /// Returns a second descriptor of the same object. Errors: invalid_argument (empty), os.
  Result<Fd> duplicate() const;
  /// Errors: invalid_argument (empty), os.
  Result<FdIdentity> identity() const;

 private:
  int fd_ = -1;
};

}  // namespace halyard
HALYARD_EXPORTS_END
