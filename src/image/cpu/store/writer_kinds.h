// SPDX-License-Identifier: Apache-2.0
// The kinds of writers: make_writer() chooses.
#pragma once

#include <memory>

#include "image/cpu/store/writer.h"

namespace halyard::image {

/// Every pixel has its own sample of each channel. Null where the destination is not such a one.
std::unique_ptr<const Writer> make_row_writer(const Plan& plan, int fraction);
/// Luma of every pixel and codes of the mean chroma of pairs of columns or of 2 x 2 blocks. Null
/// where the destination is not such a one.
std::unique_ptr<const Writer> make_block_writer(const Plan& plan, int fraction);
/// One value after the other, whatever the destination.
std::unique_ptr<const Writer> make_plain_writer(const Plan& plan, int fraction);

}  // namespace halyard::image
