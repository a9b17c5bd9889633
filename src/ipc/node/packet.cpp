// SPDX-License-Identifier: Apache-2.0
// Encodes and receives packets: head, key and body, one after the other.
#include "ipc/node/packet.h"

#include <charconv>

#include "base/text/format_error.h"

namespace halyard::ipc {

std::vector<std::byte> encode(PacketHead head, std::string_view key,
                              std::span<const std::byte> body) {
  head.key_bytes = static_cast<std::uint32_t>(key.size());
  head.body_bytes = static_cast<std::uint32_t>(body.size());
  std::vector<std::byte> bytes(sizeof(head) + key.size() + body.size());
  std::memcpy(bytes.data(), &head, sizeof(head));
  if (!key.empty()) std::memcpy(bytes.data() + sizeof(head), key.data(), key.size());
  if (!body.empty())
    std::memcpy(bytes.data() + sizeof(head) + key.size(), body.data(), body.size());
  return bytes;
}

Result<std::optional<Packet>> receive_packet(int socket, const Deadline& deadline) {
  std::vector<std::byte> bytes(max_packet_bytes);
  HALYARD_TRY(ReceivedBytes received, receive_some(socket, bytes, deadline));
  if (received.bytes == 0 || received.reset) return std::optional<Packet>();
  Packet packet;
  if (received.truncated || received.bytes < sizeof(PacketHead))
    return fail(Errc::malformed, "peer: sends a packet of a wrong size", "{}", received.bytes);
  std::memcpy(&packet.head, bytes.data(), sizeof(PacketHead));
  if (packet.head.magic != packet_magic || packet.head.version != packet_version) {
    return fail(Errc::version, "peer: speaks another version of the protocol", "{}, this is {}",
                packet.head.version, packet_version);
  }
  const std::size_t rest = received.bytes - sizeof(PacketHead);
  if (packet.head.key_bytes > rest || packet.head.body_bytes != rest - packet.head.key_bytes)
    return fail(Errc::malformed, "peer: sends a packet whose key and body do not match its size");
  const char* const key = reinterpret_cast<const char*>(bytes.data() + sizeof(PacketHead));
  packet.key.assign(key, packet.head.key_bytes);
  const auto body = bytes.begin() + sizeof(PacketHead) + packet.head.key_bytes;
  packet.body.bytes.assign(body, body + packet.head.body_bytes);
  for (std::size_t i = 0; i < received.fds.count; ++i)
    packet.body.fds.push_back(std::move(received.fds.fds[i]));
  return std::optional<Packet>(std::move(packet));
}

std::vector<int> borrowed(const std::vector<Fd>& fds) {
  std::vector<int> numbers;
  for (const Fd& fd : fds)
    numbers.push_back(fd.get());
  return numbers;
}

}  // namespace halyard::ipc
