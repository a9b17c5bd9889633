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
  /// Errors: unsupported (`options` or force_backend names an absent backend, or no backend's
  /// name).
  static Result<Dispatch> create(const ProcessorOptions& options, const Environment& env);

  static constexpr std::size_t count = 3;
  /// Null if the backend is absent, or given up.
  ImageBackend* backend(std::size_t number) const noexcept {
    const Candidate& candidate = candidates_[number];
    return candidate.absent.empty() ? candidate.backend.get() : nullptr;
  }
  /// Tells that a backend has failed. False if its error is the caller's to see: the backend is
  /// forced, or the error is not the device's. True: another backend is to do the work; if the
  /// device itself has failed, this one is absent from now on.
  bool give_up(std::size_t number, const Error& error);
  /// Number of the first backend that accepts the plan and serves the tensors; none if none does.
  /// Appends one line to `report` for each backend asked.
  std::optional<std::size_t> explain(const Plan& plan, const Tensor& src, const Tensor& dst,
                                     std::string& report) const;

 private:
  struct Candidate {
    std::string_view name;
    std::unique_ptr<ImageBackend> backend;
    std::string absent = {};  ///< why it is not used; empty: it is
  };
  void add_opengl(const Environment& env, ComputeBackend wanted);
  void add_g2d(const Environment& env, ComputeBackend wanted);
  /// Removes all backends but the forced one. Errors: those of create().
  Status keep_only(const std::string& forced);
  Status check_wanted(ComputeBackend wanted) const;

  std::array<Candidate, count> candidates_;
  bool is_forced_ = false;
};

/// The error of one of several requests: the request's index is put in front of its detail.
Error at_request(std::size_t index, const Error& error);

}  // namespace halyard::image
