// SPDX-License-Identifier: Apache-2.0
// A file gets its final name when it is complete: the codec and the video writer rename at the end.
#include "output/annotator.h"

#include <algorithm>
#include <utility>

#include "halyard/codec.h"
#include "input/detector.h"
#include "options/values.h"

namespace halyard::tool {
namespace {

/// A name without an extension is written as JPEG.
ImageFileType type_of(const std::string& path) {
  return image_file_type(path).value_or(ImageFileType::jpeg);
}

Status resize(Tensor& tensor, Size size, PixelFormat format) {
  if (!tensor.is_empty() && tensor.size() == size) return {};
  HALYARD_TRY(tensor,
              Tensor::create_image(static_cast<std::size_t>(size.width),
                                   static_cast<std::size_t>(size.height), format, DType::u8));
  return {};
}

}  // namespace

Result<Annotator> Annotator::create(Options options) {
  Annotator annotator(std::move(options));
  if (!annotator.is_wanted()) return annotator;
  if (annotator.kind_ == OutKind::folder) {
    HALYARD_RETURN_IF_ERROR(make_folder(annotator.options_.out));
    annotator.names_.emplace(annotator.options_.out, ".jpg");
    annotator.names_->reserve(annotator.options_.other_outputs);
  }
  return annotator;
}

Status Annotator::load_font() {
  if (!is_wanted()) return {};
  OverlayOptions drawing;
  drawing.labels = options_.labels;
  drawing.color_by = options_.is_tracking ? ColorBy::track : ColorBy::label;
  drawing.font = options_.font;
  HALYARD_TRY(overlay_, Overlay::create(std::move(drawing)));
  return {};
}

Status Annotator::open_sheet() {
  if (options_.contact_sheet.empty()) return {};
  HALYARD_TRY(sheet_file_, OutputFile::create(options_.contact_sheet));
  return {};
}

Status Annotator::paint(Job& job) const {
  if (!is_wanted()) return {};
  const StageTimer timer(job, "paint");
  HALYARD_RETURN_IF_ERROR(resize(job.canvas, job.frame.image.upright_size(), PixelFormat::rgb));
  Convert request;
  request.src = job.frame.image;
  request.dst = job.canvas;
  HALYARD_RETURN_IF_ERROR(job.processor.convert(request));
  return {};
}

Status Annotator::draw(Job& job) {
  if (!is_wanted()) return {};
  HALYARD_RETURN_IF_ERROR(draw_objects(job));
  if (!options_.contact_sheet.empty()) {
    const StageTimer timer(job, "sheet");
    HALYARD_RETURN_IF_ERROR(sheet_.add(job.canvas, job.processor));
  }
  return choose_target(job);
}

Status Annotator::draw_objects(Job& job) {
  const StageTimer timer(job, "draw");
  HALYARD_RETURN_IF_ERROR(draw_masks(job));
  if (options_.is_tracking) return overlay_->draw(job.canvas, std::span<const Track>(job.tracks));
  return overlay_->draw(job.canvas, std::span<const Detection>(job.found));
}

Status Annotator::draw_masks(Job& job) {
  MaskPrototypes& masks = job.decoded.masks;
  if (masks.empty()) return {};
  std::vector<Detection>& boxes = job.decoded.detections;
  MaskDrawOptions drawing;
  drawing.content = job.content;
  if (options_.is_tracking) {
    track_ids_.clear();
    rows_.clear();
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const auto track = job.record.seen[i].track;
      if (!track) continue;
      boxes[rows_.size()] = boxes[i];
      rows_.push_back(static_cast<std::uint32_t>(i));
      track_ids_.push_back(*track);
    }
    boxes.resize(rows_.size());
    HALYARD_RETURN_IF_ERROR(masks.select(rows_));
    drawing.color_by = ColorBy::track;
    drawing.track_ids = track_ids_;
  }
  const Status drawn = painter_.draw(job.canvas, masks, boxes, drawing);
  masks.prototypes = {};  // the engine's memory
  return drawn;
}

Status Annotator::choose_target(Job& job) {
  if (kind_ == OutKind::folder) job.out_path = names_->path_for(job.frame.source, job.frame.index);
  if (kind_ == OutKind::image) {
    if (drawn_ != 0)
      return make_error(Errc::invalid_argument, "--out names one image, the input has more",
                        options_.out);
    job.out_path = options_.out;
  }
  if (kind_ == OutKind::video && !video_) {
    // Most players need chroma-subsampled video of even sizes.
    const auto even = [](std::int32_t extent) { return std::max(2, extent / 2 * 2); };
    video_size_ = {even(job.canvas.size().width), even(job.canvas.size().height)};
    HALYARD_TRY(video_, VideoWriter::create(options_.out, video_size_, options_.rate));
  }
  ++drawn_;
  return {};
}

Status Annotator::encode(Job& job) const {
  if (kind_ == OutKind::none) return {};
  const StageTimer timer(job, "encode");
  if (kind_ == OutKind::video) {
    HALYARD_RETURN_IF_ERROR(resize(job.video_frame, video_size_, PixelFormat::nv12));
    job.video_frame.set_colorimetry(
        {ColorSpace::bt709, ColorTransfer::bt709, ColorEncoding::bt709, ColorRange::limited});
    Convert request;
    request.src = job.canvas;
    request.dst = job.video_frame;
    request.fit = Fit::letterbox;
    HALYARD_RETURN_IF_ERROR(job.processor.convert(request));
    return {};
  }
  HALYARD_TRY(job.encoded, encode_image(job.canvas, type_of(job.out_path)));
  return {};
}

Status Annotator::write(Job& job) {
  if (kind_ == OutKind::none) return {};
  const StageTimer timer(job, "write");
  if (kind_ == OutKind::video) return video_->write(job.video_frame);
  return write_file(job.out_path, job.encoded);
}

Status Annotator::finish() {
  return video_ ? video_->finish() : Status{};
}

Status Annotator::finish_sheet() {
  if (!sheet_file_ || sheet_.is_empty()) return {};
  HALYARD_TRY(const auto sheet, sheet_.compose());
  HALYARD_TRY(const auto bytes, encode_image(sheet, type_of(options_.contact_sheet)));
  HALYARD_RETURN_IF_ERROR(sheet_file_->write(bytes));
  return sheet_file_->commit();
}

}  // namespace halyard::tool
