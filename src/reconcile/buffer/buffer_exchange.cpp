// SPDX-License-Identifier: Apache-2.0
// Exports and imports buffers: chooses the descriptor that a party gets, and checks a received
// buffer before it is mapped.
#include "halyard/buffer_exchange.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/system/mapped.h"
#include "base/system/socket_message.h"
#include "base/text/format_error.h"
#include "halyard/import.h"
#include "reconcile/attributes/attribute_blob.h"
#include "reconcile/attributes/blob.h"
#include "reconcile/buffer/allocate_negotiated.h"
#include "reconcile/buffer/buffer_module.h"
#include "reconcile/buffer/negotiated_state.h"
#include "reconcile/merge/state.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // Linux 5.1
#endif

namespace halyard {
namespace {

constexpr std::size_t max_heap = heap_count - 1;

/// The record of a buffer's memory in a blob.
struct MemoryRecord {
  Heap heap = Heap::heap;
  Permission permission = Permission::read;
  AnchorState anchor = AnchorState::none;
  std::uint64_t size_bytes = 0;

  void put(BlobBytes& out) const {
    out.record(static_cast<std::uint16_t>(BlobRecord::buffer), 0, [&] {
      out.put(static_cast<std::uint8_t>(heap));
      out.put(static_cast<std::uint8_t>(permission));
      out.put(static_cast<std::uint8_t>(anchor));
      out.put(std::uint8_t{0});
      out.put(size_bytes);
    });
  }
  static Result<MemoryRecord> read(std::span<const std::byte> bytes) {
    BlobValues values(bytes);
    const auto heap = values.get<std::uint8_t>();
    const auto permission = values.get<std::uint8_t>();
    const auto anchor = values.get<std::uint8_t>();
    const auto reserved = values.get<std::uint8_t>();
    const auto size = values.get<std::uint64_t>();
    const bool is_good = !values.fails() && values.is_empty() && heap <= max_heap &&
                         permission <= 1 && anchor <= 2 && reserved == 0;
    if (!is_good) return fail(Errc::malformed, "blob: its record of the memory is not valid");
    return MemoryRecord{static_cast<Heap>(heap), static_cast<Permission>(permission),
                        static_cast<AnchorState>(anchor), size};
  }
};

bool is_memfd(Heap heap) {
  return heap == Heap::memfd;
}

bool only_maker_writes(int fd) {
  return (seals_of(fd).value_or(0) & F_SEAL_FUTURE_WRITE) != 0;
}

/// A descriptor of the same memory that can be mapped for reading only.
Result<Fd> for_reading(int fd) {
  Fd again(::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_RDONLY | O_CLOEXEC));
  if (again) return again;
  return fail_os("fd: cannot be opened for reading", errno);
}

Result<Permission> permission_for(const NegotiatedBuffer& buffer, const PartyView& view,
                                  std::optional<Permission> wanted) {
  const Permission granted = wanted.value_or(view.permission);
  if (granted == Permission::read) return granted;
  if (view.permission == Permission::read)
    return fail(Errc::permission, "permission: the party asked for read only", "party \"{}\"",
                view.party);
  if (buffer.permission() == Permission::read)
    return fail(Errc::permission, "permission: this process may only read the buffer itself");
  if (buffer.enforcement() == Enforcement::hard)
    return fail(Errc::permission,
                "permission: this process alone can write the memory; let the party take part in "
                "negotiating",
                "party \"{}\"", view.party);
  return granted;
}

/// Checks the kind of memory. All kinds but memfd are DMA-BUFs, which need calls to the kernel
/// before and after use.
Status check_kind(int fd, Heap heap, bool is_unmapped, std::string_view party) {
  // Only shared memory has seals. Its exact kind is checked when it is mapped.
  if (is_memfd(heap) && !is_unmapped && seals_of(fd)) return {};
  HALYARD_TRY(const FdKind kind, fd_kind(fd));
  if (is_memfd(heap) == (kind != FdKind::dma_buf)) return {};
  return fail(Errc::invalid_argument,
              "g.heaps: the descriptor is of another kind of memory than the blob states",
              "party \"{}\": {}, the blob states {}", party, to_string(kind), to_string(heap));
}

/// Checks kind, size and seals of a descriptor before anything is mapped.
Status check_memory(int fd, const MemoryRecord& memory, const Reconciled& result) {
  const std::string& party = result.views().front().party;
  if (memory.heap == Heap::heap || memory.heap == Heap::pbo)
    return fail(Errc::corrupt, "g.heaps: the blob's memory is of a kind that has no descriptor",
                "party \"{}\": {}", party, to_string(memory.heap));
  HALYARD_RETURN_IF_ERROR(
      check_kind(fd, memory.heap, result.policy() == CpuPolicy::unmapped, party));
  if (memory.size_bytes < result.allocated_bytes())
    return fail(Errc::corrupt, "blob: its memory is smaller than its buffer", "{} of {} bytes",
                memory.size_bytes, result.allocated_bytes());
  const auto is_there = [&](Heap heap) { return heap == memory.heap; };
  if (std::ranges::none_of(result.heaps(), is_there))
    return fail(Errc::corrupt, "blob: its parties do not accept its memory", "{}",
                to_string(memory.heap));
  struct stat status = {};
  const bool has_size = ::fstat(fd, &status) == 0 && (is_memfd(memory.heap) || status.st_size > 0);
  if (has_size && static_cast<std::uint64_t>(status.st_size) < memory.size_bytes)
    return fail(Errc::corrupt, "fd: has fewer bytes than the blob states", "{} of {}",
                status.st_size, memory.size_bytes);
  return {};
}

Result<Permission> wanted_permission(const MemoryRecord& memory,
                                     const ImportBufferOptions& options) {
  const Permission wanted = options.permission.value_or(memory.permission);
  if (wanted == Permission::read_write && memory.permission == Permission::read)
    return fail(Errc::permission, "permission: read_write is wanted, read was exported");
  return wanted;
}

Result<std::size_t> size_of_blob(std::span<const std::byte> head) {
  std::uint32_t size = 0;
  std::memcpy(&size, head.data() + blob_size_offset, sizeof(size));
  if (size < blob_head_bytes || size > attribute_blob_limit)
    return fail(Errc::malformed, "blob: must have 32 to 65536 bytes", "{}", size);
  return size;
}

Result<ReceivedMessage> receive_blob(int socket, std::chrono::milliseconds timeout) {
  return receive_message(socket, {blob_head_bytes, attribute_blob_limit}, size_of_blob,
                         Deadline(timeout));
}

}  // namespace

Result<ExportedBuffer> export_buffer(const NegotiatedBuffer& buffer, std::string_view party,
                                     std::optional<Permission> permission) {
  HALYARD_TRY(auto records, result_records(buffer.attributes(), party));
  HALYARD_TRY(const PartyView view, view_of(buffer.attributes(), party));
  HALYARD_TRY(const Permission granted, permission_for(buffer, view, permission));
  const int fd = buffer.buffer()->fd();
  if (fd < 0)
    return fail(Errc::unsupported, "buffer: its memory has no descriptor; set g.export", "heap {}",
                to_string(buffer.heap()));
  MemoryRecord memory{buffer.heap(), granted, buffer.anchor(), buffer.buffer()->size_bytes()};
  if (memory.anchor == AnchorState::held) memory.anchor = AnchorState::owner;
  BlobBytes all;
  all.put_bytes(records);
  memory.put(all);
  ExportedBuffer exported;
  HALYARD_TRY(exported.blob, make_blob(BlobContent::result, all.get()));
  const bool can_narrow = is_memfd(buffer.heap()) && granted == Permission::read;
  HALYARD_TRY(exported.fd, can_narrow ? for_reading(fd) : Fd::duplicate(fd));
  return exported;
}

Result<NegotiatedBuffer> attach(const NegotiatedBuffer& buffer,
                                std::span<const AttributeList* const> lists, Conflict* conflict) {
  HALYARD_TRY(const Reconciled more,
              attach_parties(buffer.attributes(), buffer.heap(), lists, conflict));
  return NegotiatedBuffer::State::with_result(buffer, more);
}

Result<NegotiatedBuffer> import_buffer(std::span<const std::byte> blob, std::span<const int> fds,
                                       std::span<const AttributeList* const> lists,
                                       const ImportBufferOptions& options) {
  HALYARD_TRY(const auto entries, read_blob(BlobContent::result, blob));
  std::span<const std::byte> record;
  HALYARD_TRY(const Reconciled result, decode_result_records(entries, &record));
  HALYARD_TRY(const MemoryRecord memory, MemoryRecord::read(record));
  const PartyView& view = result.views().front();
  if (fds.size() != 1)
    return fail(Errc::invalid_argument, "fds: a buffer comes with one descriptor",
                "party \"{}\": {}", view.party, fds.size());
  HALYARD_RETURN_IF_ERROR(check_memory(fds[0], memory, result));
  HALYARD_TRY(const Permission permission, wanted_permission(memory, options));
  if (options.validates && !lists.empty())
    HALYARD_RETURN_IF_ERROR(validate(result, memory.heap, lists));
  const bool is_unmapped = result.policy() == CpuPolicy::unmapped;
  MemoryFacts facts;
  facts.heap = memory.heap;
  facts.permission = permission;
  facts.cpu = view.cpu;
  facts.party = view.party;
  facts.anchor = memory.anchor;
  facts.enforcement = is_memfd(memory.heap) && only_maker_writes(fds[0]) ? Enforcement::hard
                                                                         : Enforcement::advisory;
  ImportOptions import;
  import.size_bytes = is_memfd(memory.heap) ? memory.size_bytes : 0;
  import.require_sealed = is_memfd(memory.heap);
  import.max_bytes = options.max_bytes;
  import.read_only = permission == Permission::read;
  const auto make = [&]() -> Result<NegotiatedBuffer> {
    if (is_unmapped) return import_unmapped(result, fds[0], memory.size_bytes, facts);
    HALYARD_TRY(auto buffer, Importer::shared().import_buffer(fds[0], import));
    return NegotiatedBuffer::State::make(result, std::move(buffer), facts);
  };
  if (options.module == nullptr) return make();
  HALYARD_RETURN_IF_ERROR(check_phase(*options.module, view.party));
  return options.module->add(make);
}

Status send_buffer(int socket, const NegotiatedBuffer& buffer, std::string_view party,
                   std::chrono::milliseconds timeout) {
  HALYARD_RETURN_IF_ERROR(unix_socket_type(socket));
  HALYARD_TRY(const ExportedBuffer exported, export_buffer(buffer, party));
  const int fd = exported.fd.get();
  return send_all(socket, exported.blob, std::span(&fd, 1), Deadline(timeout));
}

Result<NegotiatedBuffer> receive_buffer(int socket, std::span<const AttributeList* const> lists,
                                        const ImportBufferOptions& options,
                                        std::chrono::milliseconds timeout) {
  HALYARD_TRY(const ReceivedMessage message, receive_blob(socket, timeout));
  std::array<int, std::tuple_size_v<decltype(message.fds.fds)>> fds{};
  for (std::size_t k = 0; k < message.fds.count; ++k)
    fds[k] = message.fds.fds[k].get();
  return import_buffer(message.bytes, std::span(fds).first(message.fds.count), lists, options);
}

Status send_lists(int socket, std::span<const AttributeList> lists,
                  std::chrono::milliseconds timeout) {
  HALYARD_RETURN_IF_ERROR(unix_socket_type(socket));
  HALYARD_TRY(const auto blob, encode_lists(lists));
  return send_all(socket, blob, {}, Deadline(timeout));
}

Result<std::vector<AttributeList>> receive_lists(int socket, std::chrono::milliseconds timeout) {
  HALYARD_TRY(const ReceivedMessage message, receive_blob(socket, timeout));
  if (message.fds.count != 0)
    return fail(Errc::malformed, "message.descriptors: lists have none", "{} came",
                message.fds.count);
  return decode_lists(message.bytes);
}

}  // namespace halyard
