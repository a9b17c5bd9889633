// SPDX-License-Identifier: Apache-2.0
// The library's own stages, added to a pipeline.
#include "halyard/pipeline_stages.h"

#include <utility>

#include "args.h"
#include "pipeline/pipeline.h"
#include "words.h"

namespace halyard::python {
namespace {

/// The options before the start.
PipelineOptions& open_options(PyPipeline& self) {
  if (self.value) raise(Errc::invalid_argument, "sinks must be added before the start");
  return self.options;
}

void add_all(PipelineOptions& options, std::vector<PipelineStage> stages) {
  for (PipelineStage& stage : stages)
    options.stages.push_back(std::move(stage));
}

void add_drawing(PyPipeline& self, nb::handle mask_opacity) {
  PipelineOptions& options = open_options(self);
  DrawStageOptions drawing;
  drawing.has_tracks = options.tracker.index() != 0;
  drawing.mask_opacity = static_cast<float>(number_from(mask_opacity, "mask_opacity"));
  add_all(options, take(draw_stages(options.models, drawing)));
}

void add_json_lines(PyPipeline& self, nb::handle path) {
  PipelineOptions& options = open_options(self);
  options.stages.push_back(take(json_lines_stage(options.models, path_from(path, "path"))));
}

void add_video(PyPipeline& self, nb::handle path, nb::handle rate) {
  PipelineOptions& options = open_options(self);
  add_all(options, take(video_stages(path_from(path, "path"), number_from(rate, "rate"))));
}

void add_topic_output(PyPipeline& self, nb::handle name) {
  PipelineOptions& options = open_options(self);
  options.stages.push_back(take(topic_stage(text_from(name, "name"), options.models)));
}

}  // namespace

void add_sinks(nb::class_<PyPipeline>& cls) {
  cls.def("add_drawing", &add_drawing, nb::arg("mask_opacity"),
          nb::sig("def add_drawing(self, mask_opacity: float) -> None"))
      .def("add_json_lines", &add_json_lines, nb::arg("path"),
           nb::sig("def add_json_lines(self, path: Any) -> None"))
      .def("add_video", &add_video, nb::arg("path"), nb::arg("rate"),
           nb::sig("def add_video(self, path: Any, rate: float) -> None"))
      .def("add_topic", &add_topic_output, nb::arg("name"),
           nb::sig("def add_topic(self, name: str) -> None"));
}

}  // namespace halyard::python
