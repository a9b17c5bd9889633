// SPDX-License-Identifier: Apache-2.0
// The kinds of writers that make_writer() chooses from.
#pragma once

#include <memory>

#include "image/cpu/store/writer.h"

namespace halyard::image {

/// For destinations where every pixel has its own sample of each channel; null for others.
std::unique_ptr<const Writer> make_row_writer(const Plan& plan, int fraction);
/// Stores luma of every pixel, and the code of the mean chroma of pairs of columns or of 2 x 2
/// blocks; null for other destinations.
std::unique_ptr<const Writer> make_block_writer(const Plan& plan, int fraction);
/// Stores one value after the other; serves every destination.
std::unique_ptr<const Writer> make_plain_writer(const Plan& plan, int fraction);

}  // namespace halyard::image
