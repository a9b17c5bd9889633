// SPDX-License-Identifier: Apache-2.0
// Lists and results as bytes: what comes back, and what bytes that are none get.
#include "reconcile/attributes/blob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "halyard/attribute_blob.h"
#include "reconcile/agreed.h"
#include "test_paths.h"

namespace halyard {
namespace {

using Bytes = std::vector<std::byte>;
using namespace test;  // NOLINT: its helpers are what tests are written in

constexpr const char* camera_and_others = R"([
  {"name": "camera", "pid": 812, "optional": 3, "keys": {"i.pitch_exact": 1920, "g.camp": 4,
    "g.perm": "read_write", "g.cpu": "write"}},
  {"name": "app", "pid": 4, "keys": {"i.w": 1920, "i.h": 1080, "g.cpu": "read",
    "g.policy": {"value": "uncached", "strict": false}},
    "alternatives": [{"tag": "nv12", "cost": 2, "keys": {"i.plane_align": 64}}, {"tag": "rgba"}]},
  {"name": "network", "pid": 9, "keys": {"g.base_align": 512, "g.pad_fill": {"value": 128}}}])";

std::vector<AttributeList> lists_of(const std::string& parties) {
  std::vector<AttributeList> lists;
  for (EngineParty& each : parties_of(parties))
    lists.push_back(each.list);
  return lists;
}

/// The blob with a true digest over whatever its records are.
Bytes resealed(Bytes blob) {
  const auto hash = blob_hash(std::span(blob).subspan(32));
  std::memcpy(blob.data() + 16, hash.data(), hash.size());
  return blob;
}

TEST(Blob, of_lists_gives_the_lists_again) {
  const auto lists = lists_of(camera_and_others);
  const auto again = value_of(decode_lists(value_of(encode_lists(lists))));
  ASSERT_EQ(again.size(), 3U);
  EXPECT_EQ(value_of(reconcile(again)).to_json(), value_of(reconcile(lists)).to_json());
  const auto camera = std::ranges::find(again, "camera", &AttributeList::party);
  ASSERT_NE(camera, again.end());
  EXPECT_EQ(camera->process(), 812U);
  EXPECT_EQ(camera->optional_priority(), 3);
  EXPECT_EQ(camera->get(Key::pitch_exact)->low, 1920U);
  EXPECT_EQ(value_of(encode_lists(again)), value_of(encode_lists(lists))) << "canonical";
}

TEST(Blob, of_lists_does_not_depend_on_their_order) {
  auto lists = lists_of(camera_and_others);
  const Bytes first = value_of(encode_lists(lists));
  std::ranges::reverse(lists);
  EXPECT_EQ(value_of(encode_lists(lists)), first);
}

TEST(Blob, of_lists_says_which_process_they_are_of) {
  const std::vector<AttributeList> lists = {AttributeList("here")};
  const auto again = value_of(decode_lists(value_of(encode_lists(lists))));
  EXPECT_EQ(again.at(0).process(), static_cast<std::uint32_t>(::getpid()));
}

// A list that comes back from another process beside the original counts once.
TEST(Blob, of_lists_imported_back_changes_nothing) {
  const auto lists = lists_of(camera_and_others);
  auto twice = value_of(decode_lists(value_of(encode_lists(lists))));
  twice.insert(twice.end(), lists.begin(), lists.end());
  EXPECT_EQ(value_of(reconcile(twice)).to_json(), value_of(reconcile(lists)).to_json());
  EXPECT_EQ(value_of(reconcile(twice)).count(), 4U);
}

TEST(Blob, of_a_result_gives_the_result_with_the_partys_view_alone) {
  const Reconciled result = agreed(camera_and_others);
  const Reconciled again = value_of(decode_result(value_of(encode_result(result, "app"))));
  EXPECT_EQ(again.digest(), result.digest());
  EXPECT_EQ(again.size_bytes(), result.size_bytes());
  EXPECT_EQ(again.planes()[1].offset_bytes, result.planes()[1].offset_bytes);
  EXPECT_EQ(again.heaps().size(), result.heaps().size());
  EXPECT_EQ(again.policy(), result.policy());
  EXPECT_EQ(again.needs_sync(), result.needs_sync());
  EXPECT_EQ(again.count(), result.count());
  EXPECT_EQ(again.pad_value(), 128);
  ASSERT_EQ(again.explain(Key::pitch_exact).size(), 1U);
  EXPECT_EQ(again.explain(Key::pitch_exact)[0].party, "camera");
  EXPECT_EQ(again.explain(Key::pitch_exact)[0].process, 812U);
  ASSERT_EQ(again.views().size(), 1U);
  EXPECT_EQ(again.views()[0].party, "app");
  EXPECT_EQ(again.views()[0].cpu, CpuAccess::read);
  EXPECT_EQ(again.value(Key::cpu), result.value(Key::cpu)) << "somebody writes";
  EXPECT_TRUE(std::ranges::none_of(again.explain(Key::perm), [](const Statement& each) {
    return each.party == "camera";
  })) << "but not who";
  EXPECT_FAILS(encode_result(result, "nobody"), Errc::not_found);
  EXPECT_FAILS(encode_result(result, ""), Errc::invalid_argument);
  EXPECT_FAILS(encode_result(again, "camera"), Errc::not_found)
      << "who has one view cannot give another";
}

std::vector<std::string> example_files() {
  std::vector<std::string> files;
  const std::string folder = HALYARD_SOURCE_DIR "/examples/negotiation";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  return files;
}

TEST(Blob, of_every_example_keeps_the_buffer) {
  std::size_t agreed_count = 0;
  for (const std::string& file : example_files()) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    const auto result = reconcile_engines(value_of(parties_from_json(text.str())));
    if (!result) continue;
    ++agreed_count;
    for (const PartyView& view : result->views()) {
      const auto again = decode_result(value_of(encode_result(*result, view.party)));
      ASSERT_TRUE(again) << file << again.error().message();
      EXPECT_EQ(again->digest(), result->digest()) << file;
      EXPECT_EQ(again->allocated_bytes(), result->allocated_bytes()) << file;
    }
  }
  EXPECT_GT(agreed_count, 0U);
}

// The corpus of the fuzz target is what this version writes, so it also tells when the wire form
// changes without a new version. The byte in front chooses what the target makes of it.
TEST(Blob, is_written_as_the_fuzz_corpus_has_it) {
  const std::filesystem::path corpus = HALYARD_SOURCE_DIR "/fuzz/corpus/attribute_blob";
  const std::filesystem::path fresh = HALYARD_BINARY_DIR "/corpus/attribute_blob";
  const Bytes lists = value_of(encode_lists(lists_of(camera_and_others)));
  const Bytes result = value_of(encode_result(agreed(camera_and_others), "app"));
  const std::tuple<const char*, char, Bytes> files[] = {
      {"lists", 2, lists},
      {"result", 2, result},
      {"records_of_lists", 0, Bytes(lists.begin() + 32, lists.end())},
      {"records_of_a_result", 1, Bytes(result.begin() + 32, result.end())},
      {"parties_that_agree", 3, Bytes(lists.begin() + 32, lists.end())}};
  for (const auto& [name, kind, bytes] : files) {
    std::string now(1, kind);
    for (const std::byte each : bytes)
      now += static_cast<char>(each);
    std::ifstream file(corpus / name, std::ios::binary);
    const std::string then{std::istreambuf_iterator<char>(file), {}};
    if (now == then) continue;
    std::filesystem::create_directories(fresh);
    std::ofstream(fresh / name, std::ios::binary) << now;
    ADD_FAILURE() << name << " is written otherwise now: with a new version take " << fresh / name;
  }
}

// Bytes that are no blob.

TEST(Blob, that_ends_early_is_refused) {
  const Bytes blob = value_of(encode_result(agreed(camera_and_others), "app"));
  const Bytes lists = value_of(encode_lists(lists_of(camera_and_others)));
  for (std::size_t size = 0; size < blob.size(); ++size)
    EXPECT_FALSE(decode_result(std::span(blob).first(size))) << size;
  for (std::size_t size = 0; size < lists.size(); ++size)
    EXPECT_FALSE(decode_lists(std::span(lists).first(size))) << size;
  EXPECT_FAILS(decode_result(lists), Errc::malformed);
  EXPECT_FAILS(decode_lists(blob), Errc::malformed);
}

TEST(Blob, with_any_byte_changed_is_refused) {
  const Bytes blob = value_of(encode_result(agreed(camera_and_others), "app"));
  for (std::size_t at = 0; at < blob.size(); ++at) {
    Bytes changed = blob;
    changed[at] ^= std::byte{0x10};
    // The minor version is for readers to pass over.
    if (at == 6 || at == 7) continue;
    EXPECT_FALSE(decode_result(changed)) << at;
  }
}

// Whoever makes blobs on purpose gets the digest right: what comes of it is refused, or is a buffer
// that follows from what its parties say.
TEST(Blob, forged_is_refused_or_is_a_buffer_of_its_parties) {
  const Bytes blob = value_of(encode_result(agreed(camera_and_others), "app"));
  const Bytes lists = value_of(encode_lists(lists_of(camera_and_others)));
  std::mt19937 random(1);
  std::size_t taken = 0;
  for (std::size_t at = 32; at < blob.size(); ++at)
    for (int k = 0; k < 8; ++k) {
      Bytes forged = blob;
      forged[at] = static_cast<std::byte>(random());
      const auto result = decode_result(resealed(forged));
      if (!result) continue;
      ++taken;
      EXPECT_LE(result->size_bytes(), result->allocated_bytes());
      for (const PlaneLayout& plane : result->planes())
        EXPECT_LE(plane.offset_bytes + plane.size_bytes, result->size_bytes());
    }
  for (std::size_t at = 32; at < lists.size(); ++at) {
    Bytes forged = lists;
    forged[at] = static_cast<std::byte>(random());
    if (decode_lists(resealed(forged))) ++taken;
  }
  EXPECT_GT(taken, 0U) << "texts of parties may be anything";
}

Bytes with_record(const Bytes& blob, std::uint16_t key) {
  BlobBytes more;
  more.record(key, 0, [&] { more.put(std::uint64_t{42}); });
  Bytes records(blob.begin() + 32, blob.end());
  records.insert(records.end(), more.get().begin(), more.get().end());
  return value_of(make_blob(BlobContent::result, records));
}

TEST(Blob, with_a_key_that_must_be_understood_is_refused) {
  const Bytes blob = value_of(encode_result(agreed(camera_and_others), "app"));
  EXPECT_FAILS(decode_result(with_record(blob, 0x8777)), Errc::unsupported, "0x8777");
}

TEST(Blob, with_a_key_that_may_be_unknown_sends_it_on) {
  const Bytes blob = with_record(value_of(encode_result(agreed(camera_and_others), "app")), 0x777);
  const Reconciled again = value_of(decode_result(blob));
  const Bytes sent_on = value_of(encode_result(again, "app"));
  BlobBytes record;
  record.record(0x777, 0, [&] { record.put(std::uint64_t{42}); });
  EXPECT_FALSE(std::ranges::search(sent_on, record.get()).empty());
}

// Found by the fuzz target: reports are JSON, and JSON is UTF-8.
TEST(Blob, with_texts_that_are_none_is_refused) {
  for (const std::string bad : {"\xff", "\x8e", "a\nb", "\x1b[2J"}) {
    AttributeList named("party" + bad);
    AttributeList made("party");
    made.set_engine(bad);
    AttributeList said("party");
    ASSERT_TRUE(said.set(Key::camp, {1, 0}, 0, bad));
    for (const AttributeList& list : {named, made, said}) {
      const Bytes blob = value_of(encode_lists(std::span(&list, 1)));
      EXPECT_FAILS(decode_lists(blob), Errc::malformed);
    }
    EXPECT_FAILS(reconcile(std::span(&named, 1)), Errc::invalid_argument);
  }
  AttributeList made("party");
  made.set_engine("\xff");
  ASSERT_TRUE(made.set(Key::raw_size, 100));
  EXPECT_FALSE(value_of(reconcile(std::span(&made, 1))).to_json().empty());
}

TEST(Blob, of_another_version_is_refused) {
  Bytes blob = value_of(encode_lists(lists_of(camera_and_others)));
  blob[4] = std::byte{2};
  EXPECT_FAILS(decode_lists(blob), Errc::version, "2.0");
  blob[4] = std::byte{1};
  blob[6] = std::byte{9};
  EXPECT_TRUE(decode_lists(blob)) << "a newer minor version is read";
}

TEST(Blob, that_is_too_large_is_refused) {
  std::vector<AttributeList> lists;
  for (int party = 0; party < 64; ++party) {
    AttributeList list("party" + std::to_string(party));
    for (std::uint32_t x = 1; x <= 64; ++x)
      ASSERT_TRUE(list.accept(LayoutTag::tensor(AxisOrder::nc_hwx, x)));
    lists.push_back(list);
  }
  EXPECT_FAILS(encode_lists(lists), Errc::exhausted, "at most 65536");
  EXPECT_FAILS(decode_lists(Bytes(65537)), Errc::malformed);
}

TEST(Blob, with_a_key_twice_is_refused) {
  BlobBytes records;
  const std::vector<AttributeList> lists = lists_of(R"([{"name": "a", "keys": {"g.camp": 3}}])");
  const Bytes blob = value_of(encode_lists(lists));
  records.put_bytes(std::span(blob).subspan(32));
  records.record(static_cast<std::uint16_t>(Key::camp), 0, [&] {
    records.put(std::uint64_t{4});
    records.put(std::uint64_t{0});
  });
  EXPECT_FAILS(decode_lists(value_of(make_blob(BlobContent::lists, records.get()))), Errc::exists,
               "g.camp");
}

}  // namespace
}  // namespace halyard
