// SPDX-License-Identifier: Apache-2.0
// Tensors as Eigen matrices: the same bytes, strides followed, what does not fit refused.
#include "halyard/eigen.h"
#include "support/result.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <type_traits>

namespace halyard {
namespace {

// Element (i, j) of a 3 x 4 tensor is 4 i + j.
Tensor counting() {
  Tensor tensor = *Tensor::create(DType::f32, {3, 4}, Memory::mem);
  const auto map = *tensor.map(Access::write);
  const auto flat = *map.flat<float>();
  std::iota(flat.begin(), flat.end(), 0.0F);
  return tensor;
}

TEST(Eigen, maps_a_matrix_in_place) {
  const auto before = copy_stats().copies;
  const Tensor tensor = counting();
  const auto map = *tensor.map(Access::read_write);
  auto matrix = *eigen_matrix<float>(map);
  EXPECT_EQ(reinterpret_cast<const std::byte*>(matrix.data()), map.data());
  EXPECT_EQ(matrix.rows(), 3);
  EXPECT_EQ(matrix.cols(), 4);
  EXPECT_EQ(matrix(1, 2), 6.0F);
  matrix.row(2).setConstant(-1);
  EXPECT_EQ((*map.view<const float, 2>())(2, 3), -1.0F);
  EXPECT_EQ(matrix.sum(), 0 + 1 + 2 + 3 + 4 + 5 + 6 + 7 - 4.0F);
  EXPECT_EQ(copy_stats().copies, before);
}

TEST(Eigen, reads_through_a_map_for_reading) {
  const auto map = *counting().map(Access::read);
  const auto matrix = *eigen_matrix<const float>(map);
  static_assert(std::is_const_v<std::remove_reference_t<decltype(*matrix.data())>>);
  EXPECT_EQ(matrix(2, 3), 11.0F);
  EXPECT_FAILS(eigen_matrix<float>(map), Errc::permission);
}

TEST(Eigen, follows_strides_of_parts_and_of_other_orders) {
  const Tensor tensor = counting();
  Layout layout = tensor.layout();
  layout.shape = {3, 2};
  layout.stride_bytes = {16, 8};  // every second column
  const auto part = *Tensor::wrap(tensor.buffer(), layout, 4);
  const auto map = *part.map(Access::read);
  const auto odd = *eigen_matrix<const float>(map);
  EXPECT_EQ(odd(0, 0), 1.0F);
  EXPECT_EQ(odd(2, 1), 11.0F);
  layout.shape = {4, 3};
  layout.stride_bytes = {4, 16};  // transposed
  const auto rotated = *Tensor::wrap(tensor.buffer(), layout);
  const auto rotated_map = *rotated.map(Access::read);
  const auto matrix = *eigen_matrix<const float>(rotated_map);
  EXPECT_EQ(matrix(3, 0), 3.0F);
  EXPECT_EQ(matrix(0, 2), 8.0F);
  layout.shape = {3, 4};
  layout.stride_bytes = {-16, -4};  // from the end
  const auto last = *Tensor::wrap(tensor.buffer(), layout, 44);
  const auto last_map = *last.map(Access::read);
  const auto reversed = *eigen_matrix<const float>(last_map);
  EXPECT_EQ(reversed(0, 0), 11.0F);
  EXPECT_EQ(reversed(2, 3), 0.0F);
  EXPECT_EQ(reversed.col(1).sum(), 10.0F + 6.0F + 2.0F);
}

TEST(Eigen, maps_a_vector_in_place) {
  const Tensor tensor = counting();
  const auto column =
      *Tensor::wrap(tensor.buffer(),
                    Layout{.dtype = DType::f32, .rank = 1, .shape = {3}, .stride_bytes = {16}}, 8);
  const auto map = *column.map(Access::read_write);
  auto vector = *eigen_vector<float>(map);
  EXPECT_EQ(vector.size(), 3);
  EXPECT_EQ(vector.sum(), 2.0F + 6.0F + 10.0F);
  vector *= 2;
  EXPECT_EQ(vector(1), 12.0F);
  EXPECT_EQ(vector.dot(*eigen_vector<const float>(map)), 16.0F + 144.0F + 400.0F);
}

TEST(Eigen, knows_its_own_half_floats) {
  const auto tensor = *Tensor::create(DType::f16, {2, 2}, Memory::mem);
  const auto map = *tensor.map(Access::read_write);
  (*eigen_matrix<Eigen::half>(map))(1, 1) = Eigen::half(1.5F);
  EXPECT_EQ(to_float((*map.view<const Half, 2>())(1, 1)), 1.5F);
  const auto brain = *Tensor::create(DType::bf16, {2}, Memory::mem);
  EXPECT_TRUE(eigen_vector<const Eigen::bfloat16>(*brain.map(Access::read)));
}

TEST(Eigen, refuses_other_types_and_ranks) {
  const auto map = *counting().map(Access::read);
  EXPECT_FAILS(eigen_matrix<const double>(map), Errc::invalid_argument);
  EXPECT_FAILS(eigen_matrix<const Eigen::half>(map), Errc::invalid_argument);
  EXPECT_FAILS(eigen_vector<const float>(map), Errc::invalid_argument);
}

}  // namespace
}  // namespace halyard
