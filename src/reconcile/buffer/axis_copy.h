// SPDX-License-Identifier: Apache-2.0
// Copies tensors between orders of axes.
#pragma once

#include <cstddef>
#include <optional>

#include "halyard/attributes.h"
#include "halyard/tensor.h"
#include "reconcile/merge/draft.h"

namespace halyard {

/// The place of element (n, c, h, w) of a tensor: channels come in blocks of x.
struct AxisView {
  std::size_t n = 1, c = 1, h = 1, w = 1;
  std::size_t x = 1;         ///< 1 for NCHW, all channels for NHWC
  std::size_t channels = 1;  ///< stored channels, including padding
  std::ptrdiff_t stride_n = 0, stride_block = 0, stride_h = 0, stride_w = 0, stride_c = 0;
};

AxisView axis_view(const TensorDraft& tensor);
/// The view of a program's tensor, whose axes are in `order`. It must have the extents of `other`.
/// Errors: invalid_argument.
Result<AxisView> axis_view(const Layout& layout, AxisOrder order, const AxisView& other);

/// Copies all elements. `element` is their size in bytes: 1, 2, 4 or 8.
void copy_elements(const std::byte* from, const AxisView& source, std::byte* to,
                   const AxisView& destination, std::size_t element);
/// Writes a byte to all channels that are padding.
void fill_padding_channels(std::byte* to, const AxisView& destination, std::size_t element,
                           std::byte value);

}  // namespace halyard
