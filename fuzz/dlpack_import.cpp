// SPDX-License-Identifier: Apache-2.0
// Headers of DLPack from producers of any kind: refused, and still owned by the producer; or a
// tensor inside the memory, whose deleter runs once. Errors that no header shows (a wrong address,
// a memory smaller than the extents) are not generated: extents and strides are brought inside the
// memory, except those that overflow.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "fuzz/source.h"
#include "halyard/dlpack.h"
#include "tensor/exchange/dlpack_abi.h"
#include "tensor/memory/touch.h"

namespace {

using namespace halyard;
using fuzz::expect;
using fuzz::Source;
using namespace dlpack_abi;

constexpr std::size_t room_bytes = 4096;
alignas(64) std::array<std::byte, room_bytes> room;

struct Made {
  std::array<std::int64_t, 16> shape{};
  std::array<std::int64_t, 16> strides{};
  int deleted = 0;
};

std::int64_t any_extent(Source& source) {
  constexpr std::int64_t maximum = INT64_MAX;
  constexpr std::int64_t odd[] = {0, -1, maximum, INT64_MIN, std::int64_t{1} << 62, maximum / 8};
  return source.rarely(8) ? source.of(odd) : static_cast<std::int64_t>(1 + source.next(4));
}

/// Whether the elements of small extents are inside the memory; true if it must be refused before.
bool fits(const TensorInfo& t) {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t dense = 1;
  for (int axis = t.ndim - 1; axis >= 0; --axis) {
    const std::int64_t extent = t.shape[axis];
    const std::int64_t step = t.strides == nullptr ? dense : t.strides[axis];
    std::int64_t span = 0;
    if (extent < 0 || __builtin_mul_overflow(dense, extent, &dense)) return true;
    if (extent == 0) return true;
    if (__builtin_mul_overflow(extent - 1, step, &span)) return true;
    if (__builtin_add_overflow(span < 0 ? low : high, span, span < 0 ? &low : &high)) return true;
  }
  const std::int64_t bytes = (t.dtype.bits + 7) / 8 * t.dtype.lanes;
  const auto maximum = static_cast<std::int64_t>(room_bytes / 2) / std::max<std::int64_t>(bytes, 1);
  return low > -maximum && high < maximum && t.byte_offset < room_bytes / 4;
}

void fill(Source& source, TensorInfo& tensor, Made& made) {
  constexpr std::int32_t ranks[] = {-1, 0, 9, 16, INT32_MAX};
  tensor.data = source.rarely(12) ? nullptr : room.data() + room_bytes / 2;
  tensor.device.type = static_cast<std::int32_t>(source.rarely(6) ? source.next(20) : 1);
  tensor.device.id = source.rarely(8) ? -1 : 0;
  tensor.ndim = source.rarely(8) ? source.of(ranks) : static_cast<std::int32_t>(source.next(5));
  tensor.dtype.code = static_cast<std::uint8_t>(source.rarely(4) ? source.byte() : source.next(3));
  tensor.dtype.bits =
      source.rarely(6) ? source.byte() : static_cast<std::uint8_t>(8U << source.next(4));
  tensor.dtype.lanes = static_cast<std::uint16_t>(source.rarely(10) ? source.byte() : 1);
  for (auto& extent : made.shape)
    extent = any_extent(source);
  for (auto& stride : made.strides)
    stride = source.rarely(8) ? any_extent(source) : static_cast<std::int64_t>(source.next(9)) - 4;
  tensor.shape = source.rarely(16) ? nullptr : made.shape.data();
  tensor.strides = source.coin() ? nullptr : made.strides.data();
  tensor.byte_offset =
      source.rarely(8) ? ~std::uint64_t{0} >> source.next(64) : source.next(8) * 8U;
}

// `Known` is the name of the struct in the public header.
template <class Struct, class Known>
void import_one(Source& source) {
  Made made;
  Struct managed = {};
  fill(source, managed.tensor, made);
  managed.manager_ctx = &made;
  managed.deleter = [](Struct* self) { ++static_cast<Made*>(self->manager_ctx)->deleted; };
  if constexpr (requires { managed.version; })
    managed.version.major = source.rarely(6) ? source.byte() : 1;
  const TensorInfo& t = managed.tensor;
  if (t.ndim >= 1 && t.ndim <= 8 && t.shape != nullptr && !fits(t)) return;
  {
    const auto tensor = from_dlpack(reinterpret_cast<Known*>(&managed));
    expect(made.deleted == 0);
    if (!tensor) {
      expect(!tensor.error().message().empty());
      return;
    }
    const auto map = tensor->map(Access::read);
    expect(map.has_value() && touch_corners(*tensor, *map));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Source source(std::span(data, size));
  if (source.coin()) {
    import_one<Managed, DLManagedTensor>(source);
  } else {
    import_one<ManagedVersioned, DLManagedTensorVersioned>(source);
  }
  return 0;
}
