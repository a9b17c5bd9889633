// SPDX-License-Identifier: Apache-2.0
// OutputMatcher: finds a model's outputs among the tensors that a runtime gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halyard/description.h"
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Decoder takes exactly the described tensors and refuses what is ambiguous. This is for runtimes
/// that give them in any order, beside others, or without axes of extent 1: the first tensor that
/// fits is taken. Immutable; thread-safe.
class OutputMatcher {
 public:
  explicit OutputMatcher(const ModelDescription& description);

  /// The tensors that are wanted, in order: the outputs, and instead of an output its parts.
  const std::vector<OutputDescription>& outputs() const noexcept { return outputs_; }

  /// Returns a tensor for each of outputs(), as Decoder takes them: `tensors` itself where nothing
  /// has to change, else `storage`. For each output in turn it is the first unused tensor that has
  /// its name and fits; else the first of exactly its shape; else the first that fits, which may
  /// lack leading axes of 1 and have another batch extent; else the first that differs from that in
  /// axes of 1 at its end. Errors: invalid_argument (no tensor, none for an output, more than 64).
  Result<std::span<const Tensor>> match(std::span<const Tensor> tensors,
                                        std::vector<Tensor>& storage) const;

  /// Number of batch elements in matched tensors. One table of priors may serve all. Errors:
  /// invalid_argument (extents differ).
  Result<std::size_t> batch_extent(std::span<const Tensor> matched) const;
  /// The batch extent of the description, 1 if it has none. Axis 0 is the batch where axes have no
  /// names.
  std::size_t described_batch() const noexcept;

 private:
  bool fits(const Tensor& tensor, std::size_t output) const;
  bool fits_without_end(const Tensor& tensor, std::size_t output) const;
  std::optional<std::size_t> find(std::span<const Tensor> tensors, std::uint64_t taken,
                                  std::size_t output) const;
  std::vector<OutputDescription> outputs_;
  std::vector<std::optional<std::size_t>> batch_axes_;  ///< of outputs_
};

}  // namespace halyard
HALYARD_EXPORTS_END
