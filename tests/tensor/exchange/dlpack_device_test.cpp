// SPDX-License-Identifier: Apache-2.0
// DLPack exports of elements on a device. The device's addresses are those of the CPU.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <thread>

#include "dlpack_producer.h"
#include "halyard/device.h"
#include "halyard/dlpack.h"
#include "support/result.h"
#include "tensor/tensors.h"

namespace halyard {
namespace {

// Device 3 of its kind; knows whether it is mapped.
class Registration final : public DeviceAttachment {
 public:
  Registration(std::byte* address, bool& mapped) : address_(address), mapped_(mapped) {}
  DeviceKind device() const noexcept override { return DeviceKind::cuda; }
  bool excludes_cpu() const noexcept override { return false; }
  int device_number() const noexcept override { return 3; }
  Result<void*> begin(void*) override {
    mapped_ = true;
    return static_cast<void*>(address_);
  }
  void end(void*) noexcept override { mapped_ = false; }

 private:
  std::byte* address_;
  bool& mapped_;
};

struct DlpackDeviceTest : ::testing::Test {
  alignas(256) std::array<std::byte, 4096> memory{};
  bool mapped = false;
  std::shared_ptr<Buffer> buffer = attached(*wrap_memory(std::span(memory)));

  std::shared_ptr<Buffer> attached(std::shared_ptr<Buffer> made) {
    EXPECT_OK(attach_device(*made, std::make_unique<Registration>(memory.data(), mapped)));
    return made;
  }
  static std::shared_ptr<const DeviceMap> map_of(const std::shared_ptr<Buffer>& of) {
    auto made = map_device(of, DeviceKind::cuda);
    EXPECT_OK(made);
    return std::make_shared<const DeviceMap>(*std::move(made));
  }
  Tensor tensor(DType dtype, std::initializer_list<std::size_t> shape, std::size_t offset = 0) {
    return *Tensor::wrap(buffer, *Layout::contiguous(dtype, shape), offset);
  }
};

TEST_F(DlpackDeviceTest, has_the_device_the_address_and_the_strides) {
  const Tensor image = tensor(DType::f32, {4, 8}, 64);
  const Tensor part = *image.part(std::array{AxisRange::all(4), AxisRange{2, 3, 1}});
  ASSERT_VALUE(auto* const shared, to_dlpack(part, map_of(buffer)));
  ManagedVersioned& managed = *from_public(shared);
  EXPECT_EQ(managed.version.major, 1U);
  EXPECT_EQ(managed.flags, 0U);
  EXPECT_EQ(managed.tensor.device.type, 2) << "kDLCUDA";
  EXPECT_EQ(managed.tensor.device.id, 3);
  EXPECT_EQ(managed.tensor.data, memory.data() + 64 + 8);
  EXPECT_EQ(managed.tensor.byte_offset, 0U);
  ASSERT_EQ(managed.tensor.ndim, 2);
  EXPECT_EQ(managed.tensor.shape[0], 4);
  EXPECT_EQ(managed.tensor.shape[1], 3);
  EXPECT_EQ(managed.tensor.strides[0], 8);
  EXPECT_EQ(managed.tensor.strides[1], 1);
  EXPECT_EQ(managed.tensor.dtype.code, 2);
  EXPECT_EQ(managed.tensor.dtype.bits, 32);
  managed.deleter(&managed);
}

TEST_F(DlpackDeviceTest, the_map_ends_with_its_last_export) {
  const Tensor bytes = tensor(DType::u8, {100});
  auto map = map_of(buffer);
  ASSERT_VALUE(auto* const first, to_dlpack(bytes, map));
  ASSERT_VALUE(auto* const second, to_dlpack_unversioned(bytes, map));
  EXPECT_EQ(from_public(second)->tensor.device.type, 2);
  map.reset();
  buffer.reset();
  EXPECT_TRUE(mapped);
  from_public(first)->deleter(from_public(first));
  EXPECT_TRUE(mapped);
  std::thread([second] { from_public(second)->deleter(from_public(second)); }).join();
  EXPECT_FALSE(mapped);
}

TEST_F(DlpackDeviceTest, read_only_memory_needs_the_flag) {
  const std::array<std::byte, 64> constant{};
  buffer = attached(*wrap_memory(std::span(constant)));
  const Tensor bytes = tensor(DType::u8, {64});
  const auto map = map_of(buffer);
  EXPECT_FAILS(to_dlpack(bytes, map), Errc::permission, "read-only");
  EXPECT_FAILS(to_dlpack_unversioned(bytes, map), Errc::permission, "read-only");
  ASSERT_VALUE(auto* const shared, to_dlpack(bytes, map, {.read_only = true}));
  EXPECT_EQ(from_public(shared)->flags, dlpack_abi::flag_read_only);
  from_public(shared)->deleter(from_public(shared));
}

TEST_F(DlpackDeviceTest, needs_a_map_of_the_tensors_own_buffer) {
  const Tensor bytes = tensor(DType::u8, {100});
  EXPECT_FAILS(to_dlpack(bytes, nullptr), Errc::invalid_argument, "map");
  DeviceMap source = *map_device(buffer, DeviceKind::cuda);
  { const DeviceMap moved = std::move(source); }
  EXPECT_FAILS(to_dlpack(bytes, std::make_shared<const DeviceMap>(std::move(source))),
               Errc::invalid_argument, "map");
  const Tensor other = test::counting({2, 3}, DType::i32);
  EXPECT_FAILS(to_dlpack(other, map_of(buffer)), Errc::invalid_argument, "buffer");
  EXPECT_FALSE(mapped) << "what is refused keeps no map";
}

TEST_F(DlpackDeviceTest, refuses_what_one_address_with_strides_cannot_describe) {
  Layout odd = *Layout::contiguous(DType::i32, std::array<std::size_t, 2>{4, 4});
  odd.stride_bytes[0] = 18;
  EXPECT_FAILS(to_dlpack(*Tensor::wrap(buffer, odd), map_of(buffer)), Errc::unsupported, "strides");
  const Tensor::PlaneSource planes[] = {{buffer, 0, 64}, {buffer, 2048, 64}};
  const Tensor apart = *Tensor::wrap_image(planes, 64, 16, PixelFormat::nv12);
  EXPECT_FAILS(to_dlpack(apart, map_of(buffer)), Errc::unsupported, "planes");
  const Tensor::PlaneSource two[] = {{buffer, 0, 64}, {*wrap_memory(std::span(memory)), 1024, 64}};
  const Tensor split = *Tensor::wrap_image(two, 64, 16, PixelFormat::nv12);
  EXPECT_FAILS(to_dlpack(split, map_of(buffer)), Errc::invalid_argument, "buffer");
  Tensor tiled = *Tensor::wrap_image(std::span(planes).first(1), 64, 8, PixelFormat::grey);
  tiled.set_modifier(1);
  EXPECT_FAILS(to_dlpack(tiled, map_of(buffer)), Errc::unsupported, "not linear");
  EXPECT_FALSE(mapped);
}

TEST_F(DlpackDeviceTest, refuses_elements_that_are_not_aligned_on_the_device) {
  const Tensor words = tensor(DType::i32, {4});
  ASSERT_OK(attach_device(*buffer, std::make_unique<Registration>(memory.data() + 2, mapped)));
  EXPECT_FAILS(to_dlpack(words, map_of(buffer)), Errc::unsupported, "multiples of their size");
}

TEST_F(DlpackDeviceTest, without_elements_has_no_address) {
  ASSERT_VALUE(auto* const none, to_dlpack(tensor(DType::u8, {0, 3}), map_of(buffer)));
  EXPECT_EQ(from_public(none)->tensor.data, nullptr);
  from_public(none)->deleter(from_public(none));
}

TEST_F(DlpackDeviceTest, capsules_of_a_device_are_not_taken_in) {
  ASSERT_VALUE(auto* const shared, to_dlpack(tensor(DType::u8, {100}), map_of(buffer)));
  EXPECT_FAILS(from_dlpack(shared), Errc::unsupported, "device");
  from_public(shared)->deleter(from_public(shared));
}

}  // namespace
}  // namespace halyard
