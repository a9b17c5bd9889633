// SPDX-License-Identifier: Apache-2.0
// The OpenGL backend: one pass for each plane of the destination, with the filter weights of the
// CPU, so that its numbers are those of every other backend.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/env.h"
#include "gl/display/worker.h"
#include "image/backend.h"
#include "image/gl/gl_objects.h"

namespace halyard::image {

class GlBackend final : public ImageBackend {
 public:
  /// Serves images in any memory. Errors: those of gl::Worker::shared(), invalid_argument
  /// (HALYARD_FORCE_TRANSFER is unknown).
  static Result<std::unique_ptr<GlBackend>> create(const Environment& env,
                                                   std::optional<GlDisplayKind> display = {});
  /// Serves images that the GPU reads and writes without a copy. Opens OpenGL when it first sees
  /// such images. Errors: invalid_argument.
  static Result<std::unique_ptr<GlBackend>> create_automatic(
      const Environment& env, std::optional<GlDisplayKind> display = {});
  std::string_view name() const noexcept override { return "opengl"; }
  /// Knows the limits of the GPU once OpenGL is open.
  Verdict supports(const Plan& plan) const noexcept override;
  Verdict serves(const Plan& plan, const Tensor& src, const Tensor& dst) const noexcept override;
  Memory image_memory() const noexcept override;
  std::string describe(const Tensor& src, const Tensor& dst) const override;
  Result<std::shared_ptr<const BackendProgram>> compile(const Plan& plan) const override;
  Status submit(std::span<const Job> jobs) override;
  Status finish() override;

 private:
  explicit GlBackend(const GlRunOptions& options) noexcept : options_(options) {}
  Status start() const;
  /// Starts OpenGL at the first call; remembers its refusal.
  Verdict start_once() const noexcept;
  /// Whether it may be chosen by itself: a GPU, not a renderer on the CPU.
  Verdict start_gpu() const noexcept;
  GlTransfer transfer_of(const Tensor& image, Access access) const noexcept;
  Status prepare(std::span<const Job> jobs);
  Status draw_all();
  /// Draws a job by copies, because the driver does not import one of its buffers. From the next
  /// frame on, prepare() knows so.
  Status draw_copy(std::size_t index, const Job& job);

  GlRunOptions options_;
  bool is_automatic_ = false;
  bool allows_software_ = false;
  std::optional<GlDisplayKind> display_;
  // Set by the first call that needs them, on the one thread that uses the processor.
  mutable std::shared_ptr<gl::Worker> worker_;
  mutable std::shared_ptr<GlObjects> objects_;  ///< used on the worker's thread only
  mutable std::string refusal_;
  std::vector<GlRun> runs_;
  std::vector<std::size_t> refused_;  ///< runs whose buffers the driver does not import
};

}  // namespace halyard::image
