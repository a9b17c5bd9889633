// SPDX-License-Identifier: Apache-2.0
// Most players need chroma-subsampled video of even sizes.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/system/ranked_mutex.h"
#include "halyard/capture.h"
#include "halyard/image.h"
#include "halyard/pipeline_stages.h"
#include "halyard/recycler.h"
#include "pipeline/stages/lane_memory.h"

namespace halyard {
namespace {

struct Encoding {
  std::optional<Processor> processor;
  Tensor image;
};

class Video {
 public:
  Video(std::string path, double rate) : path_(std::move(path)), rate_(rate) {}

  Status encode(PipelineFrame& frame) {
    Encoding& encoding = encodings_.of(frame);
    if (!encoding.processor) {
      HALYARD_TRY(encoding.processor, Processor::create());
    }
    const Tensor& shown = frame.drawn.is_empty() ? frame.frame.image : frame.drawn;
    const Size size = size_for(shown.upright_size());
    // The encoder shares an image until it has coded it; only then the memory is used again.
    HALYARD_TRY(encoding.image,
                recycler_.create_image(static_cast<std::size_t>(size.width),
                                       static_cast<std::size_t>(size.height), PixelFormat::nv12));
    encoding.image.set_colorimetry(
        {ColorSpace::bt709, ColorTransfer::bt709, ColorEncoding::bt709, ColorRange::limited});
    Convert request;
    request.src = shown;
    request.dst = encoding.image;
    request.fit = Fit::letterbox;
    HALYARD_RETURN_IF_ERROR(encoding.processor->convert(request));
    return {};
  }

  Status write(PipelineFrame& frame) {
    if (!writer_) {
      HALYARD_TRY(writer_, VideoWriter::create(path_, *size_, rate_));
    }
    return writer_->write(std::exchange(encodings_.of(frame).image, {}));
  }

  Status finish() { return writer_ ? writer_->finish() : Status(); }

 private:
  // The first frame that is encoded decides.
  Size size_for(Size frame) {
    const std::lock_guard lock(mutex_);
    const auto even = [](std::int32_t extent) { return std::max(2, extent / 2 * 2); };
    if (!size_) size_ = Size{even(frame.width), even(frame.height)};
    return *size_;
  }

  std::string path_;
  double rate_;
  Recycler recycler_;
  pipeline::LaneMemory<Encoding> encodings_;
  RankedMutex<LockRank::leaf> mutex_;
  std::optional<Size> size_;
  std::optional<VideoWriter> writer_;
};

}  // namespace

Result<std::vector<PipelineStage>> video_stages(const std::string& path, double rate) {
  // Checks the path and the rate; the size is that of the first frame.
  HALYARD_RETURN_IF_ERROR(VideoWriter::create(path, {16, 16}, rate));
  auto video = std::make_shared<Video>(path, rate);
  std::vector<PipelineStage> out(2);
  out[0].name = "encode";
  out[0].order = StageOrder::any_order;
  out[0].run = [video](PipelineFrame& frame) { return video->encode(frame); };
  out[1].name = "write";
  out[1].stops_run = true;
  out[1].run = [video](PipelineFrame& frame) { return video->write(frame); };
  out[1].finish = [video] { return video->finish(); };
  return out;
}

}  // namespace halyard
