// SPDX-License-Identifier: Apache-2.0
// Sends tensors to another process over a Unix socket: descriptors are sent, bytes are not copied.
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

/// Version of the message; a receiver refuses other versions with the error `version`.
inline constexpr std::uint16_t tensor_message_version = 1;
/// Maximum length of a message in bytes; a tensor whose names and scales need more is refused.
inline constexpr std::size_t tensor_message_limit = 65536;

/// Sends a tensor with all its properties: layout, planes, format, colorimetry, modifier,
/// quantization, name. `socket` is a connected AF_UNIX socket (stream, seqpacket or datagram),
/// borrowed; it may be non-blocking. On a stream only one thread sends at a time. The memory must
/// have descriptors (shm, dma). Waits at most `timeout`; negative: for ever. Errors: unsupported
/// (memory without a descriptor), invalid_argument (not such a socket; a tensor that no receiver
/// would accept; a message above the limit, or above the socket's send buffer), timeout (nothing
/// was sent), corrupt (the peer read only a part in time: close the socket), exhausted (too many
/// descriptors in transit), os (the peer has closed).
Status send_tensor(int socket, const Tensor& tensor,
                   std::chrono::milliseconds timeout = std::chrono::milliseconds(-1));

struct ReceiveOptions {
  std::chrono::milliseconds timeout{-1};  ///< negative: for ever
  /// Finds buffers again that it has imported before.
  Importer* importer = nullptr;  ///< null: Importer::shared()
  /// Refuses memory that an untrusted peer could shrink, unless it can be sealed.
  bool require_sealed = true;
  /// Maximum bytes of one memory object, and of all objects of a message together. Objects are
  /// mapped whole, and large sparse ones cost a peer nothing. 0: no limit.
  std::size_t max_buffer_bytes = std::size_t{2} << 30;
  std::size_t max_bytes = std::size_t{4} << 30;
};

/// Receives one tensor. Every field of the message is checked against its limits and against the
/// received memory: a hostile peer can cause an error and nothing else. No descriptor stays open
/// after a failure. On a stream only one thread receives at a time; after a failure other than
/// timeout close the socket. The buffers get the sender's cpu_access(). Errors: invalid_argument
/// (not such a socket), timeout (nothing was received), not_found (the peer has closed), version,
/// malformed (a field outside its limits, too many descriptors), corrupt (the message ends early or
/// contradicts itself or its memory), permission (memory that can shrink), exhausted (above
/// max_buffer_bytes or max_bytes), those of Importer::import_buffer(), os. The error names the
/// field of the message that is wrong.
Result<Tensor> receive_tensor(int socket, const ReceiveOptions& options = {});

}  // namespace halyard
HALYARD_EXPORTS_END
