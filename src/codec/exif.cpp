// SPDX-License-Identifier: Apache-2.0
// Reads the TIFF structure of EXIF (TIFF 6.0, section 2) as far as the orientation: one directory,
// each entry once. A reader of all tags follows pointers between directories, and a file of 64 kB
// can make them loop forever.
#include "codec/exif.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace halyard::codec {
namespace {

constexpr std::array<std::byte, 6> prefix = {std::byte{'E'}, std::byte{'x'}, std::byte{'i'},
                                             std::byte{'f'}, std::byte{0},   std::byte{0}};
// A JPEG segment cannot be longer. A longer PNG chunk is ignored.
constexpr std::size_t max_payload_bytes = 65535;
constexpr std::size_t header_bytes = 8;
constexpr std::size_t entry_bytes = 12;
constexpr unsigned orientation_tag = 0x0112;
constexpr unsigned type_short = 3;

// Reads numbers of a TIFF block in its byte order; 0 beyond the end.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes)
      : bytes_(bytes), is_big_(bytes.size() >= 2 && bytes[0] == std::byte{'M'}) {}

  bool has_header() const {
    const std::byte letter{is_big_ ? std::uint8_t{'M'} : std::uint8_t{'I'}};
    return bytes_.size() >= header_bytes && bytes_[0] == letter && bytes_[1] == letter &&
           number(2, 2) == 42;
  }
  std::size_t number(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || bytes_.size() - at < count) return 0;
    std::size_t out = 0;
    for (std::size_t i = 0; i < count; ++i)
      out = out << 8 | std::to_integer<std::size_t>(bytes_[at + (is_big_ ? i : count - 1 - i)]);
    return out;
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  bool is_big_;
};

int orientation_in(const Tiff& tiff) {
  if (!tiff.has_header()) return 0;
  const std::size_t directory = tiff.number(4, 4);
  const std::size_t count = tiff.number(directory, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = directory + 2 + i * entry_bytes;
    if (entry + entry_bytes > tiff.size()) return 0;
    if (tiff.number(entry, 2) != orientation_tag) continue;
    // Up to two values of 16 bits are stored in the entry itself, more of them at its pointer.
    const std::size_t values = tiff.number(entry + 4, 4);
    if (tiff.number(entry + 2, 2) != type_short || values == 0) return 0;
    const std::size_t place = values <= 2 ? entry + 8 : tiff.number(entry + 8, 4);
    const std::size_t value = tiff.number(place, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 0;
  }
  return 0;
}

}  // namespace

int exif_orientation(std::span<const std::byte> payload) {
  if (payload.size() <= prefix.size() || payload.size() > max_payload_bytes) return 0;
  if (std::memcmp(payload.data(), prefix.data(), prefix.size()) != 0) return 0;
  return orientation_in(Tiff(payload.subspan(prefix.size())));
}

int exif_orientation_of_tiff(std::span<const std::byte> tiff) {
  return tiff.size() > max_payload_bytes - prefix.size() ? 0 : orientation_in(Tiff(tiff));
}

int tag_of(Orientation orientation) noexcept {
  const Orientation wanted = then(orientation, {});  // one form for all that mean the same
  for (int tag = 1; tag <= 8; ++tag)
    if (then(orientation_of_tag(tag), {}) == wanted) return tag;
  return 1;
}

ExifBlock exif_block(Orientation orientation) noexcept {
  const auto tag = static_cast<unsigned char>(tag_of(orientation));
  return {'E',  'x',  'i', 'f',        0, 0,        // prefix
          'M',  'M',  0,   42,         0, 0, 0, 8,  // TIFF header: directory at byte 8
          0,    1,                                  // number of entries
          0x01, 0x12, 0,   type_short, 0, 0, 0, 1, 0, tag, 0, 0,  // tag, type, count, value
          0,    0,    0,   0};                                    // no further directory
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
