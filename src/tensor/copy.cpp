// SPDX-License-Identifier: Apache-2.0
// Copies elements between tensors and counts the copies.
#include <cstring>

#include "base/copy_count.h"
#include "base/text/format_error.h"
#include "halyard/tensor.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

struct Walk {
  const Layout* from;
  const Layout* to;
  std::size_t inner;  // axes from here on are adjacent on both sides
  std::size_t inner_bytes;
};

void copy_axis(const Walk& walk, std::size_t axis, const std::byte* from, std::byte* to) {
  if (axis == walk.inner) {
    std::memcpy(to, from, walk.inner_bytes);
    return;
  }
  for (std::size_t i = 0; i < walk.from->shape[axis]; ++i) {
    copy_axis(walk, axis + 1, from, to);
    from += walk.from->stride_bytes[axis];
    to += walk.to->stride_bytes[axis];
  }
}

void copy_tensor_elements(const Layout& from, const std::byte* source, const Layout& to,
                          std::byte* destination) {
  Walk walk{&from, &to, from.rank, size_of(from.dtype)};
  while (walk.inner > 0) {
    const std::size_t axis = walk.inner - 1;
    const auto run = static_cast<std::ptrdiff_t>(walk.inner_bytes);
    if (from.stride_bytes[axis] != run || to.stride_bytes[axis] != run) break;
    walk.inner_bytes *= from.shape[axis];
    walk.inner = axis;
  }
  copy_axis(walk, 0, source, destination);
}

void copy_plane(const MappedPlane& from, const MappedPlane& to) {
  for (std::size_t row = 0; row < from.rows; ++row) {
    std::memcpy(to.writable + row * to.stride_bytes, from.data + row * from.stride_bytes,
                from.row_bytes);
  }
}

}  // namespace

CopyStats copy_stats() noexcept {
  const CopyCount counted = counted_copies();
  return {counted.copies, counted.bytes};
}

Status copy(const Tensor& source, Tensor& destination) {
  trace::Span span("tensor.copy");
  span.arg("bytes", source.size_bytes());
  const auto a = source.shape();
  const auto b = destination.shape();
  if (source.dtype() != destination.dtype() || source.format() != destination.format() ||
      !std::equal(a.begin(), a.end(), b.begin(), b.end())) {
    return fail(Errc::invalid_argument, "copy: dtype, format and shape must be equal");
  }
  if (aliases(source, destination)) {
    return fail(Errc::invalid_argument, "copy: source and destination share bytes");
  }
  HALYARD_TRY(const TensorMap from, source.map(Access::read));
  HALYARD_TRY(const TensorMap to, destination.map(Access::write));
  if (from.plane_count() > 0) {
    for (std::size_t i = 0; i < from.plane_count(); ++i)
      copy_plane(from.plane(i), to.plane(i));
  } else if (source.element_count() > 0) {
    copy_tensor_elements(from.layout(), from.data(), to.layout(), to.writable());
  }
  count_copy(source.size_bytes());
  return {};
}

}  // namespace halyard
