// SPDX-License-Identifier: Apache-2.0
// Negotiated buffers in C: access to them, and how other processes get them.
#include "halyard/negotiated_buffer.h"

#include <chrono>

#include "capi/error.h"
#include "capi/ipc/topics.h"
#include "capi/reconcile/negotiate.h"
#include "halyard/buffer_exchange.h"

namespace halyard::capi {
namespace {

Result<NegotiatedBuffer*> buffer_of(const hal_buffer* handle) {
  HALYARD_TRY(const hal_buffer* const found, checked(handle, "buffer"));
  return &found->buffer;
}

Result<hal_tensor*> view_handle(Result<Tensor> tensor) {
  if (!tensor) return std::move(tensor).error();
  return new hal_tensor{.tensor = *std::move(tensor)};
}

Result<int> layout_of(const hal_buffer* handle, hal_buffer_layout* out) {
  HALYARD_TRY(const NegotiatedBuffer* const buffer, buffer_of(handle));
  HALYARD_RETURN_IF_ERROR(pointer_to(out, "out"));
  const Reconciled& result = buffer->attributes();
  if (!result.has_tensor())
    return make_error(Errc::unsupported, "buffer: the parties agreed on no tensor");
  const Layout& layout = result.layout();
  hal_buffer_layout found = {};
  found.dtype = static_cast<int>(layout.dtype);
  found.order = static_cast<int>(result.tensor_tag().order);
  found.x = result.tensor_tag().x;
  found.ndim = layout.rank;
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    found.dims[axis] = layout.shape[axis];
    found.strides[axis] = layout.stride_bytes[axis];
  }
  found.offset_bytes = result.tensor_offset_bytes();
  found.size_bytes = buffer->buffer()->size_bytes();
  *out = found;
  return 0;
}

Result<void*> lock(const hal_buffer* handle, int access, std::int64_t timeout_ns,
                   std::size_t* size) {
  HALYARD_TRY(NegotiatedBuffer* const buffer, buffer_of(handle));
  HALYARD_RETURN_IF_ERROR(aligned(size, "size"));
  HALYARD_TRY(const CpuAccess wanted, cpu_access_from(access));
  if (wanted == CpuAccess::none)
    return make_error(Errc::invalid_argument, "access: must be read, write or both");
  HALYARD_TRY(BufferLock held,
              buffer->lock(static_cast<Access>(wanted), std::chrono::nanoseconds(timeout_ns)));
  void* const data = const_cast<std::byte*>(held.bytes().data());
  if (size != nullptr) *size = held.bytes().size();
  held.keep();
  return data;
}

Result<hal_operation*> submit(const hal_buffer* handle) {
  HALYARD_TRY(NegotiatedBuffer* const buffer, buffer_of(handle));
  HALYARD_TRY(BufferOperation operation, buffer->submit());
  return new hal_operation{.operation = std::move(operation)};
}

Result<int> submit_fence(const hal_buffer* handle, int fence) {
  HALYARD_TRY(NegotiatedBuffer* const buffer, buffer_of(handle));
  if (fence < 0) return make_error(Errc::invalid_argument, "fence: must be a descriptor");
  HALYARD_TRY(Fd own, Fd::duplicate(fence));
  HALYARD_RETURN_IF_ERROR(buffer->submit(std::move(own)));
  return 0;
}

Result<int> status_of(const hal_buffer* handle, std::int64_t timeout_ns,
                      hal_operation_status* out) {
  HALYARD_TRY(const NegotiatedBuffer* const buffer, buffer_of(handle));
  HALYARD_RETURN_IF_ERROR(pointer_to(out, "out"));
  HALYARD_TRY(const OperationStatus status, buffer->status(std::chrono::nanoseconds(timeout_ns)));
  *out = {static_cast<int>(status.state), status.code,
          static_cast<std::uint64_t>(status.duration.count()), status.is_poisoned};
  return 0;
}

Result<std::uint8_t*> encode_all(hal_attrs* const* lists, std::size_t count, std::size_t* size) {
  HALYARD_RETURN_IF_ERROR(pointer_to(size, "size"));
  HALYARD_TRY(const auto handles, lists_from(lists, count));
  std::vector<const AttributeList*> pointers;
  for (const hal_attrs* each : handles)
    pointers.push_back(&each->party.list);
  HALYARD_TRY(const auto blob, encode_lists(pointers));
  HALYARD_TRY(std::uint8_t* const bytes, copied(blob));
  *size = blob.size();
  return bytes;
}

Result<std::span<const std::byte>> blob_from(const std::uint8_t* bytes, std::size_t size) {
  if (size != 0) HALYARD_RETURN_IF_ERROR(pointer_to(bytes, "bytes"));
  return std::as_bytes(std::span(bytes, size));
}

Result<int> decode_all(const std::uint8_t* bytes, std::size_t size, hal_attrs** out,
                       std::size_t capacity) {
  HALYARD_TRY(const auto blob, blob_from(bytes, size));
  HALYARD_RETURN_IF_ERROR(pointer_to(out, "out"));
  HALYARD_TRY(auto lists, decode_lists(blob));
  if (lists.size() > capacity)
    return make_error(Errc::exhausted, "capacity: must be at least the number of lists",
                      std::to_string(lists.size()));
  std::vector<std::unique_ptr<hal_attrs>> made;
  for (AttributeList& each : lists)
    made.emplace_back(new hal_attrs{.party = {std::move(each), nullptr}});
  for (std::size_t k = 0; k < made.size(); ++k)
    out[k] = made[k].release();
  return static_cast<int>(made.size());
}

Result<std::uint8_t*> export_to(const hal_buffer* handle, const char* party, std::size_t* size,
                                int* fd) {
  HALYARD_TRY(const NegotiatedBuffer* const buffer, buffer_of(handle));
  HALYARD_TRY(const std::string name, text_from(party, "party"));
  HALYARD_RETURN_IF_ERROR(pointer_to(size, "size"));
  HALYARD_RETURN_IF_ERROR(pointer_to(fd, "fd"));
  HALYARD_TRY(ExportedBuffer exported, export_buffer(*buffer, name));
  HALYARD_TRY(std::uint8_t* const bytes, copied(exported.blob));
  *size = exported.blob.size();
  *fd = exported.fd.release();
  return bytes;
}

Result<hal_buffer*> import_from(const std::uint8_t* bytes, std::size_t size, int fd,
                                hal_attrs* const* lists, std::size_t count) {
  HALYARD_TRY(const auto blob, blob_from(bytes, size));
  HALYARD_TRY(const auto handles, lists_from(lists, count));
  std::vector<const AttributeList*> pointers;
  for (const hal_attrs* each : handles)
    pointers.push_back(&each->party.list);
  HALYARD_TRY(auto buffer, import_buffer(blob, std::span(&fd, 1), pointers));
  return new hal_buffer{.buffer = std::move(buffer)};
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using namespace halyard::capi;

void hal_buffer_free(hal_buffer* buffer) {
  if (is_valid(buffer)) delete buffer;
}

hal_tensor* hal_buffer_tensor(const hal_buffer* buffer) {
  return guarded<hal_tensor*>(nullptr, [&]() -> Result<hal_tensor*> {
    HALYARD_TRY(const NegotiatedBuffer* const found, buffer_of(buffer));
    return view_handle(found->tensor());
  });
}

hal_tensor* hal_buffer_image(const hal_buffer* buffer) {
  return guarded<hal_tensor*>(nullptr, [&]() -> Result<hal_tensor*> {
    HALYARD_TRY(const NegotiatedBuffer* const found, buffer_of(buffer));
    return view_handle(found->image());
  });
}

int hal_buffer_get_layout(const hal_buffer* buffer, hal_buffer_layout* out) {
  return guarded(-1, [&] { return layout_of(buffer, out); });
}

// Names of enumerators are literals, which end with a zero byte.
const char* hal_buffer_heap(const hal_buffer* buffer) {
  return is_valid(buffer) ? to_string(buffer->buffer.heap()).data() : nullptr;
}

const char* hal_buffer_enforcement(const hal_buffer* buffer) {
  return is_valid(buffer) ? to_string(buffer->buffer.enforcement()).data() : nullptr;
}

void* hal_buffer_lock(const hal_buffer* buffer, enum HalCpuAccess access, int64_t timeout_ns,
                      size_t* size) {
  return guarded<void*>(nullptr, [&] { return lock(buffer, access, timeout_ns, size); });
}

int hal_buffer_unlock(const hal_buffer* buffer) {
  return guarded(-1, [&]() -> Result<int> {
    HALYARD_TRY(NegotiatedBuffer* const found, buffer_of(buffer));
    HALYARD_RETURN_IF_ERROR(found->unlock());
    return 0;
  });
}

hal_operation* hal_buffer_submit(const hal_buffer* buffer) {
  return guarded<hal_operation*>(nullptr, [&] { return submit(buffer); });
}

void hal_operation_finish(hal_operation* operation) {
  if (is_valid(operation)) operation->operation.finish();
}

void hal_operation_fail(hal_operation* operation, int code) {
  if (is_valid(operation)) operation->operation.fail(code);
}

void hal_operation_free(hal_operation* operation) {
  if (is_valid(operation)) delete operation;
}

int hal_buffer_submit_fence(const hal_buffer* buffer, int fence) {
  return guarded(-1, [&] { return submit_fence(buffer, fence); });
}

int hal_buffer_get_status(const hal_buffer* buffer, int64_t timeout_ns, hal_operation_status* out) {
  return guarded(-1, [&] { return status_of(buffer, timeout_ns, out); });
}

uint8_t* hal_attrs_encode(hal_attrs* const* lists, size_t count, size_t* size) {
  return guarded<uint8_t*>(nullptr, [&] { return encode_all(lists, count, size); });
}

int hal_attrs_decode(const uint8_t* bytes, size_t size, hal_attrs** out, size_t capacity) {
  return guarded(-1, [&] { return decode_all(bytes, size, out, capacity); });
}

uint8_t* hal_buffer_export(const hal_buffer* buffer, const char* party, size_t* size, int* fd) {
  return guarded<uint8_t*>(nullptr, [&] { return export_to(buffer, party, size, fd); });
}

hal_buffer* hal_buffer_import(const uint8_t* bytes, size_t size, int fd, hal_attrs* const* lists,
                              size_t count) {
  return guarded<hal_buffer*>(nullptr, [&] { return import_from(bytes, size, fd, lists, count); });
}
