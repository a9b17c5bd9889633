// SPDX-License-Identifier: Apache-2.0
// Units of a byte stream, and what becomes of them in MP4.
#ifdef HALYARD_HAVE_FFMPEG

#include "capture/encode/fragmented_mp4.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "capture/encode/annex_b.h"
#include "capture/encode/mp4_boxes.h"
#include "support/result.h"

namespace halyard::capture {
namespace {

using Bytes = std::vector<std::uint8_t>;
using test::big_endian;
using test::mp4_box;

std::vector<Bytes> units_of(const Bytes& stream) {
  std::vector<Bytes> out;
  std::span<const std::uint8_t> rest = stream;
  for (auto unit = next_unit(rest); !unit.empty(); unit = next_unit(rest))
    out.emplace_back(unit.begin(), unit.end());
  EXPECT_TRUE(rest.empty());
  return out;
}

TEST(AnnexB, units_are_found_between_start_codes_of_three_and_four_bytes) {
  using Units = std::vector<Bytes>;
  EXPECT_EQ(units_of({0, 0, 0, 1, 0x65, 7, 0, 0, 1, 0x41, 9}), (Units{{0x65, 7}, {0x41, 9}}));
  EXPECT_EQ(units_of({0, 0, 1, 0x65, 0, 0, 0, 0, 0, 1, 0x41}), (Units{{0x65}, {0x41}}));
  EXPECT_EQ(units_of({9, 9, 0, 0, 1, 0x65, 0, 0, 3, 1}), (Units{{0x65, 0, 0, 3, 1}}));
  EXPECT_EQ(units_of({0, 0, 1, 0, 0, 1, 0x65}), (Units{{0x65}}));  // an empty unit is none
  EXPECT_EQ(units_of({0, 1, 0, 0, 2, 1, 1}), Units{});
  EXPECT_EQ(units_of({0, 0, 1}), Units{});
  EXPECT_EQ(units_of({0, 0}), Units{});
  EXPECT_EQ(units_of({}), Units{});
}

TEST(FragmentedMp4, fragment_has_lengths_for_start_codes_and_no_parameter_sets) {
  const Bytes units = {0,    0,    0, 1, 0x67, 1, 2,    3, 0, 0, 1, 0x68, 4, 0, 0, 1,
                       0x09, 0xF0, 0, 0, 0,    1, 0x06, 5, 0, 0, 1, 0x65, 6, 7, 8};
  const std::string bytes = mp4_fragment({7, 0x123456789ABC, 40'000, true}, units);
  using namespace std::string_literals;
  EXPECT_EQ(mp4_box(bytes, "mdat"), "\0\0\0\2\6\5\0\0\0\4\x65\6\7\x08"s);
  EXPECT_EQ(big_endian(mp4_box(bytes, "moof/mfhd"), 4, 4), 7U);
  EXPECT_EQ(big_endian(mp4_box(bytes, "moof/traf/tfdt"), 4, 8), 0x123456789ABCU);
  const std::size_t offset = big_endian(mp4_box(bytes, "moof/traf/trun"), 8, 4);
  EXPECT_EQ(bytes.substr(offset), mp4_box(bytes, "mdat"));
}

/// The track of an encoder that gives these parameter sets.
Result<Mp4Track> track_of(const Bytes& sets) {
  HALYARD_RETURN_IF_ERROR(load_ffmpeg());
  const ParametersPtr parameters(ffmpeg().avcodec_parameters_alloc());
  parameters->codec_type = AVMEDIA_TYPE_VIDEO;
  parameters->codec_id = AV_CODEC_ID_H264;
  parameters->width = 640;
  parameters->height = 480;
  // Freed with the parameters.
  parameters->extradata =
      static_cast<std::uint8_t*>(ffmpeg().av_mallocz(sets.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  std::copy(sets.begin(), sets.end(), parameters->extradata);
  parameters->extradata_size = static_cast<int>(sets.size());
  return mp4_track(*parameters);
}

TEST(FragmentedMp4, initialization_has_the_parameter_sets_and_the_time_scale) {
  const Bytes sets = {0, 0, 0, 1, 0x67, 66, 0xC0, 31, 9, 0, 0, 0, 1, 0x68, 1, 2};
  const auto track = track_of(sets);
  ASSERT_OK(track);
  EXPECT_EQ(track->mime_type, "video/mp4; codecs=\"avc1.42c01f\"");
  const auto media = mp4_box(track->initialization, "moov/trak/mdia");
  EXPECT_EQ(big_endian(mp4_box(media, "mdhd"), 12, 4), mp4_time_scale);
  const auto entries = mp4_box(media, "minf/stbl/stsd");
  using namespace std::string_literals;
  EXPECT_EQ(mp4_box(mp4_box(entries.substr(8), "avc1").substr(78), "avcC"),
            "\1\x42\xC0\x1F\xFF\xE1\0\5\x67\x42\xC0\x1F\x09\1\0\3\x68\1\2"s);
}

TEST(FragmentedMp4, streams_without_parameter_sets_are_refused) {
  const Bytes sps = {0, 0, 1, 0x67, 66, 0xC0, 31};
  const Bytes pps = {0, 0, 1, 0x68, 1};
  const Bytes short_sps = {0, 0, 1, 0x67, 66, 0, 0, 1, 0x68, 1};
  for (const Bytes& sets : {Bytes{}, sps, pps, short_sps})
    EXPECT_FAILS(track_of(sets), Errc::malformed, "no parameter sets");
}

}  // namespace
}  // namespace halyard::capture

#endif
