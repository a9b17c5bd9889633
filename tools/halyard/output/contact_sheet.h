// SPDX-License-Identifier: Apache-2.0
// ContactSheet: up to twelve evenly spaced frames of a run in one image.
#pragma once

#include <cstddef>
#include <vector>

#include "halyard/image.h"
#include "halyard/tensor.h"

namespace halyard::tool {

/// The number of frames need not be known. It keeps every frame, then every second, every
/// fourth..., so that it never holds more than twice the frames it shows. Thread-bound.
class ContactSheet {
 public:
  static constexpr std::size_t cells = 12;
  static constexpr std::size_t columns = 4;
  static constexpr std::int32_t cell_width = 320;
  static constexpr std::int32_t gap = 4;

  /// Takes the next frame, an RGB image, and keeps a small copy or nothing.
  Status add(const Tensor& image, Processor& processor);
  bool is_empty() const noexcept { return thumbnails_.empty(); }
  /// The sheet as RGB. Errors: invalid_argument (no frame was added), those of allocation.
  Result<Tensor> compose() const;

 private:
  std::vector<Tensor> thumbnails_;
  Size cell_;
  std::size_t seen_ = 0;
  std::size_t step_ = 1;
};

}  // namespace halyard::tool
