// SPDX-License-Identifier: Apache-2.0
// Annotator: the stages that draw the objects on frames and write them to an image, a folder, a
// video or a sheet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halyard/image.h"
#include "halyard/output_file.h"
#include "halyard/pipeline.h"
#include "input/frame_names.h"
#include "options/out_formats.h"
#include "output/contact_sheet.h"

namespace halyard::tool {

/// Outlives the pipeline of its stages.
class Annotator {
 public:
  struct Options {
    std::string out;            ///< empty: no output
    std::string contact_sheet;  ///< empty: no contact sheet
    /// Files that other options write: no image in the folder gets such a name.
    std::vector<std::string> other_outputs;
    std::string font;
    bool is_tracking = false;
    double rate = 25;           ///< of a video
    std::size_t in_flight = 1;  ///< lanes of the pipeline
  };
  /// Errors: permission (the folder cannot be made), exists (a file has its name).
  static Result<Annotator> create(Options options);
  /// Before the first frame. Errors: not_found (the font).
  Status load_font(const PipelineModel& model);
  /// Opens the sheet's file: better now than after an hour of video. Errors: as OutputFile.
  Status open_sheet();
  /// Before the first frame. Errors: those of video_stages().
  Status open_video();

  /// The stages of all outputs; called once. The video is complete at the end of the run.
  std::vector<PipelineStage> stages();
  /// Completes the contact sheet.
  Status finish_sheet();

 private:
  explicit Annotator(Options options)
      : options_(std::move(options)), kind_(out_kind(options_.out)), images_(options_.in_flight) {}
  bool is_wanted() const noexcept {
    return kind_ != OutKind::none || !options_.contact_sheet.empty();
  }
  /// One image that is written: of a lane.
  struct OutputImage {
    std::string path;
    std::vector<std::byte> bytes;
  };
  Status add_to_sheet(PipelineFrame& frame);
  Status choose_path(PipelineFrame& frame);
  Status encode(PipelineFrame& frame);
  Status write(PipelineFrame& frame);
  PipelineStage stage(const char* name, StageOrder order, Status (Annotator::*run)(PipelineFrame&));

  Options options_;
  OutKind kind_ = OutKind::none;
  std::vector<PipelineStage> drawing_;
  std::vector<PipelineStage> video_;
  ContactSheet sheet_;
  std::optional<Processor> sheet_processor_;
  std::optional<OutputFile> sheet_file_;
  std::optional<FrameNames> names_;  ///< of the folder's images
  std::vector<OutputImage> images_;  ///< by lane
  bool has_image_ = false;
};

}  // namespace halyard::tool
