// SPDX-License-Identifier: Apache-2.0
// The OpenGL backend: one pass for each plane of the destination, with the filter weights of the
// CPU, so that its numbers are those of every other backend.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gl/display/worker.h"
#include "image/backend.h"
#include "image/gl/gl_program.h"

namespace halyard::image {

class GlObjects;

class GlBackend final : public ImageBackend {
 public:
  /// Errors: those of gl::Worker::shared().
  static Result<std::unique_ptr<GlBackend>> create(bool allow_software);
  std::string_view name() const noexcept override { return "opengl"; }
  Verdict supports(const Plan& plan) const noexcept override;
  Result<std::shared_ptr<const BackendProgram>> compile(const Plan& plan) const override;
  Status submit(std::span<const Job> jobs) override;
  Status finish() override;

 private:
  explicit GlBackend(std::shared_ptr<gl::Worker> worker);
  /// A job with its mapped images.
  struct Run {
    const GlProgram* program = nullptr;
    TensorMap src;
    TensorMap dst;
  };
  Status map_all(std::span<const Job> jobs);

  std::shared_ptr<gl::Worker> worker_;
  std::shared_ptr<GlObjects> objects_;  ///< used on the worker's thread only
  std::vector<Run> runs_;
};

}  // namespace halyard::image
