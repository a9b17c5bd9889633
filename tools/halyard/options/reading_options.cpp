// SPDX-License-Identifier: Apache-2.0
#include "options/reading_options.h"

#include <cmath>

#include "interrupt.h"
#include "options/command_spec.h"
#include "report.h"

namespace halyard::tool {
namespace {

constexpr double max_seconds = 1e9;

}  // namespace

void ReadingOptions::complete() {
  const bool is_number = camera.find_first_not_of("0123456789") == std::string::npos;
  if (!camera.empty()) inputs.push_back(is_number ? "camera:" + camera : camera);
  if (!topic.empty()) inputs.push_back("topic:" + topic);
  camera.clear();
  topic.clear();
}

FrameSourceOptions ReadingOptions::source_options() const {
  FrameSourceOptions out;
  out.load.is_cancelled = InterruptGuard::is_requested;
  out.speed = speed;
  out.loops = loops;
  out.start = std::chrono::nanoseconds(std::llround(start_s * 1e9));
  out.video_decoder = video_decoder;
  if (reconnects) out.reconnect.emplace();
  return out;
}

void add_reading_options(CommandSpec& spec, ReadingOptions& options) {
  spec.option(
      "inputs", &options.inputs,
      "Images, folders, videos, cameras (/dev/video0), http:// or rtsp://, topic:NAME, or - "
      "for standard input");
  spec.option("--camera", &options.camera, "A camera: its number or its path");
  spec.option("--topic", &options.topic, "Images that other processes publish");
  spec.option("--start", &options.start_s, "Seconds from the beginning of the input to skip")
      .in(0.0, max_seconds);
  spec.option("--video-decoder", &options.video_decoder,
              "What decodes videos: cpu, v4l2 (a hardware codec), its path, or auto; "
              "default: cpu");
}

int check_inputs(const ReadingOptions& options) {
  if (options.inputs.empty())
    return report_usage("inputs", "a file, --camera or --topic is needed");
  if (options.inputs.size() > 1 && options.start_s > 0)
    return report_usage("--start", "works with one input");
  return exit_ok;
}

}  // namespace halyard::tool
