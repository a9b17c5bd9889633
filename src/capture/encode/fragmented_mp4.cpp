// SPDX-License-Identifier: Apache-2.0
// The boxes of ISO/IEC 14496-12 that a player of fragments needs, field by field. Zeros are
// reserved fields, and times and durations that the fragments have.
#include "capture/encode/fragmented_mp4.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/text/format_error.h"
#include "capture/encode/annex_b.h"

namespace halyard::capture {
namespace {

using Unit = std::span<const std::uint8_t>;

constexpr std::uint32_t track_id = 1;
constexpr std::uint32_t one = 0x10000;  // in 16.16
constexpr std::size_t max_set_bytes = 0xFFFF;
constexpr std::size_t max_sps = 31;
constexpr std::size_t max_pps = 255;
constexpr std::uint8_t first_high_profile = 100;  // avcC has four more bytes from it on
constexpr std::size_t fragment_bytes = 108;       // moof, and the head of mdat

/// Big-endian fields, in boxes that know their size when they end.
class Boxes {
 public:
  template <class Fill>
  void box(std::string_view name, const Fill& fill) {
    const std::size_t start = bytes_.size();
    u32(0);
    text(name);
    fill();
    set_u32(start, static_cast<std::uint32_t>(bytes_.size() - start));
  }
  /// A box with a version and flags.
  template <class Fill>
  void full_box(std::string_view name, std::uint32_t version, std::uint32_t flags,
                const Fill& fill) {
    box(name, [&] {
      u32(version << 24U | flags);
      fill();
    });
  }

  void u8(std::uint32_t value) { bytes_.push_back(static_cast<char>(value & 0xFFU)); }
  void u16(std::uint32_t value) {
    u8(value >> 8U);
    u8(value);
  }
  void u32(std::uint32_t value) {
    u16(value >> 16U);
    u16(value);
  }
  void u64(std::uint64_t value) {
    u32(static_cast<std::uint32_t>(value >> 32U));
    u32(static_cast<std::uint32_t>(value));
  }
  void u32s(std::initializer_list<std::uint32_t> values) {
    for (const std::uint32_t value : values)
      u32(value);
  }
  void zeros(std::size_t count) { bytes_.append(count, '\0'); }
  void text(std::string_view value) { bytes_.append(value); }
  void bytes(Unit value) {
    bytes_.append(reinterpret_cast<const char*>(value.data()), value.size());
  }
  void set_u32(std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i)
      bytes_[at + i] = static_cast<char>(value >> (24U - 8U * i) & 0xFFU);
  }

  void reserve(std::size_t size_bytes) { bytes_.reserve(size_bytes); }
  std::size_t size() const noexcept { return bytes_.size(); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

struct ParameterSets {
  std::vector<Unit> sps;
  std::vector<Unit> pps;
};

Result<ParameterSets> parameter_sets_of(Unit stream) {
  ParameterSets out;
  for (Unit unit = next_unit(stream); !unit.empty(); unit = next_unit(stream)) {
    if (unit.size() > max_set_bytes)
      return fail(Errc::malformed, "video: a parameter set has more than 65535 bytes");
    if (unit_type(unit) == H264Unit::sps) out.sps.push_back(unit);
    if (unit_type(unit) == H264Unit::pps) out.pps.push_back(unit);
  }
  const auto is_there = [](const std::vector<Unit>& sets, std::size_t most) {
    return !sets.empty() && sets.size() <= most;
  };
  constexpr std::size_t sps_head = 4;  // the type, profile, constraints and level
  if (!is_there(out.sps, max_sps) || !is_there(out.pps, max_pps) || out.sps[0].size() < sps_head)
    return fail(Errc::malformed, "video: the encoder gives no parameter sets of H.264");
  return out;
}

// AVCDecoderConfigurationRecord of ISO/IEC 14496-15.
void put_avcc(Boxes& out, const ParameterSets& sets) {
  const Unit first = sets.sps[0];
  out.u8(1);  // version
  out.bytes(first.subspan(1, 3));
  out.u8(0xFF);  // the lengths before units have 4 bytes
  const auto put_all = [&](const std::vector<Unit>& units) {
    for (const Unit unit : units) {
      out.u16(static_cast<std::uint32_t>(unit.size()));
      out.bytes(unit);
    }
  };
  out.u8(0xE0U | static_cast<std::uint32_t>(sets.sps.size()));
  put_all(sets.sps);
  out.u8(static_cast<std::uint32_t>(sets.pps.size()));
  put_all(sets.pps);
  if (first[1] < first_high_profile) return;
  out.u8(0xFD);  // 4:2:0
  out.u8(0xF8);  // 8 bits
  out.u8(0xF8);
  out.u8(0);  // no extensions of the SPS
}

void put_matrix(Boxes& out) {
  out.u32s({one, 0, 0, 0, one, 0, 0, 0, 0x40000000});  // the last is in 2.30
}

void put_movie_header(Boxes& out) {
  out.full_box("mvhd", 0, 0, [&] {
    out.u32s({0, 0, mp4_time_scale, 0, one});
    out.u16(0x100);  // volume
    out.zeros(10);
    put_matrix(out);
    out.zeros(24);
    out.u32(track_id + 1);  // of a track that might follow
  });
}

void put_track_header(Boxes& out, Size size) {
  constexpr std::uint32_t is_shown = 3;
  out.full_box("tkhd", 0, is_shown, [&] {
    out.u32s({0, 0, track_id, 0, 0});
    out.zeros(16);
    put_matrix(out);
    out.u32s({static_cast<std::uint32_t>(size.width) * one,
              static_cast<std::uint32_t>(size.height) * one});
  });
}

void put_sample_entry(Boxes& out, Size size, const ParameterSets& sets) {
  out.box("avc1", [&] {
    out.zeros(6);
    out.u16(1);  // the first entry of dref
    out.zeros(16);
    out.u16(static_cast<std::uint32_t>(size.width));
    out.u16(static_cast<std::uint32_t>(size.height));
    out.u32s({72 * one, 72 * one, 0});  // pixels per inch
    out.u16(1);                         // frames in a sample
    out.zeros(32);
    out.u16(24);  // bits of a pixel
    out.u16(0xFFFF);
    out.box("avcC", [&] { put_avcc(out, sets); });
  });
}

void put_sample_table(Boxes& out, Size size, const ParameterSets& sets) {
  out.box("stbl", [&] {
    out.full_box("stsd", 0, 0, [&] {
      out.u32(1);
      put_sample_entry(out, size, sets);
    });
    for (const char* name : {"stts", "stsc", "stco"})
      out.full_box(name, 0, 0, [&] { out.u32(0); });
    out.full_box("stsz", 0, 0, [&] { out.zeros(8); });
  });
}

void put_media(Boxes& out, Size size, const ParameterSets& sets) {
  constexpr std::uint32_t undetermined = 0x55C4;  // the language "und"
  constexpr std::uint32_t in_this_file = 1;
  out.full_box("mdhd", 0, 0, [&] {
    out.u32s({0, 0, mp4_time_scale, 0});
    out.u16(undetermined);
    out.u16(0);
  });
  out.full_box("hdlr", 0, 0, [&] {
    out.u32(0);
    out.text("vide");
    out.zeros(12);
    out.u8(0);  // an empty name
  });
  out.box("minf", [&] {
    out.full_box("vmhd", 0, 1, [&] { out.zeros(8); });
    out.box("dinf", [&] {
      out.full_box("dref", 0, 0, [&] {
        out.u32(1);
        out.full_box("url ", 0, in_this_file, [] {});
      });
    });
    put_sample_table(out, size, sets);
  });
}

void put_movie(Boxes& out, Size size, const ParameterSets& sets) {
  out.box("moov", [&] {
    put_movie_header(out);
    out.box("trak", [&] {
      put_track_header(out, size);
      out.box("mdia", [&] { put_media(out, size, sets); });
    });
    out.box("mvex", [&] { out.full_box("trex", 0, 0, [&] { out.u32s({track_id, 1, 0, 0, 0}); }); });
  });
}

// Calls `visit` with each unit that belongs into a sample.
template <class Visit>
void for_each_sample_unit(Unit stream, const Visit& visit) {
  for (Unit unit = next_unit(stream); !unit.empty(); unit = next_unit(stream)) {
    const H264Unit type = unit_type(unit);
    if (type != H264Unit::sps && type != H264Unit::pps && type != H264Unit::delimiter) visit(unit);
  }
}

}  // namespace

Result<Mp4Track> mp4_track(Size size, std::span<const std::uint8_t> parameter_sets) {
  HALYARD_TRY(const ParameterSets sets, parameter_sets_of(parameter_sets));
  Boxes out;
  out.box("ftyp", [&] {
    out.text("iso6");
    out.u32(0);  // its version
    out.text("iso6mp41");
  });
  put_movie(out, size, sets);
  const Unit sps = sets.sps[0];
  return Mp4Track{out.take(), fmt::format("video/mp4; codecs=\"avc1.{:02x}{:02x}{:02x}\"", sps[1],
                                          sps[2], sps[3])};
}

std::string mp4_fragment(const Mp4Sample& sample, std::span<const std::uint8_t> units) {
  constexpr std::uint32_t default_base_is_moof = 0x020000;
  constexpr std::uint32_t has_fields = 0x701;  // data offset; duration, size and flags of a sample
  constexpr std::uint32_t depends_on_none = 0x02000000;
  constexpr std::uint32_t depends_on_others = 0x01010000;
  std::uint32_t size_bytes = 0;
  for_each_sample_unit(
      units, [&](Unit unit) { size_bytes += 4 + static_cast<std::uint32_t>(unit.size()); });
  Boxes out;
  out.reserve(fragment_bytes + size_bytes);
  out.box("moof", [&] {
    out.full_box("mfhd", 0, 0, [&] { out.u32(sample.number); });
    out.box("traf", [&] {
      out.full_box("tfhd", 0, default_base_is_moof, [&] { out.u32(track_id); });
      out.full_box("tfdt", 1, 0, [&] { out.u64(sample.time); });
      out.full_box("trun", 0, has_fields, [&] {
        out.u32s({1, fragment_bytes, sample.duration, size_bytes,
                  sample.is_key ? depends_on_none : depends_on_others});
      });
    });
  });
  out.box("mdat", [&] {
    for_each_sample_unit(units, [&](Unit unit) {
      out.u32(static_cast<std::uint32_t>(unit.size()));
      out.bytes(unit);
    });
  });
  return out.take();
}

}  // namespace halyard::capture
