// SPDX-License-Identifier: Apache-2.0
// Names follow Prometheus' rules: a unit at the end, seconds and bytes, _total for counters.
#include <fmt/format.h>

#include "serve/live_json.h"

namespace halyard::tool {
namespace {

class MetricsWriter {
 public:
  void family(const char* name, const char* type, const char* help) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  /// `labels` is empty or in braces.
  template <class Value>
  void sample(const char* name, const std::string& labels, Value value) {
    text_ += fmt::format("{}{} {}\n", name, labels, value);
  }
  template <class Value>
  void single(const char* name, const char* type, const char* help, Value value) {
    family(name, type, help);
    sample(name, {}, value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

void add_stages(const LiveCounts& counts, MetricsWriter& out) {
  const char* name = "halyard_stage_duration_seconds";
  out.family(name, "gauge", "Time of a stage for one frame.");
  for (const auto& stage : counts.stages) {
    const std::string label = escaped(stage.name);
    out.sample(name, fmt::format("{{stage=\"{}\",quantile=\"0.5\"}}", label), stage.p50_us / 1e6);
    out.sample(name, fmt::format("{{stage=\"{}\",quantile=\"0.99\"}}", label), stage.p99_us / 1e6);
  }
  name = "halyard_latency_seconds";
  out.family(name, "gauge", "Time of a frame from its reading to behind the last stage.");
  out.sample(name, "{quantile=\"0.5\"}", counts.latency_p50_us / 1e6);
  out.sample(name, "{quantile=\"0.99\"}", counts.latency_p99_us / 1e6);
}

void add_server(const HttpServerStats& server, MetricsWriter& out) {
  out.single("halyard_viewers", "gauge", "Readers of the image stream.", server.image_viewers);
  out.single("halyard_video_viewers", "gauge", "Readers of the video.", server.video_viewers);
  out.single("halyard_connections", "gauge", "Open connections.", server.connections);
  out.single("halyard_requests_total", "counter", "Requests.", server.requests);
  out.single("halyard_images_sent_total", "counter", "Images that viewers took.",
             server.images_sent);
  out.single("halyard_images_skipped_total", "counter",
             "Images that a newer one replaced before a viewer took them.", server.images_skipped);
  out.single("halyard_video_segments_sent_total", "counter", "Images of the video that were sent.",
             server.video_sent);
  out.single("halyard_video_segments_skipped_total", "counter",
             "Images of the video not sent to viewers that did not keep up.", server.video_skipped);
  out.single("halyard_slow_viewers_closed_total", "counter",
             "Viewers closed because they took no image in time.", server.slow_viewers);
  out.single("halyard_connection_timeouts_total", "counter",
             "Other connections closed by a deadline.", server.timeouts);
}

}  // namespace

std::string metrics_text(const LiveFeed::State& state, const HttpServerStats& server,
                         const RecorderState& recorder) {
  const LiveCounts& counts = state.counts;
  std::size_t detections = 0;
  for (const auto& [label, count] : state.objects)
    detections += count;
  MetricsWriter out;
  out.single("halyard_frames_total", "counter", "Frames that passed all stages.", state.frames);
  out.single("halyard_frames_read_total", "counter", "Frames that the source gave.", counts.read);
  out.single("halyard_frames_dropped_total", "counter", "Frames dropped for newer ones.",
             counts.dropped);
  out.single("halyard_frames_skipped_total", "counter", "Frames that the network did not see.",
             counts.skipped);
  out.single("halyard_frames_failed_total", "counter",
             "Frames damaged, or of which a stage failed.", counts.failed);
  out.single("halyard_frame_rate", "gauge", "Frames per second over two seconds.", state.rate);
  out.single("halyard_copies_total", "counter", "Copies of image bytes.", counts.copies);
  out.single("halyard_copied_bytes_total", "counter", "Bytes of these copies.",
             counts.copied_bytes);
  out.single("halyard_detections", "gauge", "Detections of the last frame.", detections);
  out.single("halyard_tracks", "gauge", "Tracks seen in the last frame.", state.tracks);
  out.single("halyard_paused", "gauge", "1 while paused.", state.controls.is_paused ? 1 : 0);
  out.single("halyard_recording", "gauge", "1 while a video is recorded.", recorder.is_on ? 1 : 0);
  add_stages(counts, out);
  add_server(server, out);
  return out.take();
}

}  // namespace halyard::tool
