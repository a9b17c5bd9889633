// SPDX-License-Identifier: Apache-2.0
// Each lane is converted straight into its part of the network's input.
#include "pipeline/network_runner.h"

#include <algorithm>
#include <utility>

#include "base/text/format_error.h"
#include "halyard/trace.h"

namespace halyard::pipeline {
namespace {

void clear(ModelResult& result) {
  result.detections.clear();
  result.decoded.detections.clear();
  result.decoded.rotated.clear();
  result.decoded.keypoints.clear();
  result.decoded.keypoints_each = 0;
  result.decoded.masks.clear(0);
  result.decoded.masks.prototypes = {};
  result.decoded.classes.clear();
  result.masks.clear();
  result.placement = {};
  result.is_skipped = false;
}

bool sees(const PipelineModel& model, const Lane& lane) {
  return model.sources.empty() || std::ranges::count(model.sources, lane.frame.source) != 0;
}

bool is_classifier(const Decoder& decoder) noexcept {
  const auto& outputs = decoder.description().outputs;
  return std::ranges::any_of(
      outputs, [](const auto& output) { return output.role == OutputRole::classification; });
}

}  // namespace

Decoders::Decoders(std::span<const PipelineModel> models) {
  for (const PipelineModel& model : models)
    decoders_.push_back(model.decoder);
}

std::shared_ptr<const Decoder> Decoders::get(std::size_t model) const {
  const std::lock_guard lock(mutex_);
  return decoders_[model];
}

Status Decoders::set_options(std::size_t model, const DecodeOptions& options) {
  if (model >= decoders_.size()) {
    return fail(Errc::invalid_argument, "model: must be below the count of models", "{} of {}",
                model, decoders_.size());
  }
  HALYARD_TRY(auto made, Decoder::create(get(model)->description(), options));
  auto decoder = std::make_shared<const Decoder>(std::move(made));
  const std::lock_guard lock(mutex_);
  decoders_[model] = std::move(decoder);
  return {};
}

std::size_t batch_size(const PipelineModel& model) noexcept {
  const auto& shape = model.engine->inputs()[0].shape;
  return shape.size() == 4 ? std::max<std::size_t>(shape[0], 1) : 1;
}

Result<NetworkRunner> NetworkRunner::create(const Shared& shared) {
  HALYARD_TRY(auto processor, Processor::create());
  NetworkRunner runner(shared, std::move(processor));
  for (const PipelineModel& model : shared.models)
    HALYARD_RETURN_IF_ERROR(runner.add_memory(model));
  return runner;
}

Status NetworkRunner::add_memory(const PipelineModel& model) {
  Memory& memory = memories_.emplace_back();
  if (is_classifier(*model.decoder)) memory.fit = Fit::cover;
  const std::size_t count = batch_size(model);
  if (count > 1 || shared_.is_only_runner) {
    HALYARD_TRY(auto inputs, model.engine->make_inputs());
    memory.input = std::move(inputs[0]);
  } else {
    HALYARD_TRY(memory.input, Tensor::create(model.engine->inputs()[0]));
  }
  if (count == 1) {
    memory.items.push_back(memory.input);
    return {};
  }
  for (std::size_t i = 0; i < count; ++i) {
    HALYARD_TRY(auto item, memory.input.batch(i));
    memory.items.push_back(std::move(item));
  }
  return {};
}

void NetworkRunner::choose(std::span<Lane* const> lanes, std::size_t model) {
  chosen_.clear();
  for (Lane* lane : lanes) {
    ModelResult& result = lane->frame.models[model];
    clear(result);
    result.is_skipped = lane->skips_networks || lane->frame.error.has_value() ||
                        !sees(shared_.models[model], *lane);
    if (!result.is_skipped) chosen_.push_back(lane);
  }
}

void NetworkRunner::run(std::span<Lane* const> lanes) {
  for (std::size_t model = 0; model < memories_.size(); ++model) {
    choose(lanes, model);
    spent_.assign(chosen_.size(), {});
    const std::size_t batch = memories_[model].items.size();
    if (shared_.models[model].tiles) {
      run_in_tiles(model);
      continue;
    }
    for (std::size_t first = 0; first < chosen_.size(); first += batch)
      run_batch(model, first, std::min(batch, chosen_.size() - first));
  }
}

void NetworkRunner::run_batch(std::size_t model, std::size_t first, std::size_t count_in_batch) {
  const std::vector<Tensor>& items = memories_[model].items;
  for (std::size_t i = 0; i < count_in_batch; ++i) {
    Lane& lane = *chosen_[first + i];
    if (const Status done = convert(model, lane, items[i], spent_[first + i]); !done) {
      lane.fail("convert", done.error());
      shared_.records.convert.errors.fetch_add(1, std::memory_order_relaxed);
    }
  }
  const Status inferred = infer(model, first, count_in_batch);
  for (std::size_t i = 0; i < count_in_batch; ++i) {
    Lane& lane = *chosen_[first + i];
    if (!inferred && !lane.frame.error) {
      lane.fail("model", inferred.error());
      shared_.records.model.errors.fetch_add(1, std::memory_order_relaxed);
    }
    if (!lane.frame.error) {
      if (const Status done = decode(model, lane, i, spent_[first + i]); !done) {
        lane.fail("decode", done.error());
        shared_.records.decode.errors.fetch_add(1, std::memory_order_relaxed);
      }
    }
    count(model, lane, spent_[first + i]);
  }
  outputs_.clear();  // the engine's memory
}

void NetworkRunner::run_in_tiles(std::size_t model) {
  Memory& memory = memories_[model];
  const auto decoder = shared_.decoders.get(model);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const TileRunner::Network network{shared_.models[model], *decoder, processor_, memory.input,
                                      memory.items};
    ModelResult& result = chosen_[i]->frame.models[model];
    if (const Status done = memory.tiles.run(network, *chosen_[i], result, spent_[i]); !done) {
      chosen_[i]->fail("model", done.error());
      shared_.records.model.errors.fetch_add(1, std::memory_order_relaxed);
    }
    count(model, *chosen_[i], spent_[i]);
  }
}

void NetworkRunner::count(std::size_t model, const Lane& lane, const NetworkTimes& spent) {
  NetworkRecords& records = shared_.records;
  records.convert.times.add(spent.convert);
  records.model.times.add(spent.model);
  records.decode.times.add(spent.decode);
  records.detections.fetch_add(lane.frame.models[model].detections.size(),
                               std::memory_order_relaxed);
}

Status NetworkRunner::convert(std::size_t model, Lane& lane, const Tensor& item,
                              NetworkTimes& spent) {
  const trace::Span span("pipeline.convert");
  const LaneTimer timer(lane, "convert", spent.convert);
  HALYARD_TRY(lane.frame.models[model].placement,
              prepare_input(shared_.models[model].preset, processor_, lane.frame.frame.image, item,
                            memories_[model].rgb, memories_[model].fit));
  return {};
}

Status NetworkRunner::infer(std::size_t model, std::size_t first, std::size_t count_in_batch) {
  const std::span lanes(chosen_.data() + first, count_in_batch);
  if (std::ranges::all_of(lanes, [](const Lane* lane) { return lane->frame.error.has_value(); }))
    return {};
  trace::Span span("pipeline.model");
  span.arg("frames", count_in_batch);
  const auto start = Clock::now();
  auto outputs = shared_.models[model].engine->run(memories_[model].input);
  const auto duration = Clock::now() - start;
  for (std::size_t i = 0; i < count_in_batch; ++i) {
    PipelineFrame& frame = lanes[i]->frame;
    frame.times.push_back({"model", start - frame.read, duration});
    spent_[first + i].model += duration;
  }
  if (!outputs) return outputs.error();
  outputs_ = *std::move(outputs);
  return {};
}

Status NetworkRunner::decode(std::size_t model, Lane& lane, std::size_t item, NetworkTimes& spent) {
  const trace::Span span("pipeline.decode");
  const LaneTimer timer(lane, "decode", spent.decode);
  ModelResult& result = lane.frame.models[model];
  HALYARD_RETURN_IF_ERROR(shared_.decoders.get(model)->decode_into(outputs_, result.decoded, item));
  result.detections = result.decoded.detections;
  result.detections = result.placement.to_source(std::move(result.detections));
  if (result.decoded.masks.empty()) return {};
  const auto& rule = shared_.models[model].mask_rule;
  if (rule) return prepare_masks(*rule, result.placement, result.decoded, result.masks);
  // Masks end at the network's input, and a weak box may reach far beyond it.
  clip_boxes(result.decoded.detections, result.placement.destination());
  return {};
}

}  // namespace halyard::pipeline
