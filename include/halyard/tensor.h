// SPDX-License-Identifier: Apache-2.0
// Tensor: bytes with their layout and meaning. A value: copies share the bytes.
// Long: the contract of the central type is in one place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "halyard/buffer.h"
#include "halyard/colorimetry.h"
#include "halyard/drm.h"
#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/geometry.h"
#include "halyard/moved.h"
#include "halyard/quantization.h"
#include "halyard/result.h"
#include "halyard/view.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

inline constexpr std::size_t max_rank = 8;

/// Element type, shape and strides, outermost axis first. Strides are bytes.
struct Layout {
  DType dtype = DType::u8;
  std::uint8_t rank = 0;
  std::array<std::size_t, max_rank> shape{};
  std::array<std::ptrdiff_t, max_rank> stride_bytes{};

  /// C-contiguous layout. Errors: invalid_argument (rank 0 or above 8, size overflow).
  static Result<Layout> contiguous(DType dtype, std::span<const std::size_t> shape);
  /// Checks a shape without making a layout. Errors: those of contiguous().
  static Status check_size(DType dtype, std::span<const std::size_t> shape);
  std::span<const std::size_t> dims() const noexcept { return {shape.data(), rank}; }
  std::size_t element_count() const noexcept;
  /// Bytes of the elements, without padding.
  std::size_t size_bytes() const noexcept { return element_count() * size_of(dtype); }
  bool is_contiguous() const noexcept;
};

/// The byte range of the elements, relative to the first byte of element (0, ..., 0): `lowest` is 0
/// or less, `end` is behind the highest byte. Both are 0 if there are no elements.
struct Reach {
  std::ptrdiff_t lowest = 0;
  std::ptrdiff_t end = 0;
};
/// Strides may be negative or 0; there is one for each extent. nullopt: `lowest`, `end` or the
/// distance between them is beyond PTRDIFF_MAX. Thread-safe.
std::optional<Reach> reach_of(std::span<const std::size_t> shape,
                              std::span<const std::ptrdiff_t> stride_bytes,
                              std::size_t element_bytes) noexcept;
std::optional<Reach> reach_of(const Layout& layout) noexcept;

/// The description of a tensor by a network or a file, before the tensor exists.
struct TensorSpec {
  std::string name;
  DType dtype = DType::u8;
  std::vector<std::size_t> shape;            ///< outermost first
  std::optional<Quantization> quantization;  ///< integer tensors only
  std::optional<PixelFormat> format;         ///< set when the tensor is an image
};

/// One plane of an image tensor, as memory.
struct ImagePlane {
  std::shared_ptr<Buffer> buffer;
  std::size_t offset_bytes = 0;
  std::size_t stride_bytes = 0;  ///< between rows
  std::size_t row_bytes = 0;     ///< used in each row
  std::size_t rows = 0;
};

/// A mapped plane; `writable` is null if the map is read-only.
struct MappedPlane {
  const std::byte* data = nullptr;
  std::byte* writable = nullptr;
  std::size_t stride_bytes = 0;
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
};

class Tensor;
/// CPU access to all of a tensor's bytes; keeps them alive. Move-only. Thread-bound.
class TensorMap {
 public:
  /// Maps nothing.
  TensorMap() noexcept {}  // not `= default`: value-initialisation would zero the storage first
  /// A map that was moved from maps nothing.
  TensorMap(TensorMap&& other) noexcept
      : layout_(other.layout_),
        access_(other.access_),
        base_(std::move(other.base_)),
        planes_adjacent_(other.planes_adjacent_),
        plane_count_(std::move(other.plane_count_)),
        planes_(other.planes_),
        maps_(std::move(other.maps_)) {
    other.layout_.rank = 0;
  }
  TensorMap& operator=(TensorMap&& other) noexcept;
  ~TensorMap() = default;
  const Layout& layout() const noexcept { return layout_; }
  Access access() const noexcept { return access_; }
  /// Address of element (0, ..., 0).
  const std::byte* data() const noexcept { return base_; }
  /// Null when the map is read-only.
  std::byte* writable() const noexcept { return can_write(access_) ? base_ : nullptr; }
  /// Plane `index` of an image; index < plane_count().
  const MappedPlane& plane(std::size_t index) const noexcept { return planes_[index]; }
  std::size_t plane_count() const noexcept { return plane_count_; }
  /// Whether data() and layout() describe all bytes: false if planes lie in several places.
  bool planes_adjacent() const noexcept { return planes_adjacent_; }

  /// The elements as T with N axes. A const T reads, a plain T writes. Errors: invalid_argument (T
  /// is not the dtype, N is not the rank, misaligned), permission (plain T on a read-only map),
  /// unsupported (an image whose planes do not follow one another).
  template <class T, std::size_t N>
  Result<View<T, N>> view() const {
    HALYARD_RETURN_IF_ERROR(check_view(dtype_of<std::remove_const_t<T>>, N, !std::is_const_v<T>));
    std::array<std::size_t, N> shape;
    std::array<std::ptrdiff_t, N> stride;
    for (std::size_t i = 0; i < N; ++i) {
      shape[i] = layout_.shape[i];
      stride[i] = layout_.stride_bytes[i];
    }
    return View<T, N>(base_, shape, stride);
  }
  /// All elements of a contiguous tensor as one span. Errors: as view(), and unsupported (strided).
  template <class T>
  Result<std::span<T>> flat() const {
    HALYARD_RETURN_IF_ERROR(
        check_view(dtype_of<std::remove_const_t<T>>, layout_.rank, !std::is_const_v<T>));
    HALYARD_RETURN_IF_ERROR(check_contiguous());
    return std::span<T>(reinterpret_cast<T*>(base_.get()), layout_.element_count());
  }

 private:
  friend class Tensor;
  Status check_view(std::optional<DType> dtype, std::size_t rank, bool writes) const;
  Status check_contiguous() const;
  Status check_alignment() const;
  Layout layout_;
  Access access_ = Access::read;
  Moved<std::byte*> base_;
  bool planes_adjacent_ = true;
  Moved<std::size_t> plane_count_;
  std::array<MappedPlane, 4> planes_{};
  std::array<Map, 3> maps_;
};

/// The indices that Tensor::part() takes on one axis: `count` indices, `step` apart, from `start`
/// on.
struct AxisRange {
  std::size_t start = 0;
  std::size_t count = 1;
  std::ptrdiff_t step = 1;  ///< may be negative
  bool keeps_axis = true;   ///< false: only index `start`; the part has one axis less

  static constexpr AxisRange index(std::size_t n) noexcept { return {n, 1, 1, false}; }
  static constexpr AxisRange all(std::size_t extent) noexcept { return {0, extent, 1, true}; }
};

/// Options of create_image() in addition to size and format.
struct ImageOptions {
  DType dtype = DType::u8;
  Memory memory = Memory::automatic;
  /// What the CPU will do with the pixels; see CpuAccess.
  CpuAccess cpu_access = CpuAccess::read_write;
  /// A scheme other than none needs cpu_access none. `any` gives linear memory if no scheme is
  /// available, and counts this: see compression_fallbacks().
  Compression compression = Compression::none;
  /// Row pitch; 0: the usual one. At least the tight stride.
  std::size_t stride_bytes = 0;
  std::string label = {};
};
/// Number of requests for images with Compression::any that became linear; a batch counts once.
/// Thread-safe.
std::uint64_t compression_fallbacks() noexcept;

/// A tensor, possibly an image. A copy copies the handle and shares the bytes. Reentrant: one
/// Tensor value belongs to one thread at a time; several values may share bytes across threads.
class Tensor {
 public:
  /// No bytes, rank 0.
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  /// A tensor that was moved from is empty: no bytes, rank 0, no format, no name.
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor() = default;

  /// Zero-filled C-contiguous tensor. Errors: invalid_argument (shape), those of allocate().
  static Result<Tensor> create(DType dtype, std::span<const std::size_t> shape,
                               Memory memory = Memory::automatic);
  static Result<Tensor> create(DType dtype, std::initializer_list<std::size_t> shape,
                               Memory memory = Memory::automatic) {
    return create(dtype, std::span<const std::size_t>(shape.begin(), shape.size()), memory);
  }
  /// A zero-filled tensor as `spec` describes it, with its quantization, name and format.
  static Result<Tensor> create(const TensorSpec& spec, Memory memory = Memory::automatic);

  /// A zero-filled image. Row pitch: multiples of 64 bytes for semi- and tri-planar formats and for
  /// DMA memory, else tight. Width and height 1..65535 (odd ones are legal).
  static Result<Tensor> create_image(std::size_t width, std::size_t height, PixelFormat format,
                                     DType dtype = DType::u8, Memory memory = Memory::automatic);

  /// As above. Errors: also invalid_argument (a negative extent).
  static Result<Tensor> create_image(Size size, PixelFormat format, DType dtype = DType::u8,
                                     Memory memory = Memory::automatic);

  /// As above, with all options. Errors: also unsupported (a compression scheme that is named), and
  /// invalid_argument (stride below the tight one, compression with CPU access).
  static Result<Tensor> create_image(std::size_t width, std::size_t height, PixelFormat format,
                                     const ImageOptions& options);
  /// As above, in memory from `allocate`, for example a slot of a pool; its bytes are not cleared.
  /// Errors: also those of `allocate`, and invalid_argument (it returns fewer bytes).
  using BufferSource = std::function<Result<std::shared_ptr<Buffer>>(std::size_t size_bytes)>;
  static Result<Tensor> create_image_in(const BufferSource& allocate, std::size_t width,
                                        std::size_t height, PixelFormat format,
                                        const ImageOptions& options = {});
  /// `count` zero-filled images in one buffer, as a tensor with a batch axis in front of the
  /// image's shape. batch(n) is image n. Each image begins at a multiple of 64 bytes.
  static Result<Tensor> create_image_batch(std::size_t count, std::size_t width, std::size_t height,
                                           PixelFormat format, const ImageOptions& options = {});

  /// A tensor over existing bytes. Gaps in the layout do not belong to the tensor: reconfigured()
  /// refuses such tensors. Errors: invalid_argument (the layout leaves the buffer).
  static Result<Tensor> wrap(std::shared_ptr<Buffer> buffer, const Layout& layout,
                             std::size_t offset_bytes = 0);
  /// An image over one or more planes: all planes in one entry, or one entry per plane of the
  /// format; planar RGB is one entry. stride_bytes 0 means tight. If `modifier` is not linear, only
  /// the device knows how many bytes the pixels cover: then each plane needs its entry, only
  /// offsets are checked, and the CPU can never map the image. Errors: invalid_argument (a plane
  /// leaves its buffer or overlaps another, a stride is too small, wrong count of planes, an offset
  /// or stride that is not a multiple of the element size).
  struct PlaneSource {
    std::shared_ptr<Buffer> buffer;
    std::size_t offset_bytes = 0;
    std::size_t stride_bytes = 0;
    /// Between the colour planes of a planar format; 0: each begins where the rows of the one
    /// before end.
    std::size_t plane_stride_bytes = 0;
  };
  static Result<Tensor> wrap_image(std::span<const PlaneSource> planes, std::size_t width,
                                   std::size_t height, PixelFormat format, DType dtype = DType::u8,
                                   std::uint64_t modifier = drm_modifier_linear);

  const Layout& layout() const noexcept { return layout_; }
  DType dtype() const noexcept { return layout_.dtype; }
  std::size_t rank() const noexcept { return layout_.rank; }
  std::span<const std::size_t> shape() const noexcept { return layout_.dims(); }
  std::size_t element_count() const noexcept { return layout_.element_count(); }
  std::size_t size_bytes() const noexcept { return layout_.size_bytes(); }
  bool is_empty() const noexcept { return planes_[0].buffer == nullptr; }
  /// The buffer of the first plane, null for an empty tensor.
  const std::shared_ptr<Buffer>& buffer() const noexcept { return planes_[0].buffer; }
  std::size_t offset_bytes() const noexcept { return planes_[0].offset_bytes; }
  /// Whether buffer() holds all bytes: false for an image that has a buffer for each plane.
  bool is_in_one_buffer() const noexcept {
    const auto is_other = [this](const PlaneSource& plane) {
      return plane.buffer != nullptr && plane.buffer != planes_[0].buffer;
    };
    return !is_other(planes_[1]) && !is_other(planes_[2]);
  }
  /// Whether layout() describes all bytes from offset_bytes() on: the planes of an image follow one
  /// another in one buffer as in plane_geometry(). True for tensors that are not images.
  bool planes_adjacent() const;
  Memory memory() const noexcept;

  bool is_image() const noexcept { return format_.has_value(); }
  std::optional<PixelFormat> format() const noexcept { return format_; }
  /// The format of the images that batch(n) returns from a batch. nullopt for images.
  std::optional<PixelFormat> item_format() const noexcept { return item_format_; }
  /// Errors: invalid_argument (an image, rank 1, no elements, a shape that the format cannot have),
  /// unsupported (strides that an image cannot have).
  Status set_item_format(std::optional<PixelFormat> format);
  /// Extent of the image, 0 for other tensors.
  std::size_t width() const noexcept { return width_; }
  std::size_t height() const noexcept { return height_; }
  Size size() const noexcept;
  /// Bytes between rows of the first plane, 0 for other tensors.
  std::size_t row_stride_bytes() const noexcept { return format_ ? planes_[0].stride_bytes : 0; }
  std::size_t plane_count() const noexcept;
  /// Errors: invalid_argument (not an image, index out of range).
  Result<ImagePlane> image_plane(std::size_t index) const;

  const Colorimetry& colorimetry() const noexcept { return colorimetry_; }
  void set_colorimetry(const Colorimetry& colorimetry) noexcept { colorimetry_ = colorimetry; }
  const std::optional<Quantization>& quantization() const noexcept { return quantization_; }
  /// Errors: those of validate().
  Status set_quantization(std::optional<Quantization> quantization);
  /// The rotation and flip that show an image upright if it lies in memory as a camera or file
  /// stored it. Decoders set it; convert() applies it and returns upright images. slice(), batch(),
  /// part() and with_format() keep it; reshape() and reconfigured() drop it.
  Orientation orientation() const noexcept { return orientation_; }
  void set_orientation(Orientation orientation) noexcept { orientation_ = orientation; }
  /// size() after the orientation is applied: the size of the image that convert() reads.
  Size upright_size() const noexcept { return oriented(size(), orientation_); }
  /// How the device arranges the pixels, DRM_FORMAT_MOD_*; linear unless imported otherwise. The
  /// CPU cannot map an image that is not linear.
  std::uint64_t modifier() const noexcept { return modifier_; }
  void set_modifier(std::uint64_t modifier) noexcept { modifier_ = modifier; }
  const std::string& name() const noexcept { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  /// A part of an image that shares the bytes. Unknown colorimetry of a YUV image is first resolved
  /// by the whole image's height, so that the part has the same colours. Errors: invalid_argument
  /// (not an image; region empty or outside; x or y not a multiple of the chroma block of a
  /// subsampled format or of the 2x2 block of a Bayer mosaic), unsupported (an image that is not
  /// linear).
  Result<Tensor> slice(const Region& region) const;
  /// Element n of the outermost axis, sharing the bytes. It is an image if create_image_batch()
  /// made the tensor; else use with_format() or as_image(). Errors: invalid_argument (n out of
  /// range, rank 1, a single image).
  Result<Tensor> batch(std::size_t n) const;
  /// The given indices of the leading axes and all indices of the others, sharing the bytes:
  /// batch(n) is the part {AxisRange::index(n)}. Keeps colorimetry, name, quantization (the scales
  /// of the chosen indices), and the format of items that stay whole. reconfigured() of a part may
  /// use only the bytes of the part's own elements. Errors: invalid_argument (an image, see
  /// slice(); more ranges than axes; an index out of range; no elements or no axis left).
  Result<Tensor> part(std::span<const AxisRange> ranges) const;
  /// The same elements with another shape. Drops the image format, and per-channel quantization
  /// whose axis the new shape lacks. Errors: invalid_argument (another count of elements),
  /// unsupported (strided, or planes that do not follow one another).
  Result<Tensor> reshape(std::span<const std::size_t> shape) const;
  Result<Tensor> reshape(std::initializer_list<std::size_t> shape) const {
    return reshape(std::span<const std::size_t>(shape.begin(), shape.size()));
  }
  /// The same bytes as an image; a leading axis of 1 is dropped. Errors: invalid_argument (the
  /// shape cannot be this format), unsupported (strides that an image cannot have; another format
  /// over planes that do not follow one another).
  Result<Tensor> with_format(PixelFormat format) const;
  /// with_format() with a format that is guessed from the shape: [1,]3|4,H,W planar; [1,]H,W,3|4
  /// packed RGB(A); 1 channel grey. An image is returned unchanged.
  Result<Tensor> as_image() const;
  /// The same memory with another image size and format, within its capacity. Decoders use this to
  /// reuse a tensor. The capacity is the tensor's own bytes for an element of a batch and for a
  /// part, else the whole buffer. The row pitch is kept if it fits, else chosen again. Errors:
  /// exhausted (capacity; the detail names both sizes), unsupported (several buffers, not linear, a
  /// part of an image, elements with gaps between them).
  Result<Tensor> reconfigured(std::size_t width, std::size_t height, PixelFormat format) const;

  /// Maps the bytes for the CPU. A map for writing claims the tensor's own bytes: only one thread
  /// may write them at a time, but other threads may write other parts of the same buffer. Errors:
  /// invalid_argument (empty tensor), unsupported (a modifier that no CPU can read), those of
  /// Buffer::map().
  Result<TensorMap> map(Access access) const;
  /// As map(), without a claim: for writers that are ordered by other means.
  Result<TensorMap> map_unclaimed(Access access) const;

 protected:
  /// As wrap(), into this tensor, which must be empty: for derived classes, and for speed.
  Status lay_over(std::shared_ptr<Buffer> buffer, const Layout& layout,
                  std::size_t offset_bytes = 0);
  /// Whether both are equal except for their memory. The place of the elements in the memory
  /// counts.
  bool has_form_of(const Tensor& other) const noexcept;
  /// Makes `out` equal to this tensor, but in `buffer`, without checks; null: without a buffer.
  void put_over(std::shared_ptr<Buffer> buffer, Tensor& out) const;

 private:
  friend bool aliases(const Tensor& a, const Tensor& b) noexcept;
  static bool may_share_memory(const Tensor& a, const Tensor& b) noexcept;
  static bool share_addresses(const Buffer& one, const Buffer& other) noexcept;
  static bool share_bytes(const Buffer& one, const ByteRegion& mine, const Buffer& other,
                          const ByteRegion& yours) noexcept;
  /// The byte ranges of the tensor: one region per plane of an image, else one. Returns their
  /// count, 0 if there are no elements.
  std::size_t byte_regions(std::span<ByteRegion, 4> regions) const noexcept;
  /// True: all regions lie in the first plane's entry. False: region i lies in entry i.
  bool has_one_source() const noexcept;
  const PlaneSource& region_source(std::size_t i) const noexcept {
    return planes_[has_one_source() ? 0 : i];
  }
  Result<TensorMap> map_with(Access access, bool claimed) const;
  Status map_into(TensorMap& map, bool claimed) const;
  Result<Map> map_buffer(const std::shared_ptr<Buffer>& buffer, Access access,
                         std::span<const ByteRegion> claimed) const;
  Status check_reconfigurable() const;
  void forget() noexcept;
  Status check_ranges(std::span<const AxisRange> ranges) const;
  std::optional<std::size_t> capacity_of(const Layout& part,
                                         std::span<const AxisRange> ranges) const noexcept;
  Layout layout_;
  std::array<PlaneSource, 3> planes_{};
  std::optional<PixelFormat> format_;
  std::size_t width_ = 0;
  std::size_t height_ = 0;
  Colorimetry colorimetry_;
  Orientation orientation_;
  std::uint64_t modifier_ = drm_modifier_linear;
  bool opaque_ =
      false;  ///< wrapped with a modifier that is not linear; stays set if the modifier changes
  std::optional<PixelFormat> item_format_;  ///< of the images of a batch
  /// Bytes that reconfigured() may use from offset_bytes() on; nullopt: all of the buffer; 0: none.
  std::optional<std::size_t> capacity_bytes_;
  std::optional<Quantization> quantization_;
  std::string name_;
};

/// Whether the tensors share a byte, also through two buffers over one kernel object or over the
/// same addresses. Exact for parts of one image, for contiguous tensors, and for parts of them that
/// are rows with one pitch; else true if the outer bounds overlap.
bool aliases(const Tensor& a, const Tensor& b) noexcept;

/// Copies all elements between tensors of one dtype and shape; strides may differ. `destination`
/// keeps its format, colorimetry, orientation, quantization and name. Errors: invalid_argument
/// (dtype, shape, aliasing), those of map().
Status copy(const Tensor& source, Tensor& destination);

/// Counts of copies of pixels and elements in this process. Converting and decoding do not count.
/// Thread-safe.
struct CopyStats {
  std::uint64_t copies = 0;
  std::uint64_t bytes = 0;
};
CopyStats copy_stats() noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
