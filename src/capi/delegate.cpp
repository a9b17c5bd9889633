// SPDX-License-Identifier: Apache-2.0
// Delegates that own DMA-BUFs, as their users call them.
#include "halyard/c/delegate.h"

#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "capi/arguments.h"
#include "capi/error.h"
#include "capi/handles.h"
#include "halyard/import.h"

struct hal_delegate_library {
  static constexpr std::uint32_t kind = halyard::capi::kind_of("dlgt");
  halyard::capi::Tag tag{kind};
  void* handle = nullptr;
  hal_dmabuf_get_instance_fn get_instance = nullptr;
  hal_dmabuf_is_supported_fn is_supported = nullptr;
  hal_dmabuf_get_tensor_info_fn get_tensor_info = nullptr;
  hal_dmabuf_sync_fn sync_for_device = nullptr;
  hal_dmabuf_sync_fn sync_for_cpu = nullptr;
  hal_camera_adaptor_is_supported_fn is_camera_supported = nullptr;
  hal_camera_adaptor_get_format_info_fn get_format_info = nullptr;

  hal_delegate_library() = default;
  ~hal_delegate_library() {
    if (handle != nullptr) ::dlclose(handle);
  }
};

using namespace halyard;
using capi::checked;
using capi::guarded;
using capi::is_valid;

namespace {

constexpr std::size_t min_tensor_info = 96;
constexpr std::size_t min_format_info = 16;
static_assert(sizeof(hal_dmabuf_tensor_info) == min_tensor_info);
static_assert(sizeof(hal_camera_adaptor_format_info) == min_format_info);

template <class F>
bool find(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(handle, name));
  return function != nullptr;
}

bool find_all(hal_delegate_library& library) {
  bool any = find(library.handle, "hal_dmabuf_get_instance", library.get_instance);
  any |= find(library.handle, "hal_dmabuf_is_supported", library.is_supported);
  any |= find(library.handle, "hal_dmabuf_get_tensor_info", library.get_tensor_info);
  any |= find(library.handle, "hal_dmabuf_sync_for_device", library.sync_for_device);
  any |= find(library.handle, "hal_dmabuf_sync_for_cpu", library.sync_for_cpu);
  any |= find(library.handle, "hal_camera_adaptor_is_supported", library.is_camera_supported);
  any |= find(library.handle, "hal_camera_adaptor_get_format_info", library.get_format_info);
  return any;
}

Error missing() {
  return make_error(Errc::unsupported, "library: the delegate does not export this function");
}

// Checks a library and its delegate. Errors: invalid_argument.
Status check(const hal_delegate_library* library, hal_delegate_t delegate) {
  HALYARD_RETURN_IF_ERROR(checked(library, "library"));
  if (delegate == nullptr) return capi::null_argument("delegate: is NULL");
  return {};
}

Status check_index(int tensor_index) {
  if (tensor_index >= 0) return {};
  return make_error(Errc::invalid_argument, "tensor_index: is negative",
                    std::to_string(tensor_index));
}

// The result of a delegate's call. Set errno to 0 before the call.
Status told(int result) {
  if (result == 0) return {};
  return make_error(Errc::os, "delegate: the call failed", {}, errno != 0 ? errno : EIO);
}

Status query(const hal_delegate_library* library, hal_delegate_t delegate, int tensor_index,
             hal_dmabuf_tensor_info* info, std::size_t info_size) {
  HALYARD_RETURN_IF_ERROR(check(library, delegate));
  HALYARD_RETURN_IF_ERROR(check_index(tensor_index));
  if (info == nullptr) return capi::null_argument("info: is NULL");
  HALYARD_RETURN_IF_ERROR(capi::aligned(info, "info"));
  if (info_size < min_tensor_info)
    return make_error(Errc::invalid_argument, "info_size: must be at least 96",
                      std::to_string(info_size));
  if (library->get_tensor_info == nullptr) return missing();
  std::memset(static_cast<void*>(info), 0, info_size);
  info->fd = -1;  // for a delegate that does not write it
  errno = 0;
  HALYARD_RETURN_IF_ERROR(told(library->get_tensor_info(delegate, tensor_index, info, info_size)));
  if (info->ndim > HAL_DMABUF_MAX_NDIM || info->fd < 0)
    return make_error(Errc::os, "delegate: must give at most 8 axes and a descriptor",
                      std::to_string(info->ndim) + ", " + std::to_string(info->fd), EIO);
  return {};
}

Status synchronise(const hal_delegate_library* library, hal_delegate_t delegate, int tensor_index,
                   hal_dmabuf_sync_fn hal_delegate_library::*function) {
  HALYARD_RETURN_IF_ERROR(check(library, delegate));
  HALYARD_RETURN_IF_ERROR(check_index(tensor_index));
  if (library->*function == nullptr) return missing();
  errno = 0;
  return told((library->*function)(delegate, tensor_index));
}

}  // namespace

hal_delegate_library* hal_delegate_open(const char* path) {
  return guarded<hal_delegate_library*>(nullptr, [&]() -> Result<hal_delegate_library*> {
    auto library = std::make_unique<hal_delegate_library>();
    library->handle = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library->handle == nullptr) {
      const char* const reason = ::dlerror();
      return make_error(Errc::not_found, "path: cannot be loaded", reason == nullptr ? "" : reason);
    }
    if (!find_all(*library))
      return make_error(Errc::unsupported, "path: exports none of the delegate functions",
                        path == nullptr ? "" : path);
    return library.release();
  });
}

void hal_delegate_close(hal_delegate_library* library) {
  if (is_valid(library)) delete library;
}

hal_delegate_t hal_delegate_instance(const hal_delegate_library* library) {
  return guarded<hal_delegate_t>(nullptr, [&]() -> Result<hal_delegate_t> {
    HALYARD_RETURN_IF_ERROR(checked(library, "library"));
    if (library->get_instance == nullptr) return missing();
    const hal_delegate_t delegate = library->get_instance();
    if (delegate == nullptr) return make_error(Errc::os, "delegate: none is in use", {}, ENODEV);
    return delegate;
  });
}

int hal_delegate_has_dmabuf(const hal_delegate_library* library, hal_delegate_t delegate) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(check(library, delegate));
    if (library->is_supported == nullptr || library->get_tensor_info == nullptr) return 0;
    return library->is_supported(delegate) == 1 ? 1 : 0;
  });
}

int hal_delegate_tensor_info(const hal_delegate_library* library, hal_delegate_t delegate,
                             int tensor_index, hal_dmabuf_tensor_info* info, size_t info_size) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(query(library, delegate, tensor_index, info, info_size));
    return 0;
  });
}

hal_tensor* hal_delegate_tensor(const hal_delegate_library* library, hal_delegate_t delegate,
                                int tensor_index) {
  return guarded<hal_tensor*>(nullptr, [&]() -> Result<hal_tensor*> {
    hal_dmabuf_tensor_info info;
    HALYARD_RETURN_IF_ERROR(query(library, delegate, tensor_index, &info, sizeof info));
    if (info.ndim == 0) return make_error(Errc::unsupported, "delegate: the shape is unknown");
    HALYARD_TRY(const DType dtype, capi::dtype_from(info.dtype));
    HALYARD_TRY(const Layout layout, Layout::contiguous(dtype, std::span(info.shape, info.ndim)));
    HALYARD_TRY(auto buffer, Importer::shared().import_buffer(info.fd));
    HALYARD_TRY(Tensor tensor, Tensor::wrap(std::move(buffer), layout, info.offset));
    return new hal_tensor{.tensor = std::move(tensor)};
  });
}

int hal_delegate_sync_for_device(const hal_delegate_library* library, hal_delegate_t delegate,
                                 int tensor_index) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(
        synchronise(library, delegate, tensor_index, &hal_delegate_library::sync_for_device));
    return 0;
  });
}

int hal_delegate_sync_for_cpu(const hal_delegate_library* library, hal_delegate_t delegate,
                              int tensor_index) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(
        synchronise(library, delegate, tensor_index, &hal_delegate_library::sync_for_cpu));
    return 0;
  });
}

int hal_delegate_has_camera_adaptor(const hal_delegate_library* library, hal_delegate_t delegate,
                                    const char* format) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(check(library, delegate));
    if (format == nullptr) return capi::null_argument("format: is NULL");
    if (library->is_camera_supported == nullptr) return 0;
    return library->is_camera_supported(delegate, format) == 1 ? 1 : 0;
  });
}

int hal_delegate_format_info(const hal_delegate_library* library, hal_delegate_t delegate,
                             const char* format, hal_camera_adaptor_format_info* info,
                             size_t info_size) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_RETURN_IF_ERROR(check(library, delegate));
    if (format == nullptr || info == nullptr) return capi::null_argument("format or info: is NULL");
    HALYARD_RETURN_IF_ERROR(capi::aligned(info, "info"));
    if (info_size < min_format_info)
      return make_error(Errc::invalid_argument, "info_size: must be at least 16",
                        std::to_string(info_size));
    if (library->get_format_info == nullptr) return missing();
    std::memset(static_cast<void*>(info), 0, info_size);
    errno = 0;
    HALYARD_RETURN_IF_ERROR(told(library->get_format_info(delegate, format, info, info_size)));
    info->fourcc[HAL_FOURCC_MAX_LEN - 1] = '\0';
    return 0;
  });
}
