// SPDX-License-Identifier: Apache-2.0
// The one place where memory of Python objects becomes addresses (PEP 3118). Every call that takes
// an array goes through ArrayView; no other file calls PyObject_GetBuffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bindings.h"
#include "halyard/tensor.h"

namespace halyard::python {

/// Whether two elements may share a byte. Exact for all strides that slices, steps, flips and
/// transposes of an ordinary array have; true for strides that do not nest in one another.
bool may_overlap_itself(const Layout& layout) noexcept;

/// A range of addresses.
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool overlaps(const AddressRange& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
};
/// Where the elements of `layout` lie when element (0, ..., 0) lies at `data`.
AddressRange address_range(const std::byte* data, const Layout& layout) noexcept;

/// What an array is opened for.
enum class ArrayUse : std::uint8_t {
  read,
  write,  ///< every element is written: overlapping elements are refused
  bytes,  ///< the raw bytes of a contiguous array, whatever its elements are
};

/// The buffer of a Python object: exported, and with it kept alive and in place, while this is
/// open. Shape and strides are copies, checked when they come; absent ones are filled in as PEP
/// 3118 says. Opened and closed under the interpreter's lock; the elements may be read and written
/// without it. To open an array may run Python code, to use an open one does not.
class ArrayView {
 public:
  ArrayView() noexcept = default;
  ArrayView(const ArrayView&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;
  ~ArrayView() { close(); }

  /// False, and closed, where `object` has no buffer that can be opened so. Raises
  /// InvalidArgumentError or UnsupportedError naming `argument` for a buffer that contradicts
  /// itself, leaves the address space or is indirect, AccessError for overlapping elements that
  /// would be written, and what Python code of the object raises (KeyboardInterrupt, MemoryError).
  bool open(nb::handle object, const char* argument, ArrayUse use);
  /// Gives the buffer back. Nothing happens when it is closed.
  void close() noexcept;
  /// Forgets the buffer without giving it back: the interpreter has ended.
  void abandon() noexcept { is_open_ = false; }

  bool is_open() const noexcept { return is_open_; }
  /// The object that exports, borrowed; null when closed.
  PyObject* exporter() const noexcept { return is_open_ ? view_.obj : nullptr; }
  bool is_read_only() const noexcept { return view_.readonly != 0; }

  /// Count of axes. Above max_rank it is all that is known: there are no elements to use then.
  std::size_t rank() const noexcept { return rank_; }
  std::size_t extent(std::size_t axis) const noexcept { return shape_[axis]; }
  std::ptrdiff_t stride(std::size_t axis) const noexcept { return stride_bytes_[axis]; }
  /// Extents; empty above max_rank.
  std::span<const std::size_t> shape() const noexcept {
    return std::span(shape_).first(rank_ <= max_rank ? rank_ : 0);
  }
  std::size_t item_bytes() const noexcept { return item_bytes_; }
  bool is_contiguous() const noexcept;
  /// Whether two elements may share a byte; see may_overlap_itself().
  bool overlaps_itself() const noexcept;
  /// Element type; none where there is no such type here, or in another byte order.
  std::optional<DType> dtype() const noexcept;
  bool is_swapped() const noexcept { return is_swapped_; }

  /// Element (0, ..., 0).
  const std::byte* data() const noexcept { return static_cast<const std::byte*>(view_.buf); }
  /// The same to write to; null for a read-only array.
  std::byte* writable() const noexcept {
    return is_read_only() ? nullptr : static_cast<std::byte*>(view_.buf);
  }
  Reach reach() const noexcept { return reach_; }
  /// The bytes from the lowest element to behind the highest one.
  std::span<const std::byte> bytes() const noexcept;
  AddressRange range() const noexcept;

  /// Element type, shape and strides. Raises InvalidArgumentError naming `argument`: byte order, no
  /// such element type, not 1 to 8 axes.
  Layout layout(const char* argument) const;

 private:
  void take_shape(const char* argument);
  void take_bytes(const char* argument);
  void take_format() noexcept;
  void check_reach(const char* argument);

  Py_buffer view_{};
  bool is_open_ = false;
  bool is_swapped_ = false;
  std::size_t rank_ = 0;
  std::size_t count_ = 0;
  std::size_t item_bytes_ = 0;
  std::string_view format_;  ///< of the buffer, without its byte order
  Reach reach_;
  std::array<std::size_t, max_rank> shape_{};
  std::array<std::ptrdiff_t, max_rank> stride_bytes_{};
};

/// An array over the memory of an object that has no buffer but NumPy's array interface
/// (`__array_interface__`, `__array_struct__`); NumPy makes it and keeps the object alive. Null
/// where the object has none. Raises TypeError naming `argument` where NumPy refuses it.
nb::object array_of_interface(nb::handle object, const char* argument);

}  // namespace halyard::python
