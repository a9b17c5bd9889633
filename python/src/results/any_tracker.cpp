// SPDX-License-Identifier: Apache-2.0
// Trackers of every kind as arguments of calls.
#include "results/any_tracker.h"

#include "kept.h"
#include "tensor/arrays.h"

namespace halyard::python {
namespace {

std::uint64_t now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace

TrackerArg::TrackerArg(nb::handle tracker, nb::handle timestamp) {
  static PyObject* place = nullptr;
  const nb::handle own = kept_attribute(place, "halyard._tracking", "Tracker");
  const bool is_own = nb::isinstance(tracker, own);
  kept_ = is_own ? nb::object(tracker.attr("_core")) : nb::borrow(tracker);
  if (is_own && nb::try_cast(kept_, core_)) any_ = core_;
  if (!is_own && !nb::try_cast(kept_, byte_track_)) nb::try_cast(kept_, any_);
  if (byte_track_ == nullptr && any_ == nullptr)
    raise_wrong_type("tracker", "a Tracker, ByteTrack, OcSort or Sort", tracker);
  if (!timestamp.is_none()) {
    when_ = count_from(timestamp, "timestamp");
  } else if (core_ == nullptr) {
    when_ = now();
  }
}

}  // namespace halyard::python
