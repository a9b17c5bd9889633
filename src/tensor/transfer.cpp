// SPDX-License-Identifier: Apache-2.0
// Tensors over Unix sockets: the message as bytes, the memory as descriptors beside its first byte.
#include "halyard/transfer.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/format_error.h"
#include "base/socket_message.h"
#include "halyard/fd.h"
#include "halyard/trace.h"
#include "tensor/tensor_message.h"

namespace halyard {
namespace {

// SOCK_STREAM, SOCK_SEQPACKET or SOCK_DGRAM.
Result<int> unix_socket_type(int socket) {
  int domain = 0;
  int type = 0;
  socklen_t size = sizeof(int);
  if (socket < 0 || ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
      ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &(size = sizeof(int))) != 0) {
    return make_error(Errc::invalid_argument, "socket: is not a socket",
                      fmt::format("descriptor {}", socket), socket < 0 ? 0 : errno);
  }
  if (domain != AF_UNIX) {
    return fail(Errc::invalid_argument, "socket: must be AF_UNIX, others carry no descriptors",
                "family {}", domain);
  }
  return type;
}

// Bytes and memory of one message.
struct Envelope {
  std::vector<std::byte> bytes;
  ReceivedFds fds;
};

Error peer_closed() {
  return fail(Errc::not_found, "socket: the peer has closed it");
}

// Fills `into` from a stream; `before` bytes of the message have been read already.
Status receive_rest(int socket, std::span<std::byte> into, std::size_t before, ReceivedFds& fds,
                    const Deadline& deadline) {
  std::size_t done = 0;
  while (done < into.size()) {
    auto received = receive_some(socket, into.subspan(done), deadline);
    const bool first = before + done == 0;
    if (!received) {
      if (received.error().code != Errc::timeout || first) return std::move(received).error();
      return fail(Errc::corrupt, "message: ends early, the rest did not come in time",
                  "{} bytes came", before + done);
    }
    if (received->bytes == 0) {
      if (first) return peer_closed();
      return fail(Errc::corrupt, "message: ends early, the peer has closed the socket",
                  "{} bytes came", before + done);
    }
    if (first) {
      fds = std::move(received->fds);
    } else if (received->fds.count != 0) {
      return fail(Errc::malformed, "message.descriptors: must come with the first byte",
                  "{} came at byte {}", received->fds.count, before + done);
    }
    done += received->bytes;
  }
  return {};
}

Result<Envelope> receive_from_stream(int socket, const Deadline& deadline) {
  Envelope envelope;
  envelope.bytes.resize(message_header_bytes);
  // Alone, for one read may join bytes without descriptors to later ones that have some.
  const auto first = std::span(envelope.bytes).first(1);
  HALYARD_CHECK(receive_rest(socket, first, 0, envelope.fds, deadline));
  HALYARD_CHECK(
      receive_rest(socket, std::span(envelope.bytes).subspan(1), 1, envelope.fds, deadline));
  HALYARD_TRY(const MessageHeader header, decode_message_header(envelope.bytes));
  envelope.bytes.resize(header.size_bytes);
  HALYARD_CHECK(receive_rest(socket, std::span(envelope.bytes).subspan(message_header_bytes),
                             message_header_bytes, envelope.fds, deadline));
  return envelope;
}

Result<Envelope> receive_packet(int socket, bool datagram, const Deadline& deadline) {
  Envelope envelope;
  envelope.bytes.resize(tensor_message_limit);
  HALYARD_TRY(ReceivedBytes received, receive_some(socket, envelope.bytes, deadline));
  if (received.truncated) {
    return fail(Errc::malformed, "message.size: outside its limits", "more than {} bytes came",
                tensor_message_limit);
  }
  // A connection ends with an empty packet; datagrams have no end, but may be empty.
  const bool closed = received.bytes == 0 && received.fds.count == 0 && !datagram;
  if (closed || received.reset) return peer_closed();
  envelope.bytes.resize(received.bytes);
  envelope.fds = std::move(received.fds);
  return envelope;
}

Result<Tensor> build(const Envelope& envelope, const ReceiveOptions& options) {
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
  HALYARD_CHECK(unix_socket_type(socket));
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
  HALYARD_TRY(const int type, unix_socket_type(socket));
  HALYARD_TRY(const Envelope envelope, type == SOCK_STREAM
                                           ? receive_from_stream(socket, deadline)
                                           : receive_packet(socket, type == SOCK_DGRAM, deadline));
  return build(envelope, options);
}

}  // namespace halyard
