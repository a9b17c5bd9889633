// SPDX-License-Identifier: Apache-2.0
// Compares requests with those that were compiled.
#include "image/plan_cache.h"

#include <algorithm>
#include <utility>

namespace halyard::image {
namespace {

bool same_layout(const Layout& a, const Layout& b) noexcept {
  return a.rank == b.rank &&
         std::equal(a.shape.begin(), a.shape.begin() + a.rank, b.shape.begin()) &&
         std::equal(a.stride_bytes.begin(), a.stride_bytes.begin() + a.rank,
                    b.stride_bytes.begin());
}

}  // namespace

TensorKey::TensorKey(const Tensor& tensor)
    : dtype_(tensor.dtype()),
      format_(tensor.format()),
      size_(tensor.size()),
      orientation_(tensor.orientation()),
      colorimetry_(tensor.colorimetry()),
      layout_(tensor.layout()),
      quantization_(tensor.quantization()) {}

bool TensorKey::fits(const Tensor& tensor) const noexcept {
  return format_ == tensor.format() && size_ == tensor.size() &&
         orientation_ == tensor.orientation() && dtype_ == tensor.dtype() &&
         (format_ || same_layout(layout_, tensor.layout())) &&
         colorimetry_ == tensor.colorimetry() && quantization_ == tensor.quantization();
}

const CompiledPtr* PlanCache::find(const Convert& request, const Tensor& src, const Tensor& dst,
                                   ColorimetryMode mode) noexcept {
  const auto asked = request_key_of(request);
  const auto found = std::find_if(plans_.begin(), plans_.end(), [&](const CompiledPtr& compiled) {
    return compiled->request == asked && compiled->src.fits(src) && compiled->dst.fits(dst) &&
           compiled->plan.exact == (mode == ColorimetryMode::exact);
  });
  if (found == plans_.end()) return nullptr;
  std::rotate(plans_.begin(), found, found + 1);
  return &plans_.front();
}

const CompiledPtr& PlanCache::add(CompiledPtr plan) {
  if (plans_.size() == capacity) plans_.pop_back();
  plans_.insert(plans_.begin(), std::move(plan));
  return plans_.front();
}

}  // namespace halyard::image
