// SPDX-License-Identifier: Apache-2.0
// What the CPU makes of a plan: an immutable program of tables and constants that runs over strips.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "image/backend.h"
#include "image/channels.h"

namespace halyard::image {

/// The two images of one run, mapped. Channels in the order of the colour model; a Bayer source
/// is its one plane in source[0]. Channels that an image does not have are null.
struct MappedImages {
  std::array<SourceChannel, 4> source;
  std::array<TargetChannel, 4> target;  ///< with `bgr` red and blue have changed places
};
MappedImages map_frame(const Plan& plan, const TensorMap& src, const TensorMap& dst) noexcept;

/// Works in units (rows, pairs of rows, or columns that are turned together) that may run in any
/// order on any thread; results do not depend on how they are cut into strips. All working memory
/// is the caller's.
class CpuProgram : public BackendProgram {
 public:
  virtual std::int32_t units() const noexcept = 0;
  /// Fewest units that are worth a thread, at least 1.
  virtual std::int32_t grain() const noexcept = 0;
  /// What run() needs, from a 64-byte boundary on.
  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Units [begin, end). Uses no state but the workspace, which keeps nothing between calls.
  virtual void run(const MappedImages& frame, std::int32_t begin, std::int32_t end,
                   std::byte* workspace) const = 0;
};

using ProgramPtr = std::unique_ptr<const CpuProgram>;

/// The ways to run a plan, the quickest first; each gives null for plans that are not its own.
/// They may throw std::bad_alloc.
ProgramPtr compile_copy(const Plan& plan);     ///< bytes that only change place
ProgramPtr compile_repack(const Plan& plan);   ///< bytes that stay, channels that do not
ProgramPtr compile_yuv_rgb(const Plan& plan);  ///< colours of source rows as they are
ProgramPtr compile_general(const Plan& plan);  ///< everything: sample, colour, store

/// Hands out parts of a workspace, each from a 64-byte boundary on; the same calls on a null
/// workspace count the bytes.
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

/// Results across rows that begin on 64-byte boundaries and end with spare samples, so that
/// kernels may load and store whole vectors.
inline constexpr std::size_t spare_samples = 64;
inline std::size_t padded_row(std::int32_t samples) noexcept {
  return (static_cast<std::size_t>(samples) + 63) / 64 * 64 + spare_samples;
}

}  // namespace halyard::image
