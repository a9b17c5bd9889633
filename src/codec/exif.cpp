// SPDX-License-Identifier: Apache-2.0
// EXIF orientation through libexif.
#include "codec/exif.h"

#include <libexif/exif-data.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

namespace halyard::codec {
namespace {

constexpr std::array<std::byte, 6> prefix = {std::byte{'E'}, std::byte{'x'}, std::byte{'i'},
                                             std::byte{'f'}, std::byte{0},   std::byte{0}};
// A JPEG segment cannot be longer; a PNG chunk that is carries no orientation worth having.
constexpr std::size_t max_payload_bytes = 65535;

}  // namespace

int exif_orientation(std::span<const std::byte> payload) {
  if (payload.size() <= prefix.size() || payload.size() > max_payload_bytes) return 0;
  const std::unique_ptr<ExifData, void (*)(ExifData*)> data(exif_data_new(), exif_data_unref);
  if (!data) return 0;
  // Other tags and the repair of wrong ones are of no interest here.
  exif_data_set_option(data.get(), EXIF_DATA_OPTION_IGNORE_UNKNOWN_TAGS);
  exif_data_unset_option(data.get(), EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
  exif_data_set_option(data.get(), EXIF_DATA_OPTION_DONT_CHANGE_MAKER_NOTE);
  exif_data_load_data(data.get(), reinterpret_cast<const unsigned char*>(payload.data()),
                      static_cast<unsigned>(payload.size()));
  ExifEntry* entry = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
  if (entry == nullptr || entry->format != EXIF_FORMAT_SHORT || entry->components < 1 ||
      entry->size < 2) {
    return 0;
  }
  const int value = exif_get_short(entry->data, exif_data_get_byte_order(data.get()));
  return value >= 1 && value <= 8 ? value : 0;
}

int exif_orientation_of_tiff(std::span<const std::byte> tiff) {
  if (tiff.size() > max_payload_bytes - prefix.size()) return 0;
  std::vector<std::byte> payload(prefix.begin(), prefix.end());
  payload.insert(payload.end(), tiff.begin(), tiff.end());
  return exif_orientation(payload);
}

Orientation orientation_of_tag(int tag) noexcept {
  constexpr std::array<Orientation, 9> table = {{{},
                                                 {Flip::none, Rotation::none},
                                                 {Flip::horizontal, Rotation::none},
                                                 {Flip::none, Rotation::cw180},
                                                 {Flip::horizontal, Rotation::cw180},
                                                 {Flip::horizontal, Rotation::cw270},
                                                 {Flip::none, Rotation::cw90},
                                                 {Flip::horizontal, Rotation::cw90},
                                                 {Flip::none, Rotation::cw270}}};
  return tag >= 1 && tag <= 8 ? table[static_cast<std::size_t>(tag)] : Orientation{};
}

}  // namespace halyard::codec
