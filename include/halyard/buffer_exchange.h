// SPDX-License-Identifier: Apache-2.0
// Passes negotiated buffers to other processes: as bytes and a descriptor, or over a Unix socket.
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

/// A buffer for another process: send the descriptor together with the bytes.
struct ExportedBuffer {
  std::vector<std::byte> blob;
  Fd fd;
};

/// Exports a buffer for the process of `party`, which took part in the negotiation or was attached.
/// The process gets the permission of its view, or `permission` if given, which may be lower. A
/// party that may only read gets a read-only descriptor if the memory has one. Thread-safe. Errors:
/// invalid_argument (`party` is empty), not_found (no such party), unsupported (memory without a
/// descriptor), permission (more than the party asked for, or than this process has itself;
/// read_write of memory that only this process can write), exhausted, os.
Result<ExportedBuffer> export_buffer(const NegotiatedBuffer& buffer, std::string_view party,
                                     std::optional<Permission> permission = std::nullopt);

/// Adds late parties to an allocated buffer: validates their lists and returns the buffer with
/// their views, for export_buffer(). The result shares locks and operations with `buffer`. Errors:
/// those of attach_parties().
Result<NegotiatedBuffer> attach(const NegotiatedBuffer& buffer,
                                std::span<const AttributeList* const> lists,
                                Conflict* conflict = nullptr);

struct ImportBufferOptions {
  /// The permission that this process wants. None: the exported one.
  std::optional<Permission> permission = std::nullopt;
  /// Whether `lists` are checked against the result.
  bool validates = true;
  /// Refuse memory with more bytes; 0: no limit. The whole memory is mapped, even if the buffer
  /// needs less.
  std::uint64_t max_bytes = std::uint64_t{2} << 30;
  /// The module that counts the buffer, and refuses it once sealed; null: none.
  BufferModule* module = nullptr;
};

/// Imports the buffer of a blob and its descriptor, which is borrowed; both may be hostile. Maps
/// nothing before everything is checked. `lists`: the requirements of this process. Thread-safe.
/// Errors: those of decode_result(); invalid_argument (not exactly one descriptor, or a descriptor
/// of another kind of memory than the blob names), corrupt (fewer bytes than the buffer needs; a
/// kind of memory that the parties do not accept), permission (more than the exported permission;
/// memory that its owner can shrink; a sealed module), unsupported (the buffer does not serve
/// `lists`: the message is the report), exhausted (above max_bytes), os.
Result<NegotiatedBuffer> import_buffer(std::span<const std::byte> blob, std::span<const int> fds,
                                       std::span<const AttributeList* const> lists = {},
                                       const ImportBufferOptions& options = {});

/// These functions use a connected AF_UNIX socket of any type, which is borrowed. They wait at most
/// `timeout`; negative: for ever. On a stream socket only one thread at a time may send, and one
/// receive. After an error of a receiver other than timeout, the stream must not be used any more.
/// Errors: those of the functions above; invalid_argument (not such a socket), timeout, not_found
/// (the peer has closed), corrupt, os.
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
