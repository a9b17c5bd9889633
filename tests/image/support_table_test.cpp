// SPDX-License-Identifier: Apache-2.0
// docs/conversion.md shows the supported conversions as the code defines them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "halyard/image.h"
#include "image/page_block.h"

namespace halyard {
namespace {

using F = PixelFormat;

constexpr DType table_dtypes[] = {DType::u8,  DType::i8,   DType::u16,    DType::i16, DType::u32,
                                  DType::i32, DType::u64,  DType::i64,    DType::f16, DType::f32,
                                  DType::f64, DType::bf16, DType::boolean};

std::string dtypes_of(PixelFormat from, DType from_dtype, PixelFormat to) {
  std::string list;
  for (const DType dtype : table_dtypes) {
    if (conversion_declined(from, from_dtype, to, dtype) != nullptr) continue;
    list += fmt::format("{}{}", list.empty() ? "" : " ", to_string(dtype));
  }
  return list;
}

// Each list of dtypes gets a letter; there is one row per source and one column per destination.
std::string table() {
  std::vector<std::string> lists;
  std::string rows;
  std::string head = "| from \\ to |";
  std::string rule = "|---|";
  for (const FormatInfo& to : all_formats()) {
    if (to.model == ColorModel::bayer) continue;
    head += fmt::format(" {} |", to.name);
    rule += "---|";
  }
  for (const FormatInfo& from : all_formats()) {
    for (const DType from_dtype : table_dtypes) {
      std::string row;
      bool any = false;
      for (const FormatInfo& to : all_formats()) {
        const std::string list = dtypes_of(from.format, from_dtype, to.format);
        if (to.model == ColorModel::bayer) {
          EXPECT_EQ(list, "") << "a column is missing";
          continue;
        }
        std::string letter = "-";
        if (!list.empty()) {
          const auto known = std::find(lists.begin(), lists.end(), list);
          const auto index = known - lists.begin();
          if (known == lists.end()) lists.push_back(list);
          letter = static_cast<char>('A' + index);
          any = true;
        }
        row += fmt::format(" {} |", letter);
      }
      if (any) {
        rows += fmt::format("| {} {} |{}\n", from.name, to_string(from_dtype), row);
      }
    }
  }
  std::string legend;
  for (std::size_t i = 0; i < lists.size(); ++i)
    legend += fmt::format("- {}: into {}\n", static_cast<char>('A' + i), lists[i]);
  return fmt::format("{}\n{}\n{}\n{}", legend, head, rule, rows);
}

TEST(SupportTable, the_page_shows_what_the_code_says) {
  test::expect_on_page("table", table());
}

TEST(SupportTable, every_refusal_has_a_reason_that_names_its_side) {
  for (const FormatInfo& from : all_formats()) {
    for (const FormatInfo& to : all_formats()) {
      for (const DType a : table_dtypes) {
        for (const DType b : table_dtypes) {
          const char* reason = conversion_declined(from.format, a, to.format, b);
          if (reason == nullptr) continue;
          const std::string side = std::string(reason).substr(0, 5);
          EXPECT_TRUE(side == "src: " || side == "dst: ") << reason;
        }
      }
    }
  }
}

TEST(SupportTable, foreign_enumerators_are_declined) {
  const auto foreign = static_cast<PixelFormat>(200);
  EXPECT_STREQ(conversion_declined(foreign, DType::u8, F::rgb, DType::u8),
               "src: not a value of PixelFormat");
  EXPECT_STREQ(conversion_declined(F::rgb, DType::u8, foreign, DType::u8),
               "dst: not a value of PixelFormat");
  EXPECT_NE(conversion_declined(F::rgb, static_cast<DType>(99), F::rgb, DType::u8), nullptr);
}

}  // namespace
}  // namespace halyard
