// SPDX-License-Identifier: Apache-2.0
// Reads the boxes of an MP4 (ISO/IEC 14496-12) in tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halyard::test {

struct Mp4Box {
  std::string name;
  std::string_view content;
};

/// A big-endian number.
inline std::uint64_t big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < count; ++i)
    out = out << 8U | static_cast<unsigned char>(bytes.at(at + i));
  return out;
}

/// All boxes side by side; a failure unless they fill `bytes`.
inline std::vector<Mp4Box> mp4_boxes(std::string_view bytes) {
  std::vector<Mp4Box> out;
  while (!bytes.empty()) {
    const std::size_t size = bytes.size() < 8 ? 0 : big_endian(bytes, 0, 4);
    if (size < 8 || size > bytes.size()) {
      ADD_FAILURE() << "a box of " << size << " bytes in " << bytes.size();
      break;
    }
    out.push_back({std::string(bytes.substr(4, 4)), bytes.substr(8, size - 8)});
    bytes.remove_prefix(size);
  }
  return out;
}

inline std::string mp4_names(std::string_view bytes) {
  std::string out;
  for (const Mp4Box& box : mp4_boxes(bytes))
    out += (out.empty() ? "" : " ") + box.name;
  return out;
}

/// The content of a box by its path ("moof/traf/tfdt"); a failure if it is not there.
inline std::string_view mp4_box(std::string_view bytes, std::string_view path) {
  const std::string_view name = path.substr(0, path.find('/'));
  for (const Mp4Box& box : mp4_boxes(bytes)) {
    if (box.name != name) continue;
    return name.size() == path.size() ? box.content
                                      : mp4_box(box.content, path.substr(name.size() + 1));
  }
  ADD_FAILURE() << "no box " << path;
  return {};
}

}  // namespace halyard::test
