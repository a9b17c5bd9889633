// SPDX-License-Identifier: Apache-2.0
// One call of a decoder: orders the tensors, converts boxes to their units, replaces boxes by
// tracks.
#include <algorithm>

#include <fmt/ranges.h>

#include "base/text/format_error.h"
#include "compat/byte_track.h"
#include "compat/decoder_state.h"
#include "compat/dequantize.h"

namespace halyard::compat {
namespace {

// Leading axes of 1 may be missing, and the batch extent may differ.
bool fits(const Tensor& tensor, const ExpectedTensor& expected) {
  if (tensor.rank() > expected.shape.size()) return false;
  const std::size_t missing = expected.shape.size() - tensor.rank();
  for (std::size_t i = 0; i < expected.shape.size(); ++i) {
    if (i < missing ? expected.shape[i] != 1
                    : expected.batch_axis != i && tensor.shape()[i - missing] != expected.shape[i])
      return false;
  }
  return true;
}

std::size_t batch_extent(const Tensor& tensor, const ExpectedTensor& expected) {
  const std::size_t missing = expected.shape.size() - tensor.rank();
  if (!expected.batch_axis || *expected.batch_axis < missing) return 1;
  return tensor.shape()[*expected.batch_axis - missing];
}

std::size_t described_batch(const Lowered& lowered) {
  for (const ExpectedTensor& tensor : lowered.tensors)
    if (tensor.batch_axis && !tensor.is_shared) return tensor.shape[*tensor.batch_axis];
  return 1;
}

std::span<const std::size_t> without_padding(std::span<const std::size_t> shape) {
  while (!shape.empty() && shape.back() == 1)
    shape = shape.first(shape.size() - 1);
  return shape;
}

// Ignores axes of 1 at the end, which some runtimes omit and others add.
bool fits_without_padding(const Tensor& tensor, const ExpectedTensor& expected) {
  const auto own = without_padding(tensor.shape());
  const auto wanted = without_padding(expected.shape);
  if (own.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i] != wanted[i] && expected.batch_axis != i) return false;
  return true;
}

// Adds or removes axes of 1 at the end to match the expected shape.
Result<Tensor> padded(const Tensor& tensor, const ExpectedTensor& expected) {
  if (fits(tensor, expected)) return tensor;
  const auto own = without_padding(tensor.shape());
  std::vector<std::size_t> shape(own.begin(), own.end());
  shape.resize(expected.shape.size(), 1);
  return tensor.reshape(shape);
}

bool is_exact(const Tensor& tensor, const ExpectedTensor& expected) {
  return std::equal(tensor.shape().begin(), tensor.shape().end(), expected.shape.begin(),
                    expected.shape.end());
}

// Finds a tensor by name; otherwise the first unused tensor of the shape.
std::optional<std::size_t> find(std::span<const Tensor> outputs, const ExpectedTensor& expected,
                                std::span<const bool> taken) {
  const auto first = [&](auto&& is_it) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (!taken[i] && is_it(outputs[i])) return i;
    return std::nullopt;
  };
  if (!expected.name.empty()) {
    const auto named =
        first([&](const Tensor& t) { return t.name() == expected.name && fits(t, expected); });
    if (named) return named;
  }
  auto found = first([&](const Tensor& t) { return is_exact(t, expected); });
  if (!found) found = first([&](const Tensor& t) { return fits(t, expected); });
  if (!found) found = first([&](const Tensor& t) { return fits_without_padding(t, expected); });
  return found;
}

bool any_name(std::span<const Tensor> outputs) {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const Tensor& tensor) { return !tensor.name().empty(); });
}

}  // namespace

void DecodeWork::release() {
  decoded.masks.prototypes = Tensor();
  tensors.clear();
}

Result<Tensor> Decoder::Impl::as_read(const Tensor& tensor, std::size_t i) const {
  if (lowered.segmentation == i || !needs_widening(tensor.dtype())) return tensor;
  const auto& described = lowered.tensors[i].quantization;
  const bool is_unknown = is_integer(tensor.dtype()) && !tensor.quantization() && !described;
  if (is_unknown && options.convention == Convention::native)
    return fail(Errc::invalid_argument,
                "outputs: an integer tensor needs quantization, its own or the description's",
                "output {}: dtype {}", i, to_string(tensor.dtype()));
  return widened(tensor, described);
}

Result<std::span<const Tensor>> Decoder::Impl::ordered(std::span<const Tensor> outputs,
                                                       DecodeWork& work) const {
  const auto& expected = lowered.tensors;
  if (outputs.empty()) return make_error(Errc::invalid_argument, "outputs: no tensor is given");
  const bool widens = std::any_of(outputs.begin(), outputs.end(), [](const Tensor& tensor) {
    return needs_widening(tensor.dtype());
  });
  if (!widens && outputs.size() == expected.size() && !any_name(outputs)) {
    bool in_order = true;
    for (std::size_t i = 0; i < expected.size() && in_order; ++i)
      in_order = fits(outputs[i], expected[i]);
    if (in_order) return outputs;
  }
  if (outputs.size() > 64)
    return fail(Errc::invalid_argument, "outputs: must be at most 64 tensors", "{}",
                outputs.size());
  std::array<bool, 64> taken{};
  work.tensors.clear();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto found = find(outputs, expected[i], std::span(taken).first(outputs.size()));
    if (!found) {
      std::string shapes;
      for (const Tensor& tensor : outputs)
        shapes +=
            fmt::format("{}[{}]", shapes.empty() ? "" : ", ", fmt::join(tensor.shape(), ", "));
      return fail(Errc::invalid_argument, "outputs: no tensor has the shape of an output",
                  "output {} is [{}]; given: {}", i, fmt::join(expected[i].shape, ", "), shapes);
    }
    taken[*found] = true;
    HALYARD_TRY(const Tensor shaped, padded(outputs[*found], expected[i]));
    HALYARD_TRY(Tensor tensor, as_read(shaped, i));
    work.tensors.push_back(std::move(tensor));
    work.tensors.back().set_name(expected[i].name);
  }
  return std::span<const Tensor>(work.tensors);
}

Result<std::size_t> Decoder::Impl::batch_of(std::span<const Tensor> ordered) const {
  std::optional<std::size_t> extent;
  for (std::size_t i = 0; i < lowered.tensors.size() && i < ordered.size(); ++i) {
    const ExpectedTensor& expected = lowered.tensors[i];
    const std::size_t own = batch_extent(ordered[i], expected);
    if (!expected.batch_axis || (expected.is_shared && own == 1)) continue;
    if (extent && *extent != own)
      return fail(Errc::invalid_argument, "outputs: batch extents of the tensors differ",
                  "{} and {}", *extent, own);
    extent = own;
  }
  return extent.value_or(1);
}

Result<std::size_t> Decoder::Impl::element(std::span<const Tensor> ordered,
                                           std::size_t asked) const {
  HALYARD_TRY(const std::size_t extent, batch_of(ordered));
  const std::size_t described = compat::described_batch(lowered);
  if (options.convention == Convention::reference && extent > 1 && extent != described)
    return fail(Errc::invalid_argument, "outputs: the batch differs from the description's",
                "{}, described as {}", extent, described);
  if (options.convention == Convention::native && extent > 1 && asked == only_element)
    return fail(Errc::invalid_argument, "batch: must be given for tensors of several elements",
                "{} elements", extent);
  return asked == only_element ? 0 : asked;
}

Result<std::size_t> Decoder::batch_size(std::span<const Tensor> outputs) const {
  const DecodeLease work(impl_->pool);
  HALYARD_TRY(const auto tensors, impl_->ordered(outputs, *work));
  return impl_->batch_of(tensors);
}

std::size_t Decoder::described_batch() const noexcept {
  return compat::described_batch(impl_->lowered);
}

namespace {

// Keeps the first `count` boxes and the data that belongs to them.
void keep_first(Decoded& decoded, std::size_t count) {
  decoded.detections.resize(count);
  decoded.rotated.resize(std::min(decoded.rotated.size(), count));
  decoded.keypoints.resize(std::min(decoded.keypoints.size(), count * decoded.keypoints_each));
  MaskPrototypes& masks = decoded.masks;
  const std::size_t numbers = count * masks.channels;
  masks.coefficients.resize(std::min(masks.coefficients.size(), numbers));
  masks.stored.resize(std::min(masks.stored.size(), numbers));
}

// Converts pixels of the input to fractions of it.
void divide(Decoded& decoded, Size input) {
  if (input.width != input.height) decoded.rotated.clear();
  const auto width = static_cast<float>(input.width);
  const auto height = static_cast<float>(input.height);
  for (Detection& each : decoded.detections) {
    Box& box = each.box;
    box = {box.x1 / width, box.y1 / height, box.x2 / width, box.y2 / height};
  }
  for (Keypoint& each : decoded.keypoints)
    each.at = {each.at.x / width, each.at.y / height};
  for (RotatedBox& each : decoded.rotated)
    each = {each.cx / width, each.cy / width, each.width / width, each.height / width, each.angle};
}

}  // namespace

Status Decoder::Impl::detect(std::span<const Tensor> ordered, DecodeWork& work,
                             std::size_t max_boxes, std::size_t batch) const {
  Decoded& decoded = work.decoded;
  if (!decoder) {
    decoded = Decoded();
    return {};
  }
  HALYARD_RETURN_IF_ERROR(decoder->decode_into(ordered, decoded, batch));
  std::size_t count = std::min({decoded.detections.size(), options.max_det, max_boxes});
  // The decoder's scores are at most 1, so a threshold above 1 must remove all boxes.
  if (options.score_threshold > 1) {
    const auto below =
        std::find_if(decoded.detections.begin(), decoded.detections.end(),
                     [&](const Detection& box) { return box.score < options.score_threshold; });
    count = std::min(count, static_cast<std::size_t>(below - decoded.detections.begin()));
  }
  keep_first(decoded, count);
  if (options.convention == Convention::native) return {};
  if (lowered.has_masks) decoded.masks.input = {1, 1};  // boxes are fractions
  if (lowered.scale == BoxScale::by_input) divide(decoded, *lowered.input);
  return {};
}

namespace {

// Keeps the listed rows of `from`; a row has `each` elements.
template <class T>
void keep_rows(std::vector<T>& from, std::size_t each, std::span<const std::uint32_t> rows) {
  if (from.empty()) return;
  std::vector<T> kept;
  kept.reserve(rows.size() * each);
  for (const std::uint32_t row : rows)
    for (std::size_t k = 0; k < each; ++k)
      kept.push_back(from[row * each + k]);
  from = std::move(kept);
}

}  // namespace

Status Decoder::Impl::track(ByteTrack& tracker, std::uint64_t timestamp, DecodeWork& work,
                            std::vector<TrackInfo>& infos, std::vector<std::uint64_t>* ids,
                            std::size_t& live, std::size_t max_boxes) const {
  ByteTrack::Impl& state = *tracker.impl_;
  const ForkLock lock(state.mutex);
  if (!lock) return make_error(Errc::busy, ByteTrack::Impl::in_fork);
  HALYARD_RETURN_IF_ERROR(state.advance(work.decoded.detections, timestamp));
  const std::size_t count = std::min(state.tracks.size(), max_boxes);
  live = std::min(state.seen, count);
  return put(std::span(state.tracks).first(count), state.seed, live, work, infos, ids);
}

Status Decoder::Impl::track(const AnyTracker& any, std::uint64_t timestamp, DecodeWork& work,
                            std::vector<TrackInfo>& infos, std::vector<std::uint64_t>* ids,
                            std::size_t& live, std::size_t max_boxes) const {
  HALYARD_TRY(const std::chrono::nanoseconds when, time_of(timestamp));
  HALYARD_RETURN_IF_ERROR(any.tracker.update(work.decoded.detections, when, work.tracks));
  std::erase_if(work.tracks,
                [](const Track& track) { return track.state == TrackState::tentative; });
  const std::size_t seen = seen_first(work.tracks);
  const std::size_t count = std::min(work.tracks.size(), max_boxes);
  live = std::min(seen, count);
  return put(std::span(work.tracks).first(count), any.seed, live, work, infos, ids);
}

Status Decoder::Impl::put(std::span<const Track> tracks, UuidSeed seed, std::size_t live,
                          DecodeWork& work, std::vector<TrackInfo>& infos,
                          std::vector<std::uint64_t>* ids) const {
  work.rows.clear();
  for (const Track& track : tracks.first(live))
    work.rows.push_back(static_cast<std::uint32_t>(track.detection));
  if (lowered.has_masks && !work.decoded.masks.empty())
    HALYARD_RETURN_IF_ERROR(work.decoded.masks.select(work.rows));
  keep_rows(work.decoded.rotated, 1, work.rows);
  keep_rows(work.decoded.keypoints, work.decoded.keypoints_each, work.rows);
  work.decoded.detections.clear();
  infos.clear();
  if (ids != nullptr) ids->clear();
  for (const Track& track : tracks) {
    work.decoded.detections.push_back({track.box, track.score, track.label, -1});
    infos.push_back(info_of(track, seed));
    if (ids != nullptr) ids->push_back(track.id);
  }
  return {};
}

}  // namespace halyard::compat
