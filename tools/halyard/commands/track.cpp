// SPDX-License-Identifier: Apache-2.0
// halyard track: tracks recorded detections, and scores the tracks against a ground truth.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "commands/commands.h"
#include "halyard/track.h"
#include "input/json_document.h"
#include "input/mot_file.h"
#include "options/paths.h"
#include "output/mot_metrics.h"
#include "report.h"

namespace halyard::tool {
namespace {

struct TrackCommand {
  std::string detections;
  std::string truth;
  std::string tracker = "bytetrack";
  std::string out;
  std::string json;
  double rate = 30;
  std::optional<double> coast_s;
  std::optional<float> high_score;
  std::uint32_t max_tracks = 1000;
};

std::chrono::nanoseconds seconds(double value) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(value * 1e9));
}

// The noise of the filters is per frame, at any rate.
template <class Options>
Options options_of(const TrackCommand& command) {
  Options options;
  options.frame_interval = seconds(1 / command.rate);
  options.max_tracks = command.max_tracks;
  if (command.coast_s) options.max_coast = seconds(*command.coast_s);
  if constexpr (requires { options.high_score; })
    options.high_score = command.high_score.value_or(options.high_score);
  return options;
}

Result<Tracker> make_tracker(const TrackCommand& command) {
  if (command.tracker == "bytetrack-paper") {
    auto options = options_of<ByteTrackPaperOptions>(command);
    // As published: 0.1 above the score of the first pass.
    if (command.high_score) options.start_score = std::min(1.0F, *command.high_score + 0.1F);
    HALYARD_TRY(auto tracker, ByteTrack::paper(options));
    return Tracker(std::move(tracker));
  }
  if (command.tracker == "ocsort") {
    HALYARD_TRY(auto tracker, OcSort::create(options_of<OcSortOptions>(command)));
    return Tracker(std::move(tracker));
  }
  if (command.tracker == "sort") {
    auto options = options_of<SortOptions>(command);
    options.min_score = command.high_score.value_or(options.min_score);
    if (!command.coast_s) options.max_coast = seconds(1.5 / command.rate);  // one frame
    HALYARD_TRY(auto tracker, Sort::create(options));
    return Tracker(std::move(tracker));
  }
  HALYARD_TRY(auto tracker, ByteTrack::create(options_of<ByteTrackOptions>(command)));
  return Tracker(std::move(tracker));
}

Detection detection_of(const MotBox& box) {
  return {{static_cast<float>(box.left), static_cast<float>(box.top),
           static_cast<float>(box.left + box.width), static_cast<float>(box.top + box.height)},
          static_cast<float>(box.score),
          0,
          -1};
}

MotBox box_of(const Track& track) {
  const double left = track.box.x1;
  const double top = track.box.y1;
  return {static_cast<std::int64_t>(track.id), left, top, track.box.x2 - left, track.box.y2 - top,
          static_cast<double>(track.score)};
}

/// Result of tracking.
struct Followed {
  MotFrames frames;          ///< boxes of the tracks in state `tracked`
  std::size_t left_out = 0;  ///< detections beyond max_tracks
};

Result<Followed> follow(Tracker& tracker, const MotFrames& detections, double rate) {
  Followed result;
  std::vector<Detection> found;
  std::vector<Track> tracks;
  const std::size_t count = frame_count(detections);
  auto next = detections.begin();
  for (std::size_t f = 0; f < count; ++f) {
    found.clear();
    if (next->first == f) {
      for (const MotBox& box : next->second)
        found.push_back(detection_of(box));
      ++next;
    }
    HALYARD_RETURN_IF_ERROR(tracker.update(found, seconds(static_cast<double>(f) / rate), tracks));
    result.left_out += tracker.left_out();
    for (const Track& track : tracks) {
      if (track.state == TrackState::tracked) result.frames[f].push_back(box_of(track));
    }
  }
  return result;
}

Status write(const std::string& path, const MotFrames& frames) {
  HALYARD_TRY(auto file, open_output(path));
  for (const auto& [index, boxes] : frames) {
    for (const MotBox& box : boxes)
      HALYARD_RETURN_IF_ERROR(file.write(mot_line(index + 1, box)));
  }
  return file.commit();
}

struct Summary {
  std::size_t frames = 0;
  std::size_t detections = 0;
  std::size_t tracks = 0;
  std::size_t boxes = 0;
  std::size_t left_out = 0;
  std::optional<MotScores> scores;
};

void print_scores(const MotScores& s) {
  print_line(fmt::format("HOTA {:.3f}  DetA {:.3f}  AssA {:.3f}  LocA {:.3f}", 100 * s.hota,
                         100 * s.det_a, 100 * s.ass_a, 100 * s.loc_a));
  print_line(fmt::format("MOTA {:.3f}  MOTP {:.3f}  misses {}  false alarms {}  switches {}",
                         100 * s.mota, 100 * s.motp, s.misses, s.false_alarms, s.switches));
  print_line(fmt::format("IDF1 {:.3f}  precision {:.3f}  recall {:.3f}", 100 * s.idf1,
                         100 * s.id_precision, 100 * s.id_recall));
}

Status write_json(const std::string& path, const Summary& all) {
  Json document = json_document(Json::object());
  document["frames"] = all.frames;
  document["detections"] = all.detections;
  document["tracks"] = all.tracks;
  document["boxes"] = all.boxes;
  document["left_out"] = all.left_out;
  if (all.scores) {
    const MotScores& s = *all.scores;
    document["scores"] = {{"HOTA", s.hota},
                          {"DetA", s.det_a},
                          {"AssA", s.ass_a},
                          {"LocA", s.loc_a},
                          {"MOTA", s.mota},
                          {"MOTP", s.motp},
                          {"misses", s.misses},
                          {"false_alarms", s.false_alarms},
                          {"switches", s.switches},
                          {"IDF1", s.idf1},
                          {"id_precision", s.id_precision},
                          {"id_recall", s.id_recall}};
  }
  HALYARD_TRY(auto file, open_output(path));
  HALYARD_RETURN_IF_ERROR(file.write(json_text(document, 2) + "\n"));
  return file.commit();
}

void print_summary(const Summary& all) {
  print_line(fmt::format(
      "{} frames, {} detections, {} tracks, {} boxes{}", all.frames, all.detections, all.tracks,
      all.boxes,
      all.left_out == 0 ? std::string() : fmt::format(", {} detections left out", all.left_out)));
  if (all.scores) print_scores(*all.scores);
}

/// Call after the tracks have been written.
int summarize(const TrackCommand& command, const MotFrames& detections, const Followed& result,
              const std::optional<MotFrames>& truth) {
  Summary all{frame_count(detections),  box_count(detections), 0,
              box_count(result.frames), result.left_out,       {}};
  std::set<std::int64_t> ids;
  for (const auto& [index, boxes] : result.frames)
    for (const MotBox& box : boxes)
      ids.insert(box.id);
  all.tracks = ids.size();
  if (truth) {
    const auto scores = evaluate_mot(*truth, result.frames);
    if (!scores) return report(command.truth, scores.error());
    all.scores = *scores;
  }
  // If results or JSON are on standard output, nothing else is printed there.
  if (command.out != "-" && command.json != "-") print_summary(all);
  if (command.json.empty()) return exit_ok;
  const auto written = write_json(command.json, all);
  return written ? exit_ok : report("--json " + command.json, written.error());
}

int check_paths(const TrackCommand& command) {
  return PathCheck()
      .stream_input("--mot", command.detections)
      .stream_input("--gt", command.truth)
      .stream_output("--out", command.out)
      .stream_output("--json", command.json)
      .run();
}

int track(const TrackCommand& command) {
  if (const int code = check_paths(command); code != exit_ok) return code;
  const auto detections = read_mot(command.detections, MotKind::detections);
  if (!detections) return report(command.detections, detections.error());
  std::optional<MotFrames> truth;
  if (!command.truth.empty()) {
    auto read = read_mot(command.truth, MotKind::truth);
    if (!read) return report(command.truth, read.error());
    truth = *std::move(read);
  }
  auto tracker = make_tracker(command);
  if (!tracker) return report("--tracker " + command.tracker, tracker.error());
  const auto result = follow(*tracker, *detections, command.rate);
  if (!result) return report(command.detections, result.error());
  if (!command.out.empty()) {
    if (auto written = write(command.out, result->frames); !written)
      return report("--out " + command.out, written.error());
  }
  if (result->left_out != 0)
    report(command.detections,
           fmt::format("{} detections were left out: more than --max-tracks {} at once, and scores "
                       "are of the others",
                       result->left_out, command.max_tracks));
  return summarize(command, *detections, *result, truth);
}

constexpr const char* track_examples =
    "Files are MOTChallenge's: frame,id,left,top,width,height,score,... a line, frames from 1. "
    "Results have\nthe boxes of tracks that are seen and trusted. Scores are per cent. Lines of "
    "the truth whose score is 0\ndo not count; results upon them count as false alarms.\n"
    "\n"
    "Examples:\n"
    "  halyard track --mot det.txt --tracker ocsort --fps 25 --out result.txt\n"
    "  halyard track --mot det.txt --gt gt.txt";

}  // namespace

CommandSpec track_command() {
  auto command = std::make_shared<TrackCommand>();
  CommandSpec spec{"track", "Tracks from recorded detections (MOTChallenge)", track_examples};
  spec.option("--mot", &command->detections, "Detections").required();
  spec.option("--gt", &command->truth, "The truth: prints HOTA, MOTA and IDF1");
  spec.word("--tracker", command->tracker, {"bytetrack", "bytetrack-paper", "ocsort", "sort"},
            "bytetrack, bytetrack-paper, ocsort or sort");
  spec.option("--fps", &command->rate, "Frames a second").in(0.001, 100000.0).shown();
  spec.option("--coast", &command->coast_s, "Seconds for which a lost track is kept").in(0.0, 1e6);
  spec.option("--high-score", &command->high_score, "Least score that starts a track").in(0.0, 1.0);
  spec.option("--max-tracks", &command->max_tracks,
              "Tracks that live at once, and detections of a frame that are looked at, those of "
              "the highest score")
      .in(1, 65536)
      .shown();
  spec.option("--out", &command->out, "Write the tracks' boxes; - is standard output");
  spec.option("--json", &command->json,
              "Write the counts, and scores as fractions, as JSON; - is standard output");
  spec.action = [command] { return track(*command); };
  return spec;
}

}  // namespace halyard::tool
