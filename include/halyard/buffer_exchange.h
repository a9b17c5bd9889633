// SPDX-License-Identifier: Apache-2.0
// Negotiated buffers to other processes: as bytes and a descriptor, or over a Unix socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "halyard/attribute_blob.h"
#include "halyard/attributes.h"
#include "halyard/export.h"
#include "halyard/fd.h"
#include "halyard/negotiated_buffer.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// A buffer for another process: send the descriptor beside the bytes.
struct ExportedBuffer {
  std::vector<std::byte> blob;
  Fd fd;
};

/// A buffer for the process of `party`, which took part or was attached. It may do what its view
/// says, or, where `permission` is given, less. Parties that may only read get a descriptor for
/// reading alone, where the memory has such. Thread-safe. Errors: not_found (no such party),
/// unsupported (memory without a descriptor), permission (more than the party asked for, or than
/// this process may do itself; read_write of memory that this process alone can write), exhausted,
/// os.
Result<ExportedBuffer> export_buffer(const NegotiatedBuffer& buffer, std::string_view party,
                                     std::optional<Permission> permission = std::nullopt);

/// Lets parties that come late have an allocated buffer: validate(), and then the buffer with their
/// views, for export_buffer(). Locks and operations are those of `buffer`. Errors: those of
/// attach_parties().
Result<NegotiatedBuffer> attach(const NegotiatedBuffer& buffer,
                                std::span<const AttributeList* const> lists,
                                Conflict* conflict = nullptr);

struct ImportBufferOptions {
  /// What this process wants to do. None: what was exported.
  std::optional<Permission> permission = std::nullopt;
  /// Whether `lists` are held against what was agreed on.
  bool validates = true;
  /// Refuse memory of more bytes; 0: any. All of it is mapped, whatever the buffer needs.
  std::uint64_t max_bytes = std::uint64_t{2} << 30;
  /// Counts it, and refuses it when sealed; null: none.
  BufferModule* module = nullptr;
};

/// The buffer of a blob and its descriptor, which is borrowed; both may be hostile. Nothing is
/// mapped before everything was checked. `lists`: what this process needs. Thread-safe. Errors:
/// those of decode_result(); invalid_argument (not one descriptor, or of another kind of memory
/// than the blob says), corrupt (fewer bytes than the buffer needs), permission (more is wanted
/// than was exported; memory that its owner can shrink; a sealed module), unsupported (the buffer
/// does not serve `lists`: the report), exhausted (above max_bytes), os.
Result<NegotiatedBuffer> import_buffer(std::span<const std::byte> blob, std::span<const int> fds,
                                       std::span<const AttributeList* const> lists = {},
                                       const ImportBufferOptions& options = {});

/// Over a connected AF_UNIX socket of any type, borrowed. Wait at most `timeout`; negative: for
/// ever. On a stream one thread sends, and one receives, at a time; a receiver's failure other than
/// timeout ends the conversation there. Errors: those of the functions above; invalid_argument (no
/// such socket), timeout, not_found (the peer has closed), corrupt, os.
Status send_buffer(int socket, const NegotiatedBuffer& buffer, std::string_view party,
                   std::chrono::milliseconds timeout = std::chrono::milliseconds(-1));
Result<NegotiatedBuffer> receive_buffer(
    int socket, std::span<const AttributeList* const> lists = {},
    const ImportBufferOptions& options = {},
    std::chrono::milliseconds timeout = std::chrono::milliseconds(-1));
Status send_lists(int socket, std::span<const AttributeList> lists,
                  std::chrono::milliseconds timeout = std::chrono::milliseconds(-1));
Result<std::vector<AttributeList>> receive_lists(
    int socket, std::chrono::milliseconds timeout = std::chrono::milliseconds(-1));

}  // namespace halyard
HALYARD_EXPORTS_END
