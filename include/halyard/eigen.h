// SPDX-License-Identifier: Apache-2.0
// Views of mapped tensors as Eigen matrices, without a copy. halyard.h does not include this
// header, because it needs Eigen's headers.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "halyard/format.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/view.h"

namespace halyard {

// Eigen's 16-bit floats as element types.
template <>
inline constexpr std::optional<DType> dtype_of<Eigen::half> = DType::f16;
template <>
inline constexpr std::optional<DType> dtype_of<Eigen::bfloat16> = DType::bf16;

/// A row-major matrix with two strides; read-only if T is const. Owns nothing and must not outlive
/// the TensorMap.
template <class T>
using EigenMatrixMap = Eigen::Map<
    std::conditional_t<std::is_const_v<T>,
                       const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic,
                                           Eigen::RowMajor>,
                       Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>,
    Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
/// A column vector; read-only if T is const.
template <class T>
using EigenVectorMap =
    Eigen::Map<std::conditional_t<std::is_const_v<T>,
                                  const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, 1>,
                                  Eigen::Matrix<T, Eigen::Dynamic, 1>>,
               Eigen::Unaligned, Eigen::InnerStride<Eigen::Dynamic>>;

/// Views a rank 2 tensor as the matrix [rows, columns]. Errors: those of TensorMap::view().
template <class T>
Result<EigenMatrixMap<T>> eigen_matrix(const TensorMap& map) {
  HALYARD_TRY(const auto view, map.view<T, 2>());
  return EigenMatrixMap<T>(
      view.data_handle(), static_cast<Eigen::Index>(view.extent(0)),
      static_cast<Eigen::Index>(view.extent(1)),
      Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(static_cast<Eigen::Index>(view.stride(0)),
                                                    static_cast<Eigen::Index>(view.stride(1))));
}

/// Views a rank 1 tensor as a column vector. Errors: those of TensorMap::view().
template <class T>
Result<EigenVectorMap<T>> eigen_vector(const TensorMap& map) {
  HALYARD_TRY(const auto view, map.view<T, 1>());
  return EigenVectorMap<T>(
      view.data_handle(), static_cast<Eigen::Index>(view.extent(0)),
      Eigen::InnerStride<Eigen::Dynamic>(static_cast<Eigen::Index>(view.stride(0))));
}

}  // namespace halyard
