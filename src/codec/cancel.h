// SPDX-License-Identifier: Apache-2.0
// The caller's question "stop decoding?". libjpeg's callbacks and the row loops ask it. A thread
// decodes one image at a time, so the question is kept per thread.
#pragma once

#include <functional>

#include "halyard/result.h"

namespace halyard::codec {

/// Makes `question` the question of this thread while this object lives. `question` must outlive
/// this object. Null or empty: no question.
class CancelScope {
 public:
  explicit CancelScope(const std::function<bool()>* question) noexcept;
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
  ~CancelScope();
  /// Whether is_cancelled() has returned true.
  bool was_cancelled() const noexcept { return was_cancelled_; }

 private:
  friend bool is_cancelled();
  const std::function<bool()>* question_;
  CancelScope* outer_;
  bool was_cancelled_ = false;
};

/// Asks the question of this thread; false without one. After a yes it is not asked again.
bool is_cancelled();

Error cancelled_error();

}  // namespace halyard::codec
