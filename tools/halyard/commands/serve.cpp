// SPDX-License-Identifier: Apache-2.0
// halyard serve: shows what a model finds, live, in a browser.
#include <fmt/format.h>

#include <memory>
#include <thread>

#include "commands/commands.h"
#include "input/detector.h"
#include "interrupt.h"
#include "options/limit_options.h"
#include "options/preset_options.h"
#include "options/reading_options.h"
#include "options/values.h"
#include "report.h"
#include "serve/input/live_input.h"
#include "serve/live_pipeline.h"
#include "serve/live_routes.h"

namespace halyard::tool {
namespace {

struct ServeOptions {
  ReadingOptions reading;
  DetectorOptions detector;
  PresetArguments preset;
  bool is_tracking = false;
  bool is_once = false;
  ByteTrackOptions tracking;
  ListenAddress listen;
  std::string token, token_file, certificate, key;
  std::vector<std::string> hosts;
  std::size_t max_viewers = 50;
  double view_rate = 30;
  std::size_t in_flight = 4;
  std::string record_to;
  LivePainterOptions painting;
  VideoStreamOptions video;
};

/// The token that clients must know; empty: none. Reports its own errors.
std::optional<std::string> token_of(const ServeOptions& options) {
  if (!options.token_file.empty()) {
    auto token = read_token_file(options.token_file);
    if (!token) return report("--token-file", token.error()), std::nullopt;
    return *token;
  }
  if (options.token == "random") {
    auto token = random_token();
    if (!token) return report("--token", token.error()), std::nullopt;
    return *token;
  }
  if (options.token.empty()) return std::string();
  if (const auto done = check_token(options.token); !done)
    return report("--token", done.error()), std::nullopt;
  return options.token;
}

int check_serve_options(const ServeOptions& options) {
  if (const int code = check_inputs(options.reading); code != exit_ok) return code;
  const bool has_token = !options.token.empty() || !options.token_file.empty();
  if (!options.listen.is_loopback() && !has_token)
    return report_usage("--listen " + options.listen.text(),
                        "other machines can reach it: give --token random, or --token-file FILE");
  if (!options.token.empty() && !options.token_file.empty())
    return report_usage("--token-file", "give either it or --token");
  if (options.certificate.empty() != options.key.empty())
    return report_usage("--cert", "give --cert and --key together");
  return exit_ok;
}

/// What finds objects in the frames.
struct Shown {
  std::optional<PipelineModel> network = std::nullopt;       ///< none without --model
  std::shared_ptr<PublishedDetections> published = nullptr;  ///< of a topic without --model
  std::vector<std::string> labels = {};
};

/// A topic without readable detections is shown without them.
std::shared_ptr<PublishedDetections> open_published(const std::vector<std::string>& inputs) {
  constexpr std::string_view topic = "topic:";
  if (inputs.size() != 1 || !inputs[0].starts_with(topic)) return nullptr;
  auto opened = PublishedDetections::open(inputs[0].substr(topic.size()));
  if (!opened) return report(inputs[0] + "/detections", opened.error()), nullptr;
  return std::make_shared<PublishedDetections>(*std::move(opened));
}

/// Reports its own errors. Nullopt on failure.
std::optional<Shown> open_shown(const ServeOptions& options) {
  Shown out;
  DetectorOptions detecting = options.detector;
  if (!detecting.model.empty()) {
    apply(options.preset, detecting);
    detecting.mask_rule.reset();  // masks are drawn from prototypes
    out.network = open_model(detecting);
    if (!out.network) return std::nullopt;
    out.labels = out.network->labels;
    return out;
  }
  if (!detecting.labels.empty()) {
    auto lines = read_lines(detecting.labels);
    if (!lines) return report("--labels", lines.error()), std::nullopt;
    out.labels = *std::move(lines);
  }
  out.published = open_published(options.reading.inputs);
  return out;
}

LiveControls first_controls(const ServeOptions& options, const Shown& shown) {
  LiveControls out;
  if (shown.network) {
    out.score = shown.network->decoder->options().score_threshold;
    out.iou = shown.network->decoder->options().iou_threshold;
  } else {
    out.score = options.preset.score.value_or(0);  // the publisher has chosen
  }
  return out;
}

/// Everything that serves, in the order in which it is made; destroyed from the last to the first.
struct Serving {
  std::optional<PipelineModel> network;            ///< none without --model
  std::shared_ptr<PublishedDetections> published;  ///< read where there is no network; may be null
  LiveFeed feed;
  Recorder recorder;
  PoolWatch pools;
  LiveRoutes routes;
  std::unique_ptr<HttpServer> server = nullptr;
  std::optional<LiveVideo> video = std::nullopt;
  std::optional<LiveStage> stage = std::nullopt;
  std::optional<Pipeline> pipeline = std::nullopt;

  Serving(Shown shown, LiveSource source, LiveControls controls, std::string folder)
      : network(std::move(shown.network)),
        published(std::move(shown.published)),
        feed(std::move(source), controls),
        recorder(std::move(folder)),
        routes({feed, recorder, pools}, network ? model_json(*network) : "") {}
  ~Serving() { feed.set_hooks({}); }
};

/// Reports its own errors.
bool open_server(const ServeOptions& options, const std::string& token, Serving& serving) {
  HttpServerOptions serve;
  serve.listen = options.listen;
  serve.max_viewers = options.max_viewers;
  if (!options.certificate.empty()) {
    auto tls = TlsContext::create(options.certificate, options.key);
    if (!tls) return report("--cert", tls.error()), false;
    serve.tls = *std::move(tls);
  }
  auto server = HttpServer::create(std::move(serve), serving.routes);
  if (!server) return report("--listen", server.error()), false;
  serving.server = *std::move(server);
  VideoStreamOptions video = options.video;
  video.rate = options.view_rate;
  serving.video.emplace(*serving.server, std::move(video));
  serving.routes.bind(*serving.server, *serving.video);
  serving.routes.set_access({token, options.listen.is_loopback(), serving.server->has_tls(),
                             serving.server->port(), options.hosts});
  return true;
}

/// Reports its own errors.
bool open_stage(const ServeOptions& options, Serving& serving) {
  LivePainterOptions painting = options.painting;
  painting.labels = serving.feed.source().labels;
  painting.has_tracker = options.is_tracking;
  auto painter = LivePainter::create(std::move(painting));
  if (!painter)
    return report(options.painting.font.empty() ? "serve" : "--font", painter.error()), false;
  serving.stage.emplace(serving.feed, *serving.server, serving.recorder, *serving.video,
                        *std::move(painter), options.view_rate);
  return true;
}

void tell_address(const ServeOptions& options, const std::string& token, const Serving& serving) {
  ListenAddress where = options.listen;
  where.port = serving.server->port();
  print_line(fmt::format("Live view: {}://{}/", serving.server->has_tls() ? "https" : "http",
                         where.text()));
  if (options.token == "random") print_line("Token: " + token);
  if (!options.listen.is_loopback() && !serving.server->has_tls())
    report("serve", "without --cert, the token and the images pass the network unencrypted");
}

/// Reports its own errors.
bool open_pipeline(const ServeOptions& options, PipelineSource source, Serving& serving) {
  PipelineOptions parts;
  std::optional<DecodeOptions> decoding;
  // Of a camera the newest frame is shown; of a file each one.
  parts.on_overload = source.is_live ? OverloadPolicy::drop_oldest : OverloadPolicy::wait;
  parts.in_flight = options.in_flight;
  parts.sources.push_back(std::move(source));
  if (serving.network) {
    decoding = serving.network->decoder->options();
    parts.models.push_back(*serving.network);
  }
  if (options.is_tracking) parts.tracker = options.tracking;
  parts.stages.push_back(live_stage(*serving.stage, serving.feed, serving.published));
  parts.on_error = [](std::string_view what, const Error& error) {
    // A read that Ctrl-C has ended is not a damaged input.
    if (!InterruptGuard::is_requested()) report(what, error);
  };
  auto pipeline = Pipeline::create(std::move(parts));
  if (!pipeline) return report("serve", pipeline.error()), false;
  serving.pipeline = *std::move(pipeline);
  serving.feed.set_hooks(live_hooks(*serving.pipeline, decoding));
  return true;
}

int serve_frames(const ServeOptions& options, const std::string& token, Serving& serving) {
  const InterruptGuard guard;
  for (const auto& done :
       {serving.pools.start(), serving.server->start(), serving.pipeline->start()})
    if (!done) return report("serve", done.error());
  tell_address(options, token, serving);
  if (!finish_stdout()) return exit_failure;
  while (!InterruptGuard::is_requested())
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Status stopped = serving.pipeline->stop();
  serving.server->stop();
  serving.recorder.finish();
  if (!stopped) return report("serve", stopped.error());
  if (const std::string error = serving.recorder.state().error; !error.empty())
    report("--record-to", error);
  return exit_interrupted;
}

int serve(const ServeOptions& options) {
  if (const int code = check_serve_options(options); code != exit_ok) return code;
  const auto token = token_of(options);
  if (!token) return exit_failure;
  auto shown = open_shown(options);
  if (!shown) return exit_failure;
  auto source = open_live_input(options.reading.inputs, options.reading.source_options());
  if (!source) return report(options.reading.inputs[0], source.error());
  LiveSource described;
  described.name = source->name;
  described.has_model = shown->network.has_value();
  described.has_published = shown->published != nullptr;
  described.has_tracker = options.is_tracking || described.has_published;
  described.has_masks = shown->network && gives_masks(*shown->network);
  described.labels = shown->labels;
  const LiveControls controls = first_controls(options, *shown);
  Serving serving(*std::move(shown), std::move(described), controls, options.record_to);
  if (!open_server(options, *token, serving)) return exit_failure;
  if (!open_stage(options, serving)) return exit_failure;
  if (!open_pipeline(options, *std::move(source), serving)) return exit_failure;
  return serve_frames(options, *token, serving);
}

constexpr const char* serve_examples =
    "The page shows the live image, stage timings, drops, pools and topics, and changes "
    "thresholds.\n"
    "Only programs of this machine reach it unless --listen names another address; then a token "
    "is\n"
    "needed. Files are shown at their own speed, again and again; a camera or server that is lost "
    "is\n"
    "opened again. Without a model the frames are shown as they are; those of a topic with what "
    "their\n"
    "publisher found in them.\n"
    "\n"
    "Examples:\n"
    "  halyard serve --model yolov8n.onnx --camera 0\n"
    "  halyard serve --model boats.onnx harbour.mp4 --track\n"
    "  halyard serve topic:boats --labels labels.txt\n"
    "  halyard serve --model yolov8n.onnx rtsp://camera/live --listen 0.0.0.0:8443 \\\n"
    "    --token-file token.txt --cert board.pem --key board.key\n"
    "  halyard serve --model boats.onnx clip/ --listen 0.0.0.0 --token random --record-to videos/";

void add_server_options(CommandSpec& spec, ServeOptions& options) {
  spec.parsed("--listen", options.listen, parse_listen, "ADDR, ADDR:PORT or :PORT",
              "Address to listen on; default: 127.0.0.1:8080. Port 0: a free one");
  spec.option("--token", &options.token,
              "What clients must know, 16 characters or more; random: make one and print it");
  spec.option("--token-file", &options.token_file,
              "File whose first line is the token; nobody else may read it");
  spec.option("--host", &options.hosts, "Further name by which clients may call this server");
  spec.option("--cert", &options.certificate, "Certificate for https (PEM)");
  spec.option("--key", &options.key, "Its key (PEM)");
  spec.option("--max-viewers", &options.max_viewers, "Viewers at the same time")
      .in(1, 1000)
      .shown();
  spec.option("--view-rate", &options.view_rate, "Images per second that viewers get at most")
      .in(0.1, 1000.0)
      .shown();
  spec.option("--view-size", &options.painting.max_side,
              "Pixels of the longer side that viewers get at most")
      .in(64, 8192)
      .shown();
  spec.option("--view-quality", &options.painting.quality, "Quality of the JPEG images")
      .in(1, 100)
      .shown();
  spec.option("--view-bitrate", &options.video.bitrate,
              "Bits per second of the H.264 stream; 0: a constant quality")
      .in(0, 1e9)
      .shown();
  spec.option("--record-to", &options.record_to, "Folder for videos that the page records");
}

/// A network is optional; what chooses or shapes one is refused without it.
void need_model(CommandSpec& spec) {
  spec.at("--model").is_required = false;
  for (const char* name : {"--config", "--preset", "--iou", "--letterbox", "--mask-rule",
                           "--engine", "--device", "--threads", "--track"})
    spec.at(name).needed = {"--model"};
}

}  // namespace

CommandSpec serve_command() {
  auto options = std::make_shared<ServeOptions>();
  CommandSpec spec{"serve", "Show a camera and what a model finds in a browser", serve_examples};
  add_reading_options(spec, options->reading);
  DetectorOptions& detector = options->detector;
  add_model_options(spec, detector);
  add_preset_options(spec, options->preset, "hal's input, score 0.25, IoU 0.45");
  add_engine_options(spec, detector.engine);
  spec.option("--track", &options->is_tracking, "Give objects identities over frames");
  spec.option("--in-flight", &options->in_flight, "Frames on their way at once").in(1, 64).shown();
  spec.option("--once", &options->is_once, "Show a file once, not again and again");
  spec.option("--font", &options->painting.font, "Font file for labels");
  add_server_options(spec, *options);
  add_limit_options(spec);
  need_model(spec);
  spec.action = [options] {
    options->reading.complete();
    options->reading.speed = 1;
    options->reading.loops = !options->is_once;
    options->reading.reconnects = true;
    return serve(*options);
  };
  return spec;
}

}  // namespace halyard::tool
