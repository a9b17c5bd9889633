// SPDX-License-Identifier: Apache-2.0
// Axes of a semantic head's output: which is height, width, classes, batch.
#pragma once

#include <cstddef>
#include <optional>

#include "halyard/semantic.h"

namespace halyard::decode {

/// Indices of axes. A class map has no classes.
struct ScoreAxes {
  std::optional<std::size_t> batch, classes;
  std::size_t y = 0;
  std::size_t x = 0;
};

/// Errors: invalid_argument (the rank does not fit the layout).
Result<ScoreAxes> score_axes(const Layout& scores, SemanticLayout layout);

/// Errors: invalid_argument (`batch` beyond the extent of its axis).
Result<SemanticView> view_scores(const Layout& scores, const ScoreAxes& axes, std::size_t batch);

}  // namespace halyard::decode
