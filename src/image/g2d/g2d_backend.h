// SPDX-License-Identifier: Apache-2.0
// The backend of NXP's 2D blitter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "image/backend.h"
#include "image/g2d/g2d_program.h"
#include "image/g2d/g2d_surface.h"

namespace halyard::image {

class G2dBackend final : public ImageBackend {
 public:
  /// Loads libg2d from `library`, a file name or an absolute path, and opens its device. `forced`:
  /// the backend was asked for by name, so that work is accepted which the device rounds in its own
  /// way. Errors: unsupported (the library is missing or of an unknown version), device.
  static Result<std::unique_ptr<G2dBackend>> create(const std::string& library, bool forced);

  std::string_view name() const noexcept override { return "g2d"; }
  Verdict supports(const Plan& plan) const noexcept override;
  Verdict serves(const Plan& plan, const Tensor& src, const Tensor& dst) const noexcept override;
  Result<std::shared_ptr<const BackendProgram>> compile(const Plan& plan) const override;
  Status submit(std::span<const Job> jobs) override;
  Status finish() override;

 private:
  /// A job with its surfaces.
  struct Run {
    const g2d::G2dProgram* program = nullptr;
    g2d::PlacedSurface source;
    g2d::PlacedSurface target;  ///< the content
    g2d::PlacedSurface whole;   ///< the destination, if it is cleared
  };
  G2dBackend(std::shared_ptr<g2d::G2dDevice> device, const g2d::Limits& limits) noexcept
      : device_(std::move(device)), limits_(limits) {}
  Verdict place(const Plan& plan, const Tensor& src, const Tensor& dst, Run& run) const noexcept;
  Status prepare(std::span<const Job> jobs);
  Status prepare_one(const Job& job);
  void fill_pads(std::span<const Job> jobs) const noexcept;
  Status draw(const Run& run);
  Status set_matrix(g2d::Capability wanted);
  Status hand_over(const g2d::PlacedSurface& surface, g2d::CacheOperation operation) const;

  std::shared_ptr<g2d::G2dDevice> device_;
  g2d::Limits limits_;
  std::vector<Run> runs_;        ///< of the jobs that finish() waits for
  std::vector<TensorMap> pads_;  ///< destinations whose pad the CPU writes; empty maps for others
};

}  // namespace halyard::image
