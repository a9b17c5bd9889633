// SPDX-License-Identifier: Apache-2.0
// Chooses the writer of a destination.
#include "image/cpu/store/writer.h"

#include "image/cpu/store/writer_kinds.h"

namespace halyard::image {

bool writes_codes(const Plan& plan) noexcept {
  const FormatInfo& to = info(plan.dst.format);
  return plan.values.kind != ValueMap::Kind::affine && to.chroma_shift_x == 0 &&
         to.chroma_shift_y == 0;
}

std::unique_ptr<const Writer> make_writer(const Plan& plan, int fraction) {
  if (auto rows = make_row_writer(plan, fraction)) return rows;
  if (auto blocks = make_block_writer(plan, fraction)) return blocks;
  return make_plain_writer(plan, fraction);
}

}  // namespace halyard::image
