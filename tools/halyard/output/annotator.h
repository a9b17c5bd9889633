// SPDX-License-Identifier: Apache-2.0
// Annotator: frames with what was found drawn on them, into an image, a folder, a video, a sheet.
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

/// Its stages: paint and encode for any number of jobs at once, draw and write in the frames'
/// order.
class Annotator {
 public:
  struct Options {
    std::string out;            ///< empty: none
    std::string contact_sheet;  ///< empty: none
    /// Files that others write: no image of the folder takes such a name.
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
  /// Below the boxes, from prototypes; of tracked objects alone where there are tracks.
  Status draw_masks(Job& job);
  /// Decides where the frame goes: a file name, or the video, which is made for the first frame.
  Status choose_target(Job& job);
  Options options_;
  OutKind kind_ = OutKind::none;
  std::optional<Overlay> overlay_;
  MaskPainter painter_;
  std::vector<std::uint64_t> track_ids_;  ///< of the masks being drawn
  std::vector<std::uint32_t> rows_;       ///< of the prototypes' coefficients, for these
  std::optional<VideoWriter> video_;
  Size video_size_;
  ContactSheet sheet_;
  std::optional<OutputFile> sheet_file_;
  std::optional<FrameNames> names_;  ///< of the folder's images
  std::size_t drawn_ = 0;
};

}  // namespace halyard::tool
