// SPDX-License-Identifier: Apache-2.0
// G2dLibrary: libg2d, loaded at run time. G2dDevice: an open device, with calls that do not depend
// on the library's version.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "halyard/result.h"
#include "image/g2d/g2d_api.h"

namespace halyard::image::g2d {

/// A version of libg2d: 6.4.3:398061 is {6, 4, 3, 398061}.
struct Version {
  std::uint32_t major_number = 0;
  std::uint32_t minor_number = 0;
  std::uint32_t patch = 0;
  std::uint32_t build = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};
/// The first version whose structs hold addresses as unsigned long instead of int.
inline constexpr Version first_wide_version{6, 4, 11, 1049711};
/// Reads the text of the symbol _G2D_VERSION: "\n\0$VERSION$6.4.3:398061:hash$\n\0". nullopt: the
/// text has another form. Reads no byte behind the first one that does not fit.
std::optional<Version> parse_version(const char* text) noexcept;

/// The functions of one libg2d. Immutable; stays until the process ends.
class G2dLibrary {
 public:
  /// Loads the library, once for each name and process. Errors: unsupported (it cannot be loaded;
  /// it lacks a function; its version is missing or has an unknown form). Thread-safe.
  static Result<const G2dLibrary*> load(const std::string& name);

  /// Whether structs hold addresses as unsigned long.
  bool is_wide() const noexcept { return wide_; }

 private:
  friend class G2dDevice;
  static Result<G2dLibrary> resolve(const std::string& name);

  bool wide_ = false;
  int (*open_)(void**) = nullptr;
  int (*close_)(void*) = nullptr;
  int (*blit_)(void*, void*, void*) = nullptr;
  int (*clear_)(void*, void*) = nullptr;
  int (*finish_)(void*) = nullptr;
  int (*enable_)(void*, int) = nullptr;
  int (*disable_)(void*, int) = nullptr;
  // Null where the library does not have them.
  int (*query_cap_)(void*, int, int*) = nullptr;
  int (*cache_op_)(void*, int) = nullptr;
  void* (*buf_from_fd_)(int) = nullptr;
  int (*free_)(void*) = nullptr;
};

/// A buffer that the library has opened from a descriptor.
struct OpenBuffer {
  void* handle = nullptr;  ///< struct g2d_buf
  std::uint64_t address = 0;
  std::size_t size_bytes = 0;
};

/// An open device; the destructor closes it. For one thread at a time, except for the functions of
/// buffers.
class G2dDevice {
 public:
  /// Errors: device (g2d_open() fails).
  static Result<std::shared_ptr<G2dDevice>> open(const G2dLibrary& library);
  explicit G2dDevice(const G2dLibrary& library, void* handle) noexcept
      : library_(library), handle_(handle) {}
  G2dDevice(const G2dDevice&) = delete;
  G2dDevice& operator=(const G2dDevice&) = delete;
  ~G2dDevice();

  const G2dLibrary& library() const noexcept { return library_; }
  /// Whether the device has this matrix. Leaves it switched off.
  bool probe(Capability capability) noexcept;
  /// Errors: device.
  Status enable(Capability capability);
  /// A device without the capability has it switched off already.
  void disable(Capability capability) noexcept;
  /// Fills the rectangle. May return before it is written. Errors: device.
  Status clear(const Surface& area);
  /// Scales, rotates and converts one rectangle into the other. May return before the destination
  /// is written. Errors: device.
  Status blit(const Surface& src, const Surface& dst);
  /// Waits for all that was queued. Errors: device.
  Status finish();

  /// Whether the library opens descriptors.
  bool opens_buffers() const noexcept { return library_.buf_from_fd_ && library_.free_; }
  /// nullopt: the library refuses the descriptor. Thread-safe.
  std::optional<OpenBuffer> open_buffer(int fd) const noexcept;
  void close_buffer(void* handle) const noexcept;
  /// Does nothing if the library has no such function. Errors: device.
  Status maintain_cache(void* handle, CacheOperation operation) const;

 private:
  const G2dLibrary& library_;
  void* handle_;
};

}  // namespace halyard::image::g2d
