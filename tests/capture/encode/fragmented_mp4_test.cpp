// SPDX-License-Identifier: Apache-2.0
// Units of a byte stream, and what becomes of them in MP4.
#include "capture/encode/fragmented_mp4.h"

#include <gtest/gtest.h>

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

TEST(FragmentedMp4, baseline_and_high_profiles_have_their_records) {
  const Bytes baseline = {0, 0, 1, 0x67, 66, 0xC0, 31, 9, 0, 0, 1, 0x68, 1, 2};
  const auto record = [](const Bytes& sets) {
    const auto track = mp4_track({640, 480}, sets);
    EXPECT_OK(track);
    const auto entries = mp4_box(track->initialization, "moov/trak/mdia/minf/stbl/stsd");
    return std::string(mp4_box(mp4_box(entries.substr(8), "avc1").substr(78), "avcC"));
  };
  using namespace std::string_literals;
  EXPECT_EQ(record(baseline), "\1\x42\xC0\x1F\xFF\xE1\0\5\x67\x42\xC0\x1F\x09\1\0\3\x68\1\2"s);
  EXPECT_EQ(mp4_track({640, 480}, baseline)->mime_type, "video/mp4; codecs=\"avc1.42c01f\"");
  Bytes high = baseline;
  high[4] = 100;
  EXPECT_TRUE(record(high).ends_with("\x68\1\2\xFD\xF8\xF8\0"s));
}

TEST(FragmentedMp4, streams_without_parameter_sets_are_refused) {
  const Bytes sps = {0, 0, 1, 0x67, 66, 0xC0, 31};
  const Bytes pps = {0, 0, 1, 0x68, 1};
  const Bytes short_sps = {0, 0, 1, 0x67, 66, 0, 0, 1, 0x68, 1};
  for (const Bytes& sets : {Bytes{}, sps, pps, short_sps})
    EXPECT_FAILS(mp4_track({64, 64}, sets), Errc::malformed, "no parameter sets");
  Bytes many;
  for (int i = 0; i < 32; ++i)
    many.insert(many.end(), sps.begin(), sps.end());
  many.insert(many.end(), pps.begin(), pps.end());
  EXPECT_FAILS(mp4_track({64, 64}, many), Errc::malformed);
  Bytes large = sps;
  large.resize(70'000, 1);
  EXPECT_FAILS(mp4_track({64, 64}, large), Errc::malformed, "65535");
}

}  // namespace
}  // namespace halyard::capture
