// SPDX-License-Identifier: Apache-2.0
// Tensors over Unix sockets: the message as bytes, the memory as descriptors with the first byte.
#include "halyard/transfer.h"

#include <array>
#include <span>
#include <vector>

#include "base/system/socket_message.h"
#include "base/text/format_error.h"
#include "halyard/fd.h"
#include "halyard/trace.h"
#include "tensor/exchange/tensor_message.h"
#include "tensor/tensor_parts.h"

namespace halyard {
namespace {

Result<Tensor> build(const ReceivedMessage& envelope, const ReceiveOptions& options) {
  HALYARD_TRY(const TensorMessage message,
              decode_tensor_message(envelope.bytes, envelope.fds.count));
  Importer& importer = options.importer != nullptr ? *options.importer : Importer::shared();
  std::array<std::shared_ptr<Buffer>, message_descriptor_limit> buffers;
  std::size_t left = options.max_bytes;
  for (std::size_t i = 0; i < message.descriptor_count; ++i) {
    const ImportOptions import{.size_bytes = message.descriptors[i].size_bytes,
                               .require_sealed = options.require_sealed,
                               .max_bytes = options.max_buffer_bytes};
    HALYARD_TRY(buffers[i], importer.import_buffer(envelope.fds.fds[i].get(), import));
    if (options.max_bytes != 0 && buffers[i]->size_bytes() > left)
      return fail(Errc::exhausted, "max_bytes: the message has more bytes of memory", "at most {}",
                  options.max_bytes);
    left -= options.max_bytes != 0 ? buffers[i]->size_bytes() : 0;
    buffers[i]->set_cpu_access(message.descriptors[i].cpu_access);
  }
  return put_together(message, std::span(buffers).first(message.descriptor_count));
}

}  // namespace

Status send_tensor(int socket, const Tensor& tensor, std::chrono::milliseconds timeout) {
  trace::Span span("tensor.send");
  span.arg("bytes", tensor.size_bytes()).arg("memory", to_string(tensor.memory()));
  const Deadline deadline(timeout);
  HALYARD_RETURN_IF_ERROR(unix_socket_type(socket));
  HALYARD_TRY(const TensorParts parts, take_apart(tensor));
  HALYARD_TRY(const auto bytes, encode_tensor_message(parts.message));
  std::array<int, message_descriptor_limit> fds{};
  for (std::size_t i = 0; i < parts.buffers.size(); ++i)
    fds[i] = parts.buffers[i]->fd();
  return send_all(socket, bytes, std::span(fds).first(parts.buffers.size()), deadline);
}

Result<Tensor> receive_tensor(int socket, const ReceiveOptions& options) {
  trace::Span span("tensor.receive");
  const Deadline deadline(options.timeout);
  const auto size_of_message = [](std::span<const std::byte> head) -> Result<std::size_t> {
    HALYARD_TRY(const MessageHeader header, decode_message_header(head));
    return header.size_bytes;
  };
  HALYARD_TRY(const ReceivedMessage envelope,
              receive_message(socket, {message_header_bytes, tensor_message_limit}, size_of_message,
                              deadline));
  return build(envelope, options);
}

}  // namespace halyard
