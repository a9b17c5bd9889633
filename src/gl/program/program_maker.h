// SPDX-License-Identifier: Apache-2.0
// ProgramMaker: linked programs from their texts, out of the user's cache where it has them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/env.h"
#include "gl/program/program_cache.h"
#include "halyard/result.h"

namespace halyard::gl {

/// Made on any thread; used on the worker's.
class ProgramMaker {
 public:
  /// Reads the environment, which the program may change while the worker runs. make() calls
  /// `before` first, for the errors of OpenGL so far: the cache forgets those that it causes.
  explicit ProgramMaker(std::function<Status()> before = {});

  /// The caller deletes it. Errors: those of `before`, device (the driver does not compile or link
  /// it; the detail is the driver's). May throw std::bad_alloc.
  Result<std::uint32_t> make(const ProgramText& text);

 private:
  const Environment environment_;
  std::function<Status()> before_;
  std::optional<ProgramCache> cache_;  ///< set by the first call
};

/// Programs compiled since the start of the process. Thread-safe.
std::uint64_t compiled_programs() noexcept;

}  // namespace halyard::gl
