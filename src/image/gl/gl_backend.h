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
  /// (the word of HALYARD_FORCE_TRANSFER or HALYARD_NV_CONVERT_PATH is unknown).
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
  /// Only where it imports, and while the driver has not refused once.
  Result<std::shared_ptr<Buffer>> make_dma_buffer(std::size_t size_bytes) override;
  std::string describe(const Plan& plan, const Tensor& src, const Tensor& dst) const override;
  Result<std::shared_ptr<const BackendProgram>> compile(const Plan& plan) const override;
  /// Prepares the images; finish() and finish_later() draw, in one visit to the context's thread.
  Status submit(std::span<const Job> jobs) override;
  Status finish() override { return finish_runs(nullptr); }
  Result<Fd> finish_later() override;
  bool queue_wait(int sync_file) noexcept override;

 private:
  explicit GlBackend(const GlRunOptions& options) noexcept : options_(options) {}
  Status start() const;
  /// Starts OpenGL at the first call; remembers its refusal.
  Verdict start_once() const noexcept;
  /// Whether it may be chosen by itself: a GPU, not a renderer on the CPU.
  Verdict start_gpu() const noexcept;
  GlTransfer transfer_of(const Tensor& image, Access access) const noexcept;
  Status prepare(std::span<const Job> jobs);
  Status prepare_run(const Job& job);
  /// Draws what was prepared. If `fence` is set and the driver can, does not wait, but gives it the
  /// sync file of the end.
  Status finish_runs(Fd* fence);
  // On the worker's thread.
  Status draw_all(Fd* fence);
  /// Of one whose buffers the driver does not import: by copies. From the next frame on,
  /// prepare_run() knows so.
  Status draw_copy(GlRun& run);
  Status wait_on_device();
  Status wait_on_cpu();
  void drop_runs() noexcept;

  GlRunOptions options_;
  bool is_automatic_ = false;
  bool exports_ = true;  ///< as far as is known
  bool allows_software_ = false;
  std::optional<GlDisplayKind> display_;
  // Set by the first call that needs them, on the one thread that uses the processor.
  mutable std::shared_ptr<gl::Worker> worker_;
  mutable std::shared_ptr<GlObjects> objects_;  ///< used on the worker's thread only
  mutable std::string refusal_;
  Fd wait_;  ///< before the next runs
  std::vector<GlRun> runs_;
  std::vector<std::size_t> refused_;  ///< runs whose buffers the driver does not import
};

}  // namespace halyard::image
