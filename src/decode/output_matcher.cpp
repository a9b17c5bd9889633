// SPDX-License-Identifier: Apache-2.0
// Finds outputs by name, else by shape: the first tensor that fits.
#include "halyard/output_matcher.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/text/format_error.h"
#include "decode/description/shapes.h"
#include "decode/matching.h"

namespace halyard {
namespace {

using Shape = std::span<const std::size_t>;

constexpr std::size_t max_tensors = 64;  // bits of `taken`

std::optional<std::size_t> batch_axis_of(const OutputDescription& output) {
  if (output.axes.empty())
    return output.shape.empty() ? std::nullopt : std::optional<std::size_t>(0);
  return decode::find_axis(output, AxisName::batch);
}

Shape without_end(Shape shape) {
  while (!shape.empty() && shape.back() == 1)
    shape = shape.first(shape.size() - 1);
  return shape;
}

std::string shapes_given(std::span<const Tensor> tensors) {
  std::string out;
  for (const Tensor& tensor : tensors)
    out += (out.empty() ? "" : ", ") + decode::text_of(tensor.shape());
  return out;
}

}  // namespace

OutputMatcher::OutputMatcher(const ModelDescription& description) {
  for (const OutputDescription& output : description.outputs) {
    if (output.parts.empty())
      outputs_.push_back(output);
    else
      outputs_.insert(outputs_.end(), output.parts.begin(), output.parts.end());
  }
  for (const OutputDescription& output : outputs_)
    batch_axes_.push_back(batch_axis_of(output));
}

bool OutputMatcher::fits(const Tensor& tensor, std::size_t output) const {
  return decode::missing_axes(tensor, outputs_[output].shape, batch_axes_[output]).has_value();
}

// Some runtimes omit axes of 1 at the end, and others add them.
bool OutputMatcher::fits_without_end(const Tensor& tensor, std::size_t output) const {
  const Shape own = without_end(tensor.shape());
  const Shape wanted = without_end(outputs_[output].shape);
  if (own.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i] != wanted[i] && batch_axes_[output] != i) return false;
  return true;
}

std::optional<std::size_t> OutputMatcher::find(std::span<const Tensor> tensors, std::uint64_t taken,
                                               std::size_t output) const {
  const OutputDescription& wanted = outputs_[output];
  const auto first = [&](auto&& is_it) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if ((taken >> i & 1) == 0 && is_it(tensors[i])) return i;
    return std::nullopt;
  };
  const auto is_named = [&](const Tensor& t) {
    return !wanted.name.empty() && t.name() == wanted.name && fits(t, output);
  };
  const auto is_exact = [&](const Tensor& t) {
    return std::ranges::equal(t.shape(), wanted.shape);
  };
  auto found = first(is_named);
  if (!found) found = first(is_exact);
  if (!found) found = first([&](const Tensor& t) { return fits(t, output); });
  if (!found) found = first([&](const Tensor& t) { return fits_without_end(t, output); });
  return found;
}

Result<std::span<const Tensor>> OutputMatcher::match(std::span<const Tensor> tensors,
                                                     std::vector<Tensor>& storage) const {
  if (tensors.empty()) return make_error(Errc::invalid_argument, "outputs: no tensor is given");
  bool is_in_order = tensors.size() == outputs_.size();
  for (std::size_t i = 0; i < tensors.size() && is_in_order; ++i)
    is_in_order = tensors[i].name().empty() && fits(tensors[i], i);
  if (is_in_order) return tensors;
  if (tensors.size() > max_tensors)
    return fail(Errc::invalid_argument, "outputs: must be at most 64 tensors", "{}",
                tensors.size());
  storage.clear();
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto found = find(tensors, taken, i);
    if (!found)
      return fail(Errc::invalid_argument, "outputs: no tensor has the shape of an output",
                  "output {} is {}; given: {}", i, decode::text_of(outputs_[i].shape),
                  shapes_given(tensors));
    taken |= std::uint64_t{1} << *found;
    Tensor tensor = tensors[*found];
    if (!fits(tensor, i)) {
      const Shape own = without_end(tensor.shape());
      std::vector<std::size_t> shape(own.begin(), own.end());
      shape.resize(outputs_[i].shape.size(), 1);
      HALYARD_TRY(tensor, tensor.reshape(shape));
    }
    tensor.set_name(outputs_[i].name);
    storage.push_back(std::move(tensor));
  }
  return std::span<const Tensor>(storage);
}

Result<std::size_t> OutputMatcher::batch_extent(std::span<const Tensor> matched) const {
  std::optional<std::size_t> extent;
  for (std::size_t i = 0; i < outputs_.size() && i < matched.size(); ++i) {
    const std::size_t missing = outputs_[i].shape.size() - matched[i].rank();
    const std::size_t own = decode::batch_extent(matched[i], batch_axes_[i], missing);
    if (!batch_axes_[i] || decode::is_shared(outputs_[i].role, own)) continue;
    if (extent && *extent != own)
      return fail(Errc::invalid_argument, "outputs: batch extents of the tensors differ",
                  "{} and {}", *extent, own);
    extent = own;
  }
  return extent.value_or(1);
}

std::size_t OutputMatcher::described_batch() const noexcept {
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (batch_axes_[i] && outputs_[i].role != OutputRole::priors)
      return outputs_[i].shape[*batch_axes_[i]];
  return 1;
}

}  // namespace halyard
