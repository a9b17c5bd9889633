// SPDX-License-Identifier: Apache-2.0
// BenchFrames: frames without end, of the inputs again and again, or made by the program.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "halyard/capture.h"
#include "halyard/tensor.h"
#include "input/inputs.h"

namespace halyard::tool {

/// One thread at a time uses it.
class BenchFrames {
 public:
  /// RGB images of this size, with edges and gradients, which show no object.
  static Result<BenchFrames> synthetic(Size size);
  /// Reads the first frame of the inputs. Reports inputs that cannot be read. Errors: as
  /// Inputs::open(), of a single input.
  static Result<BenchFrames> open(std::vector<std::string> paths, FrameSourceOptions reading);

  /// Starts from the first frame again.
  void rewind() { inputs_.reset(); }
  /// Nullopt: a camera or topic has ended, an interrupt is requested, or nothing can be read any
  /// more. Reports each input that cannot be read once. Errors: as Inputs::open(), of a single
  /// input.
  Result<std::optional<Frame>> next();
  /// The first image files that next() would read, at most `limit`, as inputs of their own. Errors:
  /// those of open(); unsupported (videos, cameras, topics; images that the program makes).
  Result<BenchFrames> image_files(std::size_t limit) const;

  bool is_synthetic() const noexcept { return !images_.empty(); }
  bool is_live() const noexcept { return is_live_; }
  /// Whether the inputs have no frame.
  bool is_empty() const noexcept { return is_empty_; }
  /// Count of inputs that could not be read.
  std::size_t damaged() const noexcept { return damaged_.size(); }
  const std::vector<std::string>& paths() const noexcept { return paths_; }
  Size size() const noexcept { return size_; }  ///< of the first frame, upright
  PixelFormat format() const noexcept { return format_; }

 private:
  BenchFrames() = default;
  void describe(const Tensor& image);
  std::vector<std::string> paths_;
  FrameSourceOptions reading_;
  std::optional<Inputs> inputs_;
  std::vector<Tensor> images_;  ///< synthetic ones
  std::size_t made_ = 0;
  std::set<std::string> damaged_;
  bool is_live_ = false;
  bool is_empty_ = false;
  bool has_frame_ = false;  ///< in this pass
  Size size_;
  PixelFormat format_ = PixelFormat::rgb;
};

}  // namespace halyard::tool
