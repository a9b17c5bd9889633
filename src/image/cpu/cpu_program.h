// SPDX-License-Identifier: Apache-2.0
// CpuProgram: an immutable program that the CPU backend compiles from a plan. It runs over strips
// of the destination.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "image/backend.h"
#include "image/channels.h"

namespace halyard::image {

/// The two mapped images of one run. Channels are in the order of the colour model; a Bayer source
/// is its one plane in source[0]. Channels that an image does not have are null.
struct MappedImages {
  std::array<SourceChannel, 4> source;
  std::array<TargetChannel, 4> target;  ///< with `bgr`, red and blue are swapped
};
MappedImages map_frame(const Plan& plan, const TensorMap& src, const TensorMap& dst) noexcept;

/// Works in units: rows, pairs of rows, or columns that are transposed together. Units may run in
/// any order and on any thread; results do not depend on how they are cut into strips. The caller
/// owns all working memory.
class CpuProgram : public BackendProgram {
 public:
  virtual std::int32_t units() const noexcept = 0;
  /// The fewest units that are worth a thread, at least 1.
  virtual std::int32_t grain() const noexcept = 0;
  /// Bytes of workspace that run() needs; the workspace begins at a 64-byte boundary.
  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Runs units [begin, end). Uses no state but the workspace, and keeps nothing there between
  /// calls.
  virtual void run(const MappedImages& frame, std::int32_t begin, std::int32_t end,
                   std::byte* workspace) const = 0;
};

using ProgramPtr = std::unique_ptr<const CpuProgram>;

/// The paths that run a plan, the fastest first; each returns null for plans that it does not
/// serve. They may throw std::bad_alloc.
ProgramPtr compile_copy(const Plan& plan);     ///< copies, flips and rotates
ProgramPtr compile_repack(const Plan& plan);   ///< changes channels, not values
ProgramPtr compile_yuv_rgb(const Plan& plan);  ///< changes colours, not sizes
ProgramPtr compile_general(const Plan& plan);  ///< serves every plan

/// Hands out parts of a workspace, each aligned to 64 bytes. The same calls on a null workspace
/// count the bytes.
class WorkspaceCursor {
 public:
  explicit WorkspaceCursor(std::byte* begin) noexcept : begin_(begin) {}
  template <class T>
  T* take(std::size_t count) noexcept {
    const std::size_t at = used_;
    used_ += (count * sizeof(T) + 63) / 64 * 64;
    return begin_ == nullptr ? nullptr : reinterpret_cast<T*>(begin_ + at);
  }
  std::size_t used_bytes() const noexcept { return used_; }

 private:
  std::byte* begin_;
  std::size_t used_ = 0;
};

/// Samples from one row to the next in rows that begin at 64-byte boundaries and end with spare
/// samples, so that kernels may load and store whole vectors.
inline constexpr std::size_t spare_samples = 64;
inline std::size_t padded_row(std::int32_t samples) noexcept {
  return (static_cast<std::size_t>(samples) + 63) / 64 * 64 + spare_samples;
}

}  // namespace halyard::image
