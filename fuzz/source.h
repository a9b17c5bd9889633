// SPDX-License-Identifier: Apache-2.0
// Converts a fuzzer's bytes to choices and values; checks promises and stops at a broken one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

namespace halyard::fuzz {

inline void expect(bool promise) {
  if (!promise) std::abort();
}

/// Choices; zeros when the bytes are used up.
class Source {
 public:
  explicit Source(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return at_ >= bytes_.size(); }
  std::size_t next(std::size_t below) { return below == 0 ? 0 : byte() % below; }
  bool coin() { return (byte() & 1U) != 0; }
  /// True once in `times`; never when the bytes are used up.
  bool rarely(std::size_t times) { return next(times) == times - 1; }
  /// 0, 1/steps .. 1
  float fraction(std::size_t steps) {
    return static_cast<float>(next(steps + 1)) / static_cast<float>(steps);
  }
  /// One of a list.
  template <class T, std::size_t n>
  T of(const T (&list)[n]) {
    return list[next(n)];
  }
  /// A float of any bits, or a number of the size of image coordinates.
  float any_float() {
    if (rarely(4)) {
      std::uint32_t bits = 0;
      for (int i = 0; i < 4; ++i)
        bits = bits << 8 | byte();
      float out = 0;
      std::memcpy(&out, &bits, sizeof(out));
      return out;
    }
    return static_cast<float>(byte()) * 0.5F - 16;
  }
  std::uint8_t byte() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  /// Repeats the bytes, for tensors that are longer than an input.
  std::uint8_t at(std::size_t i) const {
    return bytes_.empty() ? std::uint8_t{0} : bytes_[(at_ + i) % bytes_.size()];
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace halyard::fuzz
