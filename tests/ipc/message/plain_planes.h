// SPDX-License-Identifier: Apache-2.0
// Where the planes of an image in one buffer lie, written down format by format for the tests.
#pragma once

#include <cstddef>
#include <vector>

#include "halyard/format.h"

namespace halyard::test {

struct PlainPlane {
  std::size_t offset;
  std::size_t stride;
  std::size_t row_bytes;
  std::size_t rows;
  unsigned shift_x;  // log2 of image columns under one column of the plane
  unsigned shift_y;
  std::size_t column_bytes;  // of one column of the plane
};

/// `element`: bytes of a sample; `stride`: of the first plane.
inline std::vector<PlainPlane> plain_planes(PixelFormat format, std::size_t element,
                                            std::size_t width, std::size_t height,
                                            std::size_t stride, std::size_t offset) {
  const std::size_t half_width = (width + 1) / 2;
  const std::size_t half_height = (height + 1) / 2;
  const std::size_t behind_luma = offset + height * stride;
  const auto packed = [&](std::size_t channels) {
    const std::size_t pixel = channels * element;
    return std::vector<PlainPlane>{{offset, stride, width * pixel, height, 0, 0, pixel}};
  };
  const auto planar = [&](std::size_t count) {
    std::vector<PlainPlane> planes;
    for (std::size_t i = 0; i < count; ++i)
      planes.push_back(
          {offset + i * height * stride, stride, width * element, height, 0, 0, element});
    return planes;
  };
  const PlainPlane luma{offset, stride, width, height, 0, 0, 1};
  switch (format) {
    case PixelFormat::rgb:
    case PixelFormat::bgr:
      return packed(3);
    case PixelFormat::rgba:
    case PixelFormat::bgra:
      return packed(4);
    case PixelFormat::yuyv:
    case PixelFormat::yvyu:
    case PixelFormat::uyvy:
    case PixelFormat::vyuy:
      return {{offset, stride, half_width * 4, height, 1, 0, 4}};
    case PixelFormat::planar_rgb:
      return planar(3);
    case PixelFormat::planar_rgba:
      return planar(4);
    case PixelFormat::nv12:
    case PixelFormat::nv21:
      return {luma, {behind_luma, stride, half_width * 2, half_height, 1, 1, 2}};
    case PixelFormat::nv16:
      return {luma, {behind_luma, stride, half_width * 2, height, 1, 0, 2}};
    case PixelFormat::nv24:
      return {luma, {behind_luma, 2 * stride, width * 2, height, 0, 0, 2}};
    case PixelFormat::i420: {
      const std::size_t half_stride = stride / 2;
      return {
          luma,
          {behind_luma, half_stride, half_width, half_height, 1, 1, 1},
          {behind_luma + half_height * half_stride, half_stride, half_width, half_height, 1, 1, 1}};
    }
    default:
      return packed(1);
  }
}

}  // namespace halyard::test
