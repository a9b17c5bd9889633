// SPDX-License-Identifier: Apache-2.0
// FFmpeg's muxer makes the initialization. It cannot make the fragments: one that comes before the
// estimated end of the one before it gets that end as its time, also with `frag_discont`.
#include "capture/encode/fragmented_mp4.h"

#ifdef HALYARD_HAVE_FFMPEG

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/text/format_error.h"
#include "capture/encode/annex_b.h"

namespace halyard::capture {
namespace {

using Unit = std::span<const std::uint8_t>;

constexpr std::uint32_t track_id = 1;
constexpr std::size_t fragment_bytes = 108;  // moof, and the head of mdat

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

  void u32(std::uint32_t value) {
    for (unsigned shift = 32; shift != 0; shift -= 8)
      bytes_.push_back(static_cast<char>(value >> (shift - 8) & 0xFFU));
  }
  void u64(std::uint64_t value) {
    u32(static_cast<std::uint32_t>(value >> 32U));
    u32(static_cast<std::uint32_t>(value));
  }
  void u32s(std::initializer_list<std::uint32_t> values) {
    for (const std::uint32_t value : values)
      u32(value);
  }
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

// The initialization segment of FFmpeg's muxer, which gets no sample.
Result<std::string> initialization_of(const AVCodecParameters& parameters) {
  const auto wrong = [](const char* what, int code) {
    return ffmpeg_error(what, code, "initialization segment", Errc::os);
  };
  AVFormatContext* context = nullptr;
  const int made = ffmpeg().avformat_alloc_output_context2(&context, nullptr, "mp4", nullptr);
  const OutputPtr muxer(context);
  if (made < 0) return wrong("video: muxer cannot be created", made);
  AVStream* const stream = ffmpeg().avformat_new_stream(muxer.get(), nullptr);
  if (stream == nullptr || ffmpeg().avcodec_parameters_copy(stream->codecpar, &parameters) < 0)
    return fail(Errc::no_memory, "video: stream cannot be allocated");
  stream->time_base = {1, mp4_time_scale};
  muxer->flags |= AVFMT_FLAG_BITEXACT;  // no version of FFmpeg
  if (const int opened = ffmpeg().avio_open_dyn_buf(&muxer->pb); opened < 0)
    return wrong("video: muxer cannot be created", opened);
  AVDictionary* entries = nullptr;
  ffmpeg().av_dict_set(&entries, "movflags", "empty_moov+default_base_moof", 0);
  ffmpeg().av_dict_set(&entries, "use_editlist", "0", 0);
  const int written = ffmpeg().avformat_write_header(muxer.get(), &entries);
  ffmpeg().av_dict_free(&entries);
  std::uint8_t* bytes = nullptr;
  const int size = ffmpeg().avio_close_dyn_buf(std::exchange(muxer->pb, nullptr), &bytes);
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  ffmpeg().av_free(bytes);
  if (written < 0) return wrong("video: muxer cannot begin", written);
  return out;
}

// RFC 6381, 3.3: profile, constraints and level of the first SPS.
Result<std::string> mime_type_of(Unit parameter_sets) {
  constexpr std::size_t sps_head = 4;
  std::string out;
  bool has_pps = false;
  for (Unit unit = next_unit(parameter_sets); !unit.empty(); unit = next_unit(parameter_sets)) {
    if (unit_type(unit) == H264Unit::sps && unit.size() >= sps_head && out.empty())
      out = fmt::format("video/mp4; codecs=\"avc1.{:02x}{:02x}{:02x}\"", unit[1], unit[2], unit[3]);
    has_pps = has_pps || unit_type(unit) == H264Unit::pps;
  }
  if (out.empty() || !has_pps)
    return fail(Errc::malformed, "video: the encoder gives no parameter sets of H.264");
  return out;
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

Result<Mp4Track> mp4_track(const AVCodecParameters& parameters) {
  Mp4Track out;
  HALYARD_TRY(out.mime_type, mime_type_of({parameters.extradata,
                                           static_cast<std::size_t>(parameters.extradata_size)}));
  HALYARD_TRY(out.initialization, initialization_of(parameters));
  return out;
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

#endif
