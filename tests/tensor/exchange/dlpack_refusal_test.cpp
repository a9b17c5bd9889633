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

// One fault each, and the words that name it.
struct Fault {
  const char* name;
  void (*seed)(Producer<ManagedVersioned>&);
  Errc code;
  const char* said;
};
using Broken = Producer<ManagedVersioned>;
constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

const Fault faults[] = {
    {"version_0", [](Broken& p) { p.managed.version.major = 0; }, Errc::version, "0.1"},
    {"version_2",
     [](Broken& p) {
       p.managed.version = {2, 0};
     },
     Errc::version, "2.0"},
    {"cuda",
     [](Broken& p) {
       p.managed.tensor.device = {2, 0};
     },
     Errc::unsupported, "2 (CUDA)"},
    {"device_0",
     [](Broken& p) {
       p.managed.tensor.device = {0, 0};
     },
     Errc::unsupported, "0 (unk"},
    {"device_negative",
     [](Broken& p) {
       p.managed.tensor.device = {-1, 0};
     },
     Errc::unsupported, "-1 (unknown)"},
    {"rank_0", [](Broken& p) { p.managed.tensor.ndim = 0; }, Errc::invalid_argument, "ndim"},
    {"rank_9", [](Broken& p) { p.managed.tensor.ndim = 9; }, Errc::invalid_argument, "ndim"},
    {"rank_negative", [](Broken& p) { p.managed.tensor.ndim = -1; }, Errc::invalid_argument,
     "ndim"},
    {"lanes",
     [](Broken& p) {
       p.managed.tensor.dtype = {2, 32, 4};
     },
     Errc::unsupported, "lanes"},
    {"lanes_0", [](Broken& p) { p.managed.tensor.dtype.lanes = 0; }, Errc::unsupported, "0 lanes"},
    {"int4",
     [](Broken& p) {
       p.managed.tensor.dtype = {0, 4, 1};
     },
     Errc::unsupported, "fewer than 8 bits"},
    {"float4",
     [](Broken& p) {
       p.managed.tensor.dtype = {17, 4, 1};
     },
     Errc::unsupported, "float4_e2m1fn"},
    {"bit",
     [](Broken& p) {
       p.managed.tensor.dtype = {6, 1, 1};
     },
     Errc::unsupported, "bool"},
    {"complex",
     [](Broken& p) {
       p.managed.tensor.dtype = {5, 64, 1};
     },
     Errc::unsupported, "complex of 64 bits"},
    {"float8",
     [](Broken& p) {
       p.managed.tensor.dtype = {10, 8, 1};
     },
     Errc::unsupported, "float8_e4m3fn"},
    {"float128",
     [](Broken& p) {
       p.managed.tensor.dtype = {2, 128, 1};
     },
     Errc::unsupported, "float of 128 bits"},
    {"handle",
     [](Broken& p) {
       p.managed.tensor.dtype = {3, 64, 1};
     },
     Errc::unsupported, "opaque handle"},
    {"unknown_type",
     [](Broken& p) {
       p.managed.tensor.dtype = {200, 8, 1};
     },
     Errc::unsupported, "unknown"},
    {"null_shape", [](Broken& p) { p.managed.tensor.shape = nullptr; }, Errc::invalid_argument,
     "shape: is null"},
    {"negative_extent", [](Broken& p) { p.shape[1] = -3; }, Errc::invalid_argument, "axis 1: -3"},
    {"huge_extent", [](Broken& p) { p.shape[0] = huge; }, Errc::invalid_argument, "shape: size"},
    {"huge_product",
     [](Broken& p) {
       p.shape = {std::int64_t{1} << 32, std::int64_t{1} << 31};
     },
     Errc::invalid_argument, "shape: size"},
    {"huge_stride", [](Broken& p) { p.strides[0] = huge; }, Errc::invalid_argument, "strides"},
    {"huge_negative_stride", [](Broken& p) { p.strides[0] = -huge; }, Errc::invalid_argument,
     "strides"},
    {"strides_that_add_up_too_high",
     [](Broken& p) {
       p.shape = {3, 3};
       p.strides = {huge / 8, huge / 8};
     },
     Errc::invalid_argument, "strides"},
    {"strides_that_reach_too_far_both_ways",
     [](Broken& p) {
       p.strides = {huge / 6, -huge / 12};
     },
     Errc::invalid_argument, "strides"},
    {"strides_before_address_0", [](Broken& p) { p.strides[0] = -huge / 8; },
     Errc::invalid_argument, "address space"},
    {"null_data", [](Broken& p) { p.managed.tensor.data = nullptr; }, Errc::invalid_argument,
     "data: is null"},
    {"odd_byte_offset", [](Broken& p) { p.managed.tensor.byte_offset = 2; }, Errc::invalid_argument,
     "byte_offset"},
    {"huge_byte_offset", [](Broken& p) { p.managed.tensor.byte_offset = ~std::uint64_t{3}; },
     Errc::invalid_argument, "byte_offset: must be below 2^63"},
    {"byte_offset_without_overflow",
     [](Broken& p) { p.managed.tensor.byte_offset = std::uint64_t{1} << 63; },
     Errc::invalid_argument, "byte_offset: must be below 2^63"},
    {"odd_address",
     [](Broken& p) { p.managed.tensor.data = static_cast<char*>(p.managed.tensor.data) + 1; },
     Errc::invalid_argument, "data: must lie"},
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
  EXPECT_EQ(code_of(from_dlpack(static_cast<DLManagedTensor*>(nullptr))), Errc::invalid_argument);
  EXPECT_EQ(code_of(from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr))),
            Errc::invalid_argument);
}

TEST(DlpackImport, checks_the_older_form_alike) {
  Producer<Managed> producer;
  producer.managed.tensor.dtype.lanes = 2;
  EXPECT_EQ(code_of(producer.take()), Errc::unsupported);
  EXPECT_EQ(producer.deleted, 0);
}

}  // namespace
}  // namespace halyard
