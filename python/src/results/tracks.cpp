// SPDX-License-Identifier: Apache-2.0
// Trackers, and the information about the objects that they follow.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "args.h"
#include "bindings.h"
#include "results/any_tracker.h"
#include "results/tracks.h"
#include "tensor/arrays.h"

namespace halyard::python {
namespace {

using compat::ActiveTrack;
using compat::info_of;
using compat::TrackInfo;

constexpr DetectionNames track_names{"boxes", "scores", "labels"};

std::vector<float> list_of(const Box& box) {
  return {box.x1, box.y1, box.x2, box.y2};
}

Box box_from(nb::handle values, const char* argument) {
  std::array<float, 4> v{};
  floats_from(values, argument, v);
  return {v[0], v[1], v[2], v[3]};
}

// Wraps TrackInfo so that both classes are registered in one place.
TrackInfo make_info(nb::handle uuid, nb::handle location, std::int32_t count, nb::handle created,
                    nb::handle last_updated) {
  return {.uuid = take(compat::parse_uuid(text_from(uuid, "uuid"))),
          .location = box_from(location, "tracked_location"),
          .count = count,
          .created = count_from(created, "created"),
          .last_updated = count_from(last_updated, "last_updated")};
}

std::string track_text(const Box& box) {
  const nb::object list = nb::cast(list_of(box));
  return python::text_of(nb::repr(list));
}
std::string track_text(const TrackInfo& info) {
  return "TrackInfo(uuid='" + to_string(info.uuid) +
         "', tracked_location=" + track_text(info.location) +
         ", count=" + std::to_string(info.count) + ", created=" + std::to_string(info.created) +
         ", last_updated=" + std::to_string(info.last_updated) + ")";
}

nb::tuple key_of(const TrackInfo& info) {
  return nb::make_tuple(to_string(info.uuid), list_of(info.location), info.count, info.created,
                        info.last_updated);
}

bool is_same(const ActiveTrack& a, const ActiveTrack& b) {
  return a.info == b.info && a.last_box == b.last_box && a.score == b.score && a.label == b.label;
}

void bind_info(nb::module_& m) {
  nb::class_<TrackInfo>(m, "TrackInfo", "The state of one tracked object after a frame.")
      .def(
          "__init__",
          [](TrackInfo* self, nb::handle uuid, nb::handle location, IntArg<"count"> count,
             nb::handle created, nb::handle last_updated) {
            new (self) TrackInfo(make_info(uuid, location, count, created, last_updated));
          },
          nb::arg("uuid"), nb::arg("tracked_location"), nb::arg("count"), nb::arg("created"),
          nb::arg("last_updated"),
          nb::sig("def __init__(self, uuid: str, tracked_location: Sequence[float], count: int, "
                  "created: int, last_updated: int) -> None"),
          "Args:\n    uuid: 32 hexadecimal digits, with or without dashes.\n"
          "    tracked_location: x1, y1, x2, y2.\n    count: detections so far.\n"
          "    created, last_updated: nanoseconds.")
      .def_prop_ro(
          "uuid", [](const TrackInfo& info) { return to_string(info.uuid); },
          "Id of the object, which never changes: \"f81d4fae-7dec-...\".")
      .def_prop_ro(
          "tracked_location", [](const TrackInfo& info) { return list_of(info.location); },
          "The filter's estimate: [x1, y1, x2, y2] in the units of the boxes.")
      .def_ro("count", &TrackInfo::count, "Detections so far, including the first.")
      .def_ro("created", &TrackInfo::created, "Time of the first detection, ns.")
      .def_ro("last_updated", &TrackInfo::last_updated, "Time of the last detection, ns.")
      .def(
          "__eq__",
          [](const TrackInfo& a, nb::handle b) {
            const TrackInfo* other = nullptr;
            return nb::try_cast(b, other) && other != nullptr && a == *other;
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const TrackInfo& info) {
             return nb::hash(nb::make_tuple(to_string(info.uuid), info.last_updated));
           })
      .def("__repr__", [](const TrackInfo& info) { return track_text(info); })
      .def("__reduce__", [](const TrackInfo& info) {
        return nb::make_tuple(nb::type<TrackInfo>(), key_of(info));
      });
}

template <class Class>
void def_active_init(Class& type, const char* first) {
  const std::string signature =
      std::string("def __init__(self, ") + first +
      ": TrackInfo, bbox: Sequence[float], score: float, label: int) -> None";
  type.def(
      "__init__",
      [](ActiveTrack* self, const TrackInfo& info, nb::handle bbox, FloatArg<"score"> score,
         IntArg<"label"> label) {
        new (self) ActiveTrack{info, box_from(bbox, "bbox"), score, label};
      },
      nb::arg(first), nb::arg("bbox"), nb::arg("score"), nb::arg("label"),
      nb::sig(signature.c_str()));
}

void bind_active(nb::module_& m) {
  nb::class_<ActiveTrack> type(m, "ActiveTrackInfo", "A live track and its last detection.");
  def_active_init(type, "track_info");
  def_active_init(type, "info");
  type.def_ro("info", &ActiveTrack::info, "The track itself: a TrackInfo.")
      .def_prop_ro(
          "last_box",
          [](const ActiveTrack& track) {
            return nb::make_tuple(list_of(track.last_box), track.score, track.label);
          },
          nb::sig("def last_box(self) -> tuple[list[float], float, int]"),
          "([x1, y1, x2, y2], score, label) of the last detection.")
      .def(
          "__eq__",
          [](const ActiveTrack& a, nb::handle b) {
            const ActiveTrack* other = nullptr;
            return nb::try_cast(b, other) && other != nullptr && is_same(a, *other);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const ActiveTrack& track) {
             return nb::hash(nb::make_tuple(to_string(track.info.uuid), track.info.last_updated));
           })
      .def("__repr__",
           [](const ActiveTrack& track) {
             return "ActiveTrackInfo(info=" + track_text(track.info) + ", last_box=(" +
                    track_text(track.last_box) + ", " +
                    python::text_of(nb::repr(nb::float_(track.score))) + ", " +
                    std::to_string(track.label) + "))";
           })
      .def("__reduce__", [](const ActiveTrack& track) {
        return nb::make_tuple(
            nb::type<ActiveTrack>(),
            nb::make_tuple(track.info, list_of(track.last_box), track.score, track.label));
      });
}

nb::list list_of(const std::vector<std::optional<TrackInfo>>& infos) {
  nb::list list;
  for (const auto& info : infos)
    info ? list.append(*info) : list.append(nb::none());
  return list;
}

nb::list list_of(const std::vector<ActiveTrack>& tracks) {
  nb::list list;
  for (const ActiveTrack& track : tracks)
    list.append(track);
  return list;
}

nb::list update_tracks(PyByteTrack& self, nb::handle boxes, nb::handle scores, nb::handle labels,
                       nb::handle timestamp_ns) {
  std::vector<Detection> detections;
  detections_from(boxes, scores, labels, track_names, detections);
  const std::uint64_t when = count_from(timestamp_ns, "timestamp_ns");
  std::vector<std::optional<TrackInfo>> infos;
  check(released([&] { return self.value.update(detections, when, infos); }));
  return list_of(infos);
}

constexpr const char* update_signature =
    "def update(self, boxes: Any, scores: Any, labels: Any, timestamp_ns: int) -> "
    "list[TrackInfo | None]";
constexpr const char* active_signature = "def get_active_tracks(self) -> list[ActiveTrackInfo]";
constexpr const char* update_doc =
    "Advances to the frame of time timestamp_ns and associates its detections.\n\n"
    "Args:\n    boxes: (N, 4) float x1, y1, x2, y2; pixels or fractions, not mixed.\n"
    "    scores: (N,) float.\n    labels: (N,) integers.\n"
    "    timestamp_ns: not before that of the last call.\n\n"
    "Returns a list of N: a TrackInfo, or None if a detection belongs to no track.\n"
    "Raises TypeError and ValueError naming the argument.";
constexpr const char* left_out_doc =
    "Detections of the last update that could be tracked but are not, because a tracker follows\n"
    "at most 1000 objects: the lowest scores beyond 1000 detections, and those that would have\n"
    "begun a track while 1000 were live.";
constexpr const char* active_doc =
    "Live tracks, those seen in the last frame first: a list of ActiveTrackInfo.";

using HighConf = FloatArg<"high_conf">;
using TrackIou = FloatArg<"iou">;

void add_init(nb::class_<PyByteTrack>& cls) {
  cls.def(
      "__init__",
      [](PyByteTrack* self, HighConf high_conf, TrackIou iou, FloatArg<"update"> gain,
         nb::handle lifespan_ns) {
        new (self) PyByteTrack{take(compat::ByteTrack::create(
            compat::ByteTrackOptions{.high_conf = high_conf,
                                     .iou = iou,
                                     .update = gain,
                                     .lifespan_ns = count_from(lifespan_ns, "lifespan_ns")}))};
      },
      nb::arg("high_conf") = 0.7F, nb::arg("iou") = 0.25F, nb::arg("update") = 0.25F,
      nb::arg("lifespan_ns") = 500'000'000,
      nb::sig("def __init__(self, high_conf: float = 0.7, iou: float = 0.25, update: float = "
              "0.25, lifespan_ns: int = 500000000) -> None"),
      "Args:\n    high_conf: score of the first pass, and needed to start a track; 0..1.\n"
      "    iou: minimum overlap with a track's predicted box; 0..1.\n"
      "    update: share of the correction that a detection makes; clamped to 0..1.\n"
      "    lifespan_ns: a track unseen for longer ends.");
}

void add_updating(nb::class_<PyByteTrack>& cls) {
  cls.def("update", &update_tracks, nb::arg("boxes"), nb::arg("scores"), nb::arg("labels"),
          nb::arg("timestamp_ns"), nb::sig(update_signature), update_doc)
      .def(
          "get_active_tracks",
          [](PyByteTrack& self) {
            std::vector<ActiveTrack> tracks;
            released([&] {
              self.value.active(tracks);
              return 0;
            });
            return list_of(tracks);
          },
          nb::sig(active_signature), active_doc)
      .def_prop_ro(
          "left_out",
          [](PyByteTrack& self) { return released([&] { return self.value.left_out(); }); },
          left_out_doc);
}

void bind_byte_track(nb::module_& m) {
  nb::class_<PyByteTrack> cls(
      m, "ByteTrack",
      "Follows objects by box overlap, with detections of a low score too. One "
      "object may be used from\n"
      "several threads; calls wait for each other.",
      nb::is_weak_referenceable());
  add_init(cls);
  add_updating(cls);
}

// OC-SORT and SORT under the same two calls.
struct PyOcSort : PyTracker {
  using PyTracker::PyTracker;
};
struct PySort : PyTracker {
  using PyTracker::PyTracker;
};

nb::list update_tracker(PyTracker& self, nb::handle boxes, nb::handle scores, nb::handle labels,
                        nb::handle timestamp_ns) {
  std::vector<Detection> detections;
  detections_from(boxes, scores, labels, track_names, detections);
  const std::uint64_t when = count_from(timestamp_ns, "timestamp_ns");
  if (when > static_cast<std::uint64_t>(INT64_MAX))
    raise(Errc::invalid_argument, "timestamp_ns: must be below 2^63");
  std::vector<std::optional<TrackInfo>> infos(detections.size());
  check(released([&]() -> Status {
    const std::lock_guard lock(self.mutex);
    HALYARD_TRY(const auto tracks, self.tracker.update(detections, std::chrono::nanoseconds(when)));
    for (const Track& track : tracks) {
      if (track.detection >= 0 && track.state == TrackState::tracked)
        infos[static_cast<std::size_t>(track.detection)] = info_of(track, self.seed);
    }
    return {};
  }));
  return list_of(infos);
}

nb::list active(PyTracker& self) {
  std::vector<ActiveTrack> found;
  released([&] {
    const std::lock_guard lock(self.mutex);
    std::vector<Track> tracks = self.tracker.tracks();
    seen_first(tracks);
    for (const Track& track : tracks) {
      if (track.state == TrackState::tentative) continue;
      found.push_back({info_of(track, self.seed), track.box, track.score, track.label});
    }
    return 0;
  });
  return list_of(found);
}

std::size_t left_out(PyTracker& self) {
  return released([&] {
    const std::lock_guard lock(self.mutex);
    return self.tracker.left_out();
  });
}

std::uint32_t hits_from(nb::handle min_hits) {
  return static_cast<std::uint32_t>(size_from(min_hits, "min_hits", UINT32_MAX));
}

std::chrono::nanoseconds lifespan_from(nb::handle lifespan_ns) {
  return std::chrono::nanoseconds(size_from(lifespan_ns, "lifespan_ns", INT64_MAX));
}

void bind_tracker_base(nb::module_& m) {
  nb::class_<PyTracker>(m, "_Tracker", "A tracker with the same interface as ByteTrack.",
                        nb::is_weak_referenceable())
      .def("update", &update_tracker, nb::arg("boxes"), nb::arg("scores"), nb::arg("labels"),
           nb::arg("timestamp_ns"), nb::sig(update_signature), update_doc)
      .def("get_active_tracks", &active, nb::sig(active_signature), active_doc)
      .def_prop_ro("left_out", &left_out, left_out_doc);
}

void bind_oc_sort(nb::module_& m) {
  nb::class_<PyOcSort, PyTracker>(
      m, "OcSort",
      "OC-SORT: trusts observations more than predictions; for objects that change direction.",
      nb::is_weak_referenceable())
      .def(
          "__init__",
          [](PyOcSort* self, HighConf high_conf, TrackIou iou, FloatArg<"inertia"> inertia,
             nb::handle min_hits, nb::handle lifespan_ns, bool is_class_aware) {
            new (self) PyOcSort(take(OcSort::create({.high_score = high_conf,
                                                     .min_iou = iou,
                                                     .inertia = inertia,
                                                     .min_hits = hits_from(min_hits),
                                                     .max_coast = lifespan_from(lifespan_ns),
                                                     .is_class_aware = is_class_aware})));
          },
          nb::arg("high_conf") = 0.6F, nb::arg("iou") = 0.3F, nb::arg("inertia") = 0.2F,
          nb::arg("min_hits") = 3, nb::arg("lifespan_ns") = 1'000'000'000,
          nb::arg("is_class_aware") = false,
          nb::sig("def __init__(self, high_conf: float = 0.6, iou: float = 0.3, inertia: float = "
                  "0.2, min_hits: int = 3, lifespan_ns: int = 1000000000, is_class_aware: bool = "
                  "False) -> None"));
}

void bind_sort(nb::module_& m) {
  nb::class_<PySort, PyTracker>(m, "Sort", "SORT: the plain original.", nb::is_weak_referenceable())
      .def(
          "__init__",
          [](PySort* self, FloatArg<"min_score"> min_score, TrackIou iou, nb::handle min_hits,
             nb::handle lifespan_ns, bool is_class_aware) {
            new (self) PySort(take(Sort::create({.min_score = min_score,
                                                 .min_iou = iou,
                                                 .min_hits = hits_from(min_hits),
                                                 .max_coast = lifespan_from(lifespan_ns),
                                                 .is_class_aware = is_class_aware})));
          },
          nb::arg("min_score") = 0.0F, nb::arg("iou") = 0.3F, nb::arg("min_hits") = 3,
          nb::arg("lifespan_ns") = 50'000'000, nb::arg("is_class_aware") = false,
          nb::sig("def __init__(self, min_score: float = 0.0, iou: float = 0.3, min_hits: int = 3, "
                  "lifespan_ns: int = 50000000, is_class_aware: bool = False) -> None"));
}

}  // namespace

nb::list track_list(const std::vector<compat::TrackInfo>& tracks) {
  nb::list list;
  for (const TrackInfo& info : tracks)
    list.append(info);
  return list;
}

void bind_tracks(nb::module_& m) {
  bind_info(m);
  bind_active(m);
  bind_byte_track(m);
  bind_tracker_base(m);
  bind_oc_sort(m);
  bind_sort(m);
}

}  // namespace halyard::python
