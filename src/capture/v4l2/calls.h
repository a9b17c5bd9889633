// SPDX-License-Identifier: Apache-2.0
// V4l2Calls: the system calls to camera nodes. Tests put a fake camera in their place.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/system/mapped.h"
#include "halyard/result.h"

namespace halyard::capture {

/// Thread-safe.
class V4l2Calls {
 public:
  virtual ~V4l2Calls() = default;
  /// A descriptor that does not block, or -1 with errno. The caller closes it.
  virtual int open_node(const std::string& path) = 0;
  /// 0, or the errno of the failed call.
  virtual int control_node(int fd, unsigned long request, void* argument) = 0;
  /// Memory of a driver's buffer.
  virtual Result<MappedMemory> map_buffer(int fd, std::size_t offset, std::size_t size,
                                          bool is_writable) = 0;
  /// The nodes of video devices, by number.
  virtual std::vector<std::string> nodes() = 0;
  /// The name of a node's device without opening it; empty if unknown.
  virtual std::string name_of(const std::string& path) = 0;
  /// Whether a path is the node of a video device, or a link to one.
  virtual bool is_node(const std::string& path) = 0;
};

/// Those of the system, or what replace_v4l2_calls() has set.
V4l2Calls& v4l2_calls() noexcept;
/// For tests; null: the system's. Cameras that are open keep the calls that they were opened with.
void replace_v4l2_calls(V4l2Calls* calls) noexcept;

}  // namespace halyard::capture
