// SPDX-License-Identifier: Apache-2.0
// The contract between the front (Processor) and whoever moves the pixels. Implementers read this
// file and plan.h, nothing else.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "halyard/result.h"
#include "image/plan.h"

namespace halyard::image {

/// A backend's answer to "would you run this plan?". Declining is a value, not an error.
class Verdict {
 public:
  static constexpr Verdict accept() noexcept { return Verdict(nullptr); }
  /// `reason` is a literal of one line, lower case, without a full stop.
  static constexpr Verdict decline(const char* reason) noexcept { return Verdict(reason); }
  constexpr explicit operator bool() const noexcept { return reason_ == nullptr; }
  /// Why not; empty when accepted.
  constexpr const char* reason() const noexcept { return reason_ == nullptr ? "" : reason_; }

 private:
  constexpr explicit Verdict(const char* reason) noexcept : reason_(reason) {}
  const char* reason_;
};

/// What a backend made of a plan, once, for many runs. Immutable: used by several threads at once.
class BackendProgram {
 public:
  virtual ~BackendProgram() = default;
};

/// One run of a program over images that fit its plan.
struct Job {
  const Plan* plan = nullptr;
  const BackendProgram* program = nullptr;  ///< compiled by the backend that it is given to
  const Tensor* src = nullptr;
  /// Maybe a plain tensor that can be read as the plan's image (Tensor::as_image).
  const Tensor* dst = nullptr;
};

/// Executes checked plans. Promises of every backend:
/// - supports() is pure: it touches no pixel, no device and no state, and gives its reason.
/// - a plan that supports() accepts is computed as plan.h says: 8-bit results within 1 code of the
///   formulas; whoever cannot keep that declines.
/// - submit() may return before the pixels are there; finish() waits for all that was submitted.
///   What the jobs point to outlives finish().
/// - jobs of one submit() may run in any order; they share no destination bytes.
/// - nothing outside the destination's image is written: no row padding, no neighbour of a slice.
/// - submit() that fails to map or to get memory has written no pixel.
/// compile() is reentrant, the rest is used by one thread at a time.
class ImageBackend {
 public:
  virtual ~ImageBackend() = default;
  /// What HALYARD_FORCE_BACKEND calls it.
  virtual std::string_view name() const noexcept = 0;
  virtual Verdict supports(const Plan& plan) const noexcept = 0;
  /// Errors: no_memory.
  virtual Result<std::shared_ptr<const BackendProgram>> compile(const Plan& plan) const = 0;
  /// Errors: those of mapping, no_memory, device.
  virtual Status submit(std::span<const Job> jobs) = 0;
  virtual Status finish() = 0;
};

}  // namespace halyard::image
