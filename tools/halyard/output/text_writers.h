// SPDX-License-Identifier: Apache-2.0
// What was found as lines of text: MOTChallenge's one file, and YOLO's one file an image.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "input/frame_names.h"
#include "input/growing_file.h"
#include "output/record.h"

namespace halyard::tool {

/// Lines of mot_line(), frames from 1 on, whole after each frame: all detections with the id -1, or
/// of a run with tracks those that belong to one. Boxes without an area are left out.
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

/// A file for each frame, as Ultralytics writes them (save_txt, save_conf): yolo_line() for each
/// object; empty where nothing was found. Each is written as a whole.
class YoloWriter final : public RecordWriter {
 public:
  /// Makes the folder. `other_files`: no text takes the name of one of these. Errors: as
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
/// and extent of the box; of an object with a mask its outline in place of the box, of a turned box
/// its four corners; keypoints as x y score. `size` is the image's.
std::string yolo_line(const Seen& seen, Size size);

}  // namespace halyard::tool
