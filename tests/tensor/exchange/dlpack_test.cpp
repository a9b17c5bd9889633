// SPDX-License-Identifier: Apache-2.0
// DLPack: what is exported, what is taken over, when the deleter runs, and what is refused.
#include "halyard/dlpack.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dlpack_producer.h"
#include "support/result.h"
#include "tensor/tensors.h"

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif

namespace halyard {
namespace {

using F = PixelFormat;
using test::contiguous;
using test::image_of;

void release(ManagedVersioned* managed) {
  managed->deleter(managed);
}

std::vector<std::int64_t> list(const std::int64_t* first, int count) {
  return {first, first + count};
}

// Element i of a 2 x 3 i32 tensor is i.
Tensor two_by_three(Memory memory = Memory::mem) {
  return test::counting({2, 3}, DType::i32, memory);
}

#ifdef DLPACK_MAJOR_VERSION
TEST(DlpackAbi, lies_in_memory_as_the_header_of_dlpack_says) {
  EXPECT_EQ(sizeof(dlpack_abi::TensorInfo), sizeof(DLTensor));
  EXPECT_EQ(offsetof(dlpack_abi::TensorInfo, device), offsetof(DLTensor, device));
  EXPECT_EQ(offsetof(dlpack_abi::TensorInfo, ndim), offsetof(DLTensor, ndim));
  EXPECT_EQ(offsetof(dlpack_abi::TensorInfo, dtype), offsetof(DLTensor, dtype));
  EXPECT_EQ(offsetof(dlpack_abi::TensorInfo, shape), offsetof(DLTensor, shape));
  EXPECT_EQ(offsetof(dlpack_abi::TensorInfo, strides), offsetof(DLTensor, strides));
  EXPECT_EQ(offsetof(dlpack_abi::TensorInfo, byte_offset), offsetof(DLTensor, byte_offset));
  EXPECT_EQ(sizeof(Managed), sizeof(DLManagedTensor));
  EXPECT_EQ(offsetof(Managed, manager_ctx), offsetof(DLManagedTensor, manager_ctx));
  EXPECT_EQ(offsetof(Managed, deleter), offsetof(DLManagedTensor, deleter));
  EXPECT_EQ(sizeof(ManagedVersioned), sizeof(DLManagedTensorVersioned));
  EXPECT_EQ(offsetof(ManagedVersioned, manager_ctx),
            offsetof(DLManagedTensorVersioned, manager_ctx));
  EXPECT_EQ(offsetof(ManagedVersioned, deleter), offsetof(DLManagedTensorVersioned, deleter));
  EXPECT_EQ(offsetof(ManagedVersioned, flags), offsetof(DLManagedTensorVersioned, flags));
  EXPECT_EQ(offsetof(ManagedVersioned, tensor), offsetof(DLManagedTensorVersioned, dl_tensor));
  EXPECT_EQ(dlpack_abi::version_major, static_cast<unsigned>(DLPACK_MAJOR_VERSION));
  EXPECT_EQ(dlpack_abi::flag_read_only, DLPACK_FLAG_BITMASK_READ_ONLY);
  EXPECT_EQ(dlpack_abi::device_cpu, kDLCPU);
  EXPECT_EQ(dlpack_abi::device_cuda_host, kDLCUDAHost);
  EXPECT_EQ(dlpack_abi::device_rocm_host, kDLROCMHost);
  EXPECT_EQ(dlpack_abi::device_cuda_managed, kDLCUDAManaged);
  const auto code_of_type = [](DType dtype) -> unsigned {
    for (const auto& row : dlpack_abi::types) {
      if (row.dtype == dtype) return row.type.code;
    }
    return 255;
  };
  EXPECT_EQ(code_of_type(DType::i8), static_cast<unsigned>(kDLInt));
  EXPECT_EQ(code_of_type(DType::u8), static_cast<unsigned>(kDLUInt));
  EXPECT_EQ(code_of_type(DType::f16), static_cast<unsigned>(kDLFloat));
  EXPECT_EQ(code_of_type(DType::bf16), static_cast<unsigned>(kDLBfloat));
  EXPECT_EQ(code_of_type(DType::boolean), static_cast<unsigned>(kDLBool));
}
#endif

TEST(DlpackExport, gives_address_shape_and_strides_in_elements) {
  const Tensor tensor = two_by_three();
  ASSERT_VALUE(const auto exported, to_dlpack(tensor));
  ManagedVersioned* const managed = from_public(exported);
  EXPECT_EQ(managed->version.major, 1U);
  EXPECT_EQ(managed->flags, 0U);
  EXPECT_EQ(managed->tensor.data, tensor.map(Access::read)->data());
  EXPECT_EQ(managed->tensor.byte_offset, 0U);
  EXPECT_EQ(managed->tensor.device.type, 1);
  EXPECT_EQ(managed->tensor.device.id, 0);
  EXPECT_EQ(managed->tensor.dtype.code, 0);
  EXPECT_EQ(managed->tensor.dtype.bits, 32);
  EXPECT_EQ(managed->tensor.dtype.lanes, 1);
  ASSERT_EQ(managed->tensor.ndim, 2);
  EXPECT_EQ(list(managed->tensor.shape, 2), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(list(managed->tensor.strides, 2), (std::vector<std::int64_t>{3, 1}));
  release(managed);
}

class DlpackMemory : public ::testing::TestWithParam<Memory> {};

TEST_P(DlpackMemory, keeps_the_bytes_until_the_deleter_runs_on_any_thread) {
  if (const auto status = memory_available(GetParam()); !status)
    GTEST_SKIP() << status.error().message();
  std::weak_ptr<Buffer> buffer;
  ManagedVersioned* managed = nullptr;
  {
    const Tensor tensor = two_by_three(GetParam());
    ASSERT_EQ(tensor.memory(), GetParam());
    buffer = tensor.buffer();
    managed = from_public(*to_dlpack(tensor));
  }
  ASSERT_FALSE(buffer.expired());
  EXPECT_EQ(managed->tensor.device.type, dlpack_abi::device_cpu);
  auto* const elements = static_cast<std::int32_t*>(managed->tensor.data);
  EXPECT_EQ(elements[5], 5);
  elements[5] = 99;
  std::thread([managed] { release(managed); }).join();
  EXPECT_TRUE(buffer.expired());
}

INSTANTIATE_TEST_SUITE_P(kinds, DlpackMemory,
                         ::testing::Values(Memory::mem, Memory::shm, Memory::dma),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST(DlpackExport, serves_several_consumers_and_a_writer_beside_them) {
  const Tensor tensor = two_by_three();
  ManagedVersioned* const first = from_public(*to_dlpack(tensor));
  ManagedVersioned* const second = from_public(*to_dlpack(tensor, {.read_only = true}));
  EXPECT_EQ(first->tensor.data, second->tensor.data);
  std::thread([&tensor] { EXPECT_TRUE(tensor.map(Access::write)); }).join();
  release(first);
  EXPECT_EQ(static_cast<const std::int32_t*>(second->tensor.data)[5], 5);
  release(second);
}

TEST(DlpackExport, deleters_of_both_forms_take_null_and_an_empty_context) {
  std::weak_ptr<Buffer> buffer;
  ManagedVersioned* managed = nullptr;
  Managed* older = nullptr;
  {
    const Tensor tensor = two_by_three();
    buffer = tensor.buffer();
    managed = from_public(*to_dlpack(tensor));
    older = from_public(*to_dlpack_unversioned(tensor));
  }
  managed->deleter(nullptr);
  older->deleter(nullptr);
  ManagedVersioned no_context;
  managed->deleter(&no_context);
  Managed older_no_context;
  older->deleter(&older_no_context);
  EXPECT_EQ(buffer.use_count(), 2) << "none of these lets go of anything";
  EXPECT_EQ(static_cast<const std::int32_t*>(managed->tensor.data)[5], 5);
  release(managed);
  EXPECT_EQ(buffer.use_count(), 1);
  EXPECT_EQ(static_cast<const std::int32_t*>(older->tensor.data)[5], 5);
  older->deleter(older);
  EXPECT_TRUE(buffer.expired());
}

TEST(DlpackExport, says_read_only_and_refuses_to_hide_it) {
  const std::array<std::int32_t, 4> memory{1, 2, 3, 4};
  const auto buffer = *wrap_memory(static_cast<const void*>(memory.data()), sizeof memory, {});
  const Tensor tensor = *Tensor::wrap(buffer, contiguous(DType::i32, {4}));
  ManagedVersioned* const managed = from_public(*to_dlpack(tensor, {.read_only = true}));
  EXPECT_EQ(managed->flags, dlpack_abi::flag_read_only);
  EXPECT_EQ(managed->tensor.data, memory.data());
  release(managed);
  EXPECT_FAILS(to_dlpack(tensor), Errc::permission);
  EXPECT_FAILS(to_dlpack_unversioned(tensor), Errc::permission);
}

TEST(DlpackExport, knows_every_element_type) {
  const struct {
    DType dtype;
    int code, bits;
  } expected[] = {{DType::u8, 1, 8},     {DType::i8, 0, 8},   {DType::u16, 1, 16},
                  {DType::i16, 0, 16},   {DType::u32, 1, 32}, {DType::i32, 0, 32},
                  {DType::u64, 1, 64},   {DType::i64, 0, 64}, {DType::f16, 2, 16},
                  {DType::f32, 2, 32},   {DType::f64, 2, 64}, {DType::bf16, 4, 16},
                  {DType::boolean, 6, 8}};
  for (const auto& [dtype, code, bits] : expected) {
    ManagedVersioned* const managed =
        from_public(*to_dlpack(*Tensor::create(dtype, {3}, Memory::mem)));
    EXPECT_EQ(managed->tensor.dtype.code, code) << to_string(dtype);
    EXPECT_EQ(managed->tensor.dtype.bits, bits) << to_string(dtype);
    const auto back = from_dlpack(to_public(managed));
    ASSERT_TRUE(back) << to_string(dtype);
    EXPECT_EQ(back->dtype(), dtype);
  }
}

TEST(DlpackExport, shows_the_padding_of_images_as_strides) {
  const auto image =
      *Tensor::create_image(5, 4, F::rgb, {.memory = Memory::mem, .stride_bytes = 64});
  ManagedVersioned* const managed = from_public(*to_dlpack(image));
  EXPECT_EQ(list(managed->tensor.shape, 3), (std::vector<std::int64_t>{4, 5, 3}));
  EXPECT_EQ(list(managed->tensor.strides, 3), (std::vector<std::int64_t>{64, 3, 1}));
  release(managed);
}

TEST(DlpackExport, shows_a_part_of_an_image_at_its_own_address) {
  const auto image = image_of(8, 4, F::rgba);
  const auto part = *image.slice({2, 1, 3, 2});
  ManagedVersioned* const managed = from_public(*to_dlpack(part));
  EXPECT_EQ(managed->tensor.data, image.map(Access::read)->data() + 32 + 8);
  EXPECT_EQ(list(managed->tensor.shape, 3), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(list(managed->tensor.strides, 3), (std::vector<std::int64_t>{32, 4, 1}));
  release(managed);
}

TEST(DlpackExport, serves_planes_that_follow_one_another_and_refuses_others) {
  const auto image = image_of(8, 4, F::nv12);
  ManagedVersioned* const managed = from_public(*to_dlpack(image));
  EXPECT_EQ(list(managed->tensor.shape, 2), (std::vector<std::int64_t>{6, 8}));
  release(managed);
  const auto luma = *allocate(64, Memory::mem);
  const auto chroma = *allocate(64, Memory::mem);
  const std::array planes{Tensor::PlaneSource{luma, 0, 8}, Tensor::PlaneSource{chroma, 0, 8}};
  EXPECT_FAILS(to_dlpack(*Tensor::wrap_image(planes, 8, 4, F::nv12)), Errc::unsupported, "planes");
  EXPECT_FAILS(to_dlpack(*image.slice({2, 2, 4, 2})), Errc::unsupported);
}

TEST(DlpackExport, of_no_elements_has_no_address) {
  ManagedVersioned* const managed =
      from_public(*to_dlpack(*Tensor::create(DType::f32, {2, 0, 3}, Memory::mem)));
  EXPECT_EQ(managed->tensor.data, nullptr);
  EXPECT_EQ(list(managed->tensor.shape, 3), (std::vector<std::int64_t>{2, 0, 3}));
  ASSERT_VALUE(const auto back, from_dlpack(to_public(managed)));
  EXPECT_EQ(back.element_count(), 0U);
  EXPECT_EQ(back.shape()[2], 3U);
}

TEST(DlpackExport, refuses_what_dlpack_cannot_say) {
  EXPECT_FAILS(to_dlpack(Tensor()), Errc::invalid_argument);
  alignas(8) std::array<std::byte, 64> memory{};
  Layout layout{.dtype = DType::i32, .rank = 2, .shape = {2, 2}, .stride_bytes = {10, 4}};
  const auto buffer = *wrap_memory(memory.data(), memory.size(), {});
  EXPECT_FAILS(to_dlpack(*Tensor::wrap(buffer, layout)), Errc::unsupported, "axis 0: 10 bytes");
  layout.stride_bytes = {8, 4};
  const auto shifted = *wrap_memory(memory.data() + 1, memory.size() - 1, {});
  EXPECT_FAILS(to_dlpack(*Tensor::wrap(shifted, layout)), Errc::unsupported,
               "multiples of their size");
  Tensor tiled = two_by_three();
  tiled.set_modifier(1);
  EXPECT_FAILS(to_dlpack(tiled), Errc::unsupported);
}

TEST(DlpackImport, wraps_the_bytes_in_place_and_deletes_once_behind_the_last_user) {
  Producer<ManagedVersioned> producer;
  {
    ASSERT_VALUE(auto tensor, producer.take());
    EXPECT_EQ(tensor.memory(), Memory::mem);
    EXPECT_EQ(tensor.dtype(), DType::i32);
    auto map = *tensor.map(Access::read_write);
    EXPECT_EQ(map.data(), reinterpret_cast<std::byte*>(producer.memory.data()));
    (*map.view<std::int32_t, 2>())(1, 2) = 42;
    const Tensor copy = tensor;
    tensor = Tensor();
    EXPECT_EQ(copy.element_count(), 6U);
    EXPECT_EQ(producer.deleted, 0);
  }
  EXPECT_EQ(producer.deleted, 1);
  EXPECT_EQ(producer.memory[5], 42);
}

TEST(DlpackImport, deletes_on_the_thread_of_the_last_user) {
  Producer<Managed> producer;
  ASSERT_VALUE(auto tensor, producer.take());
  std::thread([last = std::move(tensor)] {}).join();
  EXPECT_EQ(producer.deleted, 1);
}

TEST(DlpackImport, takes_producers_without_a_deleter) {
  Producer<ManagedVersioned> producer;
  producer.managed.deleter = nullptr;
  EXPECT_TRUE(producer.take());
}

TEST(DlpackImport, heeds_the_read_only_flag_alone) {
  Producer<ManagedVersioned> producer;
  producer.managed.flags = dlpack_abi::flag_read_only | dlpack_abi::flag_is_copied | 1U << 9;
  {
    const auto tensor = *producer.take();
    EXPECT_FALSE(tensor.buffer()->is_writable());
    EXPECT_FAILS(tensor.map(Access::write), Errc::permission);
    EXPECT_TRUE(tensor.map(Access::read));
  }
  Producer<ManagedVersioned> writable;
  writable.managed.flags = dlpack_abi::flag_is_copied;
  EXPECT_TRUE((*writable.take()).buffer()->is_writable());
}

TEST(DlpackImport, takes_missing_strides_for_c_order) {
  Producer<ManagedVersioned> producer;
  producer.managed.tensor.strides = nullptr;
  const auto tensor = *producer.take();
  EXPECT_TRUE(tensor.layout().is_contiguous());
  EXPECT_EQ((*(*tensor.map(Access::read)).view<const std::int32_t, 2>())(1, 2), 5);
}

TEST(DlpackImport, counts_byte_offset_from_the_data_address) {
  Producer<ManagedVersioned> producer;
  producer.managed.tensor.byte_offset = 8;
  const auto tensor = *producer.take();
  const auto map = *tensor.map(Access::read);
  EXPECT_EQ(map.data(), reinterpret_cast<std::byte*>(producer.memory.data() + 2));
  EXPECT_EQ((*map.view<const std::int32_t, 2>())(0, 0), 2);
}

TEST(DlpackImport, takes_padded_transposed_and_broadcast_strides) {
  Producer<ManagedVersioned> producer;
  producer.strides = {12, 1};
  EXPECT_EQ((*(*(*producer.take()).map(Access::read)).view<const std::int32_t, 2>())(1, 2), 14);
  producer.strides = {1, 2};
  EXPECT_EQ((*(*(*producer.take()).map(Access::read)).view<const std::int32_t, 2>())(1, 2), 5);
  producer.strides = {0, 1};
  EXPECT_EQ((*(*(*producer.take()).map(Access::read)).view<const std::int32_t, 2>())(1, 2), 2);
}

TEST(DlpackImport, takes_negative_strides_from_the_lowest_address) {
  Producer<ManagedVersioned> producer;
  producer.managed.tensor.byte_offset = 5 * sizeof(std::int32_t);
  producer.strides = {-3, -1};
  const auto tensor = *producer.take();
  EXPECT_EQ(tensor.buffer()->size_bytes(), 24U);
  EXPECT_EQ(tensor.offset_bytes(), 20U);
  const auto map = *tensor.map(Access::read);
  const auto view = *map.view<const std::int32_t, 2>();
  EXPECT_EQ(view(0, 0), 5);
  EXPECT_EQ(view(1, 2), 0);
  // And on to the next consumer, who sees the same elements at the same address.
  ManagedVersioned* const again = from_public(*to_dlpack(tensor));
  EXPECT_EQ(again->tensor.data, producer.memory.data() + 5);
  EXPECT_EQ(list(again->tensor.strides, 2), (std::vector<std::int64_t>{-3, -1}));
  release(again);
}

TEST(DlpackImport, minds_no_strides_of_single_elements) {
  Producer<ManagedVersioned> producer;
  producer.shape = {1, 3};
  producer.strides = {std::numeric_limits<std::int64_t>::max(), 1};
  const auto tensor = *producer.take();
  EXPECT_TRUE(tensor.layout().is_contiguous());
}

TEST(DlpackImport, reaches_memory_of_the_hosts_side_of_gpus) {
  for (const int device : {1, 3, 11, 13}) {
    Producer<ManagedVersioned> producer;
    producer.managed.tensor.device = {device, 1};
    EXPECT_TRUE(producer.take()) << device;
  }
}

TEST(DlpackImport, of_what_we_exported_is_the_same_memory_without_a_copy) {
  const auto before = copy_stats().copies;
  Tensor tensor = two_by_three(Memory::shm);
  ASSERT_VALUE(const auto back, from_dlpack(*to_dlpack(tensor)));
  EXPECT_EQ(back.map(Access::read)->data(), tensor.map(Access::read)->data());
  ASSERT_VALUE(const auto older, from_dlpack(*to_dlpack_unversioned(tensor)));
  EXPECT_EQ(older.map(Access::read)->data(), tensor.map(Access::read)->data());
  EXPECT_EQ(copy_stats().copies, before);
}

TEST(Dlpack, a_thousand_round_trips_leave_nothing_behind) {
  Tensor tensor = two_by_three(Memory::shm);
  for (int i = 0; i < 1000; ++i) {
    auto back = from_dlpack(*to_dlpack(tensor));
    ASSERT_TRUE(back);
  }
  EXPECT_EQ(tensor.buffer().use_count(), 1);
}

}  // namespace
}  // namespace halyard
