// SPDX-License-Identifier: Apache-2.0
// Programs depend on the JSON: keys are added, never renamed.
#include "serve/live_json.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "halyard/log.h"
#include "input/json_document.h"
#include "output/record.h"

namespace halyard::tool {
namespace {

/// Rounded, so that a float is written as 0.87 and not as 0.8700000047683716.
double rounded(double value, double digits) {
  return std::round(value * digits) / digits;
}

double milliseconds(double microseconds) {
  return rounded(microseconds / 1000, 1000);
}

const char* status_of(const LiveFeed::State& state) {
  if (state.has_ended || state.counts.has_ended) return "ended";
  return state.controls.is_paused ? "paused" : "running";
}

/// A flag or a share by its key; null pointers: there is no such key.
struct ControlKey {
  const char* name;
  float LiveControls::*share;
  bool LiveControls::*flag;
};
constexpr ControlKey control_keys[] = {
    {"score", &LiveControls::score, nullptr},      {"iou", &LiveControls::iou, nullptr},
    {"paused", nullptr, &LiveControls::is_paused}, {"boxes", nullptr, &LiveControls::has_boxes},
    {"masks", nullptr, &LiveControls::has_masks},  {"tracks", nullptr, &LiveControls::has_tracks},
};

Status read_control(const std::string& key, const Json& value, LiveControls& controls) {
  for (const auto& [name, share, flag] : control_keys) {
    if (key != name) continue;
    if (flag != nullptr) {
      if (!value.is_boolean())
        return make_error(Errc::invalid_argument, "the value must be true or false", key);
      controls.*flag = value.get<bool>();
      return {};
    }
    if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= 1))
      return make_error(Errc::invalid_argument, "the value must be a number from 0 to 1", key);
    controls.*share = value.get<float>();
    return {};
  }
  return make_error(Errc::invalid_argument,
                    "there is no such control: score, iou, paused, boxes, masks, tracks", key);
}

Result<Json> read_object(std::string_view text) {
  Json out = json_from(text);
  if (out.is_discarded() || !out.is_object())
    return make_error(Errc::malformed, "the body must be a JSON object");
  return out;
}

Json stages_json(const LiveFeed::State& state) {
  Json out = Json::array();
  for (const auto& stage : state.counts.stages)
    out.push_back({{"name", stage.name},
                   {"p50_ms", milliseconds(stage.p50_us)},
                   {"p99_ms", milliseconds(stage.p99_us)}});
  return out;
}

Json timeline_json(const LiveFeed::State& state) {
  Json out = Json::array();
  for (const LiveFrame& frame : state.recent) {
    const std::chrono::duration<double, std::micro> at = frame.read - state.began;
    Json stages = Json::array();
    for (const StageSpan& stage : frame.stages)
      stages.push_back({stage.name, milliseconds(stage.start_us), milliseconds(stage.duration_us)});
    out.push_back({{"frame", frame.index},
                   {"at_ms", milliseconds(at.count())},
                   {"stages", std::move(stages)}});
  }
  return out;
}

Json objects_json(const LiveFeed::State& state, const LiveSource& source) {
  Json out{{"detections", 0}, {"tracks", state.tracks}, {"labels", Json::array()}};
  std::size_t sum = 0;
  for (const auto& [label, count] : state.objects) {
    sum += count;
    out["labels"].push_back({{"label", label_of(source.labels, label)}, {"count", count}});
  }
  out["detections"] = sum;
  out["class"] = nullptr;
  if (state.top_class)
    out["class"] = {{"label", label_of(source.labels, state.top_class->first)},
                    {"score", rounded(static_cast<double>(state.top_class->second), 1e4)}};
  return out;
}

Json viewers_json(const HttpServerStats& server) {
  return {{"images", server.image_viewers},     {"video", server.video_viewers},
          {"events", server.event_viewers},     {"connections", server.connections},
          {"images_sent", server.images_sent},  {"images_skipped", server.images_skipped},
          {"segments_sent", server.video_sent}, {"segments_skipped", server.video_skipped},
          {"closed_slow", server.slow_viewers}};
}

Json recording_json(const RecorderState& recorder) {
  return {{"available", recorder.is_available},
          {"on", recorder.is_on},
          {"file", recorder.file.empty() ? Json(nullptr) : Json(recorder.file)},
          {"frames", recorder.frames},
          {"dropped", recorder.dropped},
          {"error", recorder.error.empty() ? Json(nullptr) : Json(recorder.error)}};
}

Json video_json(const LiveVideoState& video) {
  return {{"available", video.is_available},
          {"encoder", video.encoder.empty() ? Json(nullptr) : Json(video.encoder)},
          {"error", video.error.empty() ? Json(nullptr) : Json(video.error)}};
}

Json tensors_json(std::span<const TensorSpec> tensors) {
  Json out = Json::array();
  for (const TensorSpec& tensor : tensors)
    out.push_back({{"name", tensor.name},
                   {"shape", tensor.shape},
                   {"dtype", std::string(to_string(tensor.dtype))}});
  return out;
}

Json json_of(const LiveControls& controls) {
  Json out = Json::object();
  for (const auto& [name, share, flag] : control_keys) {
    if (flag != nullptr) out[name] = controls.*flag;
    if (share != nullptr) out[name] = rounded(static_cast<double>(controls.*share), 1e4);
  }
  return out;
}

Json lines_json(const std::string& text) {
  Json out = Json::array();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) out.push_back(line);
  return out;
}

}  // namespace

std::string controls_json(const LiveControls& controls) {
  return json_text(json_document(json_of(controls)));
}

Status read_controls(std::string_view text, LiveControls& controls) {
  HALYARD_TRY(const Json object, read_object(text));
  LiveControls changed = controls;
  for (const auto& [key, value] : object.items())
    HALYARD_RETURN_IF_ERROR(read_control(key, value, changed));
  controls = changed;
  return {};
}

Result<bool> read_switch(std::string_view text) {
  HALYARD_TRY(const Json object, read_object(text));
  for (const auto& [key, value] : object.items())
    if (key != "on") return make_error(Errc::invalid_argument, "the only key is \"on\"", key);
  if (!object.contains("on") || !object["on"].is_boolean())
    return make_error(Errc::invalid_argument, "\"on\" must be true or false");
  return object["on"].get<bool>();
}

std::string switch_json(const RecorderState& recorder) {
  return json_text(json_document({{"on", recorder.is_on}, {"file", recorder.file}}));
}

std::string state_json(const LiveFeed::State& state, const LiveSource& source,
                       const HttpServerStats& server, const RecorderState& recorder,
                       const LiveVideoState& video, bool has_login) {
  const LiveCounts& counts = state.counts;
  const std::string& error = counts.last_error;
  Json out = json_document({{"status", status_of(state)}});
  out["error"] = error.empty() ? Json(nullptr) : Json(printable(error));
  out["source"] = {{"name", printable(source.name)},    {"width", state.size.width},
                   {"height", state.size.height},       {"model", source.has_model},
                   {"published", source.has_published}, {"tracker", source.has_tracker},
                   {"masks", source.has_masks}};
  out["frames"] = {{"passed", state.frames},    {"rate", rounded(state.rate, 10)},
                   {"read", counts.read},       {"dropped", counts.dropped},
                   {"skipped", counts.skipped}, {"failed", counts.failed}};
  out["copies"] = {{"count", counts.copies}, {"bytes", counts.copied_bytes}};
  out["latency"] = {{"p50_ms", milliseconds(counts.latency_p50_us)},
                    {"p99_ms", milliseconds(counts.latency_p99_us)}};
  out["objects"] = objects_json(state, source);
  out["stages"] = stages_json(state);
  out["timeline"] = timeline_json(state);
  out["controls"] = json_of(state.controls);
  out["viewers"] = viewers_json(server);
  out["recording"] = recording_json(recorder);
  out["video"] = video_json(video);
  out["login"] = has_login;
  return json_text(out);
}

std::string model_json(const PipelineModel& model) {
  const Engine& engine = *model.engine;
  const Decoder& decoder = *model.decoder;
  constexpr std::size_t max_entries = 32, max_length = 200;
  Json out = json_document({{"name", std::filesystem::path(engine.path()).filename().string()}});
  out["runtime"] = engine.runtime();
  const Size size = engine.input_size();
  out["input"] = {{"width", size.width}, {"height", size.height}};
  out["inputs"] = tensors_json(engine.inputs());
  out["outputs"] = tensors_json(engine.outputs());
  out["classes"] = decoder.class_count();
  out["labels"] = model.labels;
  out["decoder"] = lines_json(decoder.explain());
  out["metadata"] = Json::object();
  for (const auto& [key, value] : engine.metadata())
    if (out["metadata"].size() < max_entries) out["metadata"][key] = value.substr(0, max_length);
  return json_text(out);
}

}  // namespace halyard::tool
