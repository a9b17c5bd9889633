// SPDX-License-Identifier: Apache-2.0
// DmaImages: textures over the bytes of a DMA-BUF, which the GPU reads and writes without a copy.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gl/display/worker.h"
#include "halyard/buffer.h"
#include "halyard/drm.h"
#include "halyard/geometry.h"

namespace halyard::gl {

/// Texels in rows, as a part of a buffer.
struct DmaImageLayout {
  std::uint32_t drm_format = 0;  ///< fourcc
  std::size_t texel_bytes = 0;
  Size size;  ///< texels
  std::size_t offset_bytes = 0;
  std::size_t stride_bytes = 0;
  std::uint64_t modifier = drm_modifier_linear;
  friend bool operator==(const DmaImageLayout&, const DmaImageLayout&) = default;
};

/// Objects of the worker's context.
struct DmaImage {
  std::uint32_t texture = 0;
  std::uint32_t framebuffer = 0;
};

/// What a texture is for. A driver that refuses one use of a buffer may allow the other.
enum class DmaUse : std::uint8_t { convert, draw };

/// How targets are bound.
enum class DmaTarget : std::uint8_t { texture, renderbuffer };

/// The images over one buffer, each imported once and kept until the buffer dies; of more than 64
/// layouts those that were used last. All of it runs on the worker's thread, except for
/// has_refused() and the destructor.
class DmaImages final : public Attachment {
 public:
  /// The images of the buffer; attaches them at the first call. May throw std::bad_alloc.
  static DmaImages& of(Buffer& buffer, const std::shared_ptr<Worker>& worker);
  /// Whether the worker's driver has refused to import the buffer for this use. Thread-safe.
  static bool has_refused(const Buffer& buffer, const Worker& worker,
                          DmaUse use = DmaUse::convert) noexcept;
  explicit DmaImages(std::shared_ptr<Worker> worker) noexcept;
  DmaImages(const DmaImages&) = delete;
  DmaImages& operator=(const DmaImages&) = delete;
  ~DmaImages() override;

  /// The texture over a part of `buffer`, the owner of these images. Errors: unsupported (the
  /// driver imports no DMA-BUF, or not this one; the buffer is no DMA-BUF), invalid_argument (the
  /// part is not inside the buffer, or larger than a texture). A refused layout is not tried again.
  Result<DmaImage> source(const Buffer& buffer, const DmaImageLayout& layout);
  /// The same with a complete framebuffer; some drivers need a renderbuffer, whatever is asked for.
  /// Errors: also unsupported (no target of this format).
  Result<DmaImage> target(const Buffer& buffer, const DmaImageLayout& layout, DmaTarget binding,
                          DmaUse use = DmaUse::convert);

 private:
  struct Entry;
  Result<Entry*> find(const Buffer& buffer, const DmaImageLayout& layout, bool as_renderbuffer,
                      DmaUse use);
  Entry& add(const DmaImageLayout& layout, bool as_renderbuffer);
  Status import(const Buffer& buffer, Entry& entry) const;

  std::shared_ptr<Worker> worker_;
  std::shared_ptr<std::vector<Entry>> entries_;
  std::uint64_t now_ = 0;                           ///< counts uses
  std::array<std::atomic<bool>, 2> has_refused_{};  ///< by use
};

/// Checks that a layout lies inside `size_bytes`, for drivers do not. Errors: invalid_argument.
Status check_layout(const DmaImageLayout& layout, std::size_t size_bytes, std::int32_t max_size);

/// Imports of DMA-BUFs since the start of the process, and images that exist. For tests.
std::uint64_t dma_image_imports() noexcept;
std::size_t live_dma_images() noexcept;

}  // namespace halyard::gl
