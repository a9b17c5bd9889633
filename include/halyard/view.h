// SPDX-License-Identifier: Apache-2.0
// View: elements of a known type with N axes in mapped memory, with the names of std::mdspan.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>

namespace halyard {

/// A typed view of mapped memory; owns nothing and must not outlive its map. A const T reads, a
/// plain T writes, whether or not the view itself is const. Only assert() checks indices.
template <class T, std::size_t N>
class View {
  static_assert(N >= 1, "a view has one axis at least");

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using byte_type = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  class iterator;

  /// `data` is the address of element (0, ..., 0). Strides are multiples of the element size; they
  /// may be negative.
  View(byte_type* data, std::array<std::size_t, N> shape,
       std::array<std::ptrdiff_t, N> stride_bytes) noexcept
      : data_(data), shape_(shape), stride_bytes_(stride_bytes) {}
  /// A writable view converts to a read-only one.
  operator View<const T, N>() const noexcept requires(!std::is_const_v<T>) {
    return {data_, shape_, stride_bytes_};
  }

  static constexpr std::size_t rank() noexcept { return N; }
  std::size_t extent(std::size_t axis) const noexcept { return shape_[axis]; }
  /// Elements from one index of the axis to the next.
  std::ptrdiff_t stride(std::size_t axis) const noexcept {
    return stride_bytes_[axis] / static_cast<std::ptrdiff_t>(sizeof(T));
  }
  std::ptrdiff_t stride_bytes(std::size_t axis) const noexcept { return stride_bytes_[axis]; }
  /// Address of element (0, ..., 0).
  T* data_handle() const noexcept { return reinterpret_cast<T*>(data_); }
  /// Number of elements.
  std::size_t size() const noexcept {
    std::size_t count = 1;
    for (const std::size_t extent : shape_)
      count *= extent;
    return count;
  }
  bool empty() const noexcept { return size() == 0; }

  template <class... I>
  requires(sizeof...(I) == N) T& operator()(I... index) const noexcept {
    return (*this)[std::array<std::size_t, N>{static_cast<std::size_t>(index)...}];
  }
  T& operator[](const std::array<std::size_t, N>& index) const noexcept {
    byte_type* at = data_;
    for (std::size_t axis = 0; axis < N; ++axis) {
      assert(index[axis] < shape_[axis]);
      at += static_cast<std::ptrdiff_t>(index[axis]) * stride_bytes_[axis];
    }
    return *reinterpret_cast<T*>(at);
  }

  /// The view at index i of the outermost axis.
  View<T, N - 1> row(std::size_t i) const noexcept requires(N > 1) {
    assert(i < shape_[0]);
    std::array<std::size_t, N - 1> shape;
    std::array<std::ptrdiff_t, N - 1> stride;
    for (std::size_t axis = 1; axis < N; ++axis) {
      shape[axis - 1] = shape_[axis];
      stride[axis - 1] = stride_bytes_[axis];
    }
    return {data_ + static_cast<std::ptrdiff_t>(i) * stride_bytes_[0], shape, stride};
  }
  /// The elements of the one axis; they must be adjacent.
  std::span<T> span() const noexcept requires(N == 1) {
    assert(shape_[0] <= 1 || stride(0) == 1);
    return {data_handle(), shape_[0]};
  }

  /// Iterators over the outermost axis: they give rows, or elements if there is one axis.
  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept { return {*this, shape_[0]}; }

 private:
  byte_type* data_;
  std::array<std::size_t, N> shape_;
  std::array<std::ptrdiff_t, N> stride_bytes_;
};

/// Moves along the outermost axis; may outlive its view, but not the map.
template <class T, std::size_t N>
class View<T, N>::iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = std::conditional_t<N == 1, std::remove_cv_t<T>, View<T, N == 1 ? 1 : N - 1>>;
  iterator(const View& view, std::size_t index) noexcept : view_(view), index_(index) {}
  /// Returns T& if there is one axis, else a view of the other axes.
  decltype(auto) operator*() const noexcept {
    if constexpr (N == 1) {
      return view_(index_);
    } else {
      return view_.row(index_);
    }
  }
  iterator& operator++() noexcept {
    ++index_;
    return *this;
  }
  iterator operator++(int) noexcept {
    iterator before = *this;
    ++index_;
    return before;
  }
  bool operator==(const iterator& other) const noexcept { return index_ == other.index_; }

 private:
  View view_;
  std::size_t index_;
};

}  // namespace halyard
