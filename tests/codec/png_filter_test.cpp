// SPDX-License-Identifier: Apache-2.0
// The kernels of PNG's filters against plain sums, on each instruction set of the machine.
#include "codec/png/png_filter.h"

#include <algorithm>
#include <random>

#include "codec/png_writer.h"
#include "image/cpu/each_target.h"

namespace halyard {
namespace {

using Row = std::vector<std::uint8_t>;

constexpr std::size_t pixel_sizes[] = {1, 2, 3, 4, 6, 8};

Row random_row(std::mt19937& random, std::size_t bytes) {
  Row out(bytes);
  // Extreme bytes are frequent: sums overflow and predictors tie there.
  for (auto& byte : out) {
    const auto draw = random();
    constexpr std::uint8_t extremes[] = {0, 1, 127, 128, 254, 255};
    byte = draw % 3 == 0 ? extremes[draw / 3 % 6] : static_cast<std::uint8_t>(draw >> 8);
  }
  return out;
}

Row padded(const Row& row, std::size_t lead, std::uint8_t slack) {
  Row out(lead, 0);
  out.insert(out.end(), row.begin(), row.end());
  out.insert(out.end(), codec::png_row_slack, slack);
  return out;
}

TEST(PngFilter, undone_as_plain_sums_do_it) {
  test::for_each_target([] {
    std::mt19937 random(7);
    for (const std::size_t pixel : pixel_sizes) {
      for (std::size_t width = 1; width <= 67; ++width) {
        const Row row = random_row(random, width * pixel);
        const Row above = random_row(random, row.size());
        for (int filter = 0; filter < 5; ++filter) {
          Row out(row.size() + codec::png_row_slack);
          codec::unfilter_row(static_cast<codec::PngFilter>(filter), pixel, row.size(),
                              padded(row, 0, 0xA5).data(), padded(above, 0, 0x5A).data(),
                              out.data());
          out.resize(row.size());
          ASSERT_EQ(out, test::plain_unfilter(filter, pixel, row, above))
              << "filter " << filter << ", " << pixel << " bytes a pixel, width " << width;
        }
      }
    }
  });
}

// The row that plain_unfilter() makes `row` of.
Row plain_filter(int filter, std::size_t pixel, const Row& row, const Row& above) {
  Row out(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int left = i < pixel ? 0 : row[i - pixel];
    const int corner = i < pixel ? 0 : above[i - pixel];
    out[i] =
        static_cast<std::uint8_t>(row[i] - test::plain_predictor(filter, left, above[i], corner));
  }
  return out;
}

TEST(PngFilter, pairs_of_paeth_rows_are_two_rows) {
  test::for_each_target([] {
    std::mt19937 random(13);
    for (const std::size_t pixel : {1U, 2U, 3U, 4U}) {
      for (std::size_t width = 1; width <= 67; ++width) {
        const Row above = random_row(random, width * pixel);
        const Row rows[] = {random_row(random, above.size()), random_row(random, above.size())};
        const Row first = padded(rows[0], 0, 0xA5);
        const Row second = padded(rows[1], 0, 0xA5);
        Row out[2] = {Row(first.size()), Row(first.size())};
        codec::unfilter_paeth_pair(pixel, above.size(), {first.data(), second.data()},
                                   padded(above, 0, 0x5A).data(), {out[0].data(), out[1].data()});
        out[0].resize(above.size());
        out[1].resize(above.size());
        ASSERT_EQ(out[0], test::plain_unfilter(4, pixel, rows[0], above));
        ASSERT_EQ(out[1], test::plain_unfilter(4, pixel, rows[1], out[0]))
            << pixel << " bytes a pixel, width " << width;
      }
    }
  });
}

TEST(PngFilter, paeth_predicts_as_the_specification_says_for_bytes_of_all_sizes) {
  test::for_each_target([] {
    for (int left = 0; left < 256; left += 17) {
      for (int corner = 0; corner < 256; corner += 5) {
        // Pairs of pixels, `left` below `corner` and any below every byte.
        Row row, above;
        for (int b = 0; b < 256; ++b) {
          row.insert(row.end(),
                     {static_cast<std::uint8_t>(left), static_cast<std::uint8_t>(7 * b)});
          above.insert(above.end(),
                       {static_cast<std::uint8_t>(corner), static_cast<std::uint8_t>(b)});
        }
        Row out(row.size() + codec::png_row_slack);
        codec::unfilter_row(codec::PngFilter::paeth, 1, row.size(),
                            padded(plain_filter(4, 1, row, above), 0, 0).data(),
                            padded(above, 0, 0).data(), out.data());
        out.resize(row.size());
        ASSERT_EQ(out, row) << "left " << left << ", corner " << corner;
      }
    }
  });
}

std::uint64_t size_of_row(const Row& filtered) {
  std::uint64_t sum = 0;
  for (const std::uint8_t byte : filtered)
    sum += std::min<unsigned>(byte, 256U - byte);
  return sum;
}

TEST(PngFilter, chosen_has_the_least_sum_and_is_applied) {
  test::for_each_target([] {
    std::mt19937 random(11);
    for (const std::size_t pixel : {std::size_t{1}, std::size_t{3}, std::size_t{4}}) {
      for (const std::size_t width : {1U, 2U, 5U, 16U, 21U, 43U, 64U, 65U}) {
        const Row above = random_row(random, width * pixel);
        Row row = random_row(random, width * pixel);
        // Some rows are like the one above, some smooth, so that each filter wins somewhere.
        if (width % 2 == 0) row = above;
        for (std::size_t i = pixel; width % 5 == 0 && i < row.size(); ++i)
          row[i] = static_cast<std::uint8_t>((row[i - pixel] + above[i] + 1) / 2 + random() % 2);
        int best = 0;
        for (int filter = 1; filter < 5; ++filter) {
          if (size_of_row(plain_filter(filter, pixel, row, above)) <
              size_of_row(plain_filter(best, pixel, row, above))) {
            best = filter;
          }
        }
        Row out(1 + row.size() + codec::png_row_slack);
        const Row here = padded(row, codec::png_row_lead, 0xA5);
        const Row over = padded(above, codec::png_row_lead, 0x5A);
        codec::filter_row(pixel, row.size(), here.data() + codec::png_row_lead,
                          over.data() + codec::png_row_lead, out.data());
        ASSERT_EQ(out[0], best) << pixel << " bytes a pixel, width " << width;
        ASSERT_EQ(Row(out.begin() + 1, out.begin() + 1 + static_cast<std::ptrdiff_t>(row.size())),
                  plain_filter(best, pixel, row, above));
      }
    }
  });
}

}  // namespace
}  // namespace halyard
