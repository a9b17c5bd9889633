// SPDX-License-Identifier: Apache-2.0
// What a trace shows of an update.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "halyard/trace.h"
#include "support/folder.h"
#include "track/kinds.h"

namespace halyard::test {
namespace {

TEST(TrackTrace, names_the_update_its_parts_and_its_numbers) {
  const test::Folder folder;
  const std::string path = folder / "trace.json";
  ASSERT_TRUE(trace::start(path));
  for (const Kind kind : all_kinds) {
    Tracker tracker = make_tracker(kind);
    const Detection found{{0, 0, 10, 20}, 0.9F, 0, -1};
    EXPECT_TRUE(tracker.update({&found, 1}, std::chrono::nanoseconds(4711)));
  }
  ASSERT_TRUE(trace::stop());
  std::ifstream in(path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  for (const char* name :
       {"\"track.update\"", "\"track.update.predict\"", "\"track.update.match_high\"",
        "\"track.update.match_low\"", "\"track.update.match_tentative\"", "\"track.update.match\"",
        "\"track.update.recover\"", "\"detections\":1", "\"tracks\":1", "\"timestamp_ns\":4711"})
    EXPECT_NE(text.find(name), std::string::npos) << name << " is not in " << text.substr(0, 500);
}

}  // namespace
}  // namespace halyard::test
