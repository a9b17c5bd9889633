// SPDX-License-Identifier: Apache-2.0
// A file gets its final name when it is complete: the codec and the video writer rename at the end.
#include "output/annotator.h"

#include <utility>

#include "halyard/codec.h"
#include "halyard/pipeline_stages.h"
#include "options/values.h"

namespace halyard::tool {
namespace {

/// A name without an extension is written as JPEG.
ImageFileType type_of(const std::string& path) {
  return image_file_type(path).value_or(ImageFileType::jpeg);
}

}  // namespace

Result<Annotator> Annotator::create(Options options) {
  Annotator annotator(std::move(options));
  if (annotator.kind_ == OutKind::folder) {
    HALYARD_RETURN_IF_ERROR(make_folder(annotator.options_.out));
    annotator.names_.emplace(annotator.options_.out, ".jpg");
    annotator.names_->reserve(annotator.options_.other_outputs);
  }
  return annotator;
}

Status Annotator::load_font(const PipelineModel& model) {
  if (!is_wanted()) return {};
  DrawStageOptions drawing;
  drawing.has_tracks = options_.is_tracking;
  drawing.overlay.font = options_.font;
  HALYARD_TRY(drawing_, draw_stages({&model, 1}, drawing));
  return {};
}

Status Annotator::open_sheet() {
  if (options_.contact_sheet.empty()) return {};
  HALYARD_TRY(sheet_file_, OutputFile::create(options_.contact_sheet));
  HALYARD_TRY(sheet_processor_, Processor::create());
  return {};
}

Status Annotator::open_video() {
  if (kind_ != OutKind::video) return {};
  HALYARD_TRY(video_, video_stages(options_.out, options_.rate));
  return {};
}

PipelineStage Annotator::stage(const char* name, StageOrder order,
                               Status (Annotator::*run)(PipelineFrame&)) {
  PipelineStage out;
  out.name = name;
  out.order = order;
  out.run = [this, run](PipelineFrame& frame) { return (this->*run)(frame); };
  return out;
}

std::vector<PipelineStage> Annotator::stages() {
  std::vector<PipelineStage> out = std::move(drawing_);
  if (sheet_file_) out.push_back(stage("sheet", StageOrder::in_order, &Annotator::add_to_sheet));
  for (PipelineStage& step : video_)
    out.push_back(std::move(step));
  if (kind_ == OutKind::folder || kind_ == OutKind::image) {
    out.push_back(stage("name", StageOrder::in_order, &Annotator::choose_path));
    out.push_back(stage("encode", StageOrder::any_order, &Annotator::encode));
    out.push_back(stage("write", StageOrder::in_order, &Annotator::write));
  }
  return out;
}

Status Annotator::add_to_sheet(PipelineFrame& frame) {
  return sheet_.add(frame.drawn, *sheet_processor_);
}

Status Annotator::choose_path(PipelineFrame& frame) {
  std::string& path = images_[frame.lane].path;
  if (kind_ == OutKind::folder) {
    path = names_->path_for(frame.frame.source, frame.frame.index);
    return {};
  }
  if (std::exchange(has_image_, true))
    return make_error(Errc::invalid_argument, "--out names one image, the input has more",
                      options_.out);
  path = options_.out;
  return {};
}

Status Annotator::encode(PipelineFrame& frame) {
  OutputImage& image = images_[frame.lane];
  HALYARD_TRY(image.bytes, encode_image(frame.drawn, type_of(image.path)));
  return {};
}

Status Annotator::write(PipelineFrame& frame) {
  const OutputImage& image = images_[frame.lane];
  return write_file(image.path, image.bytes);
}

Status Annotator::finish_sheet() {
  if (!sheet_file_ || sheet_.is_empty()) return {};
  HALYARD_TRY(const auto sheet, sheet_.compose());
  HALYARD_TRY(const auto bytes, encode_image(sheet, type_of(options_.contact_sheet)));
  HALYARD_RETURN_IF_ERROR(sheet_file_->write(bytes));
  return sheet_file_->commit();
}

}  // namespace halyard::tool
