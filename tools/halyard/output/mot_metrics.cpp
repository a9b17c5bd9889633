// SPDX-License-Identifier: Apache-2.0
// HOTA, CLEAR MOT and identity scores, all from the sparse list of overlapping pairs.
#include "output/mot_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "halyard/assignment.h"
#include "halyard/geometry.h"

namespace halyard::tool {
namespace {

constexpr double match_limit = 0.5;
constexpr std::size_t alphas = 19;
constexpr std::size_t max_overlaps = std::size_t{1} << 24;  // 268 MB
constexpr std::uint64_t max_identity_work = std::uint64_t{1} << 34;
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

double alpha_of(std::size_t i) {
  return 0.05 + 0.05 * static_cast<double>(i);
}

/// Maps ids to 0, 1, 2, ... in order of appearance, and counts the boxes of each.
class Ids {
 public:
  std::uint32_t add(std::int64_t id) {
    const auto [entry, is_new] = index_.try_emplace(id, static_cast<std::uint32_t>(counts_.size()));
    if (is_new) counts_.push_back(0);
    ++counts_[entry->second];
    return entry->second;
  }
  std::size_t size() const { return counts_.size(); }
  double boxes_of(std::uint32_t index) const { return static_cast<double>(counts_[index]); }

 private:
  std::unordered_map<std::int64_t, std::uint32_t> index_;
  std::vector<std::uint64_t> counts_;
};

struct MotOverlap {
  std::uint32_t row, column;  ///< indices into the frame's ids
  double iou;                 ///< above 0
};

struct MotFrame {
  std::vector<std::uint32_t> truth, result;  ///< ids
  std::vector<MotOverlap> overlaps;          ///< by row, then column
};

/// An id of the truth and one of the result, over the whole sequence.
using IdPair = std::pair<std::uint32_t, std::uint32_t>;

struct Sequence {
  std::vector<MotFrame> frames;
  Ids truth, result;
  std::uint64_t truth_boxes = 0, result_boxes = 0;
};

RegionF region(const MotBox& box) {
  return {box.left, box.top, box.width, box.height};
}

Error too_many(const char* what, std::uint64_t seen, std::uint64_t maximum) {
  return make_error(Errc::exhausted, what, fmt::format("{}, at most {}", seen, maximum));
}

/// Adds the overlapping pairs of a frame. Returns false if there are more than `room`.
bool add_overlaps(const std::vector<MotBox>& rows, const std::vector<MotBox>& columns,
                  std::size_t room, std::vector<MotOverlap>& out) {
  for (std::uint32_t r = 0; r < rows.size(); ++r) {
    for (std::uint32_t c = 0; c < columns.size(); ++c) {
      const double overlap = iou(region(rows[r]), region(columns[c]));
      if (!(overlap > 0)) continue;
      if (out.size() == room) return false;
      out.push_back({r, c, overlap});
    }
  }
  return true;
}

/// Contains only frames with boxes: the others change no score.
Result<Sequence> sequence_of(const MotFrames& truth, const MotFrames& result) {
  Sequence out;
  const std::vector<MotBox> none;
  const auto boxes_of = [&](const MotFrames& frames, std::size_t index) -> const auto& {
    const auto found = frames.find(index);
    return found == frames.end() ? none : found->second;
  };
  std::set<std::size_t> indices;
  for (const MotFrames* frames : {&truth, &result})
    for (const auto& [index, boxes] : *frames)
      indices.insert(index);
  std::size_t room = max_overlaps;
  for (const std::size_t index : indices) {
    MotFrame& frame = out.frames.emplace_back();
    const auto& rows = boxes_of(truth, index);
    const auto& columns = boxes_of(result, index);
    for (const MotBox& box : rows)
      frame.truth.push_back(out.truth.add(box.id));
    for (const MotBox& box : columns)
      frame.result.push_back(out.result.add(box.id));
    if (!add_overlaps(rows, columns, room, frame.overlaps))
      return too_many("boxes of the truth and of tracks overlap in too many pairs",
                      max_overlaps + 1, max_overlaps);
    room -= frame.overlaps.size();
    out.truth_boxes += rows.size();
    out.result_boxes += columns.size();
  }
  return out;
}

/// The pairs of a frame with the max total worth. A pair with `worth(overlap)` <= 0 is not a
/// candidate.
template <class Worth>
Result<std::vector<MotOverlap>> best_pairs(Assignment& assignment, const MotFrame& frame,
                                           Worth worth) {
  std::vector<AssignmentPair> pairs;
  for (const MotOverlap& o : frame.overlaps) {
    if (const double w = worth(o); w > 0) pairs.push_back({o.row, o.column, -w});
  }
  HALYARD_TRY(const auto chosen,
              assignment.cheapest(pairs, frame.truth.size(), frame.result.size(), 0));
  std::vector<MotOverlap> out;
  for (const MotOverlap& o : frame.overlaps) {
    if (chosen[o.row] == static_cast<std::int32_t>(o.column)) out.push_back(o);
  }
  return out;
}

/// How well two ids agree over the whole sequence, computed before any frame is matched: HOTA's
/// matching prefers pairs that also suit association.
std::map<IdPair, double> alignment_of(const Sequence& sequence) {
  std::map<IdPair, double> agreed;
  for (const MotFrame& frame : sequence.frames) {
    std::vector<double> of_row(frame.truth.size()), of_column(frame.result.size());
    for (const MotOverlap& o : frame.overlaps) {
      of_row[o.row] += o.iou;
      of_column[o.column] += o.iou;
    }
    for (const MotOverlap& o : frame.overlaps) {
      agreed[{frame.truth[o.row], frame.result[o.column]}] +=
          o.iou / (of_row[o.row] + of_column[o.column] - o.iou);
    }
  }
  for (auto& [ids, sum] : agreed)
    sum /= sequence.truth.boxes_of(ids.first) + sequence.result.boxes_of(ids.second) - sum;
  return agreed;
}

Status add_hota(const Sequence& sequence, MotScores& scores) {
  const std::map<IdPair, double> alignment = alignment_of(sequence);
  std::map<IdPair, std::array<double, alphas>> matches;
  std::array<double, alphas> count{}, iou_sum{};
  Assignment assignment;
  for (const MotFrame& frame : sequence.frames) {
    HALYARD_TRY(const auto chosen, best_pairs(assignment, frame, [&](const MotOverlap& o) {
                  return o.iou * alignment.at({frame.truth[o.row], frame.result[o.column]});
                }));
    for (const MotOverlap& o : chosen) {
      auto& own = matches[{frame.truth[o.row], frame.result[o.column]}];
      for (std::size_t a = 0; a < alphas && o.iou >= alpha_of(a) - epsilon; ++a) {
        ++own[a];
        ++count[a];
        iou_sum[a] += o.iou;
      }
    }
  }
  const auto boxes = static_cast<double>(sequence.truth_boxes + sequence.result_boxes);
  for (std::size_t a = 0; a < alphas; ++a) {
    double association = 0;
    for (const auto& [ids, own] : matches) {
      const double all = sequence.truth.boxes_of(ids.first) + sequence.result.boxes_of(ids.second);
      association += own[a] * own[a] / std::max(1.0, all - own[a]);
    }
    const double det_a = count[a] / std::max(1.0, boxes - count[a]);
    const double ass_a = association / std::max(1.0, count[a]);
    scores.det_a += det_a / alphas;
    scores.ass_a += ass_a / alphas;
    scores.hota += std::sqrt(det_a * ass_a) / alphas;
    scores.loc_a += (count[a] > 0 ? iou_sum[a] / count[a] : 1) / alphas;
  }
  return {};
}

Status add_clear(const Sequence& sequence, MotScores& scores) {
  std::vector<std::uint32_t> last(sequence.truth.size(), nobody);    // in any earlier frame
  std::vector<std::uint32_t> before(sequence.truth.size(), nobody);  // in the previous frame
  double iou_sum = 0;
  Assignment assignment;
  for (const MotFrame& frame : sequence.frames) {
    if (frame.truth.empty() || frame.result.empty()) continue;
    HALYARD_TRY(const auto chosen, best_pairs(assignment, frame, [&](const MotOverlap& o) {
                  if (o.iou < match_limit - epsilon) return 0.0;
                  const bool is_kept = before[frame.truth[o.row]] == frame.result[o.column];
                  return (is_kept ? 1000 : 0) + o.iou;
                }));
    std::fill(before.begin(), before.end(), nobody);
    for (const MotOverlap& o : chosen) {
      const std::uint32_t id = frame.truth[o.row];
      const std::uint32_t found = frame.result[o.column];
      if (last[id] != nobody && last[id] != found) ++scores.switches;
      last[id] = before[id] = found;
      iou_sum += o.iou;
    }
    scores.matches += chosen.size();
  }
  scores.misses = sequence.truth_boxes - scores.matches;
  scores.false_alarms = sequence.result_boxes - scores.matches;
  const double wrong = static_cast<double>(scores.misses + scores.false_alarms + scores.switches);
  scores.mota = 1 - wrong / std::max(1.0, static_cast<double>(sequence.truth_boxes));
  scores.motp = iou_sum / std::max(1.0, static_cast<double>(scores.matches));
  return {};
}

Status add_identity(const Sequence& sequence, MotScores& scores) {
  std::map<IdPair, double> together;  // count of frames in which two ids match
  for (const MotFrame& frame : sequence.frames) {
    for (const MotOverlap& o : frame.overlaps) {
      if (o.iou >= match_limit) ++together[{frame.truth[o.row], frame.result[o.column]}];
    }
  }
  const std::uint64_t work = std::uint64_t{together.size()} * sequence.truth.size();
  if (work > max_identity_work)
    return too_many("identities of the truth times their pairs with tracks are too many", work,
                    max_identity_work);
  std::vector<AssignmentPair> pairs;
  for (const auto& [ids, frames] : together)
    pairs.push_back({ids.first, ids.second, -frames});
  Assignment assignment;
  HALYARD_TRY(const auto chosen,
              assignment.cheapest(pairs, sequence.truth.size(), sequence.result.size(), 0));
  double matched = 0;
  for (const AssignmentPair& pair : pairs) {
    if (chosen[pair.row] == static_cast<std::int32_t>(pair.column)) matched -= pair.cost;
  }
  const auto truth = static_cast<double>(sequence.truth_boxes);
  const auto result = static_cast<double>(sequence.result_boxes);
  scores.id_recall = matched / std::max(1.0, truth);
  scores.id_precision = matched / std::max(1.0, result);
  scores.idf1 = 2 * matched / std::max(1.0, truth + result);
  return {};
}

}  // namespace

Result<MotScores> evaluate_mot(const MotFrames& truth, const MotFrames& result) {
  HALYARD_TRY(const Sequence sequence, sequence_of(truth, result));
  MotScores scores;
  scores.truth_boxes = sequence.truth_boxes;
  scores.result_boxes = sequence.result_boxes;
  scores.truth_ids = sequence.truth.size();
  scores.result_ids = sequence.result.size();
  HALYARD_RETURN_IF_ERROR(add_hota(sequence, scores));
  HALYARD_RETURN_IF_ERROR(add_clear(sequence, scores));
  HALYARD_RETURN_IF_ERROR(add_identity(sequence, scores));
  return scores;
}

}  // namespace halyard::tool
