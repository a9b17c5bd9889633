// SPDX-License-Identifier: Apache-2.0
// Our decoder of Huffman codes in the place of libjpeg's: the same pixels of good files, the same
// answer to all others.
#include <algorithm>
#include <random>
#include <string>
#include <thread>

#include "codec/jpeg/jpeg_decode.h"
#include "codec/support.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard {
namespace {

using codec::JpegEntropyChoice;
using test::Bytes;
using test::JpegSpec;
using test::Stored;

#ifdef HALYARD_HAVE_JPEGINT
constexpr bool can_replace = true;
#else
constexpr bool can_replace = false;
#endif

struct ScanRandom {
  explicit ScanRandom(unsigned seed) : engine(seed) {}
  unsigned below(unsigned limit) { return static_cast<unsigned>(engine() % limit); }
  std::mt19937 engine;
};

struct Answer {
  Errc code = Errc::ok;
  std::string message{};
  std::vector<std::uint8_t> first{}, second{};
  bool operator==(const Answer&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  return out << to_string(answer.code) << " " << answer.message;
}

// The file in its own format or as RGB. Files whose header is refused do not come this far.
Answer decode(const Bytes& file, bool native, JpegEntropyChoice choice) {
  DecodeLimits limits{.max_pixels = 1 << 22};
  const auto header = codec::parse_jpeg_header(file, limits);
  if (!header) return {header.error().code, header.error().message()};
  const PixelFormat format = native ? header->info.native_format : PixelFormat::rgb;
  auto image =
      Tensor::create_image(header->info.width, header->info.height, format, DType::u8, Memory::mem);
  const Status done = [&] {
    const auto map = image->map(Access::write);
    return codec::decode_jpeg(file, *header, format, *map, limits, choice);
  }();
  if (!done) return {done.error().code, done.error().message()};
  Answer answer;
  answer.first = test::plane_bytes(*image, 0);
  if (info(format).model == ColorModel::yuv) answer.second = test::plane_bytes(*image, 1);
  return answer;
}

// Ours alone decodes it, to libjpeg's pixels.
void expect_ours(const Bytes& file) {
  for (const bool native : {true, false}) {
    const Answer expected = decode(file, native, JpegEntropyChoice::libjpeg);
    ASSERT_EQ(expected.code, Errc::ok) << expected.message;
    ASSERT_EQ(decode(file, native, JpegEntropyChoice::own), expected);
  }
}

// Libjpeg's answer, whatever it is.
void expect_same(const Bytes& file) {
  // Makes the tables, so that the file is not left to libjpeg for its size.
  decode(file, true, JpegEntropyChoice::own);
  for (const bool native : {true, false})
    ASSERT_EQ(decode(file, native, JpegEntropyChoice::automatic),
              decode(file, native, JpegEntropyChoice::libjpeg));
}

// And ours has given up.
void expect_refused_by_ours(const Bytes& file) {
  EXPECT_EQ(decode(file, true, JpegEntropyChoice::own).code, Errc::corrupt);
  expect_same(file);
}

using Factors = std::array<std::array<int, 2>, 3>;
constexpr Factors samplings[] = {{{{1, 1}, {1, 1}, {1, 1}}}, {{{2, 1}, {1, 1}, {1, 1}}},
                                 {{{2, 2}, {1, 1}, {1, 1}}}, {{{1, 2}, {1, 1}, {1, 1}}},
                                 {{{4, 1}, {1, 1}, {1, 1}}}, {{{4, 2}, {1, 1}, {1, 1}}},
                                 {{{2, 2}, {2, 1}, {1, 2}}}, {{{2, 2}, {1, 1}, {2, 2}}}};

class JpegEntropy : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_replace) GTEST_SKIP() << "libjpeg's decoder is not replaced in this build";
  }
};

TEST_F(JpegEntropy, decodes_every_size) {
  for (unsigned size = 1; size <= 65; ++size) {
    for (const Factors& factors : samplings) {
      SCOPED_TRACE(testing::Message() << size << " " << factors[0][0] << factors[0][1]);
      expect_ours(test::make_jpeg({.width = size, .height = 66 - size, .sampling = factors}));
    }
    expect_ours(test::make_jpeg({.width = size, .height = 37, .stored = Stored::grey}));
  }
}

TEST_F(JpegEntropy, decodes_every_quality) {
  for (int quality = 1; quality <= 100; ++quality) {
    for (const auto& [noise, optimized] : test::product({0U, 40U, 255U}, {false, true})) {
      SCOPED_TRACE(testing::Message() << quality << " " << noise << " " << optimized);
      expect_ours(test::make_jpeg(
          {.width = 70, .height = 50, .quality = quality, .optimized = optimized, .noise = noise}));
    }
  }
}

TEST_F(JpegEntropy, decodes_every_restart_interval) {
  for (unsigned interval = 1; interval <= 40; ++interval) {
    for (const Stored stored : {Stored::ycbcr, Stored::grey, Stored::rgb}) {
      SCOPED_TRACE(testing::Message() << interval);
      expect_ours(test::make_jpeg(
          {.width = 90, .height = 70, .stored = stored, .restart_interval = interval}));
    }
  }
}

TEST_F(JpegEntropy, decodes_codes_of_16_bits) {
  for (const auto& [noise, quality] : test::product({0U, 255U}, {10, 75, 100}))
    expect_ours(test::make_jpeg(
        {.width = 120, .height = 90, .quality = quality, .longest_first = true, .noise = noise}));
}

TEST_F(JpegEntropy, decodes_large_images) {
  expect_ours(test::make_jpeg({.width = 1921, .height = 1083, .noise = 30}));
  expect_ours(test::make_jpeg({.width = 2000, .height = 700, .optimized = true, .noise = 90}));
}

TEST_F(JpegEntropy, decodes_photos) {
  for (const char* name :
       {"bus.jpg", "zidane.jpg", "bus_320.jpg", "bus_320_gray.jpg", "zidane_420_319x179.jpg",
        "zidane_422_319x179.jpg", "zidane_444_319x179.jpg"}) {
    HALYARD_PHOTO(file, name);
    SCOPED_TRACE(name);
    expect_ours(file);
  }
}

Bytes with_bytes(const Bytes& file, std::size_t at, const std::vector<std::uint8_t>& what) {
  return test::with_inserted(file, at, std::as_bytes(std::span(what)));
}

// Places of the markers 0xFF, `marker` .. `last` behind the scan header; with 0 of stuffed bytes.
std::vector<std::size_t> places(const Bytes& file, unsigned marker, unsigned last) {
  std::vector<std::size_t> out;
  bool in_scan = false;
  for (std::size_t i = 2; i + 1 < file.size(); ++i) {
    if (file[i] != std::byte{0xFF}) continue;
    const auto code = std::to_integer<unsigned>(file[i + 1]);
    if (code == 0xDA) in_scan = true;
    if (in_scan && code >= marker && code <= last) out.push_back(i);
  }
  return out;
}

TEST_F(JpegEntropy, fill_bytes_and_bytes_behind_the_end_are_no_flaw) {
  const Bytes plain = test::make_jpeg({.width = 90, .height = 70});
  const Bytes restarts = test::make_jpeg({.width = 90, .height = 70, .restart_interval = 3});
  for (const std::size_t count : {1U, 2U, 9U, 40U}) {
    const std::vector<std::uint8_t> fill(count, 0xFF), zeros(count, 0);
    expect_ours(with_bytes(plain, plain.size() - 2, fill));
    expect_ours(with_bytes(plain, plain.size() - 2, zeros));
    expect_ours(with_bytes(plain, plain.size(), zeros));
    expect_ours(with_bytes(plain, plain.size(), std::vector<std::uint8_t>(count, 0x5A)));
    for (const std::size_t at : places(restarts, 0xD0, 0xD7))
      expect_ours(with_bytes(restarts, at, fill));
  }
  expect_ours(with_bytes(plain, plain.size() - 2, {0xFF, 0xD3}));
  expect_ours(with_bytes(plain, plain.size() - 2, {0xFF, 0xFE, 0, 4, 'a', 'b'}));
}

TEST_F(JpegEntropy, flaws_are_left_to_libjpeg) {
  const Bytes plain = test::make_jpeg({.width = 90, .height = 70, .noise = 99});
  const auto stuffed = places(plain, 0, 0);
  ASSERT_FALSE(stuffed.empty());
  for (const std::size_t at : stuffed) {
    // Libjpeg takes this for one data byte 0xFF.
    const Bytes odd = with_bytes(plain, at, {0xFF});
    expect_refused_by_ours(odd);
    EXPECT_EQ(decode(odd, true, JpegEntropyChoice::automatic).code, Errc::ok);
  }
  expect_refused_by_ours(with_bytes(plain, plain.size() - 2, {7}));
  expect_refused_by_ours(with_bytes(plain, plain.size() - 2, {0, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  expect_refused_by_ours(Bytes(plain.begin(), plain.end() - 1));
  expect_refused_by_ours(Bytes(plain.begin(), plain.end() - 2));
  expect_ours(plain);
}

TEST_F(JpegEntropy, wrong_restarts_are_left_to_libjpeg) {
  const Bytes file = test::make_jpeg({.width = 90, .height = 70, .restart_interval = 3});
  for (const std::size_t at : places(file, 0xD0, 0xD7)) {
    Bytes gone = file, wrong = file;
    gone.erase(gone.begin() + static_cast<std::ptrdiff_t>(at),
               gone.begin() + static_cast<std::ptrdiff_t>(at) + 2);
    wrong[at + 1] ^= std::byte{1};
    expect_refused_by_ours(gone);
    expect_refused_by_ours(wrong);
    expect_refused_by_ours(with_bytes(file, at, {0xFF, 0xD0}));
    expect_refused_by_ours(with_bytes(file, at, {0}));
    expect_refused_by_ours(with_bytes(file, at + 2, {0xFF, 0xD9}));
  }
}

TEST_F(JpegEntropy, kinds_that_are_not_served_are_left_to_libjpeg) {
  for (const JpegSpec& spec : {JpegSpec{.progressive = true}, JpegSpec{.interleaved = false}}) {
    const Bytes file = test::make_jpeg(spec);
    EXPECT_EQ(decode(file, true, JpegEntropyChoice::own).code, Errc::unsupported);
    EXPECT_EQ(decode(file, true, JpegEntropyChoice::automatic).code, Errc::ok);
    expect_same(file);
  }
  // Parameters of a progressive scan, which libjpeg does not mind.
  Bytes odd = test::make_jpeg({});
  const std::size_t scan = places(odd, 0xDA, 0xDA).front();
  odd[scan + 12] = std::byte{5};
  EXPECT_EQ(decode(odd, true, JpegEntropyChoice::own).code, Errc::unsupported);
  EXPECT_EQ(decode(odd, true, JpegEntropyChoice::automatic).code, Errc::ok);
  expect_same(odd);
}

// How often a decode that succeeds asks whether to stop: once a row of MCUs, in each pass.
int times_asked(const Bytes& file) {
  int asked = 0;
  LoadOptions options{.memory = Memory::mem};
  options.is_cancelled = [&asked] { return ++asked < 0; };
  EXPECT_TRUE(test::load(file, options));
  return asked;
}

// A file that libjpeg takes and ours gives up where the last 0xFF is.
Bytes with_late_flaw(const JpegSpec& spec) {
  const Bytes file = test::make_jpeg(spec);
  return with_bytes(file, places(file, 0, 0).back(), {0xFF});
}

TEST_F(JpegEntropy, second_decode_may_be_cancelled) {
  const Bytes file = with_late_flaw({.width = 64, .height = 600, .noise = 200});
  const int all = times_asked(file);
  EXPECT_GT(all, 60) << "38 rows of MCUs, twice";
  int asked = 0;
  LoadOptions options{.memory = Memory::mem};
  options.is_cancelled = [&asked, all] { return ++asked == all - 2; };
  EXPECT_FAILS(test::load(file, options), Errc::cancelled);
}

TEST_F(JpegEntropy, short_scans_are_left_to_libjpeg_until_their_tables_are_made) {
  const Bytes file = with_late_flaw({.width = 16, .height = 160, .noise = 90});
  ASSERT_LT(file.size(), 4096U);
  int before = 0, after = 0;
  // Tables are a thread's own.
  std::thread([&] {
    before = times_asked(file);
    decode(test::make_jpeg({.width = 200, .height = 200, .noise = 200}), true,
           JpegEntropyChoice::automatic);
    after = times_asked(file);
  }).join();
  EXPECT_EQ(before, 10) << "rows of MCUs, by libjpeg alone";
  EXPECT_GT(after, before) << "those up to the flaw by ours, too";
}

class DamagedJpeg : public testing::TestWithParam<int> {
 protected:
  static Bytes file() {
    constexpr Factors full = {{{1, 1}, {1, 1}, {1, 1}}};
    const JpegSpec specs[] = {
        {},
        {.sampling = full, .quality = 30},
        {.restart_interval = 1},
        {.width = 90, .height = 40, .restart_interval = 5, .quality = 97},
        {.stored = Stored::grey, .optimized = true},
        {.stored = Stored::rgb, .sampling = full, .noise = 200},
        {.width = 33, .height = 65, .longest_first = true},
        {.sampling = {{{4, 1}, {1, 1}, {1, 1}}}, .restart_interval = 2, .optimized = true}};
    return test::make_jpeg(specs[static_cast<std::size_t>(GetParam())]);
  }
};

TEST_P(DamagedJpeg, every_cut_is_answered_as_libjpeg_does) {
  const Bytes whole = file();
  for (std::size_t length = 0; length < whole.size(); ++length)
    expect_same(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
}

TEST_P(DamagedJpeg, changed_bytes_are_answered_as_libjpeg_does) {
  const Bytes whole = file();
  const std::size_t scan = places(whole, 0xDA, 0xDA).front();
  ScanRandom random(static_cast<unsigned>(GetParam()));
  int good = 0;
  for (int round = 0; round < 1500; ++round) {
    Bytes broken = whole;
    for (unsigned i = 0; i < 1 + random.below(3); ++i) {
      // Mostly in the scan; elsewhere it is the tables that change.
      const std::size_t from = random.below(4) == 0 ? 2 : scan;
      const std::size_t at = from + random.below(unsigned(broken.size() - from));
      const unsigned kind = random.below(6);
      const auto place = broken.begin() + static_cast<std::ptrdiff_t>(at);
      if (kind == 0) {
        broken.erase(place);
      } else if (kind == 1) {
        broken.insert(place, static_cast<std::byte>(random.below(256)));
      } else if (kind == 2) {
        *place = std::byte{0xFF};
      } else if (kind == 3) {
        *place ^= static_cast<std::byte>(1U << random.below(8));
      } else {
        *place = static_cast<std::byte>(random.below(256));
      }
    }
    SCOPED_TRACE(round);
    ASSERT_NO_FATAL_FAILURE(expect_same(broken));
    good += decode(broken, true, JpegEntropyChoice::automatic).code == Errc::ok ? 1 : 0;
  }
  EXPECT_GT(good, 20) << "files that are decoded in spite of a change";
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedJpeg, testing::Range(0, 8));

}  // namespace
}  // namespace halyard
