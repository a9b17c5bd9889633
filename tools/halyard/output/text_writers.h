// SPDX-License-Identifier: Apache-2.0
// Writes objects as lines of text: one file for MOTChallenge, one file per image for YOLO.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "input/frame_names.h"
#include "input/growing_file.h"
#include "output/record.h"

namespace halyard::tool {

/// Lines of mot_line(), with frames from 1; the file is valid after each frame. Without tracking
/// all detections, with the id -1; with tracking only those that belong to a track. Boxes without
/// an area are left out.
class MotWriter final : public RecordWriter {
 public:
  /// "-" is standard output. Errors: as OutputFile::create().
  static Result<MotWriter> create(const std::string& path, bool is_tracking);
  Status add(const FrameRecord& record) override;
  Status finish() override { return file_.finish(); }

 private:
  MotWriter(GrowingFile file, bool is_tracking)
      : file_(std::move(file)), is_tracking_(is_tracking) {}
  GrowingFile file_;
  bool is_tracking_;
};

/// One file for each frame, as Ultralytics writes them (save_txt, save_conf): yolo_line() for each
/// object; an empty file if there are none. Each file is written as a whole.
class YoloWriter final : public RecordWriter {
 public:
  /// Makes the folder. `other_files`: no text file gets the name of one of these. Errors: as
  /// make_folder().
  static Result<YoloWriter> create(const std::string& folder,
                                   std::span<const std::string> other_files);
  Status add(const FrameRecord& record) override;
  Status finish() override { return {}; }

 private:
  explicit YoloWriter(FrameNames names) : names_(std::move(names)) {}
  FrameNames names_;
};

/// "class x y width height [keypoints] score [track]", all as fractions of the image: the centre
/// and extent of the box. An object with a mask has its outline instead of the box, a rotated box
/// its four corners. Keypoints are x y score. `size` is the image's.
std::string yolo_line(const FrameObject& seen, Size size);

}  // namespace halyard::tool
