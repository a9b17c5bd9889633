// SPDX-License-Identifier: Apache-2.0
// Importer: imports memory of a camera, a GPU or another process by its file descriptor.
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

/// The kind of memory behind a descriptor, as the kernel reports it.
enum class FdKind : std::uint8_t { dma_buf, memfd, posix_shm };
std::string_view to_string(FdKind kind) noexcept;
/// Finds the kind of a descriptor. Errors: invalid_argument (negative, closed, or another kind; the
/// detail names it).
Result<FdKind> fd_kind(int fd);

/// One plane of an image in imported memory. `fd` is borrowed: the importer duplicates it.
struct PlaneDescriptor {
  int fd = -1;
  std::size_t stride_bytes = 0;  ///< 0: tight. Camera drivers pad rows: pass the driver's value.
  std::size_t offset_bytes = 0;
  std::uint64_t modifier = drm_modifier_linear;
};

struct ImportOptions {
  /// Bytes that the object must have at least; 0: no minimum.
  std::size_t size_bytes = 0;
  /// Try to seal memory that its owner can shrink, and refuse it if sealing fails; memory of huge
  /// pages must also be sealed against writing already. If false, such memory is accepted, and each
  /// map checks its size again: an owner that shrinks it during a map kills this process (SIGBUS).
  /// DMA-BUFs never shrink.
  bool require_sealed = false;
  /// Refuse objects with more bytes; 0: no limit. The whole object is mapped, whatever size_bytes
  /// is.
  std::size_t max_bytes = 0;
  /// Makes the Buffer read-only even if the descriptor allows writing. It is a different Buffer
  /// from the writable one of the same object.
  bool read_only = false;
};

/// Imports by descriptor, each kernel object once: while a Buffer of an object exists, importing
/// any descriptor of the object gives the same Buffer, so its attachments are found again. Objects
/// are identified by (device, inode), never by descriptor numbers. Thread-safe.
class Importer {
 public:
  Importer();
  ~Importer();
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;

  /// The importer of this process.
  static Importer& shared();

  /// Imports the object of a descriptor, which is borrowed. A descriptor opened only for reading
  /// gives a read-only Buffer. Errors: those of fd_kind(); invalid_argument (smaller than
  /// options.size_bytes), exhausted (larger than options.max_bytes), permission (require_sealed),
  /// os.
  Result<std::shared_ptr<Buffer>> import_buffer(int fd, const ImportOptions& options = {});

  /// Imports an image over one descriptor per plane, or over one descriptor for all (chroma after
  /// luma, with the luma's stride). Errors: those above; invalid_argument (a stride below the
  /// minimum, a plane that ends beyond its object, planes that overlap, modifiers that differ).
  Result<Tensor> import_image(std::span<const PlaneDescriptor> planes, std::size_t width,
                              std::size_t height, PixelFormat format, DType dtype = DType::u8,
                              const ImportOptions& options = {});

  /// Number of objects that are imported now.
  std::size_t size() const;

 private:
  struct Table;
  std::shared_ptr<Table> table_;  ///< also owned by the imported buffers
};

}  // namespace halyard
HALYARD_EXPORTS_END
