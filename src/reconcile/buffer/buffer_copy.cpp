// SPDX-License-Identifier: Apache-2.0
// NegotiatedBuffer: copies from and to tensors of the program.
#include "base/copy_count.h"
#include "base/text/format_error.h"
#include "halyard/negotiated_buffer.h"
#include "reconcile/buffer/axis_copy.h"
#include "reconcile/merge/state.h"

namespace halyard {
namespace {

/// The program's tensor, mapped, and the views of both tensors.
struct CopyPair {
  TensorMap map;
  AxisView buffer, tensor;
};

Result<CopyPair> prepare(const Reconciled& result, const Tensor& tensor, AxisOrder order,
                         Access access) {
  if (!result.has_tensor())
    return fail(Errc::unsupported, "buffer: the parties agreed on no tensor");
  if (tensor.is_empty() || tensor.dtype() != result.layout().dtype)
    return fail(Errc::invalid_argument, "tensor: must have the type that was agreed on", "{}",
                to_string(result.layout().dtype));
  CopyPair pair;
  pair.buffer = axis_view(ReconciledState::of(result).draft.tensor);
  HALYARD_TRY(pair.tensor, axis_view(tensor.layout(), order, pair.buffer));
  HALYARD_TRY(pair.map, tensor.map(access));
  if (!pair.map.planes_adjacent())
    return fail(Errc::unsupported, "tensor: its planes lie in several places");
  return pair;
}

}  // namespace

Status NegotiatedBuffer::copy_from(const Tensor& source, AxisOrder order,
                                   std::chrono::nanoseconds timeout) {
  HALYARD_TRY(const CopyPair pair, prepare(result_, source, order, Access::read));
  HALYARD_TRY(BufferLock held, lock(Access::write, timeout));
  std::byte* const to = held.writable_bytes().data() + result_.tensor_offset_bytes();
  const std::size_t element = size_of(source.dtype());
  copy_elements(pair.map.data(), pair.tensor, to, pair.buffer, element);
  if (result_.pad_fill() != PadFill::anything)
    fill_padding_channels(to, pair.buffer, element, std::byte{result_.pad_value()});
  count_copy(source.size_bytes());
  return held.unlock();
}

Status NegotiatedBuffer::copy_to(Tensor& destination, AxisOrder order,
                                 std::chrono::nanoseconds timeout) {
  HALYARD_TRY(const CopyPair pair, prepare(result_, destination, order, Access::write));
  HALYARD_TRY(BufferLock held, lock(Access::read, timeout));
  copy_elements(held.bytes().data() + result_.tensor_offset_bytes(), pair.buffer,
                pair.map.writable(), pair.tensor, size_of(destination.dtype()));
  count_copy(destination.size_bytes());
  return held.unlock();
}

}  // namespace halyard
