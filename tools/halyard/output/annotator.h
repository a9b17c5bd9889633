// SPDX-License-Identifier: Apache-2.0
// Annotator: draws the objects on frames and writes them to an image, a folder, a video or a sheet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halyard/capture.h"
#include "halyard/draw.h"
#include "halyard/mask_draw.h"
#include "halyard/output_file.h"
#include "input/frame_names.h"
#include "job.h"
#include "options/out_formats.h"
#include "output/contact_sheet.h"

namespace halyard::tool {

/// Its stages: paint() and encode() may run for several jobs at the same time; draw() and write()
/// must be called in the order of frames.
class Annotator {
 public:
  struct Options {
    std::string out;            ///< empty: no output
    std::string contact_sheet;  ///< empty: no contact sheet
    /// Files that other options write: no image in the folder gets such a name.
    std::vector<std::string> other_outputs;
    std::string font;
    std::vector<std::string> labels;
    bool is_tracking = false;
    double rate = 25;  ///< of a video
  };
  /// Errors: permission (the folder cannot be made), exists (a file has its name).
  static Result<Annotator> create(Options options);
  /// Before the first frame. Errors: not_found (the font).
  Status load_font();
  /// Opens the sheet's file: better now than after an hour of video. Errors: as OutputFile.
  Status open_sheet();

  bool is_wanted() const noexcept {
    return kind_ != OutKind::none || !options_.contact_sheet.empty();
  }
  Status paint(Job& job) const;
  Status draw(Job& job);
  Status encode(Job& job) const;
  Status write(Job& job);
  /// Completes the video.
  Status finish();
  /// Completes the contact sheet.
  Status finish_sheet();

 private:
  explicit Annotator(Options options)
      : options_(std::move(options)), kind_(out_kind(options_.out)) {}
  Status draw_objects(Job& job);
  /// Draws masks from prototypes, below the boxes. With tracking, only those of tracked objects.
  Status draw_masks(Job& job);
  /// Chooses the frame's file name, or the video, which is created with the first frame.
  Status choose_target(Job& job);
  Options options_;
  OutKind kind_ = OutKind::none;
  std::optional<Overlay> overlay_;
  MaskPainter painter_;
  std::vector<std::uint64_t> track_ids_;  ///< of the masks being drawn
  std::vector<std::uint32_t> rows_;       ///< rows of the coefficients for these masks
  std::optional<VideoWriter> video_;
  Size video_size_;
  ContactSheet sheet_;
  std::optional<OutputFile> sheet_file_;
  std::optional<FrameNames> names_;  ///< of the folder's images
  std::size_t drawn_ = 0;
};

}  // namespace halyard::tool
