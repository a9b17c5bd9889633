// SPDX-License-Identifier: Apache-2.0
// What tests of devices share: what a missing device means, and mappings of device nodes.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "conformance/buffer_support.h"

/// Ends a test, or what SetUp() prepares, where a device is missing: as skipped, and in the machine
/// that has all of them as failed.
#define HALYARD_NEEDS(device, name)                                            \
  if (!(device)) {                                                             \
    if (halyard::conformance::in_machine()) FAIL() << (name) << " is missing"; \
    GTEST_SKIP() << (name) << " is missing here";                              \
  }                                                                            \
  static_assert(true)

namespace halyard::vm {

/// The last failed system call, for messages.
inline std::string last_error() {
  return std::strerror(errno);
}

/// A node's own mapping of memory at an offset that the driver gave: the way past the library.
class NodeMapping {
 public:
  NodeMapping() = default;
  NodeMapping(int fd, std::size_t size, std::size_t offset) {
    void* at =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (at != MAP_FAILED) bytes_ = {static_cast<std::byte*>(at), size};
  }
  NodeMapping(NodeMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  NodeMapping& operator=(NodeMapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  NodeMapping(const NodeMapping&) = delete;
  NodeMapping& operator=(const NodeMapping&) = delete;
  ~NodeMapping() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  }

  /// Empty when the driver refused.
  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace halyard::vm
