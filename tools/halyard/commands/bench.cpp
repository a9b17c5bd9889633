// SPDX-License-Identifier: Apache-2.0
// halyard bench: how long a model takes for a frame, in each engine.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "bench/bench_report.h"
#include "commands/commands.h"
#include "input/detector.h"
#include "interrupt.h"
#include "options/limit_options.h"
#include "options/paths.h"
#include "options/preset_options.h"
#include "options/values.h"
#include "report.h"

namespace halyard::tool {
namespace {

struct BenchOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> engines;
  DetectorOptions detector;
  PresetArguments preset;
  BenchSettings settings;
  std::string compare;
  std::string python = "python3";
  std::string json;
  bool is_quiet = false;
};

/// The frames of all engines. Without inputs they have the size of the model's input.
Status make_frames(const BenchOptions& options, Size input, std::optional<BenchFrames>& frames) {
  if (frames) return {};
  if (options.inputs.empty()) {
    HALYARD_TRY(frames, BenchFrames::synthetic(input));
    return {};
  }
  FrameSourceOptions reading;
  reading.load.is_cancelled = InterruptGuard::is_requested;
  HALYARD_TRY(frames, BenchFrames::open(options.inputs, reading));
  return {};
}

void compare(const BenchOptions& options, const PipelineModel& model, const BenchFrames& frames,
             BenchEngine& engine) {
  ComparisonSettings settings;
  settings.python = options.python;
  settings.threads = options.detector.engine.threads;
  settings.device = options.detector.engine.device;
  settings.seconds = options.settings.seconds;
  auto comparison = compare_with_opencv(frames, model, settings);
  if (comparison) {
    engine.comparison = *std::move(comparison);
  } else {
    engine.not_compared = comparison.error().message();
  }
}

/// Errors: those of load_model(), BenchFrames::synthetic() and bench_run().
Status measure_engine(const BenchOptions& options, std::optional<BenchFrames>& frames,
                      BenchEngine& engine) {
  DetectorOptions detector = options.detector;
  detector.engine.engine = engine.name;
  const auto start = std::chrono::steady_clock::now();
  HALYARD_TRY(const auto model, load_model(detector));
  const auto opened = std::chrono::steady_clock::now() - start;
  engine.open_ms = std::chrono::duration<double, std::milli>(opened).count();
  engine.runtime = model.engine->runtime();
  HALYARD_RETURN_IF_ERROR(make_frames(options, model.engine->input_size(), frames));
  for (const std::size_t in_flight : {std::size_t{1}, options.settings.in_flight}) {
    BenchSettings settings = options.settings;
    settings.in_flight = in_flight;
    HALYARD_TRY(auto run, bench_run(*frames, model, settings));
    engine.runs.push_back(std::move(run));
  }
  if (!options.compare.empty()) compare(options, model, *frames, engine);
  return {};
}

Status write_report(const std::string& path, const BenchReport& report) {
  HALYARD_TRY(auto file, open_output(path));
  HALYARD_RETURN_IF_ERROR(file.write(printable_lines(bench_json(report)) + "\n"));
  return file.commit();
}

/// Measures each engine and keeps the reason of those that fail.
void measure_all(const BenchOptions& options, std::optional<BenchFrames>& frames,
                 BenchReport& out) {
  for (BenchEngine& engine : out.engines) {
    if (engine.state != BenchState::measured || InterruptGuard::is_requested()) continue;
    if (!options.is_quiet) print_remark("halyard: bench: " + engine.name);
    const Status done = measure_engine(options, frames, engine);
    if (done) continue;
    engine.state = BenchState::failed;
    engine.reason = done.error().message();
  }
  if (frames)
    out.input = {frames->is_synthetic(), frames->paths(), frames->size(), frames->format()};
}

int show(const BenchOptions& options, const BenchReport& out, std::size_t damaged) {
  if (options.json != "-") print_lines(bench_text(out));
  if (!options.json.empty())
    if (const auto written = write_report(options.json, out); !written)
      return report("--json " + options.json, written.error());
  if (InterruptGuard::is_requested()) {
    report("bench", "interrupted");
    return exit_interrupted;
  }
  const auto is_uncompared = [](const BenchEngine& one) { return !one.not_compared.empty(); };
  for (const BenchEngine& engine : out.engines)
    if (is_uncompared(engine)) return report("--compare " + options.compare, engine.not_compared);
  if (!is_complete(out.engines))
    return report("bench", "not all engines were measured: the table has the reasons");
  return damaged == 0 ? exit_ok : exit_failure;
}

int check_options(const BenchOptions& options) {
  PathCheck paths;
  for (const std::string& input : options.inputs)
    paths.frames("the input", input);
  return paths.model("the model", options.detector.model)
      .input("--config", options.detector.config)
      .stream_output("--json", options.json)
      .run();
}

/// Standard input can be read only once.
int check_bench_inputs(const BenchOptions& options) {
  for (const std::string& input : options.inputs)
    if (input == "-") return report_usage("the input -", "must name a file: it is read repeatedly");
  if (!options.compare.empty() && options.inputs.empty())
    return report_usage("--compare " + options.compare, "needs image files as inputs");
  return exit_ok;
}

/// Before the engines: a wrong name is told at once. Reports its own errors.
int open_inputs(const BenchOptions& options, std::optional<BenchFrames>& frames) {
  if (options.inputs.empty()) return exit_ok;
  if (const auto made = make_frames(options, {}, frames); !made)
    return report(options.inputs[0], made.error());
  if (!frames->is_empty()) return exit_ok;
  return frames->damaged() != 0 ? exit_failure : report("bench", "no frame in the inputs");
}

int bench(BenchOptions options) {
  if (const int code = check_options(options); code != exit_ok) return code;
  if (const int code = check_bench_inputs(options); code != exit_ok) return code;
  const std::string& model = options.detector.model;
  std::error_code error;
  if (!std::filesystem::exists(model, error)) return report(model, "there is no such file");
  apply(options.preset, options.detector);
  options.detector.mask_rule.reset();  // only boxes are measured
  const InterruptGuard guard;
  auto chosen = choose_engines(engines(), options.engines, model);
  if (!chosen) return report_usage("--engine", chosen.error().message());
  const auto is_unfit = [](const BenchEngine& one) { return one.state == BenchState::unfit; };
  if (std::all_of(chosen->begin(), chosen->end(), is_unfit))
    return report(model, "no engine that was asked for reads " + extension_of(model) + " files");
  std::optional<BenchFrames> frames;
  if (const int code = open_inputs(options, frames); code != exit_ok) return code;
  BenchReport out{machine_facts(),
                  model,
                  {},
                  options.settings,
                  options.detector.engine.device,
                  options.detector.engine.threads,
                  *std::move(chosen)};
  measure_all(options, frames, out);
  return show(options, out, frames ? frames->damaged() : 0);
}

constexpr const char* bench_examples =
    "Each engine that reads the model runs it twice: with one frame in flight, which is read when "
    "the\n"
    "last one has passed, and with several. Rows are the pipeline's stages; outside: the part of "
    "the\n"
    "latency in no stage, which the pipeline adds (with several frames it includes waiting for "
    "their\n"
    "turn); latency: from the frame's reading to its boxes; total: load and latency. Inputs are "
    "read\n"
    "again and again; without inputs the program makes images of the model's size.\n"
    "--compare opencv runs the same images through a loop of OpenCV and the engine's Python "
    "package,\n"
    "in turn with Halyard, and compares the boxes; --python names a Python that has them.\n"
    "\n"
    "Exit codes: 1 if an engine that is here or named was not measured, an input was not read, or "
    "a\n"
    "comparison was not made; the table and the JSON have the reasons.\n"
    "\n"
    "Examples:\n"
    "  halyard bench yolov8n.onnx\n"
    "  halyard bench yolov8n.onnx photos/ --engine openvino --engine onnxruntime --json "
    "times.json\n"
    "  halyard bench boats.onnx harbour.mp4 --track --in-flight 2 --seconds 10\n"
    "  halyard bench yolov8n.onnx photos/ --compare opencv --python .venv/bin/python3";

void add_measuring_options(CommandSpec& spec, BenchOptions& options) {
  BenchSettings& settings = options.settings;
  spec.option("--track", &settings.is_tracking, "Give objects identities over frames");
  spec.option("--in-flight", &settings.in_flight, "Frames on their way at once, in the second run")
      .in(1, 64)
      .shown();
  spec.parsed("--seconds", settings.seconds, parse_seconds, "seconds, 0.01..1e6",
              "Time of each run, and of each program of a comparison; default: 3");
  spec.option("--frames", &settings.frames, "Frames of each run, instead of --seconds")
      .in(1, 100'000'000);
  spec.option("--warm-up", &settings.warm_up,
              "Frames of each run that are not counted; at least as many as are in flight")
      .in(1, 1'000'000)
      .shown();
  spec.word("--compare", options.compare, {"opencv"},
            "opencv: the same images through OpenCV and the engine in Python");
  spec.option("--python", &options.python, "Python of --compare").shown();
  spec.option("--json", &options.json, "Write the numbers as JSON; - is standard output");
  spec.option("-q,--quiet", &options.is_quiet, "Do not name the engines while they are measured");
}

}  // namespace

CommandSpec bench_command() {
  auto options = std::make_shared<BenchOptions>();
  CommandSpec spec{"bench", "Time a model in each engine, stage by stage", bench_examples};
  spec.option("model", &options->detector.model, "Model file: .onnx, .tflite or .xml").required();
  spec.option("inputs", &options->inputs,
              "Images, folders, videos, cameras (/dev/video0), http:// or rtsp://, topic:NAME; "
              "default: synthetic images");
  add_config_option(spec, options->detector);
  add_preset_options(spec, options->preset, "hal's input, score 0.25, IoU 0.45");
  add_engine_options(spec, options->detector.engine, options->engines);
  add_measuring_options(spec, *options);
  add_limit_options(spec);
  spec.action = [options] { return bench(*options); };
  return spec;
}

}  // namespace halyard::tool
