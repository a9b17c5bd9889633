// SPDX-License-Identifier: Apache-2.0
// Negotiated buffers and lists to and from other processes.
#include "halyard/buffer_exchange.h"

#include <poll.h>

#include <cerrno>
#include <string>
#include <vector>

#include "args.h"
#include "ipc/pools.h"
#include "reconcile/negotiation.h"

namespace halyard::python {
namespace {

using std::chrono::milliseconds;

int socket_from(nb::handle object) {
  const bool is_object = has_attribute(object, "fileno");
  const int fd =
      is_object ? int_from(object.attr("fileno")(), "socket") : int_from(object, "socket");
  // poll() ignores such a descriptor and waits forever.
  if (fd < 0)
    raise(Errc::invalid_argument,
          "socket: must be open (its descriptor is " + std::to_string(fd) + ")");
  return fd;
}

/// Waits until the socket can be read or written; signals of the program are handled meanwhile.
/// Returns the remaining time, for the next call.
milliseconds wait_for(int socket, short events, nb::handle timeout) {
  const auto whole = timeout_from(timeout, "timeout");
  const auto end = std::chrono::steady_clock::now() + whole;
  const WaitSlices slices(whole, signal_slice);
  for (;;) {
    pollfd polled{socket, events, 0};
    bool ends = false;
    const auto slice = std::chrono::ceil<milliseconds>(slices.next());
    const bool is_interrupted = released([&] {
      const int count = ::poll(&polled, 1, static_cast<int>(slice.count()));
      ends = count != 0;
      return count < 0 && errno == EINTR;
    });
    // The next call reports errors of the socket.
    if (ends && !is_interrupted) break;
    check_signals();
    if (slices.is_over()) break;
  }
  if (whole.count() < 0) return milliseconds(-1);
  const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
  return std::max(left, milliseconds(0));
}

ImportBufferOptions options_from(nb::handle permission, bool validates, nb::handle max_bytes) {
  ImportBufferOptions options;
  options.permission = permission_from(permission, "permission");
  options.validates = validates;
  options.max_bytes = size_from(max_bytes, "max_bytes");
  return options;
}

nb::object import_blob(nb::handle blob, nb::handle fd, nb::handle lists, nb::handle permission,
                       bool validates, nb::handle max_bytes) {
  const BytesArg bytes(blob, "blob");
  const int descriptor = int_from(fd, "fd");
  const auto given = lists_from(lists, "lists");
  const ImportBufferOptions options = options_from(permission, validates, max_bytes);
  return negotiated_result(take(released([&] {
    return import_buffer(bytes.bytes(), {&descriptor, 1}, pointers_to(given), options);
  })));
}

void send_buffer(nb::handle socket, nb::handle buffer, nb::handle party, nb::handle timeout) {
  const int to = socket_from(socket);
  const NegotiatedBuffer sent = negotiated_from(buffer, "buffer");
  const std::string name = text_from(party, "party");
  const milliseconds left = wait_for(to, POLLOUT, timeout);
  check(released([&] { return send_buffer(to, sent, name, left); }));
}

nb::object receive(nb::handle socket, nb::handle lists, nb::handle timeout, nb::handle permission,
                   bool validates, nb::handle max_bytes) {
  const int from = socket_from(socket);
  const auto given = lists_from(lists, "lists");
  const ImportBufferOptions options = options_from(permission, validates, max_bytes);
  const milliseconds left = wait_for(from, POLLIN, timeout);
  return negotiated_result(
      take(released([&] { return receive_buffer(from, pointers_to(given), options, left); })));
}

void send_all(nb::handle socket, nb::handle lists, nb::handle timeout) {
  const int to = socket_from(socket);
  const auto given = lists_from(lists, "lists");
  const milliseconds left = wait_for(to, POLLOUT, timeout);
  check(released([&] { return send_lists(to, given, left); }));
}

nb::object receive_all(nb::handle socket, nb::handle timeout) {
  const int from = socket_from(socket);
  const milliseconds left = wait_for(from, POLLIN, timeout);
  nb::list made;
  for (AttributeList& each : take(released([&] { return receive_lists(from, left); })))
    made.append(nb::cast(PyAttributeList{{std::move(each), nullptr}}));
  return made;
}

constexpr std::uint64_t default_max_bytes = ImportBufferOptions{}.max_bytes;

void bind_buffer_calls(nb::module_& m) {
  m.def("import_buffer", &import_blob, nb::arg("blob"), nb::arg("fd"),
        nb::arg("lists") = nb::make_tuple(), nb::kw_only(), nb::arg("permission") = nb::none(),
        nb::arg("validates") = true, nb::arg("max_bytes") = default_max_bytes,
        nb::sig("def import_buffer(blob: Buffer, fd: int, lists: Iterable[AttributeList] = (), *, "
                "permission: str | None = None, validates: bool = True, max_bytes: int = "
                "2147483648) -> NegotiatedBuffer"),
        "The buffer of NegotiatedBuffer.export(), from anybody; the descriptor is borrowed.\n\n"
        "Args:\n"
        "    lists: the needs of this process; `validates` compares them with the agreement.\n"
        "    permission: \"read\" or \"read_write\"; None: as exported.\n"
        "    max_bytes: maximum size of the memory; 0: no limit.\n\n"
        "Nothing is mapped before everything is checked. Raises DataError (a damaged blob, too\n"
        "little memory), InvalidArgumentError (another kind of memory than the blob states),\n"
        "AccessError (more than was exported; memory that its owner can shrink), UnsupportedError\n"
        "(the buffer does not serve `lists`: the report), CapacityError (above max_bytes).");
  m.def("send_buffer", &send_buffer, nb::arg("socket"), nb::arg("buffer"), nb::arg("party"),
        nb::arg("timeout") = nb::none(),
        nb::sig("def send_buffer(socket: Any, buffer: NegotiatedBuffer, party: str, timeout: float "
                "| None = None) -> None"),
        "Sends a buffer to a party over a connected Unix socket (an object with fileno(), or a\n"
        "descriptor). Raises as export(), WaitTimeoutError, MissingFileError (the peer has\n"
        "closed).");
  m.def("receive_buffer", &receive, nb::arg("socket"), nb::arg("lists") = nb::make_tuple(),
        nb::arg("timeout") = nb::none(), nb::kw_only(), nb::arg("permission") = nb::none(),
        nb::arg("validates") = true, nb::arg("max_bytes") = default_max_bytes,
        nb::sig("def receive_buffer(socket: Any, lists: Iterable[AttributeList] = (), timeout: "
                "float | None = None, *, permission: str | None = None, validates: bool = True, "
                "max_bytes: int = 2147483648) -> NegotiatedBuffer"),
        "Receives what send_buffer() sends, as import_buffer(). Raises also WaitTimeoutError,\n"
        "MissingFileError (the peer has closed).");
}

void bind_list_calls(nb::module_& m) {
  m.def("send_lists", &send_all, nb::arg("socket"), nb::arg("lists"),
        nb::arg("timeout") = nb::none(),
        nb::sig("def send_lists(socket: Any, lists: Iterable[AttributeList], timeout: float | None "
                "= None) -> None"),
        "Sends lists to the process that reconciles. Raises as encode_lists() and send_buffer().");
  m.def("receive_lists", &receive_all, nb::arg("socket"), nb::arg("timeout") = nb::none(),
        nb::sig("def receive_lists(socket: Any, timeout: float | None = None) -> "
                "list[AttributeList]"),
        "Receives what send_lists() sends. Raises as decode_lists() and receive_buffer().");
}

}  // namespace

void bind_buffer_exchange(nb::module_& m) {
  bind_buffer_calls(m);
  bind_list_calls(m);
}

}  // namespace halyard::python
