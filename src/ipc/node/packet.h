// SPDX-License-Identifier: Apache-2.0
// Packets between the sockets of processes; the format is in docs/shared-memory.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/local.h"
#include "base/system/socket_message.h"
#include "halyard/result.h"
#include "ipc/node/parcel.h"

namespace halyard::ipc {

inline constexpr std::uint32_t packet_magic = 0x31444E48;  // "HND1"
inline constexpr std::uint16_t packet_version = 1;
inline constexpr std::size_t max_packet_bytes = 16384;

enum class PacketKind : std::uint16_t { request = 1, answer = 2, failure = 3, end = 4, notice = 5 };

/// The beginning of each packet. The key follows it, then the body.
struct PacketHead {
  std::uint32_t magic = packet_magic;
  std::uint16_t version = packet_version;
  PacketKind kind = PacketKind::request;
  std::uint64_t number = 0;  // of the request; answers repeat it
  NodeId from;
  std::uint32_t request = 0;
  std::uint32_t code = 0;  // of a failure
  std::uint32_t key_bytes = 0;
  std::uint32_t body_bytes = 0;
};
// The offsets are documented in docs/shared-memory.md.
static_assert(sizeof(PacketHead) == 48 && offsetof(PacketHead, magic) == 0 &&
              offsetof(PacketHead, version) == 4 && offsetof(PacketHead, kind) == 6 &&
              offsetof(PacketHead, number) == 8 && offsetof(PacketHead, from) == 16 &&
              offsetof(NodeId, high) == 0 && offsetof(NodeId, low) == 8 &&
              offsetof(PacketHead, request) == 32 && offsetof(PacketHead, code) == 36 &&
              offsetof(PacketHead, key_bytes) == 40 && offsetof(PacketHead, body_bytes) == 44);

struct HALYARD_LOCAL Packet {
  PacketHead head;
  std::string key;
  Parcel body;
};

std::vector<std::byte> encode(PacketHead head, std::string_view key,
                              std::span<const std::byte> body);
/// Empty if the connection has ended. Errors: timeout, malformed, version, os.
Result<std::optional<Packet>> receive_packet(int socket, const Deadline& deadline);
/// The descriptors as numbers, for sending. They stay owned by `fds`.
std::vector<int> borrowed(const std::vector<Fd>& fds);

}  // namespace halyard::ipc
