// SPDX-License-Identifier: Apache-2.0
// Writer for YUV destinations whose pixels share chroma.
#include "image/cpu/kernels/store.h"
#include "image/cpu/store/writer_kinds.h"

namespace halyard::image {
namespace {

class BlockWriter final : public Writer {
 public:
  BlockWriter(const Plan& plan, int fraction)
      : Writer(2, 1 << info(plan.dst.format).chroma_shift_y), fraction_(fraction) {
    const auto& sites = plan.dst.channels->sites;
    if (sites[0].plane == sites[1].plane) layout_ = ChromaLayout::packed;
    if (sites[0].plane != sites[1].plane && sites[1].plane == sites[2].plane)
      layout_ = ChromaLayout::pairs;
    first_ = sites[1].plane == sites[2].plane && sites[2].offset < sites[1].offset ? 2 : 1;
    luma_at_ = sites[0].offset;
    chroma_at_ = {sites[first_].offset, sites[3 - first_].offset};
  }

  bool wants_codes() const noexcept override { return false; }

  void store(const MappedImages& frame, const Piece& piece) const noexcept override {
    BlockJob job;
    job.width = piece.width;
    job.fraction = fraction_;
    const std::size_t order[] = {first_, 3 - first_};
    for (std::size_t k = 0; k < 2; ++k)
      job.rows[k] = {piece.rows.front().values[order[k]], piece.rows.back().values[order[k]]};
    job.out = at(frame.target[first_], piece, 0);
    if (layout_ == ChromaLayout::packed) {
      job.out -= chroma_at_[0];
      return store_packed(job, piece.rows.front().values[0], luma_at_, chroma_at_);
    }
    for (std::size_t r = 0; r < piece.rows.size(); ++r) {
      store_luma(piece.rows[r].values[0], fraction_, piece.width,
                 at(frame.target[0], piece, static_cast<std::int32_t>(r)));
    }
    if (layout_ == ChromaLayout::pairs) return store_chroma_pairs(job);
    store_chroma(job);
    job.rows[0] = job.rows[1];
    job.out = at(frame.target[order[1]], piece, 0);
    store_chroma(job);
  }

 private:
  enum class ChromaLayout : std::uint8_t { planes, pairs, packed };

  static std::byte* at(const TargetChannel& target, const Piece& piece, std::int32_t row) {
    return target.row((piece.y + row) >> target.shift_y) +
           static_cast<std::size_t>(piece.x >> target.shift_x) * target.step_bytes;
  }

  ChromaLayout layout_ = ChromaLayout::planes;
  int fraction_;
  std::size_t first_ = 1;  // the chroma channel that comes first in memory
  int luma_at_ = 0;        // bytes within a packed block
  std::array<int, 2> chroma_at_{};
};

}  // namespace

std::unique_ptr<const Writer> make_block_writer(const Plan& plan, int fraction) {
  constexpr int max_fraction = 7;  // sums of two values fit 16 bits
  const bool codes = plan.values.kind == ValueMap::Kind::identity;
  if (info(plan.dst.format).chroma_shift_x != 1 || !codes || fraction > max_fraction)
    return nullptr;
  return std::make_unique<BlockWriter>(plan, fraction);
}

}  // namespace halyard::image
