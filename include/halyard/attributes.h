// SPDX-License-Identifier: Apache-2.0
// AttributeList: what one party needs of a buffer that several share. reconcile.h finds the buffer
// that serves them all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/buffer.h"
#include "halyard/drm.h"
#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// What a party may set. The value identifies the key in blobs; if bit 15 is set, a reader that
/// does not know the key must refuse the blob. key_info() gives name, type, unit, rule and default.
enum class Key : std::uint16_t {
  // The memory.
  kind = 0x8101,
  cpu = 0x8102,
  policy = 0x8103,
  domains = 0x8104,
  perm = 0x8105,
  heaps = 0x8106,
  contig = 0x8107,
  addr_bits = 0x8108,
  is_protected = 0x8109,
  base_align = 0x810A,
  size_min = 0x810B,
  size_max = 0x810C,
  size_align = 0x810D,
  tail_slack = 0x810E,
  camp = 0x810F,
  slack = 0x8110,
  shared_slack = 0x8111,
  count_min = 0x8112,
  count_max = 0x8113,
  attach = 0x8114,
  addr_pinned = 0x8115,
  exported = 0x8116,
  pad_fill = 0x8117,
  pad_clobber = 0x8118,
  engines = 0x0119,
  // A tensor in it.
  dtype = 0x8201,
  shape = 0x8202,
  layout = 0x8203,
  cpad = 0x8204,
  max_axis = 0x8205,
  row_align = 0x8206,
  surf_align = 0x8207,
  batch_align = 0x8208,
  rows_mult = 0x8209,
  row_min = 0x820A,
  row_max = 0x820B,
  row_exact = 0x820C,
  px_integral = 0x820D,
  offset_align = 0x820E,
  shape_required = 0x820F,
  // An image in it.
  format = 0x8301,
  width = 0x8302,
  height = 0x8303,
  width_mult = 0x8304,
  height_mult = 0x8305,
  pitch_align = 0x8306,
  plane_align = 0x8307,
  pitch_exact = 0x8308,
  pitch_max = 0x8309,
  chroma_derived = 0x830A,
  color = 0x830B,
  scan = 0x830C,
  one_fd = 0x830D,
  width_required = 0x830E,
  height_required = 0x830F,
  // Anything else in it.
  raw_size = 0x8401,
  array_stride = 0x8402,
  array_capacity = 0x8403,
  pyramid_levels = 0x8404,
  pyramid_scale = 0x8405,
};

/// How the values of several parties are merged into one. For every rule the result depends neither
/// on order nor on grouping, nor on how often a value is repeated.
enum class MergeRule : std::uint8_t {
  equal,      ///< all must be the same
  max,        ///< the largest
  min,        ///< the smallest
  multiple,   ///< the least common multiple, at most 2^31
  any,        ///< true if any party sets true
  intersect,  ///< the members that all allow; must not be empty
  unite,      ///< the members that any party asks for
  range,      ///< intersection of all ranges; must not be empty
  sum,        ///< sum over parties of each party's largest value
  order,      ///< the strongest value; a strict value allows no stronger one
  pad,        ///< the strongest rule for padding; two different values are a conflict
  per_party,  ///< each party keeps its own value; the strongest holds for the buffer
  hull,       ///< from the smallest to the largest value; the extent's range must contain it
};
std::string_view to_string(MergeRule rule) noexcept;

/// What a buffer holds. An array or a pyramid shares its buffer with no other kind; raw combines
/// with every kind.
enum class BufferKind : std::uint8_t { raw = 1, image = 2, tensor = 4, array = 8, pyramid = 16 };

/// How the CPU's accesses are kept coherent with the devices', weakest first.
enum class CpuPolicy : std::uint8_t { automatic, unmapped, uncached, cached };

/// How CPU writes become visible to an engine.
enum class Coherency : std::uint8_t { hardware = 1, cpu_sync = 2, uncached = 4, no_cpu = 8 };

/// Kinds of memory that a buffer may come from, in order of preference for buffers that only CPUs
/// use.
enum class Heap : std::uint8_t {
  heap = 0,              ///< memory of this process
  memfd = 1,             ///< sealed shared memory
  udmabuf = 2,           ///< a DMA-BUF over a memfd
  dmabuf_system = 3,     ///< /dev/dma_heap/system: pages at any physical address
  dmabuf_cma = 4,        ///< a contiguous heap, below 4 GiB
  dmabuf_uncached = 5,   ///< a vendor's heap with memory that the CPU does not cache
  v4l2_mmap = 6,         ///< a capture driver's own buffers
  pbo = 7,               ///< an OpenGL pixel buffer
  dmabuf_protected = 8,  ///< a vendor's heap for content that no CPU may read
};
inline constexpr std::size_t heap_count = 9;
std::string_view to_string(Heap heap) noexcept;
/// Bit of a heap in Key::heaps.
constexpr std::uint64_t bit(Heap heap) noexcept {
  return std::uint64_t{1} << static_cast<unsigned>(heap);
}

/// What a party may do with the bytes.
enum class Permission : std::uint8_t { read = 0, read_write = 1 };

/// How an engine holds the memory while it uses it.
enum class Attach : std::uint8_t {
  cpu = 1,           ///< not at all: it reads and writes through the CPU
  dma = 2,           ///< by a DMA-BUF attachment of the kernel
  address_only = 4,  ///< it reads the address and detaches
};

/// What the padding bytes after each row and after the channels of each pixel must hold.
enum class PadFill : std::uint8_t { anything, not_nan, zero, value };

enum class Scan : std::uint8_t { progressive, interlaced };

/// Order of a tensor's axes in memory. `nc_hwx`: channels in blocks of x, x innermost.
enum class AxisOrder : std::uint8_t { nchw, nhwc, nc_hwx };

/// One layout that a party accepts: of a tensor (order and x), of an image (format and modifier),
/// or any that the others choose.
struct LayoutTag {
  enum class Family : std::uint8_t { wildcard, tensor, image };
  Family family = Family::wildcard;
  AxisOrder order = AxisOrder::nchw;
  std::uint32_t x = 1;  ///< 1..1024, only for nc_hwx
  PixelFormat format = PixelFormat::rgb;
  std::uint64_t modifier = drm_modifier_linear;

  static LayoutTag any() noexcept { return {}; }
  static LayoutTag tensor(AxisOrder order, std::uint32_t x = 1) noexcept {
    return {.family = Family::tensor, .order = order, .x = x};
  }
  static LayoutTag image(PixelFormat format,
                         std::uint64_t modifier = drm_modifier_linear) noexcept {
    return {.family = Family::image, .format = format, .modifier = modifier};
  }
  friend bool operator==(const LayoutTag&, const LayoutTag&) = default;
  friend auto operator<=>(const LayoutTag&, const LayoutTag&) = default;
};
/// "NCHW", "NCxHWx32", "nv12", "nv12@0x0100000000000001", "*".
std::string to_string(const LayoutTag& tag);
/// The inverse; letter case is ignored. Errors: invalid_argument (no such layout).
Result<LayoutTag> layout_tag_from_string(std::string_view text);

/// Type of a key's value.
enum class ValueType : std::uint8_t {
  flag,
  number,    ///< in the key's unit
  range,     ///< from low to high, both included; one number is a range too
  fraction,  ///< a double's bits
  choice,    ///< one of an enumeration
  set,       ///< bits of an enumeration
  layout,    ///< alternatives, see AttributeList::accept()
};

/// One row of the table of keys.
struct KeyInfo {
  Key key;
  std::string_view name;  ///< "t.row_align"
  ValueType type;
  MergeRule rule;
  std::uint8_t count;         ///< count of values, one for each axis or plane; 1 for most keys
  std::string_view unit;      ///< "B", "px", "buffers"; empty: none
  std::string_view set_by;    ///< who usually sets it: "A" applications, "E" engines, "A,E"
  std::string_view fallback;  ///< the default, in words
  std::string_view text;      ///< one line of description
};
std::span<const KeyInfo> key_infos() noexcept;
/// Null if there is no such key.
const KeyInfo* key_info(Key key) noexcept;
const KeyInfo* key_info(std::string_view name) noexcept;
std::string_view to_string(Key key) noexcept;

/// A value of a key as numbers: one number in `low`, or both ends of a range. For Key::policy,
/// `high` 1 means strict. For Key::pad_fill, `high` is the byte value.
struct AttributeValue {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const AttributeValue&, const AttributeValue&) = default;
};
/// "64 B", "u8", "{memfd, dmabuf.cma}", "1..1280 px".
std::string to_string(Key key, AttributeValue value);

/// One value that a party set.
struct Attribute {
  Key key;
  std::uint8_t index = 0;  ///< axis (0 is the innermost, W) or plane; 0 for most keys
  AttributeValue value;
  std::string source;  ///< where it was set: "camera.cpp:42", "TRY_FMT answer"; may be empty
};

/// One layout that a party accepts, with the attributes that hold only for this layout.
struct Alternative {
  LayoutTag tag;
  std::uint32_t cost = 0;  ///< the party's cost; the layout with the least sum over parties wins
  std::vector<Attribute> attributes;
};

/// A line of source text; here() as a default argument gives the caller's line. (Not every
/// supported compiler has std::source_location.)
struct CodeLine {
  const char* file = "";
  std::uint32_t line = 0;
  static constexpr CodeLine here(const char* file = __builtin_FILE(),
                                 std::uint32_t line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

/// What one party needs. Each key is set at most once; reconcile() reads the list as it is at the
/// call. A party may have several lists. A value type: copies are independent. Thread-bound.
class AttributeList {
 public:
  /// `party`: its name in reports, 1..255 bytes of UTF-8 without control characters; checked by
  /// reconcile().
  explicit AttributeList(std::string party);
  const std::string& party() const noexcept { return party_; }
  /// Name of the engine that the values come from; may be empty.
  const std::string& engine() const noexcept { return engine_; }
  void set_engine(std::string engine) { engine_ = std::move(engine); }
  /// Process id of the party, 0: unknown. Shown in reports.
  std::uint32_t process() const noexcept { return process_; }
  void set_process(std::uint32_t process) noexcept { process_ = process; }
  /// Priority of an optional party. Such a party may be left out when it causes a conflict
  /// (ReconcileOptions::allow_drop), the lowest priority first. None: the party is required.
  std::optional<int> optional_priority() const noexcept { return optional_priority_; }
  void set_optional(int priority = 0) noexcept { optional_priority_ = priority; }

  /// Errors of all setters: exists (the list already has the key), invalid_argument (not the key's
  /// type, out of its range). The message names the party, the key, and the value and limit, or
  /// both values.
  Status set(Key key, std::uint64_t number, CodeLine where = CodeLine::here());
  Status set(Key key, AttributeValue value, std::size_t index, std::string source);
  Status set_dtype(DType dtype, CodeLine where = CodeLine::here());
  /// `shape` has the outermost axis first; four axes are N, C, H, W, whatever their order in
  /// memory. 1..8 axes, each 1..2^32-1. Fewer than four axes are the last of these; more than four
  /// begin with batch axes.
  Status set_shape(std::span<const std::size_t> shape, CodeLine where = CodeLine::here());
  Status set_shape(std::initializer_list<std::size_t> shape, CodeLine where = CodeLine::here()) {
    return set_shape(std::span<const std::size_t>(shape.begin(), shape.size()), where);
  }
  Status set_image(std::size_t width, std::size_t height, CodeLine where = CodeLine::here());
  Status set_heaps(std::initializer_list<Heap> heaps, CodeLine where = CodeLine::here());
  Status set_policy(CpuPolicy policy, bool strict = false, CodeLine where = CodeLine::here());
  Status set_cpu(CpuAccess access, CodeLine where = CodeLine::here());
  /// Sets a key by its name and a JSON text, as in a file of parties: "t.row_align" and "64",
  /// "t.shape" and "[1, 3, 480, 640]", "g.heaps" and "[\"memfd\"]". Errors: also not_found (no such
  /// key), malformed (not JSON).
  Status set_text(std::string_view key, std::string_view json, std::string source = {});

  /// Adds a layout that the party accepts, at most 64. A list that names no layout of a family
  /// (tensor, image) accepts the whole family. Errors: exists (the same tag), exhausted (more than
  /// 64).
  Status accept(LayoutTag tag, std::uint32_t cost = 0);
  /// The same with attributes that hold only for this layout. Of `attributes` only the values
  /// count, not the party; it must have no alternatives. Errors: also invalid_argument (it has
  /// some).
  Status accept(LayoutTag tag, std::uint32_t cost, const AttributeList& attributes);

  std::span<const Attribute> attributes() const noexcept { return attributes_; }
  std::span<const Alternative> alternatives() const noexcept { return alternatives_; }
  /// Value of a key; none: it is not set.
  std::optional<AttributeValue> get(Key key, std::size_t index = 0) const noexcept;

 private:
  std::string party_, engine_;
  std::uint32_t process_ = 0;
  std::optional<int> optional_priority_;
  std::array<std::uint64_t, 2> said_{};  ///< a bit for each value that is set
  std::vector<Attribute> attributes_;
  std::vector<Alternative> alternatives_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
