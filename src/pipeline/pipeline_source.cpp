// SPDX-License-Identifier: Apache-2.0
// PipelineSource::open(): files, cameras and addresses through FrameSource, and topics.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/image_message.h"
#include "halyard/pipeline.h"
#include "halyard/topic.h"

namespace halyard {
namespace {

constexpr std::string_view topic_prefix = "topic:";
/// How long a cancelled read of a topic may last.
constexpr std::chrono::milliseconds topic_wait{50};

Result<PipelineSource> file_source(const std::string& path, FrameSourceOptions options) {
  auto is_cancelled = std::make_shared<std::atomic<bool>>(false);
  options.load.is_cancelled = [is_cancelled, own = std::move(options.load.is_cancelled)] {
    return is_cancelled->load() || (own && own());
  };
  HALYARD_TRY(auto opened, FrameSource::open(path, options));
  auto source = std::make_shared<FrameSource>(std::move(opened));
  PipelineSource out;
  out.name = path;
  out.is_live = source->is_live();
  out.is_video = source->is_video();
  out.rate = source->rate();
  out.frame_count = source->frame_count();
  out.next = [source] { return source->next(); };
  out.cancel = [is_cancelled] { is_cancelled->store(true); };
  return out;
}

/// Reads the images of a topic. One thread at a time.
template <class Message>
class TopicFrames {
 public:
  TopicFrames(Topic<Message> topic, std::string name, std::function<bool()> is_cancelled)
      : topic_(std::move(topic)), name_(std::move(name)), ask_(std::move(is_cancelled)) {}
  void cancel() noexcept { is_cancelled_ = true; }
  Result<std::optional<Frame>> next() {
    while (!is_cancelled_ && !(ask_ && ask_())) {
      auto message = topic_.recv_for(topic_wait);
      index_ += message.lost();
      if (message) return frame_of(*message);
    }
    return std::optional<Frame>();
  }

 private:
  Result<std::optional<Frame>> frame_of(const Message& message) {
    Frame out;
    out.source = name_;
    out.index = index_++;
    if constexpr (std::is_same_v<Message, Image>) {
      out.image = message.tensor();
      const auto sent = static_cast<std::int64_t>(message.metadata().header.timestamp_ns);
      out.timestamp = std::chrono::nanoseconds(sent);
    } else {
      HALYARD_TRY(out.image, message.as_image());
      out.timestamp = std::chrono::steady_clock::now().time_since_epoch();
    }
    return std::optional<Frame>(std::move(out));
  }

  Topic<Message> topic_;
  std::string name_;
  std::function<bool()> ask_;
  std::size_t index_ = 0;
  std::atomic<bool> is_cancelled_{false};
};

template <class Message>
Result<PipelineSource> topic_source_of(const std::string& name, const TopicConfig& config,
                                       const FrameSourceOptions& options) {
  HALYARD_TRY(auto topic, Topic<Message>::create(name, config));
  auto reader = std::make_shared<TopicFrames<Message>>(
      std::move(topic), std::string(topic_prefix) + name, options.load.is_cancelled);
  PipelineSource out;
  out.name = std::string(topic_prefix) + name;
  out.is_live = true;
  out.next = [reader] { return reader->next(); };
  out.cancel = [reader] { reader->cancel(); };
  return out;
}

Result<PipelineSource> topic_source(const std::string& name, const FrameSourceOptions& options) {
  TopicConfig config;
  config.role = TopicRole::subscriber;
  HALYARD_TRY(const auto seen, TopicEndpoint::create(name, std::nullopt, config));
  const std::string type = seen->type().name;
  if (type == MessageFrame<Image>::name) return topic_source_of<Image>(name, config, options);
  if (type == MessageFrame<Tensor>::name) return topic_source_of<Tensor>(name, config, options);
  return fail(Errc::unsupported, "topic: its messages must be Image or Tensor", "'{}' has {}", name,
              type);
}

}  // namespace

Result<PipelineSource> PipelineSource::open(const std::string& path,
                                            const FrameSourceOptions& options) {
  if (path.starts_with(topic_prefix))
    return topic_source(path.substr(topic_prefix.size()), options);
  return file_source(path, options);
}

}  // namespace halyard
