// SPDX-License-Identifier: Apache-2.0
// Tensors in memory that processes share, from the least work to the most control:
//   1. Image, PointCloud and DepthImage allocate their memory themselves
//   2. Topic<Tensor> has its own pool, which its users in all processes share
//   3. TensorPool, TensorHandle and TensorDescriptor used directly
// camera_pipeline.cpp sends images between processes.
#include <halyard/halyard.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

using namespace halyard;

// Images, clouds and depths: the memory comes from this process's own pool.
static Status send_images() {
  HALYARD_TRY(auto image, Image::create(640, 480, ImageEncoding::rgb8));
  constexpr std::array red = {std::byte{255}, std::byte{0}, std::byte{0}};
  HALYARD_RETURN_IF_ERROR(image.fill(red));

  // Every process that uses the topic's name joins it; here both ends are in one process.
  HALYARD_TRY(auto publisher, Topic<Image>::create("example.images"));
  HALYARD_TRY(auto subscriber, Topic<Image>::create("example.images"));
  HALYARD_RETURN_IF_ERROR(publisher.send(image));  // only a descriptor is sent
  if (const auto received = subscriber.recv()) {
    HALYARD_TRY(const auto pixel, received->pixel(0, 0));
    std::printf("image %zux%zu, pixel (0, 0) is %d %d %d\n", received->width(), received->height(),
                int(pixel[0]), int(pixel[1]), int(pixel[2]));
  }

  HALYARD_TRY(const auto cloud, PointCloud::create(10'000, 3, DType::f32));
  HALYARD_TRY(const auto depth, DepthImage::create(480, 640, DType::f32));  // width, height
  std::printf("cloud of %zu points, depths of %zux%zu\n", cloud.point_count(), depth.width(),
              depth.height());
  return {};
}

// A topic of tensors has a pool, made at its first use.
static Status send_tensors() {
  HALYARD_TRY(auto publisher, Topic<Tensor>::create("example.tensors"));
  HALYARD_TRY(auto subscriber, Topic<Tensor>::create("example.tensors"));

  HALYARD_TRY(const auto handle, publisher.alloc_tensor({1080, 1920, 3}, DType::u8));
  HALYARD_TRY(const auto pixels, handle.data_slice_mut());
  std::fill(pixels.begin(), pixels.end(), std::byte{7});
  HALYARD_RETURN_IF_ERROR(publisher.send_handle(handle));

  const auto received = subscriber.recv_handle();
  if (received.lost() > 0) std::printf("%llu lost\n", (unsigned long long)received.lost());
  if (!received) return make_error(Errc::not_found, "topic: the tensor did not arrive");
  HALYARD_TRY(const auto data, received->data_slice());  // read-only, where it was written
  std::printf("tensor %zux%zux%zu of %s, last byte %d, %s\n", received->shape()[0],
              received->shape()[1], received->shape()[2],
              std::string(to_string(received->dtype())).c_str(), int(data.back()),
              data.data() == pixels.data() ? "not copied" : "at another address");
  return {};  // destroying the last handle frees the slot
}

static Status allocate_by_hand() {
  // The limits count for all processes; memory is allocated when it is needed.
  HALYARD_TRY(const auto first, TensorPool::create(1));  // 1 GiB, 1024 slots
  const TensorPoolConfig config = {
      .pool_size = std::uint64_t{2} << 30, .max_slots = 2048, .slot_alignment = 64};
  HALYARD_TRY(const auto pool, TensorPool::create(2, config));
  HALYARD_TRY(const auto opened, TensorPool::open(2));  // in another process: with its limits
  std::printf("pool %u has %u slots, pool %u %u; presets have %u and %u\n", first->pool_id(),
              first->config().max_slots, opened->pool_id(), opened->config().max_slots,
              TensorPoolConfig::small().max_slots, TensorPoolConfig::large().max_slots);
  const auto other = TensorPool::create(2, TensorPoolConfig::small());
  if (!other) std::printf("other limits are refused: %s\n", other.error().message().c_str());

  HALYARD_TRY(const auto handle, TensorHandle::alloc(pool, {1080, 1920, 3}, DType::u8));
  {
    const TensorHandle second = handle;  // counts one more holder, until it is destroyed
    std::printf("%llu handles, ", (unsigned long long)second.refcount());
  }
  std::printf("then %llu\n", (unsigned long long)handle.refcount());

  const TensorPoolStats stats = pool->stats();
  std::printf("%u/%u slots used, %llu/%llu bytes\n", stats.allocated_slots, stats.max_slots,
              (unsigned long long)stats.used_bytes, (unsigned long long)stats.pool_size);

  // 168 bytes identify the tensor for all processes of the pool, as long as somebody holds it.
  HALYARD_TRY(const TensorDescriptor descriptor, handle.descriptor());
  HALYARD_TRY(const auto attached, opened->attach(descriptor));
  const auto shape = descriptor.shape();
  std::printf("descriptor: %llux%llux%llu %s on %s, %llu bytes; attached it is %s\n",
              (unsigned long long)shape[0], (unsigned long long)shape[1],
              (unsigned long long)shape[2], std::string(to_string(*descriptor.dtype())).c_str(),
              to_string(*descriptor.device()).c_str(), (unsigned long long)descriptor.size,
              attached.data_slice_mut() ? "writable" : "read-only");
  return {};
}

// A device is a label: it tells where elements are, and allocates nothing.
static Status label_devices() {
  TensorDescriptor descriptor;
  descriptor.set_device(Device::cuda(0));
  if (!descriptor.is_cuda()) return make_error(Errc::unsupported, "device: was not set");
  std::printf("labelled %s; CUDA available: %s, devices: %u\n",
              to_string(*descriptor.device()).c_str(), cuda_available() ? "true" : "false",
              cuda_device_count());
  return {};
}

int main() {
  for (const auto step : {send_images, send_tensors, allocate_by_hand, label_devices}) {
    const Status done = step();
    if (done) continue;
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
