// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "base/text/format_error.h"
#include "halyard/fd.h"
#include "halyard/frame_record.h"
#include "halyard/pipeline_stages.h"

namespace halyard {
namespace {

/// A file that others may read while it grows.
struct LineFile {
  std::string path;
  Fd file;
  std::string line = {};

  Status write(std::string_view text) {
    line.assign(text).push_back('\n');
    for (std::string_view rest = line; !rest.empty();) {
      const ::ssize_t count = ::write(file.get(), rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return fail_os("path: cannot be written", errno, path);
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
  }
};

}  // namespace

PipelineStage json_lines_stage(std::span<const PipelineModel> models,
                               std::function<Status(std::string_view line)> write) {
  std::vector<std::vector<std::string>> labels;
  std::vector<RecordOptions> options;
  for (const PipelineModel& model : models) {
    labels.push_back(model.labels);
    options.push_back({model.mask_rule.has_value(), false});
  }
  PipelineStage out;
  out.name = "lines";
  out.stops_run = true;
  out.run = [labels = std::move(labels), options = std::move(options), write = std::move(write),
             record = std::make_shared<FrameRecord>()](PipelineFrame& frame) -> Status {
    for (std::size_t i = 0; i < frame.models.size() && i < labels.size(); ++i) {
      HALYARD_RETURN_IF_ERROR(make_record(frame, i, options[i], *record));
      HALYARD_RETURN_IF_ERROR(write(to_json(*record, labels[i])));
    }
    return {};
  };
  return out;
}

Result<PipelineStage> json_lines_stage(std::span<const PipelineModel> models,
                                       const std::string& path) {
  if (path.empty()) return fail(Errc::invalid_argument, "path: is empty");
  constexpr mode_t all_may = 0666;  // less the umask
  Fd opened(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, all_may));
  if (!opened) return fail_os("path: cannot be opened", errno, path);
  auto file = std::make_shared<LineFile>(LineFile{path, std::move(opened)});
  return json_lines_stage(models, [file](std::string_view line) { return file->write(line); });
}

}  // namespace halyard
