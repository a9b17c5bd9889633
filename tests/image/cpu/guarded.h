// SPDX-License-Identifier: Apache-2.0
// Images between pages without access: reading or writing one byte beyond them ends the test
// program.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>

#include "image/images.h"

namespace halyard::test {

/// Which end of the image touches the protected page.
enum class Edge { begin, end };

/// Pages of memory between two protected pages; the last user unmaps them.
class GuardedPages {
 public:
  explicit GuardedPages(std::size_t bytes) {
    page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    inner_ = (bytes + page_ - 1) / page_ * page_;
    void* all = ::mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(all, MAP_FAILED);
    begin_ = static_cast<std::byte*>(all) + page_;
    EXPECT_EQ(::mprotect(begin_, inner_, PROT_READ | PROT_WRITE), 0);
  }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;
  ~GuardedPages() { ::munmap(begin_ - page_, inner_ + 2 * page_); }

  std::byte* place(std::size_t bytes, Edge edge) const {
    return edge == Edge::begin ? begin_ : begin_ + inner_ - bytes;
  }
  void forbid_writing() const { EXPECT_EQ(::mprotect(begin_, inner_, PROT_READ), 0); }

 private:
  std::size_t page_ = 0;
  std::size_t inner_ = 0;
  std::byte* begin_ = nullptr;
};

/// `bytes` random bytes at the end (or the start) of the accessible memory. Those of sources are
/// read-only.
inline std::shared_ptr<Buffer> guarded_buffer(Random& random, std::size_t bytes, Edge edge,
                                              bool is_source) {
  const auto pages = std::make_shared<GuardedPages>(bytes);
  std::byte* data = pages->place(bytes, edge);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>(random() & 0xFFU);
  if (is_source) pages->forbid_writing();
  return (is_source ? wrap_memory(static_cast<const void*>(data), bytes, [pages] {})
                    : wrap_memory(static_cast<void*>(data), bytes, [pages] {}))
      .value();
}

/// An image in guarded memory: tight rows, and not one byte behind the last sample.
inline Tensor guarded_image(Random& random, Size size, PixelFormat format, DType dtype, Edge edge,
                            bool is_source) {
  const auto w = static_cast<std::size_t>(size.width);
  const auto h = static_cast<std::size_t>(size.height);
  const std::size_t stride = tight_stride(format, dtype, w).value();
  std::size_t bytes = 0;
  for (std::size_t p = 0; p < info(format).planes; ++p) {
    const PlaneGeometry g = plane_geometry(format, dtype, w, h, stride, p).value();
    bytes = std::max(bytes, g.offset_bytes + (g.rows - 1) * g.stride_bytes + g.row_bytes);
  }
  const Tensor::PlaneSource whole{guarded_buffer(random, bytes, edge, is_source), 0, stride, 0};
  return Tensor::wrap_image({&whole, 1}, w, h, format, dtype).value();
}

/// The same, with every plane of a semi- or tri-planar u8 image in its own guarded memory.
inline Tensor guarded_planes(Random& random, Size size, PixelFormat format, Edge edge,
                             bool is_source) {
  const auto w = static_cast<std::size_t>(size.width);
  const auto h = static_cast<std::size_t>(size.height);
  std::vector<Tensor::PlaneSource> planes;
  for (std::size_t p = 0; p < info(format).planes; ++p) {
    const PlaneGeometry g = plane_geometry(format, DType::u8, w, h, 0, p).value();
    const std::size_t stride = (g.row_bytes + 1) / 2 * 2;
    const std::size_t bytes = (g.rows - 1) * stride + g.row_bytes;
    planes.push_back({guarded_buffer(random, bytes, edge, is_source), 0, stride, 0});
  }
  return Tensor::wrap_image(planes, w, h, format).value();
}

}  // namespace halyard::test
