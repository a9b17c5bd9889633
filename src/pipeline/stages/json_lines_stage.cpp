// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include "halyard/frame_record.h"
#include "halyard/pipeline_stages.h"

namespace halyard {

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

}  // namespace halyard
