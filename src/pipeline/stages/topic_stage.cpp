// SPDX-License-Identifier: Apache-2.0
// Frames that are in a pool or in DMA-BUFs are sent as they are.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "halyard/detection_message.h"
#include "halyard/image.h"
#include "halyard/image_message.h"
#include "halyard/pipeline_stages.h"
#include "halyard/topic.h"
#include "pipeline/shown_tracks.h"

namespace halyard {
namespace {

/// Of a camera's eight buffers, with four frames in flight, two remain for the driver.
constexpr std::uint32_t max_shared_frames = 2;

class Publisher {
 public:
  Publisher(Topic<Image> images, Topic<DetectionMessage> found, std::vector<std::string> models)
      : images_(std::move(images)), found_(std::move(found)), models_(std::move(models)) {}

  Status publish(PipelineFrame& frame) {
    HALYARD_TRY(auto image, message_of(frame));
    const auto when = static_cast<std::uint64_t>(frame.frame.timestamp.count());
    image.set_timestamp_ns(when);
    HALYARD_RETURN_IF_ERROR(images_.send(image));
    for (std::size_t i = 0; i < frame.models.size() && i < models_.size(); ++i) {
      fill(frame, frame.models[i]);
      HALYARD_RETURN_IF_ERROR(set_frame_id(message_.header, models_[i]));
      HALYARD_RETURN_IF_ERROR(found_.send(message_));
    }
    return {};
  }

 private:
  Result<Image> message_of(const PipelineFrame& frame) {
    const Tensor& shown = frame.drawn.is_empty() ? frame.frame.image : frame.drawn;
    const bool is_upright = shown.orientation() == Orientation{};
    if (is_upright) {
      if (auto image = Image::wrap(shown)) return image;
    }
    if (!processor_) {
      HALYARD_TRY(processor_, Processor::create());
    }
    const Size size = shown.upright_size();
    HALYARD_TRY(const auto pool, images_.pool());
    HALYARD_TRY(auto copy,
                Image::create_on(pool, static_cast<std::size_t>(size.width),
                                 static_cast<std::size_t>(size.height), ImageEncoding::rgb8));
    Convert request;
    request.src = shown;
    request.dst = copy.tensor();
    HALYARD_RETURN_IF_ERROR(processor_->convert(request));
    return copy;
  }

  void fill(const PipelineFrame& frame, const ModelResult& result) {
    const Size size = frame.frame.image.upright_size();
    message_.header.timestamp_ns = static_cast<std::uint64_t>(frame.frame.timestamp.count());
    message_.index = frame.frame.index;
    message_.width = static_cast<std::uint32_t>(size.width);
    message_.height = static_cast<std::uint32_t>(size.height);
    message_.entries.clear();
    for (const Detection& found : result.detections)
      message_.entries.push_back({found.box, found.score, found.label, 0});
    pipeline::for_shown_tracks(result, [this](std::size_t detection, const Track& track) {
      message_.entries[detection].track = track.id;
    });
  }

  Topic<Image> images_;
  Topic<DetectionMessage> found_;
  std::vector<std::string> models_;
  std::optional<Processor> processor_;
  DetectionMessage message_;
};

}  // namespace

Result<PipelineStage> topic_stage(const std::string& name, std::span<const PipelineModel> models) {
  TopicConfig config;
  config.role = TopicRole::publisher;
  config.max_shared_frames = max_shared_frames;
  HALYARD_TRY(auto images, Topic<Image>::create(name, config));
  HALYARD_TRY(auto found, Topic<DetectionMessage>::create(name + "/detections", config));
  // frame_id holds 31 bytes.
  constexpr std::size_t max_name = 31;
  std::vector<std::string> names;
  for (const PipelineModel& model : models)
    names.push_back(model.name.substr(0, max_name));
  auto publisher =
      std::make_shared<Publisher>(std::move(images), std::move(found), std::move(names));
  PipelineStage out;
  out.name = "publish";
  out.run = [publisher](PipelineFrame& frame) { return publisher->publish(frame); };
  return out;
}

}  // namespace halyard
