// SPDX-License-Identifier: Apache-2.0
// A DRM node and its simplest memory ("dumb" buffers), driven by the kernel's calls alone.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halyard/fd.h"
#include "vm/devices.h"

namespace halyard::vm {

// The structs and calls of the kernel's drm.h and drm_mode.h, whose headers come with libdrm.
namespace drm {
struct Version {
  int major, minor, patch;
  std::size_t name_length;
  char* name;
  std::size_t date_length;
  char* date;
  std::size_t text_length;
  char* text;
};
struct CreateDumb {
  std::uint32_t height, width, bits_per_pixel, flags;
  std::uint32_t handle, pitch;
  std::uint64_t size;
};
struct MapDumb {
  std::uint32_t handle, pad;
  std::uint64_t offset;
};
struct PrimeHandle {
  std::uint32_t handle, flags;
  std::int32_t fd;
};
struct CloseHandle {
  std::uint32_t handle, pad;
};
struct FrameBuffer {
  std::uint32_t id, width, height, format, flags;
  std::array<std::uint32_t, 4> handles, pitches, offsets;
  std::array<std::uint64_t, 4> modifiers;
};
struct ClientCapability {
  std::uint64_t capability, value;
};
struct PlaneIds {
  std::uint64_t ids;
  std::uint32_t count;
};
struct Plane {
  std::uint32_t id, crtc, frame, crtcs, gamma_size, format_count;
  std::uint64_t formats;
};
inline constexpr std::uint64_t all_planes = 2;
inline constexpr unsigned long set_capability = _IOW('d', 0x0d, ClientCapability);
inline constexpr unsigned long get_planes = _IOWR('d', 0xB5, PlaneIds);
inline constexpr unsigned long get_plane = _IOWR('d', 0xB6, Plane);
inline constexpr unsigned long version = _IOWR('d', 0x00, Version);
inline constexpr unsigned long close_handle = _IOW('d', 0x09, CloseHandle);
inline constexpr unsigned long handle_to_fd = _IOWR('d', 0x2d, PrimeHandle);
inline constexpr unsigned long fd_to_handle = _IOWR('d', 0x2e, PrimeHandle);
inline constexpr unsigned long create_dumb = _IOWR('d', 0xB2, CreateDumb);
inline constexpr unsigned long map_dumb = _IOWR('d', 0xB3, MapDumb);
inline constexpr unsigned long remove_frame_buffer = _IOWR('d', 0xAF, std::uint32_t);
inline constexpr unsigned long add_frame_buffer = _IOWR('d', 0xB8, FrameBuffer);
}  // namespace drm

struct DumbBuffer {
  std::uint32_t handle = 0;
  std::size_t stride_bytes = 0;
  std::size_t size_bytes = 0;
};

/// Each call is false, empty or none when the driver refuses; errno tells.
class DrmNode {
 public:
  /// The node whose driver has this name.
  static std::optional<DrmNode> open(std::string_view driver) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/dri", none)) {
      if (!entry.path().filename().string().starts_with("card")) continue;
      DrmNode node(Fd(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC)));
      if (node.fd_ && node.driver() == driver) return node;
    }
    return std::nullopt;
  }

  std::optional<DumbBuffer> create(std::uint32_t width, std::uint32_t height,
                                   std::uint32_t bits_per_pixel) const {
    drm::CreateDumb call{height, width, bits_per_pixel, 0, 0, 0, 0};
    if (!ask(drm::create_dumb, &call)) return std::nullopt;
    return DumbBuffer{call.handle, call.pitch, call.size};
  }
  NodeMapping map(const DumbBuffer& buffer) const {
    drm::MapDumb call{buffer.handle, 0, 0};
    if (!ask(drm::map_dumb, &call)) return {};
    return {fd_.get(), buffer.size_bytes, static_cast<std::size_t>(call.offset)};
  }
  Fd export_handle(std::uint32_t handle) const {
    drm::PrimeHandle call{handle, O_RDWR | O_CLOEXEC, -1};
    return ask(drm::handle_to_fd, &call) ? Fd(call.fd) : Fd();
  }
  std::optional<std::uint32_t> import_fd(int fd) const {
    drm::PrimeHandle call{0, 0, fd};
    if (!ask(drm::fd_to_handle, &call)) return std::nullopt;
    return call.handle;
  }
  bool close(std::uint32_t handle) const {
    drm::CloseHandle call{handle, 0};
    return ask(drm::close_handle, &call);
  }
  /// Codes of the formats that the first plane of a display driver shows.
  std::vector<std::uint32_t> formats() const {
    drm::ClientCapability all{drm::all_planes, 1};
    drm::PlaneIds counted{};
    if (!ask(drm::set_capability, &all) || !ask(drm::get_planes, &counted)) return {};
    std::vector<std::uint32_t> planes(counted.count);
    drm::PlaneIds ids{address(planes.data()), counted.count};
    if (planes.empty() || !ask(drm::get_planes, &ids)) return {};
    drm::Plane plane{};
    plane.id = planes.front();
    if (!ask(drm::get_plane, &plane)) return {};
    std::vector<std::uint32_t> codes(plane.format_count);
    plane.formats = address(codes.data());
    return ask(drm::get_plane, &plane) ? codes : std::vector<std::uint32_t>{};
  }
  /// Whether the driver takes it as a frame to show; it is removed again.
  bool takes(drm::FrameBuffer frame) const {
    return ask(drm::add_frame_buffer, &frame) && ask(drm::remove_frame_buffer, &frame.id);
  }

 private:
  explicit DrmNode(Fd fd) : fd_(std::move(fd)) {}
  static std::uint64_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }
  bool ask(unsigned long request, void* argument) const {
    return ::ioctl(fd_.get(), request, argument) == 0;
  }
  std::string driver() const {
    std::array<char, 64> name{};
    drm::Version call{};
    call.name = name.data();
    call.name_length = name.size() - 1;
    return ask(drm::version, &call) ? name.data() : "";
  }
  Fd fd_;
};

}  // namespace halyard::vm
