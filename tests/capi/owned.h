// SPDX-License-Identifier: Apache-2.0
// Handles of the C interface that end by themselves, and images for tests.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "halyard/hal.h"

/// The call gives 0.
#define EXPECT_DONE(...) EXPECT_EQ((__VA_ARGS__), 0) << hal_last_error()
#define ASSERT_DONE(...) ASSERT_EQ((__VA_ARGS__), 0) << hal_last_error()

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
  void operator()(hal_pipeline* p) const { hal_pipeline_free(p); }
  void operator()(hal_pipeline_frame* f) const { hal_pipeline_frame_free(f); }
  void operator()(hal_buffer* b) const { hal_buffer_free(b); }
  void operator()(std::uint8_t* bytes) const { std::free(bytes); }
  void operator()(char* text) const { std::free(text); }
};

/// Passes for the pointer in calls, and frees it at its end.
template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    reset(std::exchange(other.handle_, nullptr));
    return *this;
  }
  ~Owned() { reset(); }

  operator T*() const { return handle_; }
  T* operator->() const { return handle_; }
  T* get() const { return handle_; }
  void reset(T* handle = nullptr) {
    if (handle_ != nullptr) Free()(handle_);
    handle_ = handle;
  }
  /// Where a call puts what it makes.
  T** out() {
    reset();
    return &handle_;
  }

 private:
  T* handle_ = nullptr;
};
using Tensor = Owned<hal_tensor>;
using Map = Owned<hal_tensor_map>;
using Processor = Owned<hal_image_processor>;
using Boxes = Owned<hal_detect_box_list>;
using Masks = Owned<hal_segmentation_list>;
using Tracks = Owned<hal_track_info_list>;
using Pool = Owned<hal_pool>;
using Topic = Owned<hal_topic>;
using Message = Owned<hal_message>;
using OwnedPipeline = Owned<hal_pipeline>;
using OwnedFrame = Owned<hal_pipeline_frame>;

inline bool says(const char* words) {
  return std::string(hal_last_error()).find(words) != std::string::npos;
}

inline Tensor make_tensor(hal_dtype dtype, std::initializer_list<std::size_t> shape,
                          hal_tensor_memory memory = HAL_TENSOR_MEMORY_MEM) {
  return Tensor(hal_tensor_new(dtype, shape.begin(), shape.size(), memory, nullptr));
}

inline Tensor make_image(std::size_t width, std::size_t height, hal_pixel_format format,
                         hal_dtype dtype = HAL_DTYPE_U8,
                         hal_tensor_memory memory = HAL_TENSOR_MEMORY_MEM) {
  return Tensor(hal_tensor_new_image(width, height, format, dtype, memory));
}

inline int convert(hal_image_processor* processor, const hal_tensor* from, hal_tensor* to,
                   hal_rotation rotation = HAL_ROTATION_NONE, hal_flip flip = HAL_FLIP_NONE,
                   const hal_crop* crop = nullptr) {
  return hal_image_processor_convert(processor, from, to, rotation, flip, crop);
}

/// A tensor with these bytes.
template <class T>
Tensor tensor_of(hal_dtype dtype, std::initializer_list<std::size_t> shape,
                 const std::vector<T>& values) {
  Tensor tensor = make_tensor(dtype, shape);
  const Map map(hal_tensor_map_create(tensor));
  EXPECT_EQ(hal_tensor_map_size(map), values.size() * sizeof(T));
  std::memcpy(hal_tensor_map_data(map), values.data(), values.size() * sizeof(T));
  return tensor;
}
inline Tensor tensor_of(std::initializer_list<std::size_t> shape,
                        const std::vector<float>& values) {
  return tensor_of(HAL_DTYPE_F32, shape, values);
}

inline std::vector<std::uint8_t> bytes_of(const hal_tensor* tensor) {
  const Map map(hal_tensor_map_create(tensor));
  const auto* const data = static_cast<const std::uint8_t*>(hal_tensor_map_data_const(map));
  return {data, data + hal_tensor_map_size(map)};
}

/// A byte of a tensor, by its distance from the first.
inline int byte_at(const Tensor& tensor, std::size_t i) {
  return bytes_of(tensor)[i];
}

/// Byte i is i * step, modulo 256.
inline void fill(const Tensor& tensor, unsigned step) {
  const Map map(hal_tensor_map_create(tensor));
  auto* const bytes = static_cast<std::uint8_t*>(hal_tensor_map_data(map));
  for (std::size_t i = 0; i < hal_tensor_map_size(map); ++i)
    bytes[i] = static_cast<std::uint8_t>(i * step);
}

inline void paint(const Tensor& tensor, int value) {
  const Map map(hal_tensor_map_create(tensor));
  std::memset(hal_tensor_map_data(map), value, hal_tensor_map_size(map));
}

inline Message receive(const hal_topic* topic, std::int64_t timeout_ns = 0,
                       std::uint64_t* lost = nullptr) {
  Message message;
  EXPECT_EQ(hal_topic_recv(topic, timeout_ns, message.out(), lost), 1) << hal_last_error();
  return message;
}

inline hal_topic_stats stats_of(const Topic& topic) {
  hal_topic_stats stats{};
  EXPECT_DONE(hal_topic_get_stats(topic, &stats));
  return stats;
}
inline hal_pool_stats stats_of(const Pool& pool) {
  hal_pool_stats stats{};
  EXPECT_DONE(hal_pool_get_stats(pool, &stats));
  return stats;
}

/// Whether a call that set errno to 0 before it came out as `failed`, with this errno and a message
/// that contains `words`.
template <class F, class T>
testing::AssertionResult fails_with(F failed, int code, const std::string& words, T result) {
  const int seen = errno;
  if (result != static_cast<T>(failed)) return testing::AssertionFailure() << "it succeeds";
  const std::string message = hal_last_error();
  if (seen != code) return testing::AssertionFailure() << "errno is " << seen << ", " << message;
  if (message.find(words) == std::string::npos)
    return testing::AssertionFailure() << "its message has no \"" << words << "\": " << message;
  return testing::AssertionSuccess();
}

}  // namespace halyard::test

/// The call fails as `failed` with this errno; EXPECT_ERROR: and with `words` in its message.
#define EXPECT_ERRNO(failed, code, ...) EXPECT_ERROR(failed, code, "", __VA_ARGS__)
#define EXPECT_ERROR(failed, code, words, ...)                                            \
  EXPECT_TRUE((errno = 0, halyard::test::fails_with(failed, code, words, (__VA_ARGS__)))) \
      << #__VA_ARGS__ << ' '
