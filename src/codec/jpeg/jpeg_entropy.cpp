// SPDX-License-Identifier: Apache-2.0
// The only file that uses libjpeg's internal structures. jpegint.h declares how its parts call each
// other; Debian installs it. Without jpegint.h, libjpeg's own Huffman decoder is used.
#include "codec/jpeg/jpeg_entropy.h"

#include <jerror.h>

#include <algorithm>
#include <cstring>

#include "codec/jpeg/jpeg_guard.h"

#ifdef HALYARD_HAVE_JPEGINT
#include <jpegint.h>
#endif

namespace halyard::codec {

#ifdef HALYARD_HAVE_JPEGINT

namespace {

// From this many bytes on, faster decoding makes up for the time to fill four tables.
constexpr std::size_t min_bytes_for_tables = 4096;

bool same_code(const HuffmanTable& table, const JHUFF_TBL& wanted) {
  if (!std::equal(table.counts.begin(), table.counts.end(), wanted.bits + 1)) return false;
  std::size_t count = 0;
  for (const std::uint8_t of_length : table.counts)
    count += of_length;
  return std::equal(table.symbols.begin(),
                    table.symbols.begin() + static_cast<std::ptrdiff_t>(count), wanted.huffval);
}

std::span<const std::uint8_t, 16> counts_of(const JHUFF_TBL& table) {
  return std::span(table.bits).subspan<1, 16>();
}

// Whether the table number is 0 or 1 and the file defines the table.
template <class Tables>
bool is_served(const Tables& tables, int number) {
  return number >= 0 && number < 2 && tables[number] != nullptr;
}

}  // namespace

bool can_replace_entropy(const jpeg_decompress_struct& codec) noexcept {
  // jpeg_create_decompress() has compared the version and the size of the public structure. The
  // internal structures depend on the release, and no function returns the release. The releases
  // that changed them also have more messages, so the number of messages tells them apart.
  return codec.err->last_jpeg_message == JMSG_LASTMSGCODE - 1;
}

bool JpegEntropy::prepare_table(const JHUFF_TBL& code, HuffmanKind kind, bool may_make,
                                Table& table) noexcept {
  if (table.is_made && same_code(table.table, code)) return true;
  if (!may_make) return false;
  table.is_made = fill_table(counts_of(code), code.huffval, kind, table.table);
  return table.is_made;
}

bool JpegEntropy::prepare_tables(const jpeg_decompress_struct& codec,
                                 const jpeg_component_info& component, bool may_make) noexcept {
  const int dc = component.dc_tbl_no;
  const int ac = component.ac_tbl_no;
  return is_served(codec.dc_huff_tbl_ptrs, dc) && is_served(codec.ac_huff_tbl_ptrs, ac) &&
         prepare_table(*codec.dc_huff_tbl_ptrs[dc], HuffmanKind::dc, may_make, dc_[dc]) &&
         prepare_table(*codec.ac_huff_tbl_ptrs[ac], HuffmanKind::ac, may_make, ac_[ac]);
}

bool JpegEntropy::prepare(const jpeg_decompress_struct& codec, bool always) noexcept {
  const bool is_plain = codec.progressive_mode == FALSE && codec.arith_code == FALSE &&
                        codec.data_precision == 8 && codec.comps_in_scan == codec.num_components &&
                        codec.inputctl->has_multiple_scans == FALSE && codec.Ss == 0 &&
                        codec.Se == DCTSIZE2 - 1 && codec.Ah == 0 && codec.Al == 0;
  if (!is_plain || codec.unread_marker != 0) return false;
  if (codec.blocks_in_MCU < 1 || codec.blocks_in_MCU > static_cast<int>(scan_.blocks.size()))
    return false;
  const bool may_make = always || codec.src->bytes_in_buffer >= min_bytes_for_tables;
  scan_ = HuffmanScan{};
  for (int i = 0; i < codec.blocks_in_MCU; ++i) {
    const int member = codec.MCU_membership[i];
    const jpeg_component_info& component = *codec.cur_comp_info[member];
    // Components that use the same table number share the table.
    if (!prepare_tables(codec, component, may_make)) return false;
    scan_.blocks[static_cast<std::size_t>(i)] = {&dc_[component.dc_tbl_no].table,
                                                 &ac_[component.ac_tbl_no].table,
                                                 static_cast<std::uint32_t>(member)};
  }
  scan_.block_count = static_cast<std::uint32_t>(codec.blocks_in_MCU);
  scan_.next = codec.src->next_input_byte;
  scan_.end = scan_.next + codec.src->bytes_in_buffer;
  scan_.mcus = std::uint64_t{codec.MCUs_per_row} * codec.MCU_rows_in_scan;
  scan_.restart_interval = codec.restart_interval;
  scan_.mcus_to_restart = codec.restart_interval;
  return true;
}

void JpegEntropy::install(jpeg_decompress_struct& codec, bool always) noexcept {
  reset();
  is_installed_ = can_replace_entropy(codec) && prepare(codec, always);
  if (!is_installed_) return;
  codec.client_data = this;
  codec.entropy->decode_mcu = decode;
}

// libjpeg calls this for each MCU. libjpeg's own decoder leaves the source either at the marker
// after the scan, or after that marker with its code in unread_marker. The marker reader accepts
// both. This function leaves the source at the marker.
boolean JpegEntropy::decode(jpeg_decompress_struct* codec, JBLOCKROW* blocks) {
  auto* self = static_cast<JpegEntropy*>(codec->client_data);
  HuffmanScan& scan = self->scan_;
  if (!decode_mcu(scan, blocks)) {
    self->gave_up_ = true;
    leave_with(reinterpret_cast<j_common_ptr>(codec), "a scan that is not flawless");
  }
  if (scan.mcus == 0) {
    codec->src->bytes_in_buffer = static_cast<std::size_t>(scan.end - scan.next);
    codec->src->next_input_byte = scan.next;
    codec->marker->next_restart_num = static_cast<int>(scan.next_restart);
  }
  return TRUE;
}

#else

bool can_replace_entropy(const jpeg_decompress_struct&) noexcept {
  return false;
}

void JpegEntropy::install(jpeg_decompress_struct&, bool) noexcept {
  reset();
}

#endif

}  // namespace halyard::codec
