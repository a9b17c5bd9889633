// SPDX-License-Identifier: Apache-2.0
// A tracker of any kind, chosen by name, as halyard.Tracker (python/halyard/_tracking.py) uses it.
#include "halyard/track.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "args.h"
#include "bindings.h"
#include "halyard/uuid.h"
#include "results/any_tracker.h"
#include "tensor/arrays.h"

namespace halyard::python {
namespace {

constexpr DetectionNames tracker_names{"detections.xyxy", "detections.confidence",
                                       "detections.class_id"};

std::chrono::nanoseconds seconds_from(nb::handle value, const char* argument) {
  const double seconds = number_from(value, argument);
  if (!(seconds >= 0 && seconds <= 1e6))
    raise(Errc::invalid_argument, std::string(argument) + ": must be 0 to 1000000 seconds");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

// Sets an option that all kinds share.
template <class Options>
bool set_shared(Options& to, const std::string& name, nb::handle value) {
  const char* const called = name.c_str();
  if (name == "coast") {
    to.max_coast = seconds_from(value, called);
  } else if (name == "frame_interval") {
    to.frame_interval = seconds_from(value, called);
  } else if (name == "class_aware") {
    to.is_class_aware = truth_from(value);
  } else if (name == "max_tracks") {
    to.max_tracks = static_cast<std::uint32_t>(size_from(value, called, UINT32_MAX));
  } else {
    return false;
  }
  return true;
}

// Sets the option of this name; false if the kind has none.
template <class Options>
bool set_option(Options& to, const std::string& name, nb::handle value) {
  const auto real = [&](float& field) {
    field = static_cast<float>(number_from(value, name.c_str()));
    return true;
  };
  if constexpr (requires { to.high_score; })
    if (name == "high_score") return real(to.high_score);
  if constexpr (requires { to.low_score; })
    if (name == "low_score") return real(to.low_score);
  if constexpr (requires { to.start_score; })
    if (name == "start_score") return real(to.start_score);
  if constexpr (requires { to.min_score; })
    if (name == "min_score") return real(to.min_score);
  if constexpr (requires { to.min_iou; })
    if (name == "min_iou") return real(to.min_iou);
  if constexpr (requires { to.inertia; })
    if (name == "inertia") return real(to.inertia);
  if constexpr (requires { to.min_hits; })
    if (name == "min_hits") {
      to.min_hits = static_cast<std::uint32_t>(size_from(value, "min_hits", UINT32_MAX));
      return true;
    }
  return set_shared(to, name, value);
}

template <class Options>
Options options_from(const std::string& kind, const nb::dict& given) {
  Options options;
  for (const auto& [key, value] : given) {
    const std::string name = text_from(key, "options");
    if (!set_option(options, name, value))
      raise(Errc::invalid_argument, name + ": the tracker \"" + kind + "\" has no such option");
  }
  return options;
}

struct Making {
  Tracker operator()(std::monostate) const { return (*this)(ByteTrackOptions{}); }
  Tracker operator()(const ByteTrackOptions& o) const { return take(ByteTrack::create(o)); }
  Tracker operator()(const ByteTrackPaperOptions& o) const { return take(ByteTrack::paper(o)); }
  Tracker operator()(const OcSortOptions& o) const { return take(OcSort::create(o)); }
  Tracker operator()(const SortOptions& o) const { return take(Sort::create(o)); }
};

Tracker make_tracker(const std::string& kind, const nb::dict& given) {
  return std::visit(Making{}, tracker_options_from(kind, given));
}

// Rows of integers; -1 if a track has no detection.
template <class F>
nb::object integers(const std::vector<Track>& tracks, F&& value) {
  void* at = nullptr;
  nb::object array = new_array(ArrayType::uintp, std::array{tracks.size()}, &at);
  std::transform(tracks.begin(), tracks.end(), static_cast<std::size_t*>(at), value);
  return array;
}

nb::tuple update(TrackerCore& self, nb::handle boxes, nb::handle scores, nb::handle labels,
                 nb::handle timestamp_ns) {
  std::vector<Detection> detections;
  detections_from(boxes, scores, labels, tracker_names, detections);
  std::optional<std::uint64_t> given;
  if (!timestamp_ns.is_none()) given = size_from(timestamp_ns, "timestamp_ns", INT64_MAX);
  std::vector<Track> tracks;
  check(released([&]() -> Status {
    const std::lock_guard lock(self.mutex);
    const std::uint64_t when = self.time(given);
    if (when > INT64_MAX)
      return make_error(Errc::invalid_argument, "timestamp_ns: the next one is beyond 2^63 - 1");
    HALYARD_RETURN_IF_ERROR(self.tracker.update(
        detections, std::chrono::nanoseconds(static_cast<std::int64_t>(when)), tracks));
    self.moved_to(when);
    return {};
  }));
  return track_arrays(tracks, self.seed);
}

}  // namespace

TrackerOptions tracker_options_from(const std::string& kind, const nb::dict& given) {
  if (kind == "bytetrack") return options_from<ByteTrackOptions>(kind, given);
  if (kind == "bytetrack-paper") return options_from<ByteTrackPaperOptions>(kind, given);
  if (kind == "ocsort") return options_from<OcSortOptions>(kind, given);
  if (kind == "sort") return options_from<SortOptions>(kind, given);
  raise(Errc::invalid_argument,
        "kind: must be \"bytetrack\", \"bytetrack-paper\", \"ocsort\" or \"sort\" (\"" + kind +
            "\")");
}

nb::tuple track_arrays(std::vector<Track>& tracks, UuidSeed seed) {
  std::erase_if(tracks, [](const Track& t) { return t.state == TrackState::tentative; });
  seen_first(tracks);
  std::vector<Detection> found;
  nb::list uuids;
  for (const Track& track : tracks) {
    found.push_back({track.box, track.score, track.label});
    uuids.append(to_string(uuid_v4(seed, track.id)));
  }
  const DetectionArrays arrays = detection_arrays(found);
  return nb::make_tuple(
      arrays.boxes, arrays.scores, arrays.classes,
      integers(tracks, [](const Track& t) { return static_cast<std::size_t>(t.id); }), uuids,
      integers(tracks, [](const Track& t) { return static_cast<std::size_t>(t.detection); }));
}

void bind_tracker(nb::module_& m) {
  nb::class_<TrackerCore>(m, "_TrackerCore", "The C++ part of halyard.Tracker.")
      .def(
          "__init__",
          [](TrackerCore* self, nb::handle kind, const nb::dict& options, nb::handle step_ns) {
            const std::chrono::nanoseconds step(size_from(step_ns, "step_ns", INT64_MAX));
            new (self) TrackerCore(make_tracker(text_from(kind, "kind"), options), step);
          },
          nb::arg("kind"), nb::arg("options"), nb::arg("step_ns"),
          nb::sig("def __init__(self, kind: str, options: dict[str, Any], step_ns: int) -> None"))
      .def("update", &update, nb::arg("boxes"), nb::arg("scores"), nb::arg("labels"),
           nb::arg("timestamp_ns").none(),
           nb::sig("def update(self, boxes: Any, scores: Any, labels: Any, timestamp_ns: int | "
                   "None) -> tuple[Any, Any, Any, Any, list[str], Any]"),
           "Tracks that are not tentative, those seen first: boxes, scores, classes, ids, UUIDs,\n"
           "index of the detection (all bits set: none). Without a time: one step after the last "
           "one.")
      .def_prop_ro("left_out", [](TrackerCore& self) {
        return released([&] {
          const std::lock_guard lock(self.mutex);
          return self.tracker.left_out();
        });
      });
}

}  // namespace halyard::python
