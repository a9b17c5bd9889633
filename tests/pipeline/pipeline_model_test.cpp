// SPDX-License-Identifier: Apache-2.0
// Pipelines with the harbour's network: what a pipeline finds is what a loop of the same calls
// finds.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "halyard/codec.h"
#include "halyard/image_message.h"
#include "halyard/topic.h"
#include "model/onnx_writer.h"
#include "sources.h"
#include "support/allocations.h"
#include "support/folder.h"
#include "test_paths.h"

#ifdef HALYARD_HAVE_OPENVINO
namespace halyard::test {
namespace {

const std::string harbour = HALYARD_SOURCE_DIR "/examples/harbour/";

PipelineModel harbour_model(const Preset& preset = Preset::hal()) {
  return PipelineModel::open(harbour + "harbour.onnx", {}, preset).value();
}

/// The first `count` frames of the harbour's clip.
std::vector<Tensor> clip(std::size_t count) {
  std::vector<Tensor> out;
  auto source = FrameSource::open(harbour + "clip").value();
  while (out.size() < count)
    out.push_back(source.next().value()->image);
  return out;
}

PipelineSource images_source(std::vector<Tensor> images, std::size_t rounds = 1) {
  PipelineSource out;
  out.name = "clip";
  out.next = [images = std::move(images), rounds,
              index = std::size_t{0}]() mutable -> Result<std::optional<Frame>> {
    if (index == images.size() * rounds) return std::optional<Frame>();
    Frame frame = frame_of(images[index % images.size()], index, "clip");
    ++index;
    return std::optional<Frame>(std::move(frame));
  };
  return out;
}

struct Found {
  std::vector<Detection> detections;
  std::vector<Track> tracks;
};

/// The same work, one frame after the other.
std::vector<Found> in_a_loop(const std::vector<Tensor>& images, PipelineModel& model) {
  std::vector<Found> out;
  auto processor = Processor::create().value();
  auto tracker = ByteTrack::create().value();
  const auto input = Tensor::create(model.engine->inputs()[0]).value();
  Tensor rgb;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto placed = prepare_input(model.preset, processor, images[i], input, rgb).value();
    const auto outputs = model.engine->run(input).value();
    Found& found = out.emplace_back();
    found.detections = placed.to_source(model.decoder->decode(outputs).value());
    found.tracks = tracker.update(found.detections, i * frame_time).value();
  }
  return out;
}

void expect_equal(const std::vector<Detection>& a, const std::vector<Detection>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].label, b[i].label);
    EXPECT_NEAR(a[i].score, b[i].score, 1e-5);
    EXPECT_NEAR(a[i].box.x1, b[i].box.x1, 0.01);
    EXPECT_NEAR(a[i].box.y2, b[i].box.y2, 0.01);
  }
}

TEST(PipelineModel, finds_and_tracks_what_a_loop_does) {
  const auto images = clip(40);
  for (const Preset& preset : {Preset::hal(), Preset::ultralytics()}) {
    PipelineModel model = harbour_model(preset);
    const auto expected = in_a_loop(images, model);
    PipelineOptions options = options_for(images_source(images));
    options.models.push_back(model);
    options.tracker = ByteTrackOptions{};
    std::size_t frames = 0;
    options.stages.push_back(in_order([&](PipelineFrame& frame) {
      const Found& wanted = expected[frame.frame.index];
      expect_equal(frame.models[0].detections, wanted.detections);
      EXPECT_EQ(frame.models[0].tracks.size(), wanted.tracks.size());
      for (std::size_t i = 0; i < wanted.tracks.size(); ++i) {
        EXPECT_EQ(frame.models[0].tracks[i].id, wanted.tracks[i].id);
        EXPECT_EQ(frame.models[0].tracks[i].detection, wanted.tracks[i].detection);
      }
      ++frames;
      return Status();
    }));
    const PipelineStats stats = run_all(std::move(options));
    EXPECT_EQ(frames, images.size());
    EXPECT_GT(stats.detections, 100U);
    EXPECT_EQ(stats.stages[2].name, "model");
    EXPECT_EQ(stats.stages[2].frames, images.size());
  }
}

TEST(PipelineModel, each_model_sees_its_sources) {
  const auto images = clip(6);
  PipelineOptions options = options_for(images_source(images));
  options.sources.push_back(images_source(images));
  options.models = {harbour_model(), harbour_model()};
  options.models[1].sources = {1};
  options.stages.push_back(in_order([&](PipelineFrame& frame) {
    EXPECT_FALSE(frame.models[0].is_skipped);
    EXPECT_FALSE(frame.models[0].detections.empty());
    EXPECT_EQ(frame.models[1].is_skipped, frame.source == 0);
    EXPECT_EQ(frame.models[1].detections.empty(), frame.source == 0);
    return Status();
  }));
  const PipelineStats stats = run_all(std::move(options));
  EXPECT_EQ(stats.latency.frames, 12U);
  EXPECT_EQ(stats.stages[2].frames, 18U);
}

TEST(PipelineModel, skips_networks_that_are_busy_and_shows_the_tracks) {
  PipelineOptions options = options_for(images_source(clip(10), 20));
  options.models.push_back(harbour_model());
  options.tracker = ByteTrackOptions{};
  options.on_overload = OverloadPolicy::skip_inference;
  options.in_flight = 1;
  std::vector<Track> last;
  std::size_t skipped = 0, frames = 0;
  options.stages.push_back(in_order([&](PipelineFrame& frame) {
    const ModelResult& result = frame.models[0];
    EXPECT_EQ(frame.frame.index, frames++);
    if (result.is_skipped) {
      ++skipped;
      EXPECT_TRUE(result.detections.empty());
      EXPECT_EQ(result.tracks.size(), last.size());
      for (const Track& track : result.tracks)
        EXPECT_EQ(track.detection, -1);
    }
    last = result.tracks;
    return Status();
  }));
  const PipelineStats stats = run_all(std::move(options));
  EXPECT_EQ(frames, 200U);
  EXPECT_GT(skipped, 0U);
  EXPECT_LT(skipped, 200U);
  EXPECT_EQ(stats.sources[0].skipped, skipped);
}

TEST(PipelineModel, tiles_find_small_objects) {
  const auto image = load_image(harbour + "photo.jpg").value();
  PipelineOptions options = options_for(images_source({image}, 2));
  options.models = {harbour_model(), harbour_model()};
  options.models[1].tiles = PipelineTiles{{{320, 320}, 0.2}, {}};
  options.stages.push_back(in_order([&](PipelineFrame& frame) {
    const auto& whole = frame.models[0].detections;
    const auto& tiled = frame.models[1].detections;
    EXPECT_GE(tiled.size(), whole.size());
    for (const Detection& found : tiled) {
      EXPECT_GE(found.box.x1, 0);
      EXPECT_LE(found.box.x2, static_cast<float>(image.upright_size().width));
    }
    EXPECT_TRUE(std::is_sorted(tiled.begin(), tiled.end(),
                               [](const auto& a, const auto& b) { return a.score > b.score; }));
    EXPECT_FALSE(frame.error) << frame.error->message();
    return Status();
  }));
  const PipelineStats stats = run_all(std::move(options));
  EXPECT_EQ(stats.sources[0].failed, 0U);
}

// A network of any batch whose twelve classes are the four reds, greens and blues of 2 x 2 pixels.
TEST(PipelineModel, frames_of_several_sources_run_as_a_batch) {
  const Folder folder;
  const std::string path = folder / "colour.onnx";
  OnnxModel file;
  file.op = "Flatten";
  file.shape = {-1, 3, 2, 2};
  file.output_shape = {-1, 12};
  write_bytes(path, onnx_bytes(file));
  PipelineModel model;
  EngineOptions engine;
  engine.batch = 3;
  model.engine = std::make_shared<Engine>(Engine::open(path, engine).value());
  ModelDescription description;
  description.input = {2, 2};
  OutputDescription& output = description.outputs.emplace_back();
  output.role = OutputRole::classification;
  output.shape = {3, 12};
  model.decoder = std::make_shared<const Decoder>(Decoder::create(description).value());
  model.batch_wait = std::chrono::milliseconds(2);
  PipelineOptions options;
  for (std::size_t source = 0; source < 3; ++source) {
    const auto image = Tensor::create_image(Size{8, 8}, PixelFormat::rgb).value();
    {
      const auto map = image.map(Access::write).value();
      const auto bytes = map.flat<std::uint8_t>().value();
      for (std::size_t i = source; i < bytes.size(); i += 3)
        bytes[i] = 200;
    }
    options.sources.push_back(images_source({image}, 40));
  }
  options.models.push_back(model);
  options.in_flight = 6;
  options.stages.push_back(in_order([](PipelineFrame& frame) {
    const auto& classes = frame.models[0].decoded.classes;
    EXPECT_EQ(classes.size(), 5U);
    EXPECT_EQ(classes.at(0).label / 4, static_cast<std::int32_t>(frame.source));
    EXPECT_NEAR(classes.at(0).score, 200.0 / 255, 1e-3);
    return Status();
  }));
  const PipelineStats stats = run_all(std::move(options));
  EXPECT_EQ(stats.latency.frames, 120U);
  EXPECT_EQ(stats.latency.errors, 0U);
}

TEST(PipelineModel, thresholds_change_while_it_runs) {
  GivenFrames frames;
  PipelineSource source = frames.source();
  source.next = [inner = source.next, image = clip(1)[0]]() -> Result<std::optional<Frame>> {
    HALYARD_TRY(auto frame, inner());
    if (frame) frame->image = image;
    return frame;
  };
  PipelineOptions options = options_for(std::move(source));
  options.models.push_back(harbour_model());
  options.has_results = true;
  auto pipeline = Pipeline::create(std::move(options)).value();
  ASSERT_OK(pipeline.start());
  frames.give();
  EXPECT_FALSE((*pipeline.next().value())->models[0].detections.empty());
  DecodeOptions decoding = DecodeOptions::hal();
  decoding.score_threshold = 1;
  ASSERT_OK(pipeline.set_decode_options(0, decoding));
  frames.give();
  EXPECT_TRUE((*pipeline.next().value())->models[0].detections.empty());
  decoding.score_threshold = 2;
  EXPECT_FAILS(pipeline.set_decode_options(0, decoding), Errc::invalid_argument, "score");
  EXPECT_FAILS(pipeline.set_decode_options(1, {}), Errc::invalid_argument, "model");
  frames.end();
  EXPECT_OK(pipeline.wait());
}

TEST(PipelineModel, an_image_that_cannot_be_converted_fails_alone) {
  auto images = clip(3);
  images[1] = Tensor();
  PipelineOptions options = options_for(images_source(images));
  options.models.push_back(harbour_model());
  options.tracker = ByteTrackOptions{};
  std::vector<std::uint64_t> passed;
  options.stages.push_back(in_order([&](PipelineFrame& frame) {
    passed.push_back(frame.ordinal);
    return Status();
  }));
  const PipelineStats stats = run_all(std::move(options));
  EXPECT_EQ(passed, (std::vector<std::uint64_t>{0, 2}));
  EXPECT_EQ(stats.stages[1].errors, 1U);
}

TEST(PipelineModel, reads_topics) {
  auto sender = Topic<Image>::create("pipeline-test").value();
  auto source = PipelineSource::open("topic:pipeline-test").value();
  EXPECT_TRUE(source.is_live);
  const auto rgb = Tensor::create_image(Size{64, 48}, PixelFormat::rgb).value();
  auto message = Image::wrap(rgb, ImageEncoding::rgb8).value();
  PipelineOptions options = options_for(std::move(source));
  options.has_results = true;
  auto pipeline = Pipeline::create(std::move(options)).value();
  ASSERT_OK(pipeline.start());
  ASSERT_OK(sender.send(message));
  const auto result = pipeline.next(std::chrono::seconds(10)).value();
  EXPECT_EQ((*result)->frame.image.size(), (Size{64, 48}));
  EXPECT_EQ((*result)->frame.source, "topic:pipeline-test");
  EXPECT_OK(pipeline.stop());
  EXPECT_FAILS(PipelineSource::open("topic:nobody"), Errc::not_found, "");
}

TEST(PipelineModel, reads_paths_and_names_those_that_do_not_exist) {
  PipelineOptions options = options_for(PipelineSource::open(harbour + "clip").value());
  EXPECT_EQ(options.sources[0].frame_count, options.sources[0].frame_count);
  const auto count = *options.sources[0].frame_count;
  EXPECT_EQ(run_all(std::move(options)).sources[0].delivered, count);
  EXPECT_FAILS(PipelineSource::open(harbour + "nothing"), Errc::not_found, "");
  EXPECT_FAILS(PipelineModel::open(harbour + "nothing.onnx"), Errc::not_found, "");
}

TEST(PipelineModel, the_pipeline_allocates_nothing_of_its_own) {
  // What the engine allocates for a run is its own, and differs a little from run to run.
  const auto images = clip(2);
  PipelineModel model = harbour_model();
  const auto input = Tensor::create(model.engine->inputs()[0]).value();
  const std::uint64_t of_engine = allocations_of([&] { (void)model.engine->run(input); }) / 20;
  for (const bool has_model : {false, true}) {
    GivenFrames frames;
    PipelineSource source = frames.source();
    source.next = [inner = source.next, images]() -> Result<std::optional<Frame>> {
      HALYARD_TRY(auto frame, inner());
      if (frame) frame->image = images[frame->index % 2];
      return frame;
    };
    PipelineOptions options = options_for(std::move(source));
    if (has_model) options.models.push_back(model);
    options.tracker = ByteTrackOptions{};
    options.in_flight = 1;
    options.has_results = true;
    options.stages.push_back(in_order([](PipelineFrame&) { return Status(); }));
    auto pipeline = Pipeline::create(std::move(options)).value();
    ASSERT_OK(pipeline.start());
    const auto one = [&] {
      frames.give();
      (void)pipeline.next().value();
    };
    for (int i = 0; i < 40; ++i)
      one();
    const std::uint64_t of_frame = allocations_of(one) / 20;
    if (has_model) {
      EXPECT_LE(of_frame, of_engine + of_engine / 50 + 2) << "engine alone: " << of_engine;
    } else {
      EXPECT_EQ(of_frame, 0U);
    }
  }
}

}  // namespace
}  // namespace halyard::test
#endif
