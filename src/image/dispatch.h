// SPDX-License-Identifier: Apache-2.0
// Which backends there are, in the order of preference, and which one takes a plan.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/env.h"
#include "halyard/result.h"
#include "image/backend.h"

namespace halyard::image {

class Dispatch {
 public:
  /// Errors: unsupported (force_backend names a backend that is not there, or none that exists).
  static Result<Dispatch> create(unsigned threads, const Environment& env);

  /// The first backend that takes the plan; null: none does. A given `report` gets one line for
  /// each backend asked.
  ImageBackend* choose(const Plan& plan, std::string* report = nullptr) const;

 private:
  /// A backend, or the reason why it is absent.
  struct Candidate {
    std::string_view name;
    std::unique_ptr<ImageBackend> backend;
    const char* absent = "";
  };
  Status check_forced() const;
  const char* reason_against(const Candidate& candidate, const Plan& plan) const;

  std::array<Candidate, 3> candidates_;
  std::optional<std::string> forced_;
};

}  // namespace halyard::image
