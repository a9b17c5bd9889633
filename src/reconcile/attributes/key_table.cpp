// SPDX-License-Identifier: Apache-2.0
// The table of keys, the names of their values, and the slots.
#include "reconcile/attributes/key_table.h"

#include <algorithm>

#include "halyard/enumerators.h"

namespace halyard {

namespace {

using enum ValueType;
using M = MergeRule;

constexpr KeyInfo table[] = {
    {Key::kind, "g.kind", set, M::unite, 1, "", "A,E", "by the other keys",
     "what the buffer holds"},
    {Key::cpu, "g.cpu", choice, M::per_party, 1, "", "A", "none",
     "what the CPU does in the process of the party"},
    {Key::policy, "g.policy", choice, M::order, 1, "", "A", "automatic",
     "how the CPU caches the memory; strict: no stronger"},
    {Key::domains, "g.domains", set, M::intersect, 1, "", "E", "all",
     "the ways of coherency that the engine works with"},
    {Key::perm, "g.perm", choice, M::per_party, 1, "", "A", "read",
     "what the party does with the bytes"},
    {Key::heaps, "g.heaps", set, M::intersect, 1, "", "E", "all",
     "the memory that the engine reaches"},
    {Key::contig, "g.contig", flag, M::any, 1, "", "E", "false",
     "the memory is one run of physical memory"},
    {Key::addr_bits, "g.addr_bits", number, M::min, 1, "bits", "E", "64",
     "the addresses of the engine have this width"},
    {Key::is_protected, "g.protected", flag, M::any, 1, "", "A,E", "false",
     "no CPU may see the content"},
    {Key::base_align, "g.base_align", number, M::multiple, 1, "B", "E", "64",
     "the buffer begins at a multiple of this"},
    {Key::size_min, "g.size_min", number, M::max, 1, "B", "A,E", "1",
     "the buffer has at least this size"},
    {Key::size_max, "g.size_max", number, M::min, 1, "B", "A,E", "2^63-1",
     "the buffer has at most this size"},
    {Key::size_align, "g.size_align", number, M::multiple, 1, "B", "E", "1",
     "the allocated size is a multiple of this"},
    {Key::tail_slack, "g.tail_slack", number, M::max, 1, "B", "E", "0",
     "the engine reads so many bytes past the end"},
    {Key::camp, "g.camp", number, M::sum, 1, "buffers", "A,E", "0",
     "the party holds so many buffers at a time"},
    {Key::slack, "g.slack", number, M::sum, 1, "buffers", "A,E", "0",
     "the party runs ahead by so many buffers"},
    {Key::shared_slack, "g.shared_slack", number, M::max, 1, "buffers", "A,E", "0",
     "all parties together run ahead by so many buffers"},
    {Key::count_min, "g.count_min", number, M::max, 1, "buffers", "A,E", "1",
     "there are at least so many buffers"},
    {Key::count_max, "g.count_max", number, M::min, 1, "buffers", "A,E", "2^32-1",
     "there are at most so many buffers"},
    {Key::attach, "g.attach", choice, M::per_party, 1, "", "E", "cpu",
     "how the engine holds the memory"},
    {Key::addr_pinned, "g.addr_pinned", flag, M::any, 1, "", "E", "false",
     "the engine keeps the address: one buffer, unless it sets g.count_max"},
    {Key::exported, "g.export", flag, M::any, 1, "", "A", "false",
     "another process uses the buffer"},
    {Key::pad_fill, "g.pad_fill", choice, M::pad, 1, "", "E", "anything", "what padding must hold"},
    {Key::pad_clobber, "g.pad_clobber", flag, M::any, 1, "", "E", "false",
     "the writer writes into padding"},
    {Key::engines, "g.engines", set, M::unite, 1, "", "E", "none",
     "the engines that use the buffer"},
    {Key::dtype, "t.dtype", choice, M::equal, 1, "", "A,E", "must be set for tensors",
     "the type of the elements"},
    {Key::shape, "t.shape", range, M::range, max_axes, "", "A,E", "must be set for tensors",
     "the extents N, C, H, W"},
    {Key::layout, "t.layout", layout, M::intersect, 1, "", "E", "NCHW",
     "the orders of axes that the party accepts"},
    {Key::cpad, "t.cpad", number, M::multiple, 1, "channels", "E", "1",
     "so many channels are stored, or a multiple of them: NHWC"},
    {Key::max_axis, "t.max_axis", number, M::min, max_axes, "", "E", "none",
     "the extent of each axis is at most this"},
    {Key::row_align, "t.row_align", number, M::multiple, 1, "B", "E", "element",
     "the row stride is a multiple of this"},
    {Key::surf_align, "t.surf_align", number, M::multiple, 1, "B", "E", "element",
     "the stride between channels, or their blocks, is a multiple of this"},
    {Key::batch_align, "t.batch_align", number, M::multiple, 1, "B", "E", "element",
     "the stride between batch elements is a multiple of this"},
    {Key::rows_mult, "t.rows_mult", number, M::multiple, 1, "rows", "E", "1",
     "the number of rows stored is a multiple of this"},
    {Key::row_min, "t.row_min", number, M::max, 1, "B", "E", "the row",
     "the row stride is at least this"},
    {Key::row_max, "t.row_max", number, M::min, 1, "B", "E", "none",
     "the row stride is at most this"},
    {Key::row_exact, "t.row_exact", number, M::equal, 1, "B", "E", "none",
     "the row stride is this"},
    {Key::px_integral, "t.px_integral", flag, M::any, 1, "", "E", "false", "rows are whole pixels"},
    {Key::offset_align, "t.offset_align", number, M::multiple, 1, "B", "E", "1",
     "the tensor begins at a multiple of this"},
    {Key::shape_required, "t.shape_required", range, M::hull, max_axes, "", "A,E", "none",
     "the buffer has room for these extents"},
    {Key::format, "i.format", layout, M::intersect, 1, "", "E", "must be set for images",
     "the formats and modifiers that the party accepts"},
    {Key::width, "i.w", range, M::range, 1, "px", "A,E", "must be set for images",
     "the width of the image"},
    {Key::height, "i.h", range, M::range, 1, "px", "A,E", "must be set for images",
     "the height of the image"},
    {Key::width_mult, "i.w_mult", number, M::multiple, 1, "px", "E", "the chroma block",
     "the number of pixels stored in a row is a multiple of this"},
    {Key::height_mult, "i.h_mult", number, M::multiple, 1, "rows", "E", "the chroma block",
     "the number of rows stored is a multiple of this"},
    {Key::pitch_align, "i.pitch_align", number, M::multiple, max_planes, "B", "E", "1",
     "the row stride of each plane is a multiple of this"},
    {Key::plane_align, "i.plane_align", number, M::multiple, max_planes, "B", "E", "1",
     "each plane begins at a multiple of this"},
    {Key::pitch_exact, "i.pitch_exact", number, M::equal, max_planes, "B", "E", "none",
     "the row stride of each plane is this"},
    {Key::pitch_max, "i.pitch_max", number, M::min, max_planes, "B", "E", "none",
     "the row stride of each plane is at most this"},
    {Key::chroma_derived, "i.chroma_derived", flag, M::any, 1, "", "E", "false",
     "the strides of chroma follow from that of the first plane"},
    {Key::color, "i.color", choice, M::equal, 1, "", "A,E", "unknown",
     "how YUV means colours; unknown joins with any"},
    {Key::scan, "i.scan", choice, M::equal, 1, "", "A,E", "progressive",
     "whether fields are stored apart"},
    {Key::one_fd, "i.one_fd", flag, M::any, 1, "", "E", "false", "all planes are in one buffer"},
    {Key::width_required, "i.w_required", range, M::hull, 1, "px", "A,E", "none",
     "the buffer has room for these widths"},
    {Key::height_required, "i.h_required", range, M::hull, 1, "px", "A,E", "none",
     "the buffer has room for these heights"},
    {Key::raw_size, "r.size", number, M::equal, 1, "B", "A", "none", "the size of a raw buffer"},
    {Key::array_stride, "array.stride", number, M::equal, 1, "B", "A", "must be set for arrays",
     "the bytes from one element of an array to the next"},
    {Key::array_capacity, "array.cap", number, M::equal, 1, "", "A", "must be set for arrays",
     "the number of elements of an array"},
    {Key::pyramid_levels, "pyr.levels", number, M::equal, 1, "", "A", "must be set for pyramids",
     "the number of levels of a pyramid, 1 to 10"},
    {Key::pyramid_scale, "pyr.scale", fraction, M::equal, 1, "", "A", "0.5",
     "the extent of a level over that of the level before, above 0 and at most 1"},
};
constexpr std::size_t rows = std::size(table);

/// The first slots of all keys, and the number of slots.
struct Slots {
  std::array<std::uint8_t, rows> first{};
  std::size_t count = 0;
};
constexpr Slots count_slots() {
  Slots slots;
  for (std::size_t row = 0; row < rows; ++row) {
    slots.first[row] = static_cast<std::uint8_t>(slots.count);
    slots.count += table[row].count;
  }
  return slots;
}
constexpr Slots slots = count_slots();
static_assert(slots.count == slot_count);

constexpr std::array<std::uint8_t, slot_count> count_rows() {
  std::array<std::uint8_t, slot_count> found{};
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t k = 0; k < table[row].count; ++k)
      found[slots.first[row] + k] = static_cast<std::uint8_t>(row);
  return found;
}
constexpr auto row_of_slot = count_rows();

constexpr std::array<Key, rows> list_keys() {
  std::array<Key, rows> found{};
  for (std::size_t row = 0; row < rows; ++row)
    found[row] = table[row].key;
  return found;
}
constexpr auto key_of_row = list_keys();

constexpr std::array<SlotRule, slot_count> list_rules() {
  std::array<SlotRule, slot_count> found{};
  for (std::size_t slot = 0; slot < slot_count; ++slot)
    found[slot] = {table[row_of_slot[slot]].key, table[row_of_slot[slot]].rule};
  return found;
}

constexpr std::array<std::uint8_t, 128> list_first_slots() {
  std::array<std::uint8_t, 128> found{};
  for (std::size_t row = 0; row < rows; ++row) {
    const unsigned id = static_cast<unsigned>(table[row].key) & 0x7FFFU;
    found[((id >> 8) - 1) * 32 + (id & 0xFFU) - 1] = slots.first[row];
  }
  return found;
}

/// The rows of one group are in the order of its keys' numbers.
constexpr std::size_t row_of(Key key) noexcept {
  constexpr std::size_t group_begin[] = {0, 25, 40, 55};
  const unsigned id = static_cast<unsigned>(key) & 0x7FFFU;
  const std::size_t group = (id >> 8) - 1, number = (id & 0xFFU) - 1;
  if (group >= std::size(group_begin)) return rows;
  const std::size_t row = group_begin[group] + number;
  return row < rows && key_of_row[row] == key ? row : rows;
}
constexpr bool rows_are_found() {
  for (const KeyInfo& each : table)
    if (&table[row_of(each.key)] != &each) return false;
  return true;
}
static_assert(rows_are_found());

template <class E>
constexpr std::uint64_t bits_of(E value) {
  return static_cast<std::uint64_t>(value);
}

// If several names have one value, the first is printed.
constexpr NamedValue kinds[] = {{"raw", bits_of(BufferKind::raw)},
                                {"image", bits_of(BufferKind::image)},
                                {"tensor", bits_of(BufferKind::tensor)},
                                {"array", bits_of(BufferKind::array)},
                                {"pyramid", bits_of(BufferKind::pyramid)}};
constexpr NamedValue cpu_accesses[] = {{"none", 0}, {"read", 1}, {"readwrite", 3}, {"write", 2}};
constexpr NamedValue policies[] = {{"auto", 0}, {"unmapped", 1}, {"uncached", 2}, {"cached", 3}};
constexpr NamedValue domains[] = {{"hwcoherent", 1}, {"cpusync", 2}, {"uncached", 4}, {"nocpu", 8}};
constexpr NamedValue permissions[] = {{"ro", 0}, {"rw", 1}, {"read", 0}, {"readwrite", 1}};
constexpr NamedValue heaps[] = {
    {"heap", bit(Heap::heap)},
    {"memfd", bit(Heap::memfd)},
    {"udmabuf", bit(Heap::udmabuf)},
    {"dmabuf.system", bit(Heap::dmabuf_system)},
    {"dmabuf.cma", bit(Heap::dmabuf_cma)},
    {"dmabuf.uncached", bit(Heap::dmabuf_uncached)},
    {"v4l2.mmap", bit(Heap::v4l2_mmap)},
    {"pbo", bit(Heap::pbo)},
    {"dmabuf.protected", bit(Heap::dmabuf_protected)},
    {"dmabuf.*", bit(Heap::dmabuf_system) | bit(Heap::dmabuf_cma) | bit(Heap::dmabuf_uncached)}};
constexpr NamedValue engine_values[] = {
    {"cpu", 1U << 0},        {"cpu.simd16", 1U << 1},   {"cpu.simd32", 1U << 2},
    {"cpu.simd64", 1U << 3}, {"gl.pbo", 1U << 4},       {"egl.dmabuf", 1U << 5},
    {"nxp.g2d", 1U << 6},    {"v4l2.capture", 1U << 7}, {"dla", 1U << 8},
    {"peer.proxy", 1U << 9}, {"other", 1U << 10}};
constexpr NamedValue attaches[] = {{"cpu", 1},     {"dma", 2},       {"phys", 4},
                                   {"cpuonly", 1}, {"dmaattach", 2}, {"physonly", 4}};
constexpr NamedValue pads[] = {{"any", 0}, {"notnan", 1}, {"zero", 2}, {"value", 3}};
constexpr NamedValue dtypes[] = {{"u8", 0},   {"i8", 1},    {"u16", 2},  {"i16", 3}, {"u32", 4},
                                 {"i32", 5},  {"u64", 6},   {"i64", 7},  {"f16", 8}, {"f32", 9},
                                 {"f64", 10}, {"bf16", 11}, {"bool", 12}};
constexpr NamedValue colors[] = {{"unknown", 0},  {"bt601", 1},  {"bt709", 2},  {"bt2020", 3},
                                 {"dontcare", 0}, {"bt.601", 1}, {"bt.709", 2}, {"bt.2020", 3}};
constexpr NamedValue scans[] = {{"progressive", 0}, {"interlaced", 1}};

}  // namespace

constinit const std::array<SlotRule, slot_count> slot_rules = list_rules();
constinit const std::array<std::uint8_t, 128> first_slots = list_first_slots();

std::string_view to_string(MergeRule rule) noexcept {
  return enumerator_name(rule, "unknown");
}

std::string_view to_string(Heap heap) noexcept {
  const auto index = static_cast<std::size_t>(heap);
  return index < heap_count ? heaps[index].name : "unknown";
}

std::span<const KeyInfo> key_infos() noexcept {
  return table;
}

const KeyInfo* key_info(Key key) noexcept {
  const std::size_t row = row_of(key);
  return row < rows ? &table[row] : nullptr;
}

const KeyInfo* key_info(std::string_view name) noexcept {
  const auto found = std::ranges::find(table, name, &KeyInfo::name);
  return found == std::end(table) ? nullptr : found;
}

std::string_view to_string(Key key) noexcept {
  const KeyInfo* const info = key_info(key);
  return info != nullptr ? info->name : "unknown";
}

std::size_t slot_of(const KeyInfo& info, std::size_t index) noexcept {
  return slots.first[static_cast<std::size_t>(&info - table)] + index;
}

SlotKey key_of(std::size_t slot) noexcept {
  const std::size_t row = row_of_slot[slot];
  return {&table[row], slot - slots.first[row]};
}

std::span<const NamedValue> names_of(Key key) noexcept {
  switch (key) {
    case Key::kind:
      return kinds;
    case Key::cpu:
      return cpu_accesses;
    case Key::policy:
      return policies;
    case Key::domains:
      return domains;
    case Key::perm:
      return permissions;
    case Key::heaps:
      return heaps;
    case Key::engines:
      return engine_values;
    case Key::attach:
      return attaches;
    case Key::pad_fill:
      return pads;
    case Key::dtype:
      return dtypes;
    case Key::color:
      return colors;
    case Key::scan:
      return scans;
    default:
      return {};
  }
}

std::uint64_t all_bits(Key key) noexcept {
  std::uint64_t bits = 0;
  for (const NamedValue& each : names_of(key))
    bits |= each.value;
  return bits;
}

const Attribute& engine_attribute(std::string_view engine) noexcept {
  static const auto said = [] {
    std::array<Attribute, std::size(engine_values)> all{};
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k] = {Key::engines, 0, {engine_values[k].value, 0}, {}};
    return all;
  }();
  const auto found = std::ranges::find(engine_values, engine, &NamedValue::name);
  return found == std::end(engine_values) ? said.back()
                                          : said[static_cast<std::size_t>(found - engine_values)];
}

}  // namespace halyard
