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
/// quantization, name. `socket` is an AF_UNIX socket (stream, seqpacket or datagram), borrowed. The
/// memory must have descriptors (shm, dma). Waits at most `timeout`; negative: for ever.
/// Errors: unsupported (memory without a descriptor), invalid_argument (not such a socket; message
/// above the limit), timeout, os (peer gone).
Status send_tensor(int socket, const Tensor& tensor,
                   std::chrono::milliseconds timeout = std::chrono::milliseconds(-1));

struct ReceiveOptions {
  std::chrono::milliseconds timeout{-1};  ///< negative: for ever
  /// Buffers that this importer already knows are found again.
  Importer* importer = nullptr;  ///< null: Importer::shared()
  /// What a peer that is not trusted could shrink is refused.
  bool require_sealed = true;
};

/// Receives one tensor. Every field of the message is checked against its limits and against the
/// memory that came with it, so a hostile peer gets an error and nothing else; no descriptor stays
/// open after a failure. On a stream socket a malformed message ends the conversation: close it.
/// Errors: timeout, not_found (the peer has closed), version, malformed (the field is named),
/// permission (memory that can shrink), those of Importer::import_buffer(), os.
Result<Tensor> receive_tensor(int socket, const ReceiveOptions& options = {});

}  // namespace halyard
HALYARD_EXPORTS_END
