// SPDX-License-Identifier: Apache-2.0
// cudaGraphicsGLRegisterBuffer() and the maps of the registered buffer. OpenGL and CUDA order their
// work at each map and unmap: earlier work of the one ends before later work of the other begins.
#include "gl/memory/cuda_pbo.h"

#include <cstdint>
#include <utility>

#include "base/runtime/cuda_runtime.h"
#include "base/text/format_error.h"
#include "base/text/log_format.h"

namespace halyard::gl {
namespace {

// What kernels of CUDA and TensorRT may rely on for the first byte of memory from cudaMalloc().
constexpr std::uintptr_t device_alignment = 256;

class CudaRegistration final : public DeviceAttachment {
 public:
  CudaRegistration(const CudaRuntime& cuda, const PboBuffer& buffer) noexcept
      : cuda_(cuda),
        worker_(buffer.worker()),
        name_(buffer.name()),
        size_bytes_(buffer.size_bytes()) {}
  CudaRegistration(const CudaRegistration&) = delete;
  CudaRegistration& operator=(const CudaRegistration&) = delete;
  ~CudaRegistration() override {
    if (resource_ == nullptr) return;
    // The buffer posts its own deletion later, so the order is right.
    worker_->post([&cuda = cuda_, resource = resource_] {
      report(cuda.check(cuda.graphics_unregister_resource(resource), Errc::device,
                        "cuda: cudaGraphicsUnregisterResource() failed"));
    });
  }

  DeviceKind device() const noexcept override { return DeviceKind::cuda; }
  bool excludes_cpu() const noexcept override { return true; }
  int device_number() const noexcept override { return device_; }

  Result<void*> begin(void* stream) override {
    void* address = nullptr;
    HALYARD_RETURN_IF_ERROR(worker_->run([&]() -> Status {
      if (resource_ == nullptr) HALYARD_RETURN_IF_ERROR(register_buffer());
      HALYARD_TRY(address, map(stream));
      return {};
    }));
    return address;
  }

  Status wait(void* stream) override {
    HALYARD_RETURN_IF_ERROR(cuda_runtime());
    const CudaDeviceScope scope(cuda_, device_);
    return cuda_.check(cuda_.stream_synchronize(stream), Errc::device,
                       "cuda: cudaStreamSynchronize() failed");
  }

  void end(void* stream) noexcept override {
    // Waits, since the caller may destroy the stream afterwards. Where the thread has ended, the
    // mapping has ended with the context.
    static_cast<void>(worker_->run([&]() -> Status {
      report(unmap(stream));
      return {};
    }));
  }

 private:
  Status register_buffer() {
    unsigned count = 0;
    int device = 0;
    constexpr const char* what = "device: the OpenGL context is on no CUDA device";
    HALYARD_RETURN_IF_ERROR(
        cuda_.check(cuda_.gl_get_devices(&count, &device, 1, cuda_abi::all_gl_devices),
                    Errc::unsupported, what));
    if (count == 0) return fail(Errc::unsupported, what);
    HALYARD_RETURN_IF_ERROR(cuda_.check(cuda_.set_device(device), Errc::unsupported,
                                        "device: CUDA cannot use the device of OpenGL"));
    device_ = device;
    return cuda_.check(
        cuda_.graphics_gl_register_buffer(&resource_, name_, cuda_abi::register_read_write),
        Errc::unsupported, "device: CUDA refuses to register the pixel buffer");
  }

  Result<void*> map(void* stream) {
    HALYARD_RETURN_IF_ERROR(cuda_.check(cuda_.graphics_map_resources(1, &resource_, stream),
                                        Errc::device, "device: CUDA cannot map the pixel buffer"));
    auto address = mapped_address();
    if (!address) report(unmap(stream));
    return address;
  }

  Result<void*> mapped_address() {
    void* address = nullptr;
    std::size_t size_bytes = 0;
    HALYARD_RETURN_IF_ERROR(
        cuda_.check(cuda_.graphics_resource_get_mapped_pointer(&address, &size_bytes, resource_),
                    Errc::device, "device: CUDA has no address for the pixel buffer"));
    if (size_bytes < size_bytes_) {
      return fail(Errc::device, "device: CUDA maps less than the whole pixel buffer",
                  "{} of {} bytes", size_bytes, size_bytes_);
    }
    if (reinterpret_cast<std::uintptr_t>(address) % device_alignment == 0) return address;
    return fail(Errc::unsupported,
                "device: CUDA's address of the pixel buffer must be a multiple of 256", "{}",
                address);
  }

  Status unmap(void* stream) {
    return cuda_.check(cuda_.graphics_unmap_resources(1, &resource_, stream), Errc::device,
                       "cuda: cudaGraphicsUnmapResources() failed");
  }

  static void report(const Status& status) noexcept {
    if (status) return;
    HALYARD_LOG(LogLevel::warn, "gl", "a pixel buffer: {}", status.error().message());
  }

  const CudaRuntime& cuda_;
  std::shared_ptr<Worker> worker_;
  std::uint32_t name_;
  std::size_t size_bytes_;
  cuda_abi::Resource resource_ = nullptr;
  int device_ = 0;
};

Result<std::unique_ptr<DeviceAttachment>> attach(Buffer& buffer, DeviceKind device) {
  if (device != DeviceKind::cuda) {
    return fail(Errc::unsupported, "device: pixel buffers have no address there", "{}",
                to_string(device));
  }
  const auto* pixels = dynamic_cast<const PboBuffer*>(&buffer);
  if (pixels != nullptr) return make_cuda_registration(*pixels);
  return fail(Errc::unsupported, "device: the pixel buffer belongs to another OpenGL", "buffer {}",
              buffer.id());
}

[[maybe_unused]] const bool is_set = (set_pixel_buffer_attacher(attach), true);

}  // namespace

Result<std::unique_ptr<DeviceAttachment>> make_cuda_registration(const PboBuffer& buffer) {
  HALYARD_TRY(const CudaRuntime* const cuda, cuda_runtime());
  return std::unique_ptr<DeviceAttachment>(std::make_unique<CudaRegistration>(*cuda, buffer));
}

}  // namespace halyard::gl
