// SPDX-License-Identifier: Apache-2.0
// Pipeline: reads frames of several sources, runs networks on them, tracks what they find, and
// hands each result to stages of the program. Stages of different frames run at the same time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "halyard/capture.h"
#include "halyard/decode.h"
#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/mask.h"
#include "halyard/model.h"
#include "halyard/placement.h"
#include "halyard/preset.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/tile_merge.h"
#include "halyard/tiling.h"
#include "halyard/track.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// What happens to frames that come faster than the pipeline serves them.
/// - wait: the source is not read until there is room. For files: no frame is lost.
/// - drop_oldest: the source is read on, and the frame that has waited longest is dropped. For
///   cameras: results are of new frames.
/// - skip_inference: as wait, but a frame that comes while `in_flight` frames are in the networks
///   passes them by: its ModelResult is empty, `is_skipped`, and has the tracks of the frame before
///   it. For displays: every frame is shown.
enum class OverloadPolicy : std::uint8_t { wait = 0, drop_oldest = 1, skip_inference = 2 };

/// Where frames come from. Each source is read on a thread of its own.
struct PipelineSource {
  std::string name;  ///< in statistics and messages
  /// Returns the next frame, or nullopt at the end. An error is counted and reported, and the next
  /// call continues; after PipelineOptions::max_source_errors errors in a row the source ends. One
  /// call at a time.
  std::function<Result<std::optional<Frame>>()> next;
  /// Makes a call of next() that waits return; called once, on another thread, by stop(). Empty:
  /// next() does not wait for long.
  std::function<void()> cancel = {};
  /// Frames that are not read are lost, as of a camera: while the pipeline is paused it reads on
  /// and drops them.
  bool is_live = false;
  bool is_video = false;  ///< a file whose frames depend on one another: an error may end it
  double rate = 0;        ///< frames per second; 0: unknown
  std::optional<std::size_t> frame_count = std::nullopt;  ///< if it is known in advance

  /// A path or address as of FrameSource::open(), or "topic:NAME" for the images (message type
  /// Image or Tensor) of a topic of halyard/topic.h, which ends with stop() only. Errors: those of
  /// FrameSource::open() and TopicEndpoint::create(); not_found (no such topic).
  static Result<PipelineSource> open(const std::string& path,
                                     const FrameSourceOptions& options = {});
};

/// Runs a network on overlapping tiles of each frame and merges what they show. Tiles of a frame
/// that is not larger than the tile size are the frame.
struct PipelineTiles {
  TileOptions tiles;
  MergeOptions merge;
};

/// A network and how its outputs become detections. It sees each frame letterboxed into its input;
/// a classifier sees the middle of the frame.
struct PipelineModel {
  std::string name;                ///< in statistics and messages
  std::shared_ptr<Engine> engine;  ///< one image input; may be shared with other pipelines
  std::shared_ptr<const Decoder> decoder;
  Preset preset = Preset::hal();
  std::vector<std::string> labels;
  /// Makes the masks of each frame by this rule, in pixels of the upright image. Unset: only a
  /// head's prototypes are there. Ignored with tiles, whose results are boxes alone.
  std::optional<MaskRule> mask_rule = std::nullopt;
  std::optional<PipelineTiles> tiles = std::nullopt;
  /// If the engine's input has a batch of N above 1, up to N frames that wait run together, of any
  /// source. How long a frame waits for others at most; 0: it takes those that are there.
  std::chrono::microseconds batch_wait{0};
  /// Indices of the sources whose frames it sees; empty: all.
  std::vector<std::size_t> sources = {};

  /// Opens a model file with the decoder that decoder_for() makes. Errors: those of Engine::open()
  /// and decoder_for(); unsupported (not one input, an image).
  static Result<PipelineModel> open(const std::string& path, const EngineOptions& options = {},
                                    const Preset& preset = Preset::hal());
};

/// The tracker of each source and model; monostate: none.
using TrackerOptions = std::variant<std::monostate, ByteTrackOptions, ByteTrackPaperOptions,
                                    OcSortOptions, SortOptions>;

/// What one network found in one frame.
struct ModelResult {
  std::vector<Detection> detections;  ///< best first, in pixels of the upright image
  /// The head's other results, in pixels of the network's input; row i belongs to detection i. The
  /// prototypes hold the engine's memory until the frame has passed the last stage. With tiles:
  /// empty.
  Decoded decoded;
  MaskSet masks;              ///< if PipelineModel::mask_rule is set
  Placement placement;        ///< from the upright image to the network's input; with tiles: none
  std::vector<Track> tracks;  ///< all live tracks, by id; those of this frame have a detection
  std::size_t left_out = 0;   ///< Tracker::left_out()
  bool is_skipped = false;    ///< the network did not see this frame: not its source, or overload
};

/// When a stage of a frame ran.
struct StageTime {
  const char* stage = "";             ///< a literal, or the name of a PipelineStage
  std::chrono::nanoseconds start{0};  ///< since the frame was read
  std::chrono::nanoseconds duration{0};
};

/// One frame with its results. Its memory is used again for later frames.
struct PipelineFrame {
  std::size_t lane = 0;       ///< below Pipeline::lanes(): for memory that a stage keeps per frame
  std::size_t source = 0;     ///< index in PipelineOptions::sources
  std::uint64_t ordinal = 0;  ///< from 0 over all sources, in the order of stages; without gaps
  Frame frame;
  std::vector<ModelResult> models;  ///< as PipelineOptions::models
  Tensor drawn;  ///< set by the draw stages of halyard/pipeline_stages.h: the upright image, RGB
  /// The first error of the frame's stages. Later stages see the frame, too, except those of
  /// PipelineStage whose `sees_failed` is false.
  std::optional<Error> error;
  const char* failed_stage = "";
  std::vector<StageTime> times;  ///< so far, in order
  std::chrono::steady_clock::time_point read;
};

/// in_order: one call at a time, in the order of PipelineFrame::ordinal; the frames of one source
/// are in their order. any_order: for several frames at the same time, on several threads.
enum class StageOrder : std::uint8_t { in_order = 0, any_order = 1 };

/// A step after tracking, written by the program, or made by halyard/pipeline_stages.h.
struct PipelineStage {
  const char* name = "";  ///< a literal: in statistics, traces and messages
  StageOrder order = StageOrder::in_order;
  /// A frame whose stage fails passes the stages behind it; the run continues.
  std::function<Status(PipelineFrame&)> run;
  /// Called once, after the last frame, when the sources have ended or by drain() or stop(). Not
  /// called after an error that has ended the run.
  std::function<Status()> finish = {};
  bool sees_failed = false;  ///< runs for frames with an error, too
  bool stops_run = false;    ///< the first error of run() ends the run, as of a full disk
};

struct PipelineOptions {
  std::vector<PipelineSource> sources;  ///< 1..64
  std::vector<PipelineModel> models;    ///< 0..16
  TrackerOptions tracker;
  std::vector<PipelineStage> stages;
  OverloadPolicy on_overload = OverloadPolicy::wait;
  std::size_t in_flight = 4;    ///< frames between the sources and the end; 1..64
  std::size_t queue_depth = 1;  ///< frames of each source that wait before it; 1..64
  /// next() returns the frames after the last stage. False: they end there.
  bool has_results = false;
  std::size_t max_source_errors = 100;  ///< in a row; at least 1
  /// Called for errors of sources and of stages, on the pipeline's threads, several at a time:
  /// `what` names the source, or the stage and the frame. Empty: they are counted only.
  std::function<void(std::string_view what, const Error& error)> on_error;
};

/// A stage's frames so far. Percentiles are within 2 percent.
struct StageStats {
  std::string name;
  std::uint64_t frames = 0;  ///< counted when they leave it
  std::uint64_t errors = 0;
  std::chrono::nanoseconds p50{0}, p99{0}, max{0}, total{0};
};

struct SourceStats {
  std::string name;
  std::uint64_t read = 0;
  std::uint64_t errors = 0;     ///< of next()
  std::uint64_t dropped = 0;    ///< by drop_oldest, or while paused
  std::uint64_t skipped = 0;    ///< by skip_inference
  std::uint64_t failed = 0;     ///< with an error of a stage
  std::uint64_t delivered = 0;  ///< passed the last stage, the failed ones included
  bool has_ended = false;
  std::string last_error;
};

/// Counts and times of a run, at any time.
struct PipelineStats {
  std::vector<SourceStats> sources;
  /// "load", then "convert", "model", "decode" for all models together, "track", and the stages.
  std::vector<StageStats> stages;
  /// From the frame's reading to behind the last stage; `frames` counts all.
  StageStats latency;
  std::uint64_t detections = 0;
  std::chrono::nanoseconds elapsed{0};  ///< since start()
  std::size_t in_flight = 0;            ///< frames on their way now
  CopyStats copies;                     ///< of the whole process, since start()
};

/// Sources -> convert -> network -> decode -> track -> stages. The frame waits nowhere for a frame
/// behind it: one thread takes it from the source's queue to the end, except where an earlier frame
/// has to pass an in-order stage before it.
///
/// In a steady state it allocates nothing for a frame, as far as sources, engine and stages do not.
/// All functions are thread-safe, but no stage may call stop(), drain(), wait() or the destructor.
/// A child of fork() cannot use a pipeline: there its functions fail with unsupported.
class Pipeline {
 public:
  /// Checks the options and makes the memory of all frames; reads nothing. Errors: invalid_argument
  /// (a count or number outside its range, a source without next(), a model whose engine has not
  /// one image input, a model's source that does not exist), those of making processors, trackers
  /// and tensors.
  static Result<Pipeline> create(PipelineOptions options);
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;
  /// stop().
  ~Pipeline();

  /// Starts the threads: one for each source, and one for each frame in flight. Errors: exists (it
  /// was started before), exhausted (the system starts no more threads), unsupported.
  Status start();
  /// Returns the next result, or nullopt at the end of all sources or after stop(). The frame
  /// counts as in flight until the result is destroyed; results may be kept beyond the pipeline's
  /// life. Errors: timeout, invalid_argument (has_results is false; not started). A negative
  /// timeout waits for ever.
  class Taken;
  Result<std::optional<Taken>> next(std::chrono::nanoseconds timeout = std::chrono::nanoseconds{
                                        -1});
  /// Waits until all sources have ended and all frames have passed, and finishes the stages.
  /// Results that nobody takes with next() are kept from ending: take them first. Errors: the first
  /// one of a stage that has stops_run, and of finish().
  Status wait();
  /// Reads no more frames, lets those on their way pass, and finishes the stages. Errors: as
  /// wait().
  Status drain();
  /// Reads no more frames, drops those that wait before a stage, and finishes the stages. Errors:
  /// as wait().
  Status stop();
  /// drain() without waiting: may be called by stages. wait() returns afterwards.
  void request_drain() noexcept;

  void set_paused(bool is_paused);
  bool is_paused() const noexcept;
  /// Decodes later frames of a model with these options, which Decoder::create() checks.
  Status set_decode_options(std::size_t model, const DecodeOptions& options);

  /// Number of frames for which there is memory: in_flight, twice that with skip_inference.
  std::size_t lanes() const noexcept;
  PipelineStats stats() const;

 private:
  struct State;
  explicit Pipeline(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

/// A result that next() has returned; move-only. With it, its frame returns to the pipeline.
class Pipeline::Taken {
 public:
  Taken(Taken&&) noexcept;
  Taken& operator=(Taken&&) noexcept;
  ~Taken();
  PipelineFrame& operator*() const noexcept { return *frame_; }
  PipelineFrame* operator->() const noexcept { return frame_; }

 private:
  friend class Pipeline;
  Taken(std::shared_ptr<State> state, PipelineFrame* frame) noexcept;
  std::shared_ptr<State> state_;
  PipelineFrame* frame_ = nullptr;
  std::size_t lane_ = 0;
};

}  // namespace halyard
HALYARD_EXPORTS_END
