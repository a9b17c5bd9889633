// SPDX-License-Identifier: Apache-2.0
// halyard run: pictures and videos through a model, with tracks, drawings, JSON and a trace.
#include <CLI/CLI.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>

#include "commands.h"
#include "halyard/trace.h"
#include "pipeline.h"
#include "report.h"

namespace halyard::tool {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
  std::vector<std::string> inputs;
  DetectorOptions detector;
  bool is_tracking = false;
  ByteTrack::Options tracking;
  std::string out;
  std::string contact_sheet;
  std::string font;
  std::string json;
  std::string trace;
  std::size_t in_flight = 4;
  bool prints_stats = false;
  bool is_quiet = false;
};

/// A trace session that ends with the scope; the file gets its name when it is whole.
class TraceSession {
 public:
  static Status start(const std::string& path, std::optional<TraceSession>& session) {
    if (path.empty()) return {};
    HALYARD_CHECK(trace::start(partial_name(path)));
    trace::set_thread_name("main");
    session.emplace(path);
    return {};
  }
  explicit TraceSession(std::string path) : path_(std::move(path)) {}
  TraceSession(const TraceSession&) = delete;
  TraceSession& operator=(const TraceSession&) = delete;
  ~TraceSession() {
    if (!path_.empty()) static_cast<void>(finish());
  }
  Status finish() {
    const std::string path = std::exchange(path_, {});
    HALYARD_CHECK(trace::stop());
    return publish(partial_name(path), path);
  }

 private:
  std::string path_;
};

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

/// Outputs that would overwrite what is read. An empty text: none.
std::string find_clash(const RunOptions& options) {
  const OutKind kind = out_kind(options.out);
  for (const std::string& input : options.inputs) {
    for (const std::string* file :
         {&options.out, &options.json, &options.trace, &options.contact_sheet})
      if (!file->empty() && is_same_file(*file, input)) return *file;
    const fs::path parent = fs::path(input).parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    if (kind == OutKind::folder && input != "-" && is_same_file(options.out, folder))
      return options.out;
  }
  return {};
}

int check_outputs(const RunOptions& options, const Inputs& inputs) {
  if (const std::string clash = find_clash(options); !clash.empty())
    return report_usage("command line", clash + " would overwrite an input");
  if (out_kind(options.out) == OutKind::picture && inputs.total() && !inputs.is_single_picture())
    return report_usage("--out " + options.out,
                        "one picture cannot show several frames; name a folder or a video");
  return exit_ok;
}

/// Who asked for JSON of many frames does not read a line for each.
bool prints_lines(const RunOptions& options, const Inputs& inputs) {
  if (options.is_quiet || options.json == "-") return false;
  return options.json.empty() || inputs.is_single_picture();
}

struct Outputs {
  std::optional<JsonWriter> json;
  std::optional<TraceSession> trace;
};

/// The rest of the run's files, once all frames are through.
bool finish_outputs(Annotator& annotator, Outputs& outputs, const RunOptions& options) {
  bool is_done = true;
  const auto check = [&](const std::string& what, const Status& status) {
    if (!status) is_done = report(what, status.error()) == exit_ok;
  };
  check("--out " + options.out, annotator.finish());
  if (outputs.json) check("--json " + options.json, outputs.json->finish());
  if (outputs.trace) check("--trace " + options.trace, outputs.trace->finish());
  return is_done;
}

int run_pipeline(const RunOptions& options, PipelineParts parts, Outputs& outputs) {
  const auto start = std::chrono::steady_clock::now();
  auto outcome = Pipeline(parts).run(options.in_flight);
  if (!outcome) return report("run", outcome.error());
  parts.progress.clear();
  if (outcome->has_failed) return exit_failure;
  // Without a frame there is nothing to write down.
  if (outcome->frames == 0 && !outcome->was_interrupted)
    return outcome->damaged != 0 ? exit_failure : report("run", "no frame in the input");
  if (!finish_outputs(parts.annotator, outputs, options)) return exit_failure;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (options.prints_stats) {
    const std::string table = parts.stats.table(wall.count()) + "\n";
    std::fputs(table.c_str(), options.json == "-" ? stderr : stdout);
  }
  if (outcome->was_interrupted) {
    report("run", "interrupted; the files hold the frames until then");
    return exit_interrupted;
  }
  return outcome->damaged == 0 ? exit_ok : exit_failure;
}

/// Masks are drawn from prototypes; JSON needs their pixels.
DetectorOptions detector_options(const RunOptions& options) {
  DetectorOptions out = options.detector;
  if (!options.json.empty()) out.mask_rule = MaskRule::logits;
  out.keeps_prototypes = !options.out.empty() || !options.contact_sheet.empty();
  return out;
}

int run(const RunOptions& options) {
  Outputs outputs;
  auto inputs = Inputs::open(options.inputs, {});
  if (!inputs) return report(options.inputs[0], inputs.error());
  if (const int code = check_outputs(options, *inputs); code != exit_ok) return code;
  if (auto done = TraceSession::start(options.trace, outputs.trace); !done)
    return report("--trace " + options.trace, done.error());
  auto detector = Detector::create(detector_options(options));
  if (!detector) return exit_failure;
  std::optional<ByteTrack> tracker;
  if (options.is_tracking) {
    auto created = ByteTrack::create(options.tracking);
    if (!created) return report("--track", created.error());
    tracker = *std::move(created);
  }
  Annotator::Options drawing{options.out,        options.contact_sheet, options.font,
                             detector->labels(), options.is_tracking,   inputs->rate()};
  auto annotator = Annotator::create(std::move(drawing));
  if (!annotator && std::string_view(annotator.error().what).starts_with("font"))
    return report(options.font.empty() ? "--out" : "--font", annotator.error());
  if (!annotator) return report("--out " + options.out, annotator.error());
  if (!options.json.empty()) {
    auto json = JsonWriter::create(options.json);
    if (!json) return report("--json " + options.json, json.error());
    outputs.json.emplace(*std::move(json));
  }
  Progress progress(inputs->total(), !options.is_quiet && !inputs->is_single_picture());
  RunStats stats;
  PipelineParts parts{*inputs,
                      *detector,
                      tracker ? &*tracker : nullptr,
                      *annotator,
                      outputs.json ? &*outputs.json : nullptr,
                      progress,
                      stats,
                      prints_lines(options, *inputs)};
  return run_pipeline(options, parts, outputs);
}

void add_output_options(CLI::App& app, RunOptions& options) {
  app.add_option("--out", options.out,
                 "Draw what was found: a picture (.jpg .png), a video (.mp4 .mkv .mov .avi .webm), "
                 "or else a folder of pictures");
  app.add_option("--contact-sheet", options.contact_sheet,
                 "Twelve evenly spaced drawn frames in one picture (.png .jpg)");
  app.add_option("--font", options.font, "Font file for labels");
  app.add_option("--json", options.json, "Detections of all frames; - is standard output");
  app.add_option("--trace", options.trace, "Timeline of all stages, for ui.perfetto.dev");
  app.add_flag("--stats", options.prints_stats, "Print times by stage, counts and byte copies");
  app.add_flag("-q,--quiet", options.is_quiet, "No lines of what was found, no progress bar");
}

constexpr const char* run_examples =
    "Boxes are pixels of the picture as a viewer shows it, EXIF orientation applied.\n"
    "Masks of models that give them are drawn below the boxes; in the JSON they are COCO's runs.\n"
    "Ctrl-C finishes the frames on their way and completes all files; a second one ends at once.\n"
    "\n"
    "Examples:\n"
    "  halyard run --model yolov8n.onnx bus.jpg --out seen.jpg --json -\n"
    "  halyard run --model boats.onnx clip/ --track --out drawn/ --contact-sheet sheet.png "
    "--stats\n"
    "  ffmpeg -i rtsp://camera -f mjpeg - | halyard run --model boats.onnx - --json seen.json";

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* sub = app.add_subcommand("run", "Find objects in pictures, folders and videos");
  sub->footer(run_examples);
  sub->add_option("inputs", options->inputs, "Pictures, folders, videos, or - for standard input")
      ->required();
  DetectorOptions& detector = options->detector;
  sub->add_option("-m,--model", detector.model, "Model file: .onnx, .tflite or .xml")->required();
  sub->add_option("--labels", detector.labels, "Class names, one a line; default: the model's own");
  sub->add_option("--config", detector.config, "Description of the outputs (.json, .yaml)");
  sub->add_option("--score", detector.decode.score_threshold, "Least score of a detection")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  sub->add_option("--iou", detector.decode.iou_threshold, "Most overlap of two of a class")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  sub->add_option("--device", detector.engine.device, "Device of the engine")
      ->capture_default_str();
  sub->add_option("--threads", detector.engine.threads, "Inference threads; 0: the engine's choice")
      ->check(CLI::Range(0, 1024));
  sub->add_flag("--track", options->is_tracking, "Give objects identities over frames");
  sub->add_option("--track-score", options->tracking.high_score, "Least score that starts a track")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add_output_options(*sub, *options);
  sub->add_option("--in-flight", options->in_flight, "Frames on their way at once")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  sub->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace halyard::tool
