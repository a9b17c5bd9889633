// SPDX-License-Identifier: Apache-2.0
// DLPack: every fault of a producer is named, and its struct stays the caller's.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "dlpack_producer.h"
#include "support/result.h"

namespace halyard {
namespace {

using Broken = Producer<ManagedVersioned>;
using Type = decltype(Broken::managed.tensor.dtype);
constexpr std::int64_t huge_extent = std::numeric_limits<std::int64_t>::max();

// One fault each, and the words that name it.
struct Fault {
  const char* name;
  void (*seed)(Broken&);
  Errc code;
  const char* said;
};

constexpr Errc unsupported = Errc::unsupported;
constexpr Errc invalid = Errc::invalid_argument;

void set_type(Broken& p, Type type) {
  p.managed.tensor.dtype = type;
}
void set_strides(Broken& p, std::int64_t outer, std::int64_t inner) {
  p.strides = {outer, inner};
}

const Fault faults[] = {
    {"version_0", [](Broken& p) { p.managed.version.major = 0; }, Errc::version, "0.1"},
    {"version_2",
     [](Broken& p) {
       p.managed.version = dlpack_abi::Version{2, 0};
     },
     Errc::version, "2.0"},
    {"cuda", [](Broken& p) { p.managed.tensor.device.type = 2; }, unsupported, "2 (CUDA)"},
    {"device_0", [](Broken& p) { p.managed.tensor.device.type = 0; }, unsupported, "0 (unk"},
    {"device_negative", [](Broken& p) { p.managed.tensor.device.type = -1; }, unsupported,
     "-1 (unknown)"},
    {"rank_0", [](Broken& p) { p.managed.tensor.ndim = 0; }, invalid, "ndim"},
    {"rank_9", [](Broken& p) { p.managed.tensor.ndim = 9; }, invalid, "ndim"},
    {"rank_negative", [](Broken& p) { p.managed.tensor.ndim = -1; }, invalid, "ndim"},
    {"lanes",
     [](Broken& p) {
       set_type(p, {2, 32, 4});
     },
     unsupported, "lanes"},
    {"lanes_0", [](Broken& p) { p.managed.tensor.dtype.lanes = 0; }, unsupported, "0 lanes"},
    {"int4",
     [](Broken& p) {
       set_type(p, {0, 4, 1});
     },
     unsupported, "fewer than 8 bits"},
    {"float4",
     [](Broken& p) {
       set_type(p, {17, 4, 1});
     },
     unsupported, "float4_e2m1fn"},
    {"bit",
     [](Broken& p) {
       set_type(p, {6, 1, 1});
     },
     unsupported, "bool"},
    {"complex",
     [](Broken& p) {
       set_type(p, {5, 64, 1});
     },
     unsupported, "complex of 64 bits"},
    {"float8",
     [](Broken& p) {
       set_type(p, {10, 8, 1});
     },
     unsupported, "float8_e4m3fn"},
    {"float128",
     [](Broken& p) {
       set_type(p, {2, 128, 1});
     },
     unsupported, "float of 128 bits"},
    {"handle",
     [](Broken& p) {
       set_type(p, {3, 64, 1});
     },
     unsupported, "opaque handle"},
    {"unknown_type",
     [](Broken& p) {
       set_type(p, {200, 8, 1});
     },
     unsupported, "unknown"},
    {"null_shape", [](Broken& p) { p.managed.tensor.shape = nullptr; }, invalid, "shape: is null"},
    {"negative_extent", [](Broken& p) { p.shape[1] = -3; }, invalid, "axis 1: -3"},
    {"huge_extent", [](Broken& p) { p.shape[0] = huge_extent; }, invalid, "shape: size"},
    {"huge_product", [](Broken& p) { p.shape[0] = 2 * (p.shape[1] = std::int64_t{1} << 31); },
     invalid, "shape: size"},
    {"huge_stride", [](Broken& p) { p.strides[0] = huge_extent; }, invalid, "strides"},
    {"huge_negative_stride", [](Broken& p) { p.strides[0] = -huge_extent; }, invalid, "strides"},
    {"strides_that_add_up_too_high",
     [](Broken& p) {
       p.shape[0] = p.shape[1] = 3;
       set_strides(p, huge_extent / 8, huge_extent / 8);
     },
     invalid, "strides"},
    {"strides_that_reach_too_far_both_ways",
     [](Broken& p) { set_strides(p, huge_extent / 6, -huge_extent / 12); }, invalid, "strides"},
    {"strides_before_address_0", [](Broken& p) { p.strides[0] = -huge_extent / 8; }, invalid,
     "address space"},
    {"null_data", [](Broken& p) { p.managed.tensor.data = nullptr; }, invalid, "data: is null"},
    {"odd_byte_offset", [](Broken& p) { p.managed.tensor.byte_offset = 2; }, invalid,
     "byte_offset"},
    {"huge_byte_offset", [](Broken& p) { p.managed.tensor.byte_offset = ~std::uint64_t{3}; },
     invalid, "byte_offset: must be below 2^63"},
    {"byte_offset_without_overflow",
     [](Broken& p) { p.managed.tensor.byte_offset = std::uint64_t{1} << 63; }, invalid,
     "byte_offset: must be below 2^63"},
    {"odd_address",
     [](Broken& p) { p.managed.tensor.data = static_cast<char*>(p.managed.tensor.data) + 1; },
     invalid, "data: must lie"},
};

class DlpackRefusal : public ::testing::TestWithParam<Fault> {};

TEST_P(DlpackRefusal, names_the_fault_and_leaves_the_struct_to_the_caller) {
  Broken producer;
  GetParam().seed(producer);
  EXPECT_FAILS(producer.take(), GetParam().code, GetParam().said);
  EXPECT_EQ(producer.deleted, 0);
}

INSTANTIATE_TEST_SUITE_P(faults, DlpackRefusal, ::testing::ValuesIn(faults),
                         [](const auto& fault) { return fault.param.name; });

TEST(DlpackImport, refuses_null_in_both_forms) {
  EXPECT_FAILS(from_dlpack(static_cast<DLManagedTensor*>(nullptr)), Errc::invalid_argument);
  EXPECT_FAILS(from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)),
               Errc::invalid_argument);
}

TEST(DlpackImport, checks_the_older_form_alike) {
  Producer<Managed> producer;
  producer.managed.tensor.dtype.lanes = 2;
  EXPECT_FAILS(producer.take(), Errc::unsupported);
  EXPECT_EQ(producer.deleted, 0);
}

}  // namespace
}  // namespace halyard
