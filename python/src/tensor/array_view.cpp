// SPDX-License-Identifier: Apache-2.0
// ArrayView. Exporters are not trusted: ctypes omits strides even if they are requested, and every
// number is checked before an address is computed from it.
#include "tensor/array_view.h"

#include <algorithm>
#include <string>

namespace halyard::python {
namespace {

// Axes from the shortest stride to the longest: each step must exceed the reach of the inner ones.
bool strides_may_overlap(std::span<const std::size_t> shape,
                         std::span<const std::ptrdiff_t> stride_bytes,
                         std::size_t item_bytes) noexcept {
  struct Axis {
    std::size_t step;
    std::size_t extent;
  };
  std::array<Axis, max_rank> axes{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return false;
    if (shape[i] == 1) continue;
    const auto stride = static_cast<std::size_t>(stride_bytes[i]);
    const std::size_t step = stride_bytes[i] < 0 ? 0 - stride : stride;
    std::size_t at = count++;
    for (; at > 0 && axes[at - 1].step > step; --at)
      axes[at] = axes[at - 1];
    axes[at] = {step, shape[i]};
  }
  std::size_t within = item_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (axes[i].step < within) return true;
    std::size_t way = 0;
    if (__builtin_mul_overflow(axes[i].step, axes[i].extent - 1, &way) ||
        __builtin_add_overflow(within, way, &within))
      return true;
  }
  return false;
}

// The element type of a one-letter format; none if its size is another one.
std::optional<DType> dtype_of(std::string_view format, std::size_t item_bytes) noexcept {
  struct Code {
    char letter;
    std::uint8_t bytes;
    DType dtype;
  };
  // C's long has either size, even if the format claims the standard one (ctypes does so).
  constexpr Code codes[] = {
      {'B', 1, DType::u8},  {'c', 1, DType::u8},  {'b', 1, DType::i8},  {'?', 1, DType::boolean},
      {'H', 2, DType::u16}, {'h', 2, DType::i16}, {'e', 2, DType::f16}, {'I', 4, DType::u32},
      {'i', 4, DType::i32}, {'f', 4, DType::f32}, {'Q', 8, DType::u64}, {'q', 8, DType::i64},
      {'d', 8, DType::f64}, {'L', 4, DType::u32}, {'L', 8, DType::u64}, {'l', 4, DType::i32},
      {'l', 8, DType::i64}, {'N', 8, DType::u64}, {'n', 8, DType::i64}};
  if (format.size() != 1) return std::nullopt;
  for (const Code& code : codes)
    if (code.letter == format[0] && code.bytes == item_bytes) return code.dtype;
  return std::nullopt;
}

[[noreturn]] void refuse(const char* argument, const char* why) {
  raise(Errc::invalid_argument, std::string(argument) + ": " + why);
}

}  // namespace

bool may_overlap_itself(const Layout& layout) noexcept {
  return strides_may_overlap(layout.dims(), layout.stride_bytes, size_of(layout.dtype));
}

bool ArrayView::open(nb::handle object, const char* argument, ArrayUse use) {
  close();
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  const int flags = use == ArrayUse::read    ? PyBUF_FULL_RO
                    : use == ArrayUse::write ? PyBUF_FULL
                                             : PyBUF_SIMPLE;
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) {
    view_ = {};
    // Interrupts and exhausted memory are not answers of the array.
    if (PyErr_ExceptionMatches(PyExc_Exception) == 0 ||
        PyErr_ExceptionMatches(PyExc_MemoryError) != 0)
      throw nb::python_error();
    PyErr_Clear();
    return false;
  }
  is_open_ = true;
  try {
    if (view_.obj == nullptr) refuse(argument, "its buffer belongs to no object");
    use == ArrayUse::bytes ? take_bytes(argument) : take_shape(argument);
    if (use == ArrayUse::write && is_read_only()) refuse(argument, "its memory is read-only");
    if (use == ArrayUse::write && overlaps_itself())
      raise(Errc::permission,
            std::string(argument) + ": its elements share bytes, so it cannot be written to");
  } catch (...) {
    close();
    throw;
  }
  return true;
}

void ArrayView::close() noexcept {
  if (!is_open_) return;
  is_open_ = false;
  PyBuffer_Release(&view_);
  view_ = {};
  rank_ = 0;
  count_ = 0;
  reach_ = {};
}

void ArrayView::take_bytes(const char* argument) {
  if (view_.len < 0) refuse(argument, "its buffer has a negative length");
  rank_ = 1;
  item_bytes_ = 1;
  format_ = "B";
  is_swapped_ = false;
  shape_[0] = count_ = static_cast<std::size_t>(view_.len);
  stride_bytes_[0] = 1;
  check_reach(argument);
}

void ArrayView::take_shape(const char* argument) {
  if (view_.suboffsets != nullptr)
    raise(Errc::unsupported, std::string(argument) + ": indirect buffers are not taken");
  if (view_.ndim < 0 || view_.itemsize < 0 || view_.len < 0)
    refuse(argument, "its buffer has a negative size");
  rank_ = static_cast<std::size_t>(view_.ndim);
  shape_ = {};
  stride_bytes_ = {};
  item_bytes_ = static_cast<std::size_t>(view_.itemsize);
  take_format();
  if (rank_ > max_rank) return;
  if (view_.shape == nullptr && rank_ > 1) refuse(argument, "its buffer has no shape");
  count_ = 1;
  bool has_none = false;
  for (std::size_t i = 0; i < rank_; ++i) {
    if (view_.shape != nullptr && view_.shape[i] < 0)
      refuse(argument, "its buffer has a negative extent");
    shape_[i] = view_.shape != nullptr ? static_cast<std::size_t>(view_.shape[i])
                : item_bytes_ == 0     ? 0
                                       : static_cast<std::size_t>(view_.len) / item_bytes_;
    has_none |= shape_[i] == 0;
    if (!has_none && __builtin_mul_overflow(count_, shape_[i], &count_))
      refuse(argument, "its buffer has too many elements");
  }
  if (has_none) count_ = 0;
  std::size_t size = 0;
  if (__builtin_mul_overflow(count_, item_bytes_, &size) ||
      size != static_cast<std::size_t>(view_.len))
    refuse(argument, "its buffer's length is not that of its shape");
  // Without strides, elements are in C order; arrays without elements use no stride.
  std::size_t step = item_bytes_;
  for (std::size_t i = rank_; i-- > 0;) {
    stride_bytes_[i] =
        view_.strides != nullptr ? view_.strides[i] : static_cast<std::ptrdiff_t>(step);
    if (count_ != 0) step *= shape_[i];
  }
  check_reach(argument);
}

void ArrayView::take_format() noexcept {
  format_ = view_.format == nullptr ? "B" : view_.format;
  is_swapped_ = false;
  if (format_.empty()) return;
  constexpr std::string_view orders = "@=<|^>!";
  if (orders.find(format_[0]) == std::string_view::npos) return;
  is_swapped_ = (format_[0] == '>' || format_[0] == '!') && item_bytes_ > 1;
  format_.remove_prefix(1);
}

void ArrayView::check_reach(const char* argument) {
  const auto reach =
      reach_of(std::span(shape_).first(rank_), std::span(stride_bytes_).first(rank_), item_bytes_);
  const auto address = reinterpret_cast<std::uintptr_t>(view_.buf);
  std::uintptr_t end = 0;
  if (!reach || 0 - static_cast<std::uintptr_t>(reach->lowest) > address ||
      __builtin_add_overflow(address, static_cast<std::uintptr_t>(reach->end), &end))
    refuse(argument, "its elements leave the address space");
  if (reach->end != 0 && view_.buf == nullptr) refuse(argument, "its buffer is null");
  reach_ = *reach;
}

bool ArrayView::is_contiguous() const noexcept {
  if (count_ == 0) return true;
  std::size_t step = item_bytes_;
  for (std::size_t i = rank_; i-- > 0;) {
    if (shape_[i] != 1 && stride_bytes_[i] != static_cast<std::ptrdiff_t>(step)) return false;
    step *= shape_[i];
  }
  return true;
}

bool ArrayView::overlaps_itself() const noexcept {
  return rank_ <= max_rank && !is_contiguous() &&
         strides_may_overlap(std::span(shape_).first(rank_), stride_bytes_, item_bytes_);
}

std::optional<DType> ArrayView::dtype() const noexcept {
  return is_swapped_ ? std::nullopt : dtype_of(format_, item_bytes_);
}

std::span<const std::byte> ArrayView::bytes() const noexcept {
  return {data() + reach_.lowest,
          static_cast<std::size_t>(reach_.end) - static_cast<std::size_t>(reach_.lowest)};
}

AddressRange ArrayView::range() const noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes().data());
  return {begin, begin + bytes().size()};
}

Layout ArrayView::layout(const char* argument) const {
  if (is_swapped_) refuse(argument, "must be in native byte order");
  const auto type = dtype();
  if (!type)
    refuse(argument, ("no element type of this format (" + std::string(format_) + ", " +
                      std::to_string(item_bytes_) + " bytes)")
                         .c_str());
  if (rank_ < 1 || rank_ > max_rank)
    refuse(argument, ("must have 1 to 8 axes (" + std::to_string(rank_) + ")").c_str());
  Layout layout;
  layout.dtype = *type;
  layout.rank = static_cast<std::uint8_t>(rank_);
  layout.shape = shape_;
  layout.stride_bytes = stride_bytes_;
  return layout;
}

nb::object array_of_interface(nb::handle object, const char* argument) {
  if (!has_attribute(object, "__array_interface__") && !has_attribute(object, "__array_struct__"))
    return {};
  const nb::object asarray = nb::module_::import_("numpy").attr("asarray");
  try {
    return asarray(object);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    nb::raise_from(error, PyExc_TypeError, "%s: its array interface is refused by NumPy", argument);
  }
}

}  // namespace halyard::python
