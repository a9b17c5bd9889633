// SPDX-License-Identifier: Apache-2.0
// The only place where memory of Python objects becomes addresses (PEP 3118). Every call that takes
// an array uses ArrayView; no other file calls PyObject_GetBuffer.
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
/// transposes of an ordinary array have; true for strides that are not nested.
bool may_overlap_itself(const Layout& layout) noexcept;

/// A range of addresses.
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool overlaps(const AddressRange& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
};

/// How an array will be used.
enum class ArrayUse : std::uint8_t {
  read,
  write,  ///< every element is written: overlapping elements are refused
  bytes,  ///< the raw bytes of a contiguous array, whatever its elements are
};

/// The buffer of a Python object. While it is open, the object is alive and its memory stays in
/// place. Shape and strides are copies that were checked; absent ones are filled in by PEP 3118's
/// rules. Open and close it with the interpreter's lock held; the elements may be read and written
/// without it. Opening an array may run Python code, using an open one does not.
class ArrayView {
 public:
  ArrayView() noexcept = default;
  ArrayView(const ArrayView&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;
  ~ArrayView() { close(); }

  /// False, and closed, if `object` has no buffer that can be opened in this way. Raises
  /// InvalidArgumentError or UnsupportedError naming `argument` for a buffer that contradicts
  /// itself, leaves the address space or is indirect, AccessError for overlapping elements that
  /// would be written, and exceptions of the object's own code (KeyboardInterrupt, MemoryError).
  bool open(nb::handle object, const char* argument, ArrayUse use);
  /// Releases the buffer. Nothing happens if it is closed.
  void close() noexcept;
  /// Drops the buffer without releasing it: the interpreter has ended.
  void abandon() noexcept { is_open_ = false; }

  bool is_open() const noexcept { return is_open_; }
  /// The exporting object, borrowed; null when closed.
  PyObject* exporter() const noexcept { return is_open_ ? view_.obj : nullptr; }
  bool is_read_only() const noexcept { return view_.readonly != 0; }

  /// Count of axes. Above max_rank nothing else is known: the elements cannot be used.
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
  /// Element type; none if Halyard does not have it, or for another byte order.
  std::optional<DType> dtype() const noexcept;
  bool is_swapped() const noexcept { return is_swapped_; }

  /// Element (0, ..., 0).
  const std::byte* data() const noexcept { return static_cast<const std::byte*>(view_.buf); }
  /// The same for writing; null for a read-only array.
  std::byte* writable() const noexcept {
    return is_read_only() ? nullptr : static_cast<std::byte*>(view_.buf);
  }
  Reach reach() const noexcept { return reach_; }
  /// The bytes from the lowest element to the end of the highest one.
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
/// if the object has none. Raises TypeError naming `argument` if NumPy refuses it.
nb::object array_of_interface(nb::handle object, const char* argument);

}  // namespace halyard::python
