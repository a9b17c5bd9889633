// SPDX-License-Identifier: Apache-2.0
// Received<T>: the result of a topic's recv().
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "halyard/export.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

template <class T>
class Topic;

/// What recv() found: a message, or nothing; and how many messages were lost before it.
template <class T>
class [[nodiscard]] Received {
 public:
  Received() = default;
  Received(std::optional<T> message, std::uint64_t lost)
      : message_(std::move(message)), lost_(lost) {}

  bool has_message() const noexcept { return message_.has_value(); }
  explicit operator bool() const noexcept { return has_message(); }
  T& operator*() & { return *message_; }
  const T& operator*() const& { return *message_; }
  T&& operator*() && { return *std::move(message_); }
  T* operator->() { return &*message_; }
  const T* operator->() const { return &*message_; }
  /// Messages that were lost since the previous recv().
  std::uint64_t lost() const noexcept { return lost_; }
  /// True if no message came and none was lost.
  bool is_empty() const noexcept { return !message_ && lost_ == 0; }

 private:
  template <class>
  friend class Topic;
  std::optional<T> message_;
  std::uint64_t lost_ = 0;
};

}  // namespace halyard
HALYARD_EXPORTS_END
