// SPDX-License-Identifier: Apache-2.0
// The lines follow mot_file.h and the text format of Ultralytics.
#include "output/text_writers.h"

#include <fmt/format.h>

#include "halyard/codec.h"
#include "input/mot_file.h"

namespace halyard::tool {
namespace {

constexpr GrowingFile::Shape lines_shape{};
constexpr double min_extent = 0.0005;  // mot_line() would write 0.000

struct Fractions {
  std::string text;
  double width;
  double height;

  void add(double x, double y) { text += fmt::format(" {:g} {:g}", x / width, y / height); }
};

}  // namespace

Result<MotWriter> MotWriter::create(const std::string& path, bool is_tracking) {
  HALYARD_TRY(auto file, GrowingFile::create(path, lines_shape));
  return MotWriter(std::move(file), is_tracking);
}

Status MotWriter::add(const FrameRecord& record) {
  std::string text;
  for (const FrameObject& seen : record.objects) {
    if (is_tracking_ && !seen.track) continue;
    const Box& box = seen.detection.box;
    const MotBox line{seen.track ? static_cast<std::int64_t>(*seen.track) : -1,
                      box.x1,
                      box.y1,
                      static_cast<double>(box.x2) - box.x1,
                      static_cast<double>(box.y2) - box.y1,
                      static_cast<double>(seen.detection.score)};
    if (line.width < min_extent || line.height < min_extent) continue;
    text += mot_line(record.index + 1, line);
  }
  return file_.add(text);
}

std::string yolo_line(const FrameObject& seen, Size size) {
  Fractions line{fmt::format("{}", seen.detection.label), static_cast<double>(size.width),
                 static_cast<double>(size.height)};
  const Box& box = seen.detection.box;
  if (!seen.outline.empty() || !seen.corners.empty()) {
    for (const Point& point : seen.outline.empty() ? seen.corners : seen.outline)
      line.add(point.x, point.y);
  } else {
    line.add((static_cast<double>(box.x1) + box.x2) / 2,
             (static_cast<double>(box.y1) + box.y2) / 2);
    line.add(static_cast<double>(box.x2) - box.x1, static_cast<double>(box.y2) - box.y1);
  }
  for (const Keypoint& point : seen.keypoints) {
    line.add(point.at.x, point.at.y);
    line.text += fmt::format(" {:g}", point.score);
  }
  line.text += fmt::format(" {:g}", seen.detection.score);
  if (seen.track) line.text += fmt::format(" {}", *seen.track);
  return line.text + "\n";
}

Result<YoloWriter> YoloWriter::create(const std::string& folder,
                                      std::span<const std::string> other_files) {
  HALYARD_RETURN_IF_ERROR(make_folder(folder));
  FrameNames names(folder, ".txt");
  names.reserve(other_files);
  return YoloWriter(std::move(names));
}

Status YoloWriter::add(const FrameRecord& record) {
  std::string text;
  for (const FrameObject& seen : record.objects)
    text += yolo_line(seen, record.size);
  return write_file(names_.path_for(record.source, record.index), std::as_bytes(std::span(text)));
}

}  // namespace halyard::tool
