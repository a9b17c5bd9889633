// SPDX-License-Identifier: Apache-2.0
// Staging: pixel buffers of a context between textures and the memory of the CPU, so that several
// copies can be in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halyard::image {

/// Made, used and destroyed on the worker's thread.
class Staging {
 public:
  enum class Direction : std::uint8_t { upload, read_back };

  Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  /// A free buffer object of at least `size_bytes`, or 0 if OpenGL has no memory for one. It is
  /// taken until release(). May throw std::bad_alloc.
  std::uint32_t take(Direction direction, std::size_t size_bytes);
  /// Frees it for the next take(). The GPU may still use it.
  void release(std::uint32_t name) noexcept;

 private:
  struct Entry {
    std::uint32_t name = 0;
    Direction direction = Direction::upload;
    std::size_t size_bytes = 0;
    bool is_taken = false;
    std::uint64_t used = 0;
  };
  void trim();

  std::vector<Entry> entries_;
  std::uint64_t now_ = 0;
};

/// Maps a buffer object that is bound for `direction`, for writing all of it or for reading. Empty
/// if the driver fails. Unmap it before it is used again.
std::span<std::byte> map_staging(Staging::Direction direction, std::size_t size_bytes);
/// False if the driver lost the content.
bool unmap_staging(Staging::Direction direction);

}  // namespace halyard::image
