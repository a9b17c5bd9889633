// SPDX-License-Identifier: Apache-2.0
// Devices and descriptors: every value, every byte, and random bytes.
#include "halyard/tensor_descriptor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include "ipc/helpers.h"
#include "support/result.h"

namespace halyard {
namespace {

using test::value_of;

static_assert(std::is_trivially_copyable_v<TensorDescriptor>);
static_assert(std::is_standard_layout_v<TensorDescriptor>);
static_assert(std::has_unique_object_representations_v<TensorDescriptor>);
static_assert(std::is_trivially_copyable_v<Device> && std::is_standard_layout_v<Device>);

constexpr std::uint64_t two_63 = std::uint64_t{1} << 63;

TEST(Device, is_parsed_and_written) {
  struct Case {
    const char* text;
    DeviceType type;
    std::uint32_t id;
    const char* written;
  };
  for (const Case& c : {Case{"cpu", DeviceType::cpu, 0, "cpu"},
                        {"CPU", DeviceType::cpu, 0, "cpu"},
                        {"cpu:0", DeviceType::cpu, 0, "cpu"},
                        {"cpu:2", DeviceType::cpu, 2, "cpu:2"},
                        {"cuda", DeviceType::cuda, 0, "cuda:0"},
                        {"Gpu", DeviceType::cuda, 0, "cuda:0"},
                        {"cuda:1", DeviceType::cuda, 1, "cuda:1"},
                        {"gpu:4294967295", DeviceType::cuda, 4294967295U, "cuda:4294967295"},
                        {"cuda_host", DeviceType::cuda_host, 0, "cuda_host:0"},
                        {"cuda_managed:3", DeviceType::cuda_managed, 3, "cuda_managed:3"},
                        {"DMA_BUF", DeviceType::dma_buf, 0, "dma_buf"}}) {
    SCOPED_TRACE(c.text);
    const auto device = value_of(Device::parse(c.text));
    EXPECT_EQ(device.type, c.type);
    EXPECT_EQ(device.id, c.id);
    EXPECT_EQ(to_string(device), c.written);
    EXPECT_EQ(*Device::parse(to_string(device)), device);
  }
}

TEST(Device, refuses_what_names_none) {
  for (const char* text : {"", ":", "cpu:", "cuda:", "cuda:-1", "cuda:+1", "cuda: 1", "cuda:1 ",
                           "cuda:1:2", "cuda:4294967296", "cuda:0x1", "metal", "vulkan", "cud",
                           "cudaa", "unknown", "dma-buf", " cpu"}) {
    SCOPED_TRACE(text);
    EXPECT_FAILS(Device::parse(text), Errc::invalid_argument, text);
  }
  // What cannot be printed, and what is long, stays short and printable in the message.
  const auto long_text = Device::parse(std::string(1000, '\x1b'));
  ASSERT_FALSE(long_text);
  EXPECT_EQ(long_text.error().message().find('\x1b'), std::string::npos);
  EXPECT_LT(long_text.error().message().size(), 600U);
}

TEST(Device, says_what_it_is) {
  EXPECT_TRUE(Device::cpu().is_cpu());
  EXPECT_FALSE(Device::cpu().is_cuda());
  EXPECT_TRUE(Device::cuda(2).is_cuda());
  EXPECT_EQ(Device::cuda(2).id, 2U);
  EXPECT_EQ(to_string(static_cast<DeviceType>(5)), "unknown");
  EXPECT_EQ(to_string(Device{.type = static_cast<DeviceType>(255), .id = 7}), "unknown:7");
}

TEST(Device, goes_to_dlpack_and_back) {
  EXPECT_EQ(Device::cpu().dlpack_type(), 1);
  EXPECT_EQ(Device::cuda().dlpack_type(), 2);
  EXPECT_EQ(Device{.type = DeviceType::cuda_host}.dlpack_type(), 3);
  EXPECT_EQ(Device{.type = DeviceType::cuda_managed}.dlpack_type(), 13);
  EXPECT_EQ(Device{.type = DeviceType::dma_buf}.dlpack_type(), 1);
  EXPECT_EQ(Device{.type = static_cast<DeviceType>(9)}.dlpack_type(), 0);
  for (std::int32_t type = -3; type < 300; ++type) {
    const auto device = Device::from_dlpack(type, 5);
    ASSERT_EQ(device.has_value(), type == 1 || type == 2 || type == 3 || type == 13) << type;
    if (!device) continue;
    EXPECT_EQ(device->dlpack_type(), type);
    EXPECT_EQ(device->id, 5U);
  }
  EXPECT_EQ(Device::from_dlpack(1, 0)->type, DeviceType::cpu);
  EXPECT_FALSE(Device::from_dlpack(2, -1));
  EXPECT_FALSE(Device::from_dlpack(2, std::numeric_limits<std::int32_t>::min()));
}

TEST(Device, asks_the_driver_the_same_question_once) {
  const std::uint32_t count = cuda_device_count();
  EXPECT_EQ(cuda_available(), count > 0);
  EXPECT_EQ(cuda_device_count(), count);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A child asks anew; whatever the driver says there, both functions say the same.
    ::_exit(cuda_available() == (cuda_device_count() > 0) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(TensorDescriptor, has_a_code_for_every_element_type) {
  const DType codes[] = {DType::f32, DType::f64, DType::f16,    DType::bf16, DType::i8,
                         DType::i16, DType::i32, DType::i64,    DType::u8,   DType::u16,
                         DType::u32, DType::u64, DType::boolean};
  for (unsigned code = 0; code < 256; ++code) {
    TensorDescriptor d{.dtype_code = static_cast<std::uint8_t>(code)};
    ASSERT_EQ(d.dtype().has_value(), code < 13) << code;
    if (code >= 13) {
      d.size = 1;
      EXPECT_FAILS(d.layout(), Errc::malformed, "dtype_code");
      continue;
    }
    EXPECT_EQ(d.dtype(), codes[code]);
    d.dtype_code = 77;
    d.set_dtype(codes[code]);
    EXPECT_EQ(d.dtype_code, code);
  }
}

TEST(TensorDescriptor, has_a_byte_for_every_device) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const TensorDescriptor d{
        .size = 1, .device_type = static_cast<std::uint8_t>(byte), .device_id = 6};
    EXPECT_EQ(d.is_cpu(), byte == 0);
    EXPECT_EQ(d.is_cuda(), byte == 1);
    ASSERT_EQ(d.device().has_value(), byte < 5) << byte;
    if (byte >= 5) {
      const auto layout = d.layout();
      EXPECT_FAILS(layout, Errc::malformed, "device_type");
      continue;
    }
    EXPECT_TRUE(d.layout());
    TensorDescriptor again;
    again.set_device(*d.device());
    EXPECT_EQ(again.device_type, byte);
    EXPECT_EQ(again.device_id, 6U);
  }
}

TEST(TensorDescriptor, keeps_its_generation_in_two_halves) {
  TensorDescriptor d;
  d.set_generation(0x0123456789ABCDEFU);
  EXPECT_EQ(d.generation_low, 0x89ABCDEFU);
  EXPECT_EQ(d.generation_high, 0x01234567U);
  EXPECT_EQ(d.generation(), 0x0123456789ABCDEFU);
}

TEST(TensorDescriptor, gives_at_most_eight_extents) {
  TensorDescriptor d;
  for (unsigned n = 0; n < 256; ++n) {
    d.ndim = static_cast<std::uint8_t>(n);
    EXPECT_EQ(d.shape().size(), n < 8 ? n : 8U);
    if (n > 8) {
      const auto layout = d.layout();
      EXPECT_FAILS(layout, Errc::malformed, "ndim");
      EXPECT_FAILS(layout, std::to_string(n));
    }
  }
}

TEST(TensorDescriptor, of_a_scalar_is_one_element) {
  TensorDescriptor d;
  d.set_dtype(DType::f64);
  d.size = 8;
  const auto layout = value_of(d.layout());
  ASSERT_EQ(layout.rank, 1);
  EXPECT_EQ(layout.shape[0], 1U);
  EXPECT_EQ(layout.stride_bytes[0], 8);
  EXPECT_EQ(layout.dtype, DType::f64);
  d.size = 7;
  EXPECT_FAILS(d.layout(), Errc::malformed);
}

TEST(TensorDescriptor, has_the_strides_of_rows) {
  const std::size_t shape[] = {2, 3, 4};
  const auto d = value_of(TensorDescriptor::of_layout(*Layout::contiguous(DType::f32, shape)));
  EXPECT_EQ(d.ndim, 3);
  EXPECT_EQ(d.strides[0], 48U);
  EXPECT_EQ(d.strides[1], 16U);
  EXPECT_EQ(d.strides[2], 4U);
  EXPECT_EQ(d.size, 96U);
  EXPECT_EQ(d.flags, TensorDescriptor::contiguous_flag);
  EXPECT_EQ(d.dtype(), DType::f32);
  for (std::size_t i = 3; i < max_rank; ++i)
    EXPECT_EQ(d.dims[i] + d.strides[i], 0U);
}

TEST(TensorDescriptor, refuses_layouts_that_it_cannot_say) {
  EXPECT_FAILS(TensorDescriptor::of_layout({}), Errc::invalid_argument);
  EXPECT_FAILS(TensorDescriptor::of_layout({.rank = 9}), Errc::invalid_argument);
  EXPECT_FAILS(TensorDescriptor::of_layout({.rank = 1, .shape = {4}, .stride_bytes = {-1}}),
               Errc::unsupported);
  EXPECT_FAILS(
      TensorDescriptor::of_layout({.rank = 1, .shape = {3}, .stride_bytes = {PTRDIFF_MAX}}),
      Errc::invalid_argument);
}

// One bad field at a time, each named in the message.
TEST(TensorDescriptor, names_the_field_that_is_wrong) {
  using D = TensorDescriptor;
  const std::pair<void (*)(D&), const char*> cases[] = {
      {[](D& d) { d.size = 69; }, "size"},
      {[](D& d) { d.size = 71; }, "size"},
      {[](D& d) { d.size = ~std::uint64_t{0}; }, "size"},
      {[](D& d) { d.dims[0] = two_63; }, "dims"},
      {[](D& d) { d.dims[0] = two_63 - 1; }, "dims"},
      {[](D& d) { d.dims[1] = ~std::uint64_t{0}; }, "dims"},
      {[](D& d) { d.strides[1] = two_63; }, "strides"},
      {[](D& d) { d.strides[0] = two_63 - 1; }, "strides"},
      {[](D& d) { d.strides[0] = 0; }, "size"},
      {[](D& d) {
         d.dims[0] = d.dims[1] = std::uint64_t{1} << 32;
         d.strides[0] = d.strides[1] = 0;
         d.size = 2;
       },
       "dims"}};
  for (const auto& [edit, field] : cases) {
    D d = *D::of_layout(*Layout::contiguous(DType::u16, std::array<std::size_t, 2>{5, 7}));
    edit(d);
    EXPECT_FAILS(d.layout(), Errc::malformed, field);
  }
}

TEST(TensorDescriptor, of_no_elements_reaches_nothing) {
  const std::size_t shape[] = {3, 0, 2};
  const auto d = value_of(TensorDescriptor::of_layout(*Layout::contiguous(DType::u8, shape)));
  EXPECT_EQ(d.size, 0U);
  const auto layout = value_of(d.layout());
  EXPECT_EQ(layout.element_count(), 0U);
}

// Sum of (extent - 1) * stride, and an element.
std::uint64_t bytes_reached(const Layout& layout) {
  std::uint64_t bytes = size_of(layout.dtype);
  for (std::size_t axis = 0; axis < layout.rank; ++axis)
    bytes += (layout.shape[axis] - 1) * static_cast<std::uint64_t>(layout.stride_bytes[axis]);
  return bytes;
}

TEST(TensorDescriptor, carries_any_layout_there_and_back) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    Layout layout{.dtype = static_cast<DType>(random() % 13),
                  .rank = static_cast<std::uint8_t>(1 + random() % 8)};
    for (std::size_t axis = 0; axis < layout.rank; ++axis) {
      layout.shape[axis] = 1 + random() % 65;
      layout.stride_bytes[axis] = static_cast<std::ptrdiff_t>(random() % 5000);
    }
    const auto sent = value_of(TensorDescriptor::of_layout(layout));
    std::byte wire[168];
    std::memcpy(wire, &sent, sizeof wire);
    TensorDescriptor received;
    std::memcpy(&received, wire, sizeof wire);
    EXPECT_EQ(received, sent);
    EXPECT_EQ(received.size, bytes_reached(layout));
    EXPECT_EQ((received.flags & TensorDescriptor::contiguous_flag) != 0, layout.is_contiguous());
    if (!Layout::contiguous(layout.dtype, layout.dims())) continue;  // a product beyond 2^63
    const auto back = value_of(received.layout());
    EXPECT_EQ(back.dtype, layout.dtype);
    EXPECT_EQ(back.rank, layout.rank);
    EXPECT_EQ(back.shape, layout.shape);
    EXPECT_EQ(back.stride_bytes, layout.stride_bytes);
  }
}

// What is accepted reaches what it says; nothing crashes.
TEST(TensorDescriptor, takes_random_bytes_for_what_they_are) {
  std::mt19937_64 random(11);
  int accepted = 0;
  for (int round = 0; round < 100000; ++round) {
    const std::size_t shape[] = {1 + random() % 9, 1 + random() % 9};
    TensorDescriptor d =
        *TensorDescriptor::of_layout(*Layout::contiguous(static_cast<DType>(random() % 13), shape));
    auto* const bytes = reinterpret_cast<unsigned char*>(&d);
    const bool all = round % 4 == 0;
    const std::size_t edits = all ? sizeof d : random() % 4;
    for (std::size_t i = 0; i < edits; ++i)
      bytes[all ? i : random() % sizeof d] = static_cast<unsigned char>(random());
    (void)d.shape();
    (void)d.dtype();
    (void)d.device();
    const auto layout = d.layout();
    if (!layout) {
      EXPECT_FAILS(layout, Errc::malformed);
      continue;
    }
    ++accepted;
    EXPECT_LE(layout->rank, max_rank);
    EXPECT_EQ(d.size, layout->element_count() == 0 ? 0 : bytes_reached(*layout));
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace halyard
