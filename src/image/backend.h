// SPDX-License-Identifier: Apache-2.0
// The contract between the front (Processor) and the backends that compute pixels. Who implements a
// backend needs only this file and plan.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "halyard/fd.h"
#include "halyard/result.h"
#include "image/plan.h"

namespace halyard::image {

/// How long a sync file is waited for: far longer than any frame takes.
constexpr std::chrono::seconds sync_file_patience{5};

/// A backend's answer to "do you run this plan?". Declining is a value, not an error.
class Verdict {
 public:
  static constexpr Verdict accept() noexcept { return Verdict(nullptr); }
  /// `reason` is a literal of one line, lower case, without a full stop.
  static constexpr Verdict decline(const char* reason) noexcept { return Verdict(reason); }
  constexpr explicit operator bool() const noexcept { return reason_ == nullptr; }
  /// The reason for declining; empty if accepted.
  constexpr const char* reason() const noexcept { return reason_ == nullptr ? "" : reason_; }

 private:
  constexpr explicit Verdict(const char* reason) noexcept : reason_(reason) {}
  const char* reason_;
};

/// What a backend compiled from a plan, once, for many runs. Immutable: several threads use it at
/// once.
class BackendProgram {
 public:
  virtual ~BackendProgram() = default;
};

/// One run of a program on images that fit its plan.
struct Job {
  const Plan* plan = nullptr;
  const BackendProgram* program = nullptr;  ///< compiled by the backend that runs it
  const Tensor* src = nullptr;
  /// May be a plain tensor that can be read as the plan's image (Tensor::as_image).
  const Tensor* dst = nullptr;
};

/// Executes checked plans. Every backend guarantees:
/// - supports() is pure: it touches no pixel, no device and no state, and gives a reason.
/// - serves() declines tensors of an accepted plan that the backend cannot reach: their memory,
/// strides or offsets. It touches no pixel. It may ask a device once for each buffer, and keeps the
/// answer on the buffer. It allocates nothing for buffers that it knows.
/// - A plan that supports() accepts, on tensors that serves() accepts, is computed as defined in
/// plan.h: 8-bit results are within 1 code of the formulas. A backend that cannot guarantee this
/// declines. Only where it is asked for by name, it may accept more in ColorimetryMode::fast;
/// docs/conversion.md tells what.
/// - submit() may return before the pixels are written; finish() waits for all that was submitted.
/// What the jobs point to outlives finish().
/// - The jobs of one submit() may run in any order; they share no destination bytes.
/// - Only the destination's image is written: no row padding, no neighbour of a slice.
/// - If submit() fails to map or to allocate memory, it has written no pixel.
/// compile() may be called by several threads at once; all else by one thread at a time.
class ImageBackend {
 public:
  virtual ~ImageBackend() = default;
  /// Its name in HALYARD_FORCE_BACKEND.
  virtual std::string_view name() const noexcept = 0;
  virtual Verdict supports(const Plan& plan) const noexcept = 0;
  /// `src` and `dst` fit the plan; `dst` may be a plain tensor, as in Job.
  virtual Verdict serves(const Plan& /*plan*/, const Tensor& /*src*/,
                         const Tensor& /*dst*/) const noexcept {
    return Verdict::accept();
  }
  /// The memory for images that it converts without a copy; automatic if any will do.
  virtual Memory image_memory() const noexcept { return Memory::automatic; }
  /// A DMA-BUF of its device's driver, zero-filled, which it converts without a copy, for machines
  /// without a heap of them. Errors: unsupported (it makes none), no_memory, device.
  virtual Result<std::shared_ptr<Buffer>> make_dma_buffer(std::size_t size_bytes);
  /// How it serves them, for people, as "src imported, dst read back"; may be empty.
  virtual std::string describe(const Plan& /*plan*/, const Tensor& /*src*/,
                               const Tensor& /*dst*/) const {
    return {};
  }
  /// Errors: no_memory.
  virtual Result<std::shared_ptr<const BackendProgram>> compile(const Plan& plan) const = 0;
  /// Errors: those of mapping, no_memory, device.
  virtual Status submit(std::span<const Job> jobs) = 0;
  virtual Status finish() = 0;
  /// As finish(), but may return before the pixels are written, with a sync file that signals when
  /// they are. Empty: they are. What the jobs point to may end at once, except for the bytes.
  virtual Result<Fd> finish_later() {
    HALYARD_RETURN_IF_ERROR(finish());
    return Fd();
  }
  /// Makes the jobs of the next submit() wait for a sync file, which is borrowed. False: this
  /// backend cannot; the caller waits.
  virtual bool queue_wait(int /*sync_file*/) noexcept { return false; }
};

inline Result<std::shared_ptr<Buffer>> ImageBackend::make_dma_buffer(std::size_t /*size_bytes*/) {
  return make_error(Errc::unsupported, "memory: this backend makes no DMA-BUFs");
}

}  // namespace halyard::image
