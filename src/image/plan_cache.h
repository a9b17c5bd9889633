// SPDX-License-Identifier: Apache-2.0
// Compiled plans of the last few geometries, found by all that a plan depends on.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "halyard/image.h"
#include "image/backend.h"
#include "image/plan.h"

namespace halyard::image {

/// All of a tensor that plans depend on. Bytes and strides are none of it, but for the strides of
/// a plain tensor: whether it can be read as an image hangs on them.
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

/// The fields of a request beside its tensors, in one tuple of references. A field that is added to
/// Convert does not compile before it is named here.
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

/// A plan with what its backend made of it. Immutable, so that threads may share it.
struct CompiledPlan {
  TensorKey src;
  TensorKey dst;
  RequestKey request;
  Plan plan;
  std::shared_ptr<const BackendProgram> program;
  std::size_t backend = 0;  ///< Dispatch's number of who compiled it
  std::string_view backend_name = {};
};
using CompiledPtr = std::shared_ptr<const CompiledPlan>;

/// The plans used last, of at most `capacity` geometries: enough for the tiles of a 4K frame.
/// Thread-bound.
class PlanCache {
 public:
  static constexpr std::size_t capacity = 64;

  /// Null where there is none. Allocates nothing; valid until the next add().
  const CompiledPtr* find(const Convert& request, const Tensor& src, const Tensor& dst,
                          ColorimetryMode mode) noexcept;
  /// Takes the place of the one that was not used for longest.
  const CompiledPtr& add(CompiledPtr plan);

 private:
  std::vector<CompiledPtr> plans_;  ///< the one used last in front
};

}  // namespace halyard::image
