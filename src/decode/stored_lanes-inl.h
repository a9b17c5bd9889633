// SPDX-License-Identifier: Apache-2.0
// Stored scores in vectors. Included once per target, inside of no namespace.
#if defined(HALYARD_DECODE_STORED_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HALYARD_DECODE_STORED_LANES_INL_H_
#undef HALYARD_DECODE_STORED_LANES_INL_H_
#else
#define HALYARD_DECODE_STORED_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "decode/threshold.h"

HWY_BEFORE_NAMESPACE();
namespace halyard::decode {
namespace HWY_NAMESPACE {
namespace {

// How a stored type is compared. Key: a number in the order of the values. Floats of 16 bits have
// their ordinal for one; where what is sought is above 0 their bits do as well, since those of
// negative values are negative.
template <class T, bool is_above_zero = false>
struct Stored {
  static constexpr bool is_short_float = infinity_bits<T> != 0;
  using Lane = std::conditional_t<is_short_float, std::int16_t, T>;

  template <class D>
  static HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> key(D d, const Lane* at) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto value = hn::LoadU(d, at);
    if constexpr (is_short_float && !is_above_zero) {
      const auto sign = hn::ShiftRight<15>(value);
      return hn::Sub(hn::Xor(hn::And(value, hn::Set(d, Lane{0x7FFF})), sign), sign);
    } else {
      return value;
    }
  }
  static Lane key_of(T value) {
    if constexpr (is_short_float) {
      return ordinal(value);
    } else {
      return value;
    }
  }
  // Of keys that are greater than some other.
  template <class D, class M>
  static HWY_INLINE M without_nan(D d, hwy::HWY_NAMESPACE::Vec<D> value, M mask) {
    namespace hn = hwy::HWY_NAMESPACE;
    if constexpr (is_short_float) {
      constexpr Lane first_nan = infinity_bits<T> + 1;
      return hn::And(mask, hn::Lt(value, hn::Set(d, first_nan)));
    } else {
      (void)d, (void)value;
      return mask;
    }
  }
  static float to_real(Lane stored) {
    if constexpr (is_short_float) {
      return to_float(T{static_cast<std::uint16_t>(stored)});
    } else {
      return static_cast<float>(stored);
    }
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halyard::decode
HWY_AFTER_NAMESPACE();

#endif
