// SPDX-License-Identifier: Apache-2.0
// The caller's question whether a decode should go on, asked from inside libjpeg's callbacks and
// row loops alike. One decode at a time works on a thread, so its question lies beside the
// thread's decoder.
#pragma once

#include <functional>

#include "halyard/result.h"

namespace halyard::codec {

/// Makes `question` this thread's while it lives; it must outlive this. Null or empty: no question.
class CancelScope {
 public:
  explicit CancelScope(const std::function<bool()>* question) noexcept;
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
  ~CancelScope();
  /// Whether is_cancelled() has said so.
  bool was_cancelled() const noexcept { return was_cancelled_; }

 private:
  friend bool is_cancelled();
  const std::function<bool()>* question_;
  CancelScope* outer_;
  bool was_cancelled_ = false;
};

/// Asks this thread's question; false without one. After a yes it is not asked again.
bool is_cancelled();

Error cancelled_error();

}  // namespace halyard::codec
