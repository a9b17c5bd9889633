// SPDX-License-Identifier: Apache-2.0
// Tensors to another process over a Unix socket: descriptors travel, bytes stay where they are.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "halyard/export.h"
#include "halyard/import.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Version of the message; a receiver refuses others by name.
inline constexpr std::uint16_t tensor_message_version = 1;
/// Longest message in bytes; a tensor whose names and scales need more is refused.
inline constexpr std::size_t tensor_message_limit = 65536;

/// Sends a tensor with all that it knows of itself: layout, planes, format, colorimetry, modifier,
/// quantization, name. `socket` is a connected AF_UNIX socket (stream, seqpacket or datagram),
/// borrowed; it may be non-blocking. On a stream one thread sends at a time. The memory must have
/// descriptors (shm, dma). Waits at most `timeout`; negative: for ever.
/// Errors: unsupported (memory without a descriptor), invalid_argument (not such a socket; a tensor
/// that no receiver would take; message above the limit, or above the socket's send buffer),
/// timeout (nothing has left), corrupt (the peer took only a part in time: close the socket),
/// exhausted (too many descriptors under way), os (peer gone).
Status send_tensor(int socket, const Tensor& tensor,
                   std::chrono::milliseconds timeout = std::chrono::milliseconds(-1));

struct ReceiveOptions {
  std::chrono::milliseconds timeout{-1};  ///< negative: for ever
  /// Buffers that this importer already knows are found again.
  Importer* importer = nullptr;  ///< null: Importer::shared()
  /// What a peer that is not trusted could shrink is refused, unless it can be sealed.
  bool require_sealed = true;
  /// Most bytes of one memory object, and of all of a message together. Objects are mapped whole,
  /// and a peer may send large ones that cost it nothing (sparse memory). 0: any number.
  std::size_t max_buffer_bytes = std::size_t{2} << 30;
  std::size_t max_bytes = std::size_t{4} << 30;
};

/// Receives one tensor. Every field of the message is checked against its limits and against the
/// memory that came with it, so a hostile peer gets an error and nothing else; no descriptor stays
/// open after a failure. On a stream one thread receives at a time, and a failure other than
/// timeout ends the conversation: close the socket. The buffers take the sender's cpu_access().
/// Errors: invalid_argument (not such a socket), timeout (nothing has come), not_found (the peer
/// has closed), version, malformed (a field outside its limits, too many descriptors), corrupt (the
/// message ends early or contradicts itself or its memory), permission (memory that can shrink),
/// exhausted (above max_buffer_bytes or max_bytes), those of Importer::import_buffer(), os. What is
/// wrong in a message is named by its field.
Result<Tensor> receive_tensor(int socket, const ReceiveOptions& options = {});

}  // namespace halyard
HALYARD_EXPORTS_END
