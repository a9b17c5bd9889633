// SPDX-License-Identifier: Apache-2.0
// One row of the speed table: source and destination of the conversion, and its contenders.
#pragma once

#include <cstdint>
#include <vector>

#include "halyard/image.h"
#include "turns.h"

namespace halyard::bench {

struct Work {
  const char* name;
  Size source;
  PixelFormat from;
  Size target;
  PixelFormat to;
  DType dtype = DType::u8;
  Fit fit = Fit::stretch;
  Rotation rotation = Rotation::none;
  Filter filter = Filter::bilinear;
  bool antialias = false;
  float scale = 0;  ///< scale of the destination's quantization, zero point -128; 0: none
};

/// The pixels that all contenders of a row read: one tensor of noise, mapped while this object
/// lives.
struct Source {
  explicit Source(const Work& work);
  const std::uint8_t* plane(std::size_t index) const;
  int stride(std::size_t index) const;
  std::size_t bytes() const;
  Tensor tensor;
  TensorMap map;
};
using SharedSource = std::shared_ptr<const Source>;

/// Empty if the library does not support the work yet.
std::vector<Contender> ours(const Work& work, const SharedSource& source, unsigned threads);
/// memcpy of half of the bytes read and written, so that it moves as many in total; streaming
/// stores of the bytes written; each split over the threads.
std::vector<Contender> floors(const Work& work, const SharedSource& source, unsigned threads);
/// The contenders of these libraries; none if the build did not find them.
std::vector<Contender> opencv(const Work& work, const SharedSource& source, unsigned threads);
/// Always on one thread: libyuv does not use more.
std::vector<Contender> libyuv_peer(const Work& work, const SharedSource& source);

Tensor noise(Size size, PixelFormat format, DType dtype = DType::u8);
Convert request_of(const Work& work, const SharedSource& source);
/// The position of the image; the rest is pad.
Region content_of(const Work& work);
std::size_t bytes_of(Size size, PixelFormat format, DType dtype);

}  // namespace halyard::bench
