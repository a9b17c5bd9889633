// SPDX-License-Identifier: Apache-2.0
// What model files say about themselves: Python literals, the archive behind TFLite files, and the
// runtime's exception texts.
#include <gtest/gtest.h>

#include <fstream>

#include "base/text/python_literal.h"
#include "model/file_metadata.h"
#include "model/one_line.h"
#include "model/zip_archive.h"
#include "onnx_writer.h"
#include "support/folder.h"

namespace halyard::model {
namespace {

using Names = std::vector<std::string>;

TEST(Names, come_from_a_dict_in_any_order_and_quotes) {
  EXPECT_EQ(parse_names("{0: 'boat', 1: \"buoy's\", 2: 'a \\'b\\''}"),
            (Names{"boat", "buoy's", "a 'b'"}));
  EXPECT_EQ(parse_names("{1: 'b', 0: 'a'}"), (Names{"a", "b"}));
  EXPECT_EQ(parse_names("{\"0\": \"json\"}"), (Names{"json"}));
  EXPECT_EQ(parse_names("{2: 'c'}"), (Names{"", "", "c"}));
}

TEST(Names, come_from_a_list) {
  EXPECT_EQ(parse_names("['a', 'b, c',]"), (Names{"a", "b, c"}));
  EXPECT_TRUE(parse_names("[]").empty());
}

TEST(Names, are_empty_for_anything_else) {
  for (const char* text : {"", "{", "{0", "{0:", "{0: 'a", "{0: 'a' 1: 'b'}", "{-1: 'a'}",
                           "{x: 'a'}", "{65536: 'a'}", "boat", "{0: 'a'", "['a'", "{: 'a'}"})
    EXPECT_TRUE(parse_names(text).empty()) << text;
}

TEST(Names, never_read_past_a_cut_text) {
  const std::string whole = "{0: 'boat\\'', 1: [1, {2: 'x'}], 2: \"y\"}";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<char> exact(whole.begin(), whole.begin() + std::ptrdiff_t(length));
    EXPECT_TRUE(parse_names({exact.data(), exact.size()}).empty()) << length;
  }
}

TEST(Literal, keeps_nested_values_as_text) {
  const auto items = split_literal("{'imgsz': [640, 640], 'names': {0: 'a}', 1: 'b'}, 'n': 1}");
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 3U);
  EXPECT_EQ((*items)[0].value, "[640, 640]");
  EXPECT_EQ((*items)[1].value, "{0: 'a}', 1: 'b'}");
  EXPECT_EQ((*items)[2].value, "1");
}

void put(std::string& out, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i)
    out += static_cast<char>(i < 4 ? value >> (8 * i) : 0U);
}

/// A ZIP archive with one entry, behind `before` bytes of something else.
std::string archive(const std::string& before, const std::string& name, const std::string& text,
                    int method, bool counts_from_file = false) {
  std::string out = before;
  const auto size = static_cast<std::uint32_t>(text.size());
  const auto names = static_cast<std::uint32_t>(name.size());
  put(out, 0x04034b50, 4);
  put(out, 20, 4);
  put(out, static_cast<std::uint32_t>(method), 2);
  put(out, 0, 8);
  put(out, size, 4);
  put(out, size, 4);
  put(out, names, 4);
  out += name + text;
  const std::size_t directory = out.size();
  put(out, 0x02014b50, 4);
  put(out, 0, 6);
  put(out, static_cast<std::uint32_t>(method), 2);
  put(out, 0, 8);
  put(out, size, 4);
  put(out, size, 4);
  put(out, names, 4);
  put(out, 0, 10);
  put(out, counts_from_file ? std::uint32_t(before.size()) : 0, 4);
  out += name;
  const auto directory_bytes = static_cast<std::uint32_t>(out.size() - directory);
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, 1, 2);
  put(out, 1, 2);
  put(out, directory_bytes, 4);
  put(out, std::uint32_t(directory - (counts_from_file ? 0 : before.size())), 4);
  put(out, 0, 2);
  return out;
}

std::vector<std::string> texts_of(std::span<const char> file) {
  std::vector<std::string> out;
  for (const ZipEntry& entry : zip_entries(std::as_bytes(file)))
    if (auto text = text_of(entry, 1000)) out.push_back(*std::move(text));
  return out;
}

using Texts = std::vector<std::string>;

TEST(Archive, is_found_wherever_it_counts_from) {
  const std::string before(1000, 'm');
  EXPECT_EQ(texts_of(archive(before, "meta.txt", "{'a': 1}", 0)), Texts{"{'a': 1}"});
  EXPECT_EQ(texts_of(archive(before, "meta.txt", "{'a': 1}", 0, true)), Texts{"{'a': 1}"});
}

TEST(Archive, entries_inflate_to_their_size_or_are_not_there) {
  // A stored block of deflate: final, 8 bytes, their complement.
  const std::string block("\x01\x08\x00\xf7\xff{'a': 1}", 13);
  std::string whole = archive("m", "meta.txt", block, 8);
  EXPECT_TRUE(texts_of(whole).empty()) << "it inflates to 8 bytes and says 13";
  whole[whole.find("PK\x01\x02") + 24] = 8;
  EXPECT_EQ(texts_of(whole), Texts{"{'a': 1}"});
  EXPECT_TRUE(texts_of(archive("m", "meta.txt", "{'a': 1}", 8)).empty()) << "no deflate at all";
  EXPECT_TRUE(texts_of(archive("m", "meta.txt", "{'a': 1}", 12)).empty()) << "another method";
  EXPECT_TRUE(texts_of(archive("m", "meta.txt", std::string(1001, 'x'), 0)).empty()) << "too long";
}

TEST(Archive, is_not_seen_where_there_is_none) {
  EXPECT_TRUE(texts_of(std::string()).empty());
  EXPECT_TRUE(texts_of(std::string(100000, 'm')).empty());
}

TEST(Archive, reading_stays_inside_damaged_ones) {
  const std::string whole = archive("model", "meta.txt", "{'a': 1}", 0);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char damage : {'\x00', '\x08', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = damage;
      const std::vector<char> exact(damaged.begin(), damaged.end());
      for (const ZipEntry& entry : zip_entries(std::as_bytes(std::span(exact)))) {
        const auto* first = reinterpret_cast<const char*>(entry.content.data());
        EXPECT_GE(first, exact.data());
        EXPECT_LE(first + entry.content.size(), exact.data() + exact.size());
        (void)text_of(entry, 1000);
      }
    }
    const std::vector<char> head(whole.begin(), whole.begin() + std::ptrdiff_t(at));
    EXPECT_TRUE(texts_of(head).empty()) << at;
  }
}

TEST(Attachments, are_read_from_the_end_of_a_large_file) {
  const test::Folder folder;
  const std::string path = folder / "large.tflite";
  const std::string text = "{'task': 'detect', 'names': {0: 'boat'}}";
  std::ofstream(path, std::ios::binary)
      << archive(std::string(std::size_t{20} << 20, 'm'), "m.txt", text, 0, true);
  const Metadata metadata = metadata_of(read_attachments(path));
  EXPECT_EQ(metadata.at("task"), "detect");
  EXPECT_EQ(parse_names(metadata.at("names")), Names{"boat"});
  EXPECT_TRUE(read_attachments(path + ".missing").empty());
}

TEST(Attachments, are_also_the_files_beside_the_model) {
  const test::Folder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
  };
  write("a.tflite", archive("m", "edgefirst.json", "{}", 0));
  for (const char* name : {"a.json", "b.json", "labels.txt", "config.json", "other.txt"})
    write(name, name);
  std::vector<std::string> seen;
  for (const auto& attachment : read_attachments(folder / "a.tflite"))
    seen.push_back(attachment.name + (attachment.is_embedded ? " inside" : ""));
  EXPECT_EQ(seen, (Names{"edgefirst.json inside", "a.json", "config.json", "labels.txt"}));
  EXPECT_TRUE(metadata_of(read_attachments(folder / "a.tflite")).empty())
      << "a description is no dict of metadata";
}

TEST(FilesOfModel, are_itself_its_values_and_the_texts_beside_it) {
  const test::Folder folder;
  const std::string model = folder / "m.onnx";
  test::write_bytes(model, test::onnx_bytes({.files = {"m.data", "m.data", "not_there.data"}}));
  for (const char* name : {"m.data", "m.json", "labels.txt", "other.json", "m.bin"})
    test::write_bytes(folder / name, "x");
  EXPECT_EQ(files_of_model(model),
            (std::vector<std::string>{model, folder / "m.json", folder / "labels.txt",
                                      folder / "m.data"}));
}

TEST(FilesOfModel, are_no_others_where_the_model_cannot_be_read) {
  const test::Folder folder;
  const std::string model = folder / "m.onnx";
  EXPECT_EQ(files_of_model(model), std::vector<std::string>{});
  test::write_bytes(model, "\x3a\x7f cut");
  test::write_bytes(folder / "m.data", "x");
  EXPECT_EQ(files_of_model(model), std::vector<std::string>{model});
  test::write_bytes(folder / "m.xml", "<net/>");
  test::write_bytes(folder / "m.bin", "x");
  EXPECT_EQ(files_of_model(folder / "m.xml"),
            (std::vector<std::string>{folder / "m.xml", folder / "m.bin"}));
}

TEST(One_line, skips_source_places_and_keeps_the_reason) {
  EXPECT_EQ(one_line("Exception from src/core.cpp:12:\nCheck 'x' failed at y:\n  no such op  \n\n"),
            "no such op");
  EXPECT_EQ(one_line(""), "no reason given");
  EXPECT_EQ(one_line(std::string(1000, 'x')).size(), 200U);
}

}  // namespace
}  // namespace halyard::model
