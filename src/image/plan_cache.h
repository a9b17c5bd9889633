// SPDX-License-Identifier: Apache-2.0
// PlanCache: compiled plans of the last few geometries, found by everything that a plan depends on.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "halyard/image.h"
#include "image/dispatch.h"
#include "image/plan.h"

namespace halyard::image {

/// The properties of a tensor that plans depend on. Bytes and strides are not among them, except
/// for the strides of a plain tensor: they decide whether it can be read as an image.
class TensorKey {
 public:
  explicit TensorKey(const Tensor& tensor);
  bool fits(const Tensor& tensor) const noexcept;

 private:
  DType dtype_;
  std::optional<PixelFormat> format_;
  Size size_;
  Orientation orientation_;
  Colorimetry colorimetry_;
  Layout layout_;  ///< of a plain tensor
  std::optional<Quantization> quantization_;
};

/// The fields of a request other than its tensors, as a tuple of references. A field that is added
/// to Convert does not compile until it is named here.
inline auto request_key_of(const Convert& request) noexcept {
  const auto& [src, dst, crop, orientation, flip, rotation, fit, letterbox, place, pad, filter,
               antialias, chroma, alpha, bgr, source_bits, normalize, affine] = request;
  return std::tie(crop, orientation, flip, rotation, fit, letterbox, place, pad, filter, antialias,
                  chroma, alpha, bgr, source_bits, normalize, affine);
}
template <class... Word>
std::tuple<Word...> copy_request_key(const std::tuple<const Word&...>& request) {
  return request;
}
using RequestKey = decltype(copy_request_key(request_key_of(Convert{})));

/// A plan and its programs. Immutable, so that threads may share it.
struct CompiledPlan {
  TensorKey src;
  TensorKey dst;
  RequestKey request;
  Plan plan;
  /// One of each backend that accepts the plan, by Dispatch's numbers; null: it declines. The
  /// tensors of a run decide which one runs.
  std::array<std::shared_ptr<const BackendProgram>, Dispatch::count> programs = {};
};
using CompiledPtr = std::shared_ptr<const CompiledPlan>;

/// The plans used last, of at most `capacity` geometries: enough for the tiles of a 4K frame. For
/// one thread at a time.
class PlanCache {
 public:
  static constexpr std::size_t capacity = 64;

  /// Null if there is none. Allocates nothing; valid until the next add().
  const CompiledPtr* find(const Convert& request, const Tensor& src, const Tensor& dst,
                          ColorimetryMode mode) noexcept;
  /// Replaces the plan that was unused for longest, if the cache is full.
  const CompiledPtr& add(CompiledPtr plan);

 private:
  std::vector<CompiledPtr> plans_;  ///< the one used last is first
};

}  // namespace halyard::image
