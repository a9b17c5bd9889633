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
  /// Errors: those of gl::Worker::shared(), invalid_argument (HALYARD_FORCE_TRANSFER is unknown).
  static Result<std::unique_ptr<GlBackend>> create(const Environment& env);
  std::string_view name() const noexcept override { return "opengl"; }
  Verdict supports(const Plan& plan) const noexcept override;
  Result<std::shared_ptr<const BackendProgram>> compile(const Plan& plan) const override;
  Status submit(std::span<const Job> jobs) override;
  Status finish() override;

 private:
  GlBackend(std::shared_ptr<gl::Worker> worker, const GlRunOptions& options);
  Status prepare(std::span<const Job> jobs);
  Status draw_all();
  /// Draws a job by copies, because the driver does not import one of its buffers. From the next
  /// frame on, prepare() knows so.
  Status draw_copy(std::size_t index, const Job& job);

  std::shared_ptr<gl::Worker> worker_;
  std::shared_ptr<GlObjects> objects_;  ///< used on the worker's thread only
  GlRunOptions options_;
  std::vector<GlRun> runs_;
  std::vector<std::size_t> refused_;  ///< runs whose buffers the driver does not import
};

}  // namespace halyard::image
