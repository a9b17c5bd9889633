// SPDX-License-Identifier: Apache-2.0
// halyard run: runs a model on images and videos; writes tracks, drawings, JSON and a trace.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>

#include "commands/commands.h"
#include "halyard/trace.h"
#include "options/limit_options.h"
#include "options/out_formats.h"
#include "options/paths.h"
#include "options/preset_options.h"
#include "options/reading_options.h"
#include "output/result_files.h"
#include "pipeline.h"
#include "report.h"

namespace halyard::tool {
namespace {

struct RunOptions {
  ReadingOptions reading;
  DetectorOptions detector;
  PresetArguments preset;
  bool is_tracking = false;
  ByteTrackOptions tracking;
  std::string out;
  std::string contact_sheet;
  std::string font;
  ResultOptions results;
  std::string trace;
  std::size_t in_flight = 4;
  std::string publish;
  std::string on_overload;
  bool is_live = false;
  bool prints_stats = false;
  bool is_quiet = false;
};

/// A trace session that ends with the scope.
class TraceSession {
 public:
  static Status start(const std::string& path, std::optional<TraceSession>& session) {
    if (path.empty()) return {};
    HALYARD_RETURN_IF_ERROR(trace::start(path));
    trace::set_thread_name("main");
    session.emplace();
    return {};
  }
  TraceSession() = default;
  TraceSession(const TraceSession&) = delete;
  TraceSession& operator=(const TraceSession&) = delete;
  ~TraceSession() { static_cast<void>(trace::stop()); }
  Status finish() { return trace::stop(); }
};

/// Only results may be written to standard output.
int check_names(const RunOptions& options) {
  if (const int code = check_out_name(options.out); code != exit_ok) return code;
  if (const int code = check_image_name("--contact-sheet", options.contact_sheet); code != exit_ok)
    return code;
  if (options.trace == "-")
    return report_usage("--trace -", "must name a file (.json); /dev/stdout is standard output");
  return exit_ok;
}

/// No output may overwrite an input or another output.
int check_paths(const RunOptions& options) {
  PathCheck paths;
  for (const std::string& input : options.reading.inputs)
    paths.frames("the input", input);
  const DetectorOptions& detector = options.detector;
  paths.model("--model", detector.model)
      .input("--labels", detector.labels)
      .input("--config", detector.config)
      .input("--font", options.font);
  if (out_kind(options.out) == OutKind::folder) {
    paths.output_folder("--out", options.out);
  } else {
    paths.output("--out", options.out);
  }
  add_to(paths, options.results);
  return paths.output("--contact-sheet", options.contact_sheet)
      .output("--trace", options.trace)
      .run();
}

int check_image(const RunOptions& options, const Inputs& inputs) {
  if (out_kind(options.out) == OutKind::image && inputs.total() && !inputs.is_single_image())
    return report_usage("--out " + options.out,
                        "one image cannot show several frames; name a folder or a video");
  return exit_ok;
}

/// With JSON of many frames, no line is printed for each frame.
bool prints_lines(const RunOptions& options, const Inputs& inputs) {
  if (options.is_quiet || options.results.prints()) return false;
  return options.results.json.empty() || inputs.is_single_image();
}

struct Outputs {
  std::optional<ResultFiles> results;
  std::optional<TraceSession> trace;
};

/// Completes the other files of the run after all frames.
bool finish_outputs(Annotator& annotator, Outputs& outputs, const RunOptions& options) {
  bool is_done = true;
  const auto check = [&](const std::string& what, const Status& status) {
    if (!status) is_done = report(what, status.error()) == exit_ok;
  };
  check("--contact-sheet " + options.contact_sheet, annotator.finish_sheet());
  for (const auto& [option, writer] : outputs.results->entries())
    check(option, writer->finish());
  if (outputs.trace) check("--trace " + options.trace, outputs.trace->finish());
  return is_done;
}

int run_pipeline(const RunOptions& options, const RunParts& parts, Outputs& outputs) {
  const auto start = std::chrono::steady_clock::now();
  auto outcome = run_frames(parts, options.in_flight);
  if (!outcome) return report("run", outcome.error());
  parts.progress.clear();
  if (outcome->has_failed) return exit_failure;
  // Without any frame no file is written.
  if (outcome->frames == 0 && !outcome->was_interrupted)
    return outcome->damaged != 0 ? exit_failure : report("run", "no frame in the input");
  if (!finish_outputs(parts.annotator, outputs, options)) return exit_failure;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (options.prints_stats) {
    const std::string table = parts.stats.table(wall.count());
    options.results.prints() ? print_remark(table) : print_lines(table);
  }
  if (parts.stats.left_out() != 0) {
    report("--track", fmt::format("{} detections were left out: more than --max-tracks {} at once",
                                  parts.stats.left_out(), options.tracking.max_tracks));
  }
  if (outcome->was_interrupted) {
    report("run", "interrupted; the files hold the frames until then");
    return exit_interrupted;
  }
  return outcome->damaged == 0 ? exit_ok : exit_failure;
}

/// Masks are drawn from prototypes; result files need their pixels.
DetectorOptions detector_options(const RunOptions& options) {
  DetectorOptions out = options.detector;
  out.mask_rule = MaskRule::logits;
  apply(options.preset, out);
  if (!options.results.has_masks()) out.mask_rule.reset();
  return out;
}

/// Reports its own errors.
std::optional<Annotator> make_annotator(const RunOptions& options, const PipelineModel& model,
                                        const Inputs& inputs) {
  Annotator::Options drawing;
  drawing.out = options.out;
  drawing.contact_sheet = options.contact_sheet;
  drawing.other_outputs = options.results.files();
  drawing.other_outputs.insert(drawing.other_outputs.end(), {options.contact_sheet, options.trace});
  drawing.font = options.font;
  drawing.is_tracking = options.is_tracking;
  drawing.rate = inputs.rate();
  drawing.in_flight = options.in_flight;
  const std::string sheet = "--contact-sheet " + options.contact_sheet;
  const std::string user = options.out.empty() ? sheet : "--out " + options.out;
  auto annotator = Annotator::create(std::move(drawing));
  if (!annotator) return report(user, annotator.error()), std::nullopt;
  if (auto loaded = annotator->load_font(model); !loaded)
    return report(options.font.empty() ? user : "--font", loaded.error()), std::nullopt;
  if (auto opened = annotator->open_sheet(); !opened)
    return report(sheet, opened.error()), std::nullopt;
  if (auto opened = annotator->open_video(); !opened)
    return report(user, opened.error()), std::nullopt;
  return *std::move(annotator);
}

/// Reports its own errors.
std::optional<ResultFiles> make_results(const RunOptions& options, const PipelineModel& model) {
  ResultFiles::Context context;
  context.labels = model.labels;
  context.labels.resize(std::max(model.labels.size(), model.decoder->class_count()));
  context.is_tracking = options.is_tracking;
  context.other_files = options.results.files();
  for (const auto& path : {options.trace, options.contact_sheet, options.detector.model,
                           options.detector.labels, options.detector.config, options.font})
    context.other_files.push_back(path);
  context.other_files.insert(context.other_files.end(), options.reading.inputs.begin(),
                             options.reading.inputs.end());
  return ResultFiles::create(options.results, context);
}

/// Of a camera the newest frames, of files all.
OverloadPolicy overload_policy(const RunOptions& options, const Inputs& inputs) {
  if (options.on_overload == "skip") return OverloadPolicy::skip_inference;
  if (options.on_overload == "drop") return OverloadPolicy::drop_oldest;
  if (options.on_overload == "wait" || !inputs.is_live()) return OverloadPolicy::wait;
  return OverloadPolicy::drop_oldest;
}

/// Reports its own errors.
std::optional<TrackerOptions> make_tracker(const RunOptions& options) {
  if (!options.is_tracking) return TrackerOptions{};
  if (const auto checked = ByteTrack::create(options.tracking); !checked)
    return report("--track", checked.error()), std::nullopt;
  return options.tracking;
}

int check_options(const RunOptions& options) {
  for (const auto part : {check_paths, check_names})
    if (const int code = part(options); code != exit_ok) return code;
  return check(options.results);
}

int run(const RunOptions& options) {
  Outputs outputs;
  if (const int code = check_inputs(options.reading); code != exit_ok) return code;
  if (const int code = check_options(options); code != exit_ok) return code;
  auto inputs = Inputs::open(options.reading.inputs, options.reading.source_options());
  if (!inputs) return report(options.reading.inputs[0], inputs.error());
  if (const int code = check_image(options, *inputs); code != exit_ok) return code;
  if (auto done = TraceSession::start(options.trace, outputs.trace); !done)
    return report("--trace " + options.trace, done.error());
  const auto model = open_model(detector_options(options));
  if (!model) return exit_failure;
  const auto tracker = make_tracker(options);
  if (!tracker) return exit_failure;
  auto annotator = make_annotator(options, *model, *inputs);
  if (!annotator) return exit_failure;
  outputs.results = make_results(options, *model);
  if (!outputs.results) return exit_failure;
  Progress progress(inputs->total(), !options.is_quiet && !inputs->is_single_image());
  RunStats stats;
  const RunParts parts{*inputs,
                       *model,
                       *tracker,
                       *annotator,
                       *outputs.results,
                       progress,
                       stats,
                       {options.results.has_masks(), options.results.has_outlines()},
                       prints_lines(options, *inputs) && !options.is_live,
                       options.out,
                       options.publish,
                       overload_policy(options, *inputs),
                       options.is_live};
  return run_pipeline(options, parts, outputs);
}

void add_output_options(CommandSpec& spec, RunOptions& options) {
  spec.option("--out", &options.out,
              "Draw what was found: an image (" + image_extensions() + "), a video (" +
                  video_extensions() + "), or a folder of images");
  spec.option("--contact-sheet", &options.contact_sheet,
              "Twelve evenly spaced drawn frames in one image (" + image_extensions() + ")");
  spec.option("--font", &options.font, "Font file for labels");
  add_result_options(spec, options.results);
  spec.option("--publish", &options.publish,
              "Send the frames, as drawn, to this topic, and what was found to NAME/detections");
  spec.option("--live", &options.is_live,
              "A status line instead of a line for each frame: rate, latency, drops, objects");
  spec.option("--trace", &options.trace, "Timeline of all stages, for ui.perfetto.dev");
  spec.option("--stats", &options.prints_stats, "Print times by stage, counts and byte copies");
  spec.option("-q,--quiet", &options.is_quiet, "No lines of what was found, no progress bar");
}

constexpr const char* max_tracks_text =
    "Tracks that live at once, and detections of a frame that are looked at, those of the highest "
    "score";

constexpr const char* run_examples =
    "Boxes are pixels of the image as a viewer shows it, EXIF orientation applied.\n"
    "A preset makes the network see what its trainer shows it: ultralytics what `yolo predict` "
    "does,\n"
    "ultralytics-val what `yolo val` does, as halyard val has it.\n"
    "Masks of models that give them are drawn below the boxes; in the JSON they are COCO's runs.\n"
    "Ctrl-C finishes the frames on their way and completes all files; a second one ends at once.\n"
    "Files of results (JSON, COCO, MOTChallenge, YOLO) are whole after each frame; other files "
    "get\n"
    "their names when they are complete.\n"
    "No output may be an input or another output.\n"
    "\n"
    "Examples:\n"
    "  halyard run --model yolov8n.onnx bus.jpg --out seen.jpg --json -\n"
    "  halyard run --model boats.onnx clip/ --track --out drawn/ --contact-sheet sheet.png "
    "--stats\n"
    "  halyard run --model yolov8n.onnx val2017/ --preset ultralytics-val --coco results.json \\\n"
    "    --coco-gt instances_val2017.json\n"
    "  halyard run --model boats.onnx harbour.mp4 --mot det.txt --yolo labels/\n"
    "  halyard run --model boats.onnx rtsp://camera/live --track --json seen.json\n"
    "  halyard run --model boats.onnx --camera 0 --track --live --publish boats";

}  // namespace

CommandSpec run_command() {
  auto options = std::make_shared<RunOptions>();
  CommandSpec spec{"run", "Find objects in images, folders and videos", run_examples};
  add_reading_options(spec, options->reading);
  spec.option("--speed", &options->reading.speed,
              "Speed at which files are read: 1: their own rate, 2: twice that; default: as fast "
              "as they are processed")
      .in(1e-3, 1e3);
  spec.option("--loop", &options->reading.loops, "Begin again after the last frame");
  spec.option("--reconnect", &options->reading.reconnects,
              "Open a lost camera or server again, for ever, with waits of up to 10 s");
  spec.word("--on-overload", options->on_overload, {"wait", "drop", "skip"},
            "Frames that come too fast: wait, drop the oldest, or skip the network; default: "
            "drop for cameras and topics, wait for files");
  DetectorOptions& detector = options->detector;
  add_model_options(spec, detector);
  add_preset_options(spec, options->preset, "hal's input, score 0.25, IoU 0.45");
  add_engine_options(spec, detector.engine);
  spec.option("--track", &options->is_tracking, "Give objects identities over frames");
  spec.option("--track-score", &options->tracking.high_score, "Least score that starts a track")
      .in(0.0, 1.0)
      .shown();
  spec.option("--max-tracks", &options->tracking.max_tracks, max_tracks_text).in(1, 65536).shown();
  add_output_options(spec, *options);
  add_limit_options(spec);
  spec.option("--in-flight", &options->in_flight, "Frames on their way at once").in(1, 64).shown();
  spec.action = [options] {
    options->reading.complete();
    return run(*options);
  };
  return spec;
}

}  // namespace halyard::tool
