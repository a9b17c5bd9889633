// SPDX-License-Identifier: Apache-2.0
// Device nodes that buffers come from, and why one cannot be opened.
#pragma once

#include <string>

#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard {

/// The paths of the nodes that this layer opens. Tests use other paths.
struct DmaNodes {
  std::string heaps = "/dev/dma_heap";  ///< the folder; each heap is a node in it
  std::string udmabuf = "/dev/udmabuf";
  std::string udmabuf_limit_mb = "/sys/module/udmabuf/parameters/size_limit_mb";
  std::string render = "/dev/dri/renderD128";
};

/// Opens a device node for reading and writing. Errors: not_found, permission (the detail names the
/// node, its group and the remedy), os.
Result<Fd> open_node(const std::string& path);

}  // namespace halyard
