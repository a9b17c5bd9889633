// SPDX-License-Identifier: Apache-2.0
// Dispatch: the backends in order of preference, and the choice of one for a plan.
#pragma once

#include <array>
#include <cstddef>
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
  /// Errors: unsupported (force_backend names an absent backend, or no backend's name).
  static Result<Dispatch> create(unsigned threads, const Environment& env);

  static constexpr std::size_t count = 3;
  /// Null if the backend is absent.
  ImageBackend* backend(std::size_t number) const noexcept {
    return candidates_[number].backend.get();
  }
  /// Number of the first backend that accepts the plan and serves the tensors; none if none does.
  /// Appends one line to `report` for each backend asked.
  std::optional<std::size_t> explain(const Plan& plan, const Tensor& src, const Tensor& dst,
                                     std::string& report) const;

 private:
  /// A backend, or the reason why it is absent.
  struct Candidate {
    std::string_view name;
    std::unique_ptr<ImageBackend> backend;
    std::string absent = {};
  };
  void add_opengl(const Environment& env);
  void add_g2d(const Environment& env);
  /// Removes all backends but the forced one. Errors: those of create().
  Status keep_only(const std::string& forced);

  std::array<Candidate, count> candidates_;
};

/// The error of one of several requests: the request's index is put in front of its detail.
Error at_request(std::size_t index, const Error& error);

}  // namespace halyard::image
