// SPDX-License-Identifier: Apache-2.0
// Rules of levels: parts of which each holds the cells of one stride.
#include <algorithm>

#include "base/text/format_error.h"
#include "decode/description/shapes.h"
#include "decode/description/validate.h"
#include "decode/description/validate_levels.h"

namespace halyard::decode {
namespace {

using Role = OutputRole;

struct LevelShape {
  const OutputDescription* part = nullptr;
  std::string path;
  GridAxes axes;
  std::size_t rows() const { return part->shape[axes.height]; }
  std::size_t columns() const { return part->shape[axes.width]; }
};

bool covers(const LevelShape& level, Size input) {
  return level.rows() == cells_along(input.height, level.part->stride->y) &&
         level.columns() == cells_along(input.width, level.part->stride->x);
}

Status check_channels(const OutputDescription& whole, const LevelShape& level) {
  const std::size_t channels = level.part->shape[level.axes.channels];
  const std::string at = fmt::format("{}.shape[{}]", level.path, level.axes.channels);
  if (whole.role != Role::boxes || whole.encoding == BoxEncoding::anchor) return {};
  const bool is_direct = whole.encoding && whole.encoding != BoxEncoding::dfl;
  if (is_direct) {
    if (channels == 4) return {};
    return wrong(at, fmt::to_string(channels),
                 fmt::format("channels of {} must be 4", to_string(*whole.encoding)));
  }
  if (channels % 4 != 0)
    return wrong(at, fmt::to_string(channels), "channels of dfl must be a multiple of 4");
  if (channels / 4 > max_bins) {
    return not_served(at, fmt::to_string(channels),
                      fmt::format("at most {} bins per side", max_bins));
  }
  return {};
}

Result<LevelShape> read_level(const OutputDescription& part, std::string path, Size input) {
  const auto axes = grid_axes(part);
  if (rank_of(part) != 4)
    return wrong(path + ".shape", text_of(part.shape), "rank of a level must be 4");
  if (!axes) {
    return wrong(path + ".dshape", text_of(part.shape),
                 "needs height, width and channels second or last");
  }
  LevelShape level{&part, std::move(path), *axes};
  const bool is_known = input.width > 0 && input.height > 0;
  if (!is_known || covers(level, input)) return level;
  const std::string_view advice =
      has_names(part) ? "" : "; without names the order is batch, height, width, channels";
  return wrong(level.path + ".shape", text_of(part.shape),
               fmt::format("{} rows and {} columns of stride {} do not cover an input of {} x {}{}",
                           level.rows(), level.columns(), part.stride->x, input.width, input.height,
                           advice));
}

// Levels of one role, smallest stride first.
Result<std::vector<LevelShape>> read_levels(const OutputDescription& whole, std::size_t index,
                                            Size input) {
  std::vector<LevelShape> out;
  for (std::size_t i = 0; i < whole.parts.size(); ++i) {
    const OutputDescription& part = whole.parts[i];
    if (part.role == Role::auxiliary || !part.stride) continue;
    HALYARD_TRY(LevelShape level,
                read_level(part, fmt::format("outputs[{}].outputs[{}]", index, i), input));
    HALYARD_RETURN_IF_ERROR(check_channels(whole, level));
    out.push_back(std::move(level));
  }
  std::sort(out.begin(), out.end(), [](const LevelShape& a, const LevelShape& b) {
    return std::pair(a.part->stride->x, a.part->stride->y) <
           std::pair(b.part->stride->x, b.part->stride->y);
  });
  return out;
}

std::string strides_text(const std::vector<LevelShape>& levels) {
  std::string out;
  for (const LevelShape& level : levels)
    out += fmt::format("{}{}", out.empty() ? "" : ", ", level.part->stride->x);
  return "[" + out + "]";
}

Status check_same(const std::vector<LevelShape>& own, const std::vector<LevelShape>& first,
                  const std::string& path) {
  const auto same = [](const LevelShape& a, const LevelShape& b) {
    return a.part->stride == b.part->stride;
  };
  if (!std::equal(own.begin(), own.end(), first.begin(), first.end(), same)) {
    return wrong(path, "strides " + strides_text(own),
                 "boxes have the strides " + strides_text(first));
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].rows() != first[i].rows() || own[i].columns() != first[i].columns()) {
      return wrong(own[i].path + ".shape", text_of(own[i].part->shape),
                   fmt::format("must have the same cells as {}, {}", first[i].path,
                               text_of(first[i].part->shape)));
    }
    if (own[i].axes.channels_last() != first[i].axes.channels_last()) {
      return wrong(own[i].path + ".dshape", text_of(own[i].part->shape),
                   fmt::format("must have the same order of axes as {}", first[i].path));
    }
  }
  return {};
}

}  // namespace

Status check_levels(const ModelDescription& description) {
  const auto& outputs = description.outputs;
  const auto boxes = std::find_if(outputs.begin(), outputs.end(), [](const auto& output) {
    return output.role == Role::boxes && !output.parts.empty() && output.parts.front().stride;
  });
  const auto index = static_cast<std::size_t>(boxes - outputs.begin());
  std::vector<LevelShape> first;
  if (boxes != outputs.end()) {
    HALYARD_TRY(first, read_levels(*boxes, index, description.input));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const OutputDescription& output = outputs[i];
    if (i == index || output.role == Role::auxiliary) continue;
    const std::string path = fmt::format("outputs[{}]", i);
    const bool has_levels = !output.parts.empty() && output.parts.front().stride.has_value();
    const bool needs_levels = boxes != outputs.end() && output.role == Role::scores;
    if (!has_levels && !needs_levels) continue;
    HALYARD_TRY(const auto own, read_levels(output, i, description.input));
    if (boxes != outputs.end()) HALYARD_RETURN_IF_ERROR(check_same(own, first, path));
  }
  return {};
}

}  // namespace halyard::decode
