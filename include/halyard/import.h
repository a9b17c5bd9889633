// SPDX-License-Identifier: Apache-2.0
// Importer: memory of others (a camera, a GPU, another process) by its file descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "halyard/buffer.h"
#include "halyard/drm.h"
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// What a descriptor stands for, as the kernel tells.
enum class FdKind : std::uint8_t { dma_buf, memfd, posix_shm };
std::string_view to_string(FdKind kind) noexcept;
/// Errors: invalid_argument (negative, closed, or none of these; the detail says what it is).
Result<FdKind> fd_kind(int fd);

/// One plane of an image in somebody's memory. `fd` is borrowed: the importer duplicates it.
struct PlaneDescriptor {
  int fd = -1;
  std::size_t stride_bytes = 0;  ///< 0: tight. Camera drivers pad, so give what they say.
  std::size_t offset_bytes = 0;
  std::uint64_t modifier = drm_modifier_linear;
};

struct ImportOptions {
  /// Bytes that must be there; 0: all that the object has.
  std::size_t size_bytes = 0;
  /// Refuse memory that its owner can shrink under us, after trying to seal it; memory of huge
  /// pages must come sealed against writing too. Without it such memory is accepted and its size is
  /// looked at again by every map: an owner who shrinks it during a map ends this process (SIGBUS).
  /// DMA-BUFs never shrink.
  bool require_sealed = false;
  /// Refuse objects of more bytes; 0: any. All of an object is mapped, whatever size_bytes says.
  std::size_t max_bytes = 0;
  /// The Buffer is read-only whatever the descriptor allows; it is another Buffer than the one that
  /// may be written.
  bool read_only = false;
};

/// Imports by descriptor, each kernel object once: as long as somebody holds the Buffer of an
/// object, importing any descriptor of it gives that same Buffer, so whatever hangs on it is found
/// again. Objects are told apart by (device, inode), never by descriptor numbers. Thread-safe.
class Importer {
 public:
  Importer();
  ~Importer();
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;

  /// The one of this process.
  static Importer& shared();

  /// Errors: those of fd_kind(); invalid_argument (smaller than options.size_bytes), exhausted
  /// (larger than options.max_bytes), permission (require_sealed), os. A descriptor opened for
  /// reading gives a read-only Buffer.
  Result<std::shared_ptr<Buffer>> import_buffer(int fd, const ImportOptions& options = {});

  /// An image over one descriptor per plane, or over one for all (chroma behind luma, at the
  /// luma's stride). Errors: those above; invalid_argument (a stride below the minimum, a plane
  /// that ends behind its object, planes that overlap, modifiers that differ).
  Result<Tensor> import_image(std::span<const PlaneDescriptor> planes, std::size_t width,
                              std::size_t height, PixelFormat format, DType dtype = DType::u8,
                              const ImportOptions& options = {});

  /// Objects known at present.
  std::size_t size() const;

 private:
  struct Table;
  std::shared_ptr<Table> table_;  ///< held by the imported buffers too
};

}  // namespace halyard
HALYARD_EXPORTS_END
