// SPDX-License-Identifier: Apache-2.0
// Scenes whose truth is known, and how often a tracker changes its mind about who is who.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "halyard/track.h"

namespace halyard::test {

struct SceneFrame {
  std::vector<Detection> detections;
  std::vector<int> who;  ///< the object of each detection, -1: none (a false alarm)
  std::chrono::nanoseconds when{0};
};
using Scene = std::vector<SceneFrame>;

/// Twenty objects on straight lines through one another for 200 frames, in pixels. Each is seen for
/// at least the first 20 frames.
struct Crossing {
  int longest_gap = 0;            ///< frames for which an object drops out at a time
  float jitter_px = 0;            ///< standard deviation of each side
  double false_alarms = 0;        ///< a frame, on average
  bool dims_when_hidden = false;  ///< a covered object has a low score instead of none
  bool has_uneven_clock = false;  ///< frames 10 to 70 ms apart
  unsigned seed = 1;

  static constexpr int objects = 20;
  static constexpr int frames = 200;

  static Box at(int object, double i) {
    const double angle = 2 * 3.14159265358979 * object / objects;
    const double radius = 4.0 * (frames / 2 - i);  // all meet at the centre, nearly
    const double x = 1000 + radius * std::cos(angle) + 37 * (object % 5);
    const double y = 1000 + radius * std::sin(angle) + 61 * (object / 5);
    const double w = 40 + object;
    const double h = 70 + 2 * object;
    return {static_cast<float>(x - w / 2), static_cast<float>(y - h / 2),
            static_cast<float>(x + w / 2), static_cast<float>(y + h / 2)};
  }
  Scene make() const;
};

inline Scene Crossing::make() const {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1);
  std::uniform_real_distribution<float> unit(0, 1);
  const auto noise = [&] { return jitter_px > 0 ? jitter_px * normal(random) : 0.0F; };
  Scene scene(frames);
  std::vector<int> hidden(objects, 0);
  double time = 0;  // nominal frames
  for (int i = 0; i < frames; ++i) {
    SceneFrame& frame = scene[static_cast<std::size_t>(i)];
    if (i > 0) time += has_uneven_clock ? 0.3 + 1.8 * static_cast<double>(unit(random)) : 1;
    frame.when = std::chrono::nanoseconds(static_cast<std::int64_t>(time * 33'333'333));
    for (int o = 0; o < objects; ++o) {
      int& gap = hidden[static_cast<std::size_t>(o)];
      bool is_hidden = gap > 1;  // seen at least once between two dropouts
      if (gap > 0) {
        --gap;
      } else if (i >= 20 && longest_gap > 0 && random() % 40 == 0) {
        gap = 1 + static_cast<int>(random() % static_cast<unsigned>(longest_gap));
        is_hidden = true;
      }
      if (is_hidden && !dims_when_hidden) continue;
      Box box = at(o, has_uneven_clock ? time : i);
      box = {box.x1 + noise(), box.y1 + noise(), box.x2 + noise(), box.y2 + noise()};
      frame.detections.push_back({box, is_hidden ? 0.3F : 0.9F, 0, -1});
      frame.who.push_back(o);
    }
    if (unit(random) < static_cast<float>(false_alarms)) {
      const float x = 500 + 1000 * unit(random);
      const float y = 500 + 1000 * unit(random);
      frame.detections.push_back({{x, y, x + 50, y + 90}, 0.75F, 0, -1});
      frame.who.push_back(-1);
    }
  }
  return scene;
}

struct Outcome {
  int switches = 0;  ///< an object has another id than when it was seen last
  int tracks = 0;    ///< ids of tracks that were ever trusted
  int missed = 0;    ///< detections of objects that no trusted track took
};

inline Outcome outcome_of(Tracker& tracker, const Scene& scene) {
  std::map<int, std::uint64_t> last;
  std::set<std::uint64_t> ids;
  Outcome out;
  std::vector<Track> tracks;
  for (const SceneFrame& frame : scene) {
    if (!tracker.update(frame.detections, frame.when, tracks)) return {-1, -1, -1};
    std::size_t seen = 0;
    for (const Track& track : tracks) {
      if (track.state != TrackState::tracked) continue;
      ids.insert(track.id);
      const int who = frame.who[static_cast<std::size_t>(track.detection)];
      if (who < 0) continue;
      ++seen;
      const auto [entry, is_new] = last.try_emplace(who, track.id);
      if (!is_new && entry->second != track.id) ++out.switches;
      entry->second = track.id;
    }
    std::size_t objects = 0;
    for (const int who : frame.who)
      objects += who >= 0;
    out.missed += static_cast<int>(objects - seen);
  }
  out.tracks = static_cast<int>(ids.size());
  return out;
}

}  // namespace halyard::test
