// SPDX-License-Identifier: Apache-2.0
// Mapped tensors and images as cv::Mat, and cv::Mat as tensors, without a copy. halyard.h does not
// include this header: it needs OpenCV's headers (core).
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "halyard/buffer.h"
#include "halyard/format.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard {

/// OpenCV's depth (CV_8U, ...); nullopt for u32, u64, i64, bf16 and bool.
inline std::optional<int> opencv_depth(DType dtype) noexcept {
  switch (dtype) {
    case DType::u8:
      return CV_8U;
    case DType::i8:
      return CV_8S;
    case DType::u16:
      return CV_16U;
    case DType::i16:
      return CV_16S;
    case DType::i32:
      return CV_32S;
    case DType::f16:
      return CV_16F;
    case DType::f32:
      return CV_32F;
    case DType::f64:
      return CV_64F;
    default:
      return std::nullopt;
  }
}

/// The reverse of opencv_depth(); nullopt for all other depths.
inline std::optional<DType> dtype_of_depth(int depth) noexcept {
  for (const DType dtype : {DType::u8, DType::i8, DType::u16, DType::i16, DType::i32, DType::f16,
                            DType::f32, DType::f64}) {
    if (opencv_depth(dtype) == depth) return dtype;
  }
  return std::nullopt;
}

namespace opencv_detail {

// Rows of pixels in memory: what a cv::Mat of two dimensions describes.
struct Rows {
  const std::byte* data;
  std::size_t rows, columns, channels, stride_bytes;
};

inline Result<cv::Mat> mat_over(const Rows& rows, DType dtype) {
  const auto depth = opencv_depth(dtype);
  if (!depth) {
    return make_error(Errc::unsupported, "mat: OpenCV has no such elements",
                      std::string(to_string(dtype)));
  }
  if (rows.rows > INT_MAX || rows.columns > INT_MAX || rows.channels > CV_CN_MAX) {
    return make_error(Errc::unsupported, "mat: an extent is above OpenCV's limits");
  }
  if (rows.channels == 0 || rows.rows == 0 || rows.columns == 0)
    return make_error(Errc::unsupported, "mat: there are no elements");
  // The stride of a single row has no meaning, and OpenCV refuses one below the width.
  const std::size_t tight = rows.columns * rows.channels * size_of(dtype);
  const std::size_t step = rows.rows == 1 ? tight : rows.stride_bytes;
  if (step < tight || step % size_of(dtype) != 0) {
    return make_error(
        Errc::unsupported, "mat: rows overlap, or begin amid an element",
        std::to_string(step) + " bytes from row to row, " + std::to_string(tight) + " used");
  }
  const int type = CV_MAKETYPE(*depth, static_cast<int>(rows.channels));
  // cv::Mat has no read-only form. Whether it may be written depends on the map, see mat_of().
  return cv::Mat(static_cast<int>(rows.rows), static_cast<int>(rows.columns), type,
                 const_cast<std::byte*>(rows.data), step);
}

// [rows, columns] or [rows, columns, channels] with adjacent pixels.
inline Result<Rows> rows_of(const TensorMap& map) {
  const Layout& layout = map.layout();
  if (layout.rank != 2 && layout.rank != 3) {
    return make_error(Errc::invalid_argument, "mat: the tensor's rank must be 2 or 3",
                      "rank " + std::to_string(layout.rank));
  }
  // A planar image is [C, H, W]: its rows are not rows of pixels.
  if (!map.planes_adjacent() || (layout.rank == 3 && map.plane_count() > 1)) {
    return make_error(Errc::unsupported,
                      "mat: the image's planes lie apart; take them by mat_of_plane()");
  }
  const auto element = static_cast<std::ptrdiff_t>(size_of(layout.dtype));
  const std::size_t channels = layout.rank == 3 ? layout.shape[2] : 1;
  const auto pixel = element * static_cast<std::ptrdiff_t>(channels);
  const bool adjacent = (layout.shape[1] <= 1 || layout.stride_bytes[1] == pixel) &&
                        (channels <= 1 || layout.stride_bytes[2] == element);
  if (!adjacent || (layout.shape[0] > 1 && layout.stride_bytes[0] < 0)) {
    return make_error(Errc::unsupported,
                      "mat: the elements of a row must lie side by side, rows from top to bottom");
  }
  return Rows{map.data(), layout.shape[0], layout.shape[1], channels,
              static_cast<std::size_t>(layout.stride_bytes[0])};
}

}  // namespace opencv_detail

/// A rank 2 tensor or packed image [H, W] or [H, W, C] as a Mat of C channels over the same bytes.
/// For planar images use mat_of_plane(). The Mat owns nothing and must not outlive the map. A
/// cv::Mat has no read-only form: do not write to one over a map for reading. Errors:
/// invalid_argument (rank), unsupported (element type, strides that a Mat cannot have, no elements,
/// planes in several places).
inline Result<cv::Mat> mat_of(const TensorMap& map) {
  HALYARD_TRY(const auto rows, opencv_detail::rows_of(map));
  return opencv_detail::mat_over(rows, map.layout().dtype);
}

/// Plane `index` of a mapped image: the luma of NV12 with one channel, its chroma with two, as
/// cv::cvtColorTwoPlane() takes them. Otherwise as mat_of(). Errors: also invalid_argument (index).
inline Result<cv::Mat> mat_of_plane(const TensorMap& map, std::size_t index) {
  if (index >= map.plane_count()) {
    return make_error(Errc::invalid_argument, "index: the map has no such plane",
                      std::to_string(index) + " of " + std::to_string(map.plane_count()));
  }
  if (map.plane_count() == 1) return mat_of(map);
  const MappedPlane& plane = map.plane(index);
  const DType dtype = map.layout().dtype;
  const std::size_t channels = map.plane_count() == 2 && index == 1 ? 2 : 1;
  return opencv_detail::mat_over(
      {plane.data, plane.rows, plane.row_bytes / (channels * size_of(dtype)), channels,
       plane.stride_bytes},
      dtype);
}

/// A tensor over the elements of a Mat; the elements live as long as the tensor. The shape is
/// [rows, columns] for one channel, [rows, columns, channels] for more, and all extents for a Mat
/// of more dimensions. A Mat over foreign memory does not keep that memory alive; the tensor does
/// not either. Errors: invalid_argument (empty), unsupported (depth, more than 8 axes).
inline Result<Tensor> wrap_mat(const cv::Mat& mat) {
  if (mat.empty()) return make_error(Errc::invalid_argument, "mat: is empty");
  const auto dtype = dtype_of_depth(mat.depth());
  if (!dtype) {
    return make_error(Errc::unsupported, "mat: no dtype is like its depth",
                      std::to_string(mat.depth()));
  }
  const auto dims = static_cast<std::size_t>(mat.dims);
  const bool has_channels = mat.channels() > 1;
  if (dims + (has_channels ? 1 : 0) > max_rank)
    return make_error(Errc::unsupported, "mat: a tensor has 8 axes at most");
  Layout layout;
  layout.dtype = *dtype;
  layout.rank = static_cast<std::uint8_t>(dims + (has_channels ? 1 : 0));
  std::size_t bytes = mat.elemSize();
  for (std::size_t axis = 0; axis < dims; ++axis) {
    const auto at = static_cast<int>(axis);
    layout.shape[axis] = static_cast<std::size_t>(mat.size[at]);
    layout.stride_bytes[axis] = static_cast<std::ptrdiff_t>(mat.step[at]);
    bytes += (layout.shape[axis] - 1) * mat.step[at];
  }
  if (has_channels) {
    layout.shape[dims] = static_cast<std::size_t>(mat.channels());
    layout.stride_bytes[dims] = static_cast<std::ptrdiff_t>(mat.elemSize1());
  }
  const std::span elements(reinterpret_cast<std::byte*>(mat.data), bytes);
  HALYARD_TRY(auto buffer, wrap_object(elements, std::make_shared<cv::Mat>(mat)));
  return Tensor::wrap(std::move(buffer), layout);
}

}  // namespace halyard
