// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "args.h"
#include "decode_limits.h"
#include "engine.h"
#include "pipeline/feed.h"
#include "results/any_tracker.h"
#include "results/decoder.h"
#include "tensor/arrays.h"
#include "words.h"

namespace halyard::python {

PyPipeline::~PyPipeline() {
  if (value) {
    released([this] {
      value.reset();
      return 0;
    });
  }
  if (stages) stages->close();
}

const std::shared_ptr<Pipeline>& PyPipeline::get() {
  if (!value) {
    value = std::make_shared<Pipeline>(take(Pipeline::create(std::move(options))));
    stages->prepare(value->lanes());
  }
  return value;
}

namespace {

constexpr std::chrono::milliseconds poll_time{50};

// Python's _PipelineSource: a file, camera, address or topic.
struct PySource {
  PipelineSource value;
};

void open_pipeline_source(PySource* self, nb::handle object) {
  FrameSourceOptions options;
  options.load.limits = limits_from(nb::none());
  const std::string path = path_from(object, "sources");
  auto opened = take(released_with_signals([&](auto is_cancelled) {
    // The source keeps the function; it polls it here only.
    auto poll = std::make_shared<std::function<bool()>>(is_cancelled);
    options.load.is_cancelled = [poll] { return *poll && (*poll)(); };
    auto source = PipelineSource::open(path, options);
    *poll = {};
    return source;
  }));
  new (self) PySource{std::move(opened)};
}

// A _PipelineSource, or (name, _PipelineFeed).
PipelineSource source_from(nb::handle object) {
  if (!PyTuple_Check(object.ptr())) return nb::cast<PySource&>(object).value;
  return feed_source(nb::cast<PyFeed&>(object[1]), path_from(object[0], "sources"));
}

// All classes but the wanted ones get a threshold that only a score of 1 reaches. Where the
// network gives no scores of classes, the results are filtered afterwards.
void keep_classes(DecodeOptions& options, const Decoder& decoder, nb::handle wanted) {
  if (wanted.is_none() || decoder.class_count() == 0) return;
  options.class_thresholds.assign(decoder.class_count(), 1.0F);
  for_each_item(wanted, "classes", "a list of ints", SIZE_MAX, [&](nb::handle item, auto) {
    const std::size_t label = count_from(item, "classes");
    if (label < options.class_thresholds.size())
      options.class_thresholds[label] = options.score_threshold;
  });
}

PipelineTiles tiles_from(nb::handle given) {
  PipelineTiles out;
  const auto side = [&](std::size_t i) {
    return static_cast<std::int32_t>(size_from(given[i], "tiles", INT32_MAX));
  };
  out.tiles.size = {side(0), side(1)};
  out.tiles.overlap = number_from(given[2], "tiles.overlap");
  return out;
}

// A dict: name, engine, description, task, conf, iou, max_det, classes, tiles.
PipelineModel model_from(nb::handle given, PipelineFacts::Model& facts) {
  PipelineModel out;
  PyEngine& engine = nb::cast<PyEngine&>(given["engine"]);
  const auto& description = nb::cast<ModelDescription&>(given["description"]);
  out.name = text_from(given["name"], "model");
  out.engine = engine.shared;
  out.labels = description.labels;
  out.preset.letterbox = LetterboxRule::ultralytics;
  DecodeOptions& options = out.preset.decode;
  options = {};
  options.score_threshold = static_cast<float>(number_from(given["conf"], "conf"));
  options.iou_threshold = static_cast<float>(number_from(given["iou"], "iou"));
  options.max_detections = size_from(given["max_det"], "max_det", 1'000'000);
  Decoder decoder = take(Decoder::create(description, options));
  keep_classes(options, decoder, given["classes"]);
  if (!options.class_thresholds.empty()) decoder = take(Decoder::create(description, options));
  out.decoder = std::make_shared<const Decoder>(std::move(decoder));
  facts.has_instances = has_instances(description);
  facts.has_angles = text_from(given["task"], "task") == "obb";
  facts.is_tiled = !given["tiles"].is_none();
  if (facts.is_tiled) {
    out.tiles = tiles_from(given["tiles"]);
    out.tiles->merge.max_detections = options.max_detections;
  }
  return out;
}

void add_models(PipelineOptions& options, PipelineFacts& facts, const nb::list& models) {
  for (const nb::handle model : models)
    options.models.push_back(model_from(model, facts.models.emplace_back()));
  for (std::size_t i = 0; i < options.sources.size() * options.models.size(); ++i)
    facts.seeds.push_back(take(UuidSeed::random()));
}

void add_stage(PyPipeline& self, nb::handle name, nb::handle function, nb::handle in_order) {
  if (self.value) raise(Errc::invalid_argument, "add_stage: must be called before the start");
  const std::size_t index = self.stages->add(text_from(name, "name"), nb::borrow(function));
  PipelineStage& made = self.options.stages.emplace_back();
  made.name = self.stages->name(index);
  made.order = truth_from(in_order) ? StageOrder::in_order : StageOrder::any_order;
  made.run = [to = self.stages, index](PipelineFrame& frame) { return to->run(index, frame); };
}

void make_pipeline(PyPipeline* self, const nb::dict& given) {
  PipelineOptions options;
  auto facts = std::make_shared<PipelineFacts>();
  options.has_results = true;
  options.on_overload =
      word_from<OverloadPolicy>(given["on_overload"], "on_overload", "overload policy");
  options.in_flight = size_from(given["in_flight"], "in_flight", 1'000'000);
  for (const nb::handle source : nb::cast<nb::list>(given["sources"]))
    options.sources.push_back(source_from(source));
  add_models(options, *facts, nb::cast<nb::list>(given["models"]));
  if (const nb::object tracker = given["tracker"]; !tracker.is_none()) {
    options.tracker =
        tracker_options_from(text_from(tracker[0], "tracker"), nb::cast<nb::dict>(tracker[1]));
    facts->has_tracker = true;
  }
  auto stages = std::make_shared<PythonStages>(facts, nb::object(given["make"]),
                                               nb::object(given["on_error"]));
  if (stages->reports()) {
    options.on_error = [stages](std::string_view what, const Error& error) {
      stages->report(what, error);
    };
  }
  new (self) PyPipeline();
  self->options = std::move(options);
  self->stages = std::move(stages);
}

using Taken = std::optional<Pipeline::Taken>;

nb::object next_result(PyPipeline& self, nb::handle timeout) {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> end;
  if (!timeout.is_none()) {
    const double seconds = number_from(timeout, "timeout");
    if (!(seconds >= 0 && seconds <= 1e9))
      raise(Errc::invalid_argument, "timeout: must be 0 to 1e9 seconds, or None");
    end = Clock::now() + std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }
  const std::shared_ptr<Pipeline> value = self.get();
  const PythonStages::Taking taking(*self.stages);
  auto taken = take(released_with_signals([&](auto is_cancelled) -> Result<Taken> {
    for (;;) {
      std::chrono::nanoseconds wait = poll_time;
      if (end) wait = std::clamp<std::chrono::nanoseconds>(*end - Clock::now(), {}, poll_time);
      auto next = value->next(wait);
      if (next || next.error().code != Errc::timeout) return next;
      if (is_cancelled() || (end && Clock::now() >= *end)) return next;
    }
  }));
  if (!taken) return nb::none();
  return self.stages->result_of(*std::move(taken));
}

template <class F>
void run_released(PyPipeline& self, F&& call) {
  check(released([value = self.get(), &call] { return call(*value); }));
}

void add_running(nb::class_<PyPipeline>& cls) {
  cls.def("__init__", &make_pipeline, nb::arg("options"),
          nb::sig("def __init__(self, options: dict[str, Any]) -> None"))
      .def("add_stage", &add_stage, nb::arg("name"), nb::arg("function"), nb::arg("in_order"),
           nb::sig("def add_stage(self, name: str, function: Any, in_order: bool) -> None"))
      .def(
          "start", [](PyPipeline& self) { run_released(self, [](auto& p) { return p.start(); }); },
          nb::sig("def start(self) -> None"))
      .def("next", &next_result, nb::arg("timeout").none() = nb::none(),
           nb::sig("def next(self, timeout: float | None = None) -> Any"),
           "The next PipelineResult; None at the end.")
      .def(
          "wait", [](PyPipeline& self) { run_released(self, [](auto& p) { return p.wait(); }); },
          nb::sig("def wait(self) -> None"))
      .def(
          "stop", [](PyPipeline& self) { run_released(self, [](auto& p) { return p.stop(); }); },
          nb::sig("def stop(self) -> None"))
      .def(
          "request_drain", [](PyPipeline& self) { self.get()->request_drain(); },
          nb::sig("def request_drain(self) -> None"))
      .def(
          "close", [](PyPipeline& self) { self.stages->close(); },
          nb::sig("def close(self) -> None"), "After the end: drops the program's functions.");
}

}  // namespace

void bind_pipeline(nb::module_& m) {
  bind_pipeline_feed(m);
  bind_pipeline_item(m);
  nb::class_<PySource>(m, "_PipelineSource", "A file, camera, address or topic of a pipeline.")
      .def("__init__", &open_pipeline_source, nb::arg("path"),
           nb::sig("def __init__(self, path: str) -> None"))
      .def_prop_ro(
          "name", [](const PySource& self) { return str_of(self.value.name); },
          nb::sig("def name(self) -> str"));
  nb::class_<PyPipeline> cls(m, "_PipelineCore", "The C++ part of halyard.Pipeline.");
  add_running(cls);
  add_sinks(cls);
  cls.def(
         "set_paused",
         [](PyPipeline& self, bool is_paused) {
           run_released(self, [&](auto& p) { return p.set_paused(is_paused), Status(); });
         },
         nb::arg("is_paused"), nb::sig("def set_paused(self, is_paused: bool) -> None"))
      .def_prop_ro(
          "is_paused", [](PyPipeline& self) { return self.get()->is_paused(); },
          nb::sig("def is_paused(self) -> bool"))
      .def_prop_ro(
          "lanes", [](PyPipeline& self) { return self.get()->lanes(); },
          nb::sig("def lanes(self) -> int"))
      .def("stats", &stats_of, nb::sig("def stats(self) -> dict[str, Any]"));
}

}  // namespace halyard::python
