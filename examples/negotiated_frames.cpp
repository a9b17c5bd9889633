// SPDX-License-Identifier: Apache-2.0
// A camera, a GPU, an accelerator and a viewer in another process agree on one buffer. Frames come
// from a pool of such buffers, are drawn, converted and published, and no byte is copied. The
// viewer: negotiated_viewer.py. The devices are simulated, but their needs are real.
//   negotiated_frames IMAGE [COUNT]
#include <halyard/halyard.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>

using namespace halyard;

/// Imports shared memory with rows of 256 bytes.
class GpuStandIn final : public BufferEngine {
 public:
  std::string_view name() const noexcept override { return "example.gpu"; }
  Status fill(const BufferRequest&, AttributeList& list) const override {
    HALYARD_RETURN_IF_ERROR(list.set(Key::pitch_align, 256));
    HALYARD_RETURN_IF_ERROR(
        list.set(Key::perm, static_cast<std::uint64_t>(Permission::read_write)));
    return list.set_heaps({Heap::memfd, Heap::udmabuf, Heap::dmabuf_system});
  }
};

static Result<Reconciled> negotiate() {
  AttributeList camera("camera"), accelerator("accelerator"), viewer("viewer");
  HALYARD_RETURN_IF_ERROR(camera.set_image(600, 400));
  HALYARD_RETURN_IF_ERROR(camera.accept(LayoutTag::image(PixelFormat::rgba)));
  HALYARD_RETURN_IF_ERROR(camera.set_cpu(CpuAccess::read_write));
  HALYARD_RETURN_IF_ERROR(camera.set(Key::camp, 4));
  // The input of its computation: the image's bytes as a tensor.
  HALYARD_RETURN_IF_ERROR(accelerator.set_dtype(DType::u8));
  HALYARD_RETURN_IF_ERROR(accelerator.set_shape({1, 4, 400, 600}));
  HALYARD_RETURN_IF_ERROR(accelerator.accept(LayoutTag::tensor(AxisOrder::nhwc)));
  HALYARD_RETURN_IF_ERROR(accelerator.set(Key::row_align, 64));
  HALYARD_RETURN_IF_ERROR(accelerator.set(Key::base_align, 512));
  // Joins after the buffers exist.
  HALYARD_TRY(const auto proxy, make_buffer_engine("peer.proxy"));
  HALYARD_RETURN_IF_ERROR(viewer.set(Key::exported, 1));
  HALYARD_RETURN_IF_ERROR(viewer.set_cpu(CpuAccess::read));
  HALYARD_RETURN_IF_ERROR(viewer.set(Key::camp, 2));
  const EngineParty parties[] = {{camera, nullptr},
                                 {AttributeList("gpu"), std::make_shared<GpuStandIn>()},
                                 {accelerator, nullptr},
                                 {viewer, proxy}};
  return reconcile_engines(parties);
}

/// Simulates the accelerator's computation on the frame's tensor: the mean of its bytes.
static Result<double> mean_of(const FrameLayout& layout, const Tensor& frame) {
  HALYARD_TRY(const Tensor tensor, layout.tensor_over(frame.buffer()));
  HALYARD_TRY(const auto map, tensor.map(Access::read));
  HALYARD_TRY(const auto view, map.view<const std::uint8_t, 4>());
  std::uint64_t sum = 0;
  for (std::size_t y = 0; y < view.extent(1); ++y)
    for (std::size_t x = 0; x < view.extent(2); ++x)
      for (std::size_t c = 0; c < 3; ++c)
        sum += view(std::size_t{0}, y, x, c);
  return double(sum) / double(view.extent(1) * view.extent(2) * 3);
}

static Status publish(const Reconciled& result, const std::string& image_file, int count) {
  HALYARD_TRY(const FrameLayout layout, result.frame_layout());
  TopicConfig config;
  HALYARD_TRY(config.pool, TensorPoolConfig::for_frames(layout, result.count() + 16));
  HALYARD_TRY(auto topic, Topic<Tensor>::create("negotiated/frames", config));
  HALYARD_TRY(const auto pool, topic.endpoint().pool());
  HALYARD_TRY(const Tensor source, load_image(image_file));
  HALYARD_TRY(auto processor, Processor::create());
  for (int k = 0; k < count; ++k) {
    HALYARD_TRY(const TensorHandle frame, pool->alloc_frame(std::chrono::seconds(1)));
    HALYARD_RETURN_IF_ERROR(processor.convert({.src = source, .dst = frame}));
    HALYARD_TRY(const double mean, mean_of(layout, frame));
    HALYARD_RETURN_IF_ERROR(topic.send(frame));
    if (k == 0) std::printf("the mean of the first frame is %.1f\n", mean);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const std::uint64_t copies = copy_stats().copies + topic.endpoint().stats().copied;
  std::printf("%d frames, %llu copies\n", count, static_cast<unsigned long long>(copies));
  return {};
}

int main(int argc, char** argv) {
  const auto result = negotiate();
  if (!result) return std::printf("%s\n", result.error().message().c_str()), 1;
  std::printf("%s\n", result->to_text().c_str());
  std::fflush(stdout);
  const Status done = publish(*result, argc > 1 ? argv[1] : "", argc > 2 ? std::atoi(argv[2]) : 50);
  if (!done) std::printf("%s\n", done.error().message().c_str());
  return done ? 0 : 1;
}
