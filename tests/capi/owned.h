// SPDX-License-Identifier: Apache-2.0
// Handles of the C interface that end by themselves, and images for tests.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "halyard/hal.h"

namespace halyard::test {

struct Free {
  void operator()(hal_tensor* t) const { hal_tensor_free(t); }
  void operator()(hal_tensor_map* m) const { hal_tensor_map_unmap(m); }
  void operator()(hal_image_processor* p) const { hal_image_processor_free(p); }
  void operator()(hal_plane_descriptor* p) const { hal_plane_descriptor_free(p); }
  void operator()(HalImageDesc* d) const { hal_image_desc_free(d); }
  void operator()(HalTensorQuant* q) const { hal_quantization_free(q); }
  void operator()(hal_decoder_params* p) const { hal_decoder_params_free(p); }
  void operator()(hal_decoder* p) const { hal_decoder_free(p); }
  void operator()(hal_detect_box_list* p) const { hal_detect_box_list_free(p); }
  void operator()(hal_segmentation_list* p) const { hal_segmentation_list_free(p); }
  void operator()(hal_track_info_list* p) const { hal_track_info_list_free(p); }
  void operator()(hal_decoded* p) const { hal_decoded_free(p); }
  void operator()(hal_proto_data* p) const { hal_proto_data_free(p); }
  void operator()(hal_bytetrack* p) const { hal_bytetrack_free(p); }
  void operator()(hal_tile_spec_list* p) const { hal_tile_spec_list_free(p); }
  void operator()(hal_tile_placement_list* p) const { hal_tile_placement_list_free(p); }
  void operator()(hal_tiled_frame_accumulator* p) const { hal_tiled_frame_accumulator_free(p); }
  void operator()(hal_pool* p) const { hal_pool_free(p); }
  void operator()(hal_topic* t) const { hal_topic_free(t); }
  void operator()(hal_message* m) const { hal_message_free(m); }
  void operator()(hal_waitset* s) const { hal_waitset_free(s); }
  void operator()(hal_attrs* a) const { hal_attrs_free(a); }
  void operator()(hal_reconciled* r) const { hal_reconciled_free(r); }
  void operator()(hal_operation* o) const { hal_operation_free(o); }
  void operator()(hal_buffer* b) const { hal_buffer_free(b); }
  void operator()(std::uint8_t* bytes) const { std::free(bytes); }
  void operator()(char* text) const { std::free(text); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;
using Tensor = Owned<hal_tensor>;
using Map = Owned<hal_tensor_map>;
using Processor = Owned<hal_image_processor>;
using Pool = Owned<hal_pool>;
using Topic = Owned<hal_topic>;
using Message = Owned<hal_message>;

inline bool says(const char* words) {
  return std::string(hal_last_error()).find(words) != std::string::npos;
}

inline Tensor make_image(std::size_t width, std::size_t height, hal_pixel_format format,
                         hal_dtype dtype = HAL_DTYPE_U8,
                         hal_tensor_memory memory = HAL_TENSOR_MEMORY_MEM) {
  return Tensor(hal_tensor_new_image(width, height, format, dtype, memory));
}

/// A byte of a tensor, by its distance from the first.
inline int byte_at(const Tensor& tensor, std::size_t i) {
  const Map map(hal_tensor_map_create(tensor.get()));
  return static_cast<const std::uint8_t*>(hal_tensor_map_data_const(map.get()))[i];
}

/// Byte i is i * step, modulo 256.
inline void fill(const Tensor& tensor, unsigned step) {
  const Map map(hal_tensor_map_create(tensor.get()));
  auto* const bytes = static_cast<std::uint8_t*>(hal_tensor_map_data(map.get()));
  for (std::size_t i = 0; i < hal_tensor_map_size(map.get()); ++i)
    bytes[i] = static_cast<std::uint8_t>(i * step);
}

inline void paint(const Tensor& tensor, int value) {
  const Map map(hal_tensor_map_create(tensor.get()));
  std::memset(hal_tensor_map_data(map.get()), value, hal_tensor_map_size(map.get()));
}

/// Whether a call that set errno to 0 before it came out as `failed`, with this errno.
template <class F, class T>
testing::AssertionResult fails_with(F failed, int code, T result) {
  const int seen = errno;
  if (result != static_cast<T>(failed)) return testing::AssertionFailure() << "succeeded";
  if (seen == code) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "errno is " << seen << ", " << hal_last_error();
}

}  // namespace halyard::test

/// The call fails as `failed` with this errno.
#define EXPECT_ERRNO(failed, code, ...)                                            \
  EXPECT_TRUE((errno = 0, halyard::test::fails_with(failed, code, (__VA_ARGS__)))) \
      << #__VA_ARGS__ << ' '
