// SPDX-License-Identifier: Apache-2.0
// Finds the functions of libg2d, and translates surfaces to the layout of its version.
#include "image/g2d/g2d_library.h"

#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/system/fork.h"
#include "base/system/ranked_mutex.h"
#include "base/system/shared_object.h"
#include "base/text/format_error.h"

namespace halyard::image::g2d {
namespace {

// A number of at most nine digits; nullopt: there is none.
std::optional<std::uint32_t> take_number(const char*& text) noexcept {
  const char* const begin = text;
  std::uint32_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    if (text - begin == 9) return std::nullopt;
    number = number * 10 + static_cast<std::uint32_t>(*text - '0');
  }
  if (text == begin) return std::nullopt;
  return number;
}

bool take(const char*& text, char expected) noexcept {
  if (*text != expected) return false;
  ++text;
  return true;
}

template <class Address>
RawSurface<Address> to_raw(const Surface& s) noexcept {
  RawSurface<Address> raw{};
  raw.format = static_cast<int>(s.format);
  for (std::size_t i = 0; i < s.planes.size(); ++i)
    raw.planes[i] = static_cast<Address>(s.planes[i]);
  raw.left = s.left;
  raw.top = s.top;
  raw.right = s.right;
  raw.bottom = s.bottom;
  raw.stride = s.stride_px;
  raw.width = s.width;
  raw.height = s.height;
  raw.global_alpha = 255;
  raw.clear_color = static_cast<int>(s.clear_color);
  raw.rotation = static_cast<int>(s.orientation);
  return raw;
}

template <class Address>
OpenBuffer to_open_buffer(void* handle) noexcept {
  const auto& raw = *static_cast<const RawBuffer<Address>*>(handle);
  // An int holds the low 32 bits of an address, also those from 2 GiB on.
  const auto address = sizeof(Address) == sizeof(int)
                           ? std::uint64_t{static_cast<std::uint32_t>(raw.physical)}
                           : static_cast<std::uint64_t>(raw.physical);
  return {handle, address, raw.size < 0 ? 0U : static_cast<std::size_t>(raw.size)};
}

Status device_status(int result, const char* what) {
  if (result == 0) return {};
  return fail(Errc::device, what, "it returns {}", result);
}

struct LoadedLibraries {
  RankedMutex<LockRank::leaf> mutex;
  std::map<std::string, G2dLibrary> libraries;
};

}  // namespace

std::optional<Version> parse_version(const char* text) noexcept {
  if (take(text, '\n')) take(text, '\0');
  for (const char expected : std::string_view("$VERSION$"))
    if (!take(text, expected)) return std::nullopt;
  Version version;
  const std::pair<std::uint32_t*, char> parts[] = {{&version.major_number, '.'},
                                                   {&version.minor_number, '.'},
                                                   {&version.patch, ':'},
                                                   {&version.build, ':'}};
  for (const auto& [number, separator] : parts) {
    const auto value = take_number(text);
    if (!value || !take(text, separator)) return std::nullopt;
    *number = *value;
  }
  return version;
}

Result<const G2dLibrary*> G2dLibrary::load(const std::string& name) {
  static PerProcess<LoadedLibraries> process;
  LoadedLibraries& known = process.get();
  const std::lock_guard lock(known.mutex);
  const auto found = known.libraries.find(name);
  if (found != known.libraries.end()) return &found->second;
  HALYARD_TRY(G2dLibrary library, resolve(name));
  return &known.libraries.emplace(name, library).first->second;
}

Result<G2dLibrary> G2dLibrary::resolve(const std::string& name) {
  HALYARD_TRY(const SharedObject object, SharedObject::open(name, "libg2d: cannot be loaded"));
  G2dLibrary library;
  FunctionFinder finder(object);
  finder.find(library.open_, "g2d_open");
  finder.find(library.close_, "g2d_close");
  finder.find(library.blit_, "g2d_blit");
  finder.find(library.clear_, "g2d_clear");
  finder.find(library.finish_, "g2d_finish");
  finder.find(library.enable_, "g2d_enable");
  finder.find(library.disable_, "g2d_disable");
  finder.find_if_there(library.query_cap_, "g2d_query_cap");
  finder.find_if_there(library.cache_op_, "g2d_cache_op");
  finder.find_if_there(library.buf_from_fd_, "g2d_buf_from_fd");
  finder.find_if_there(library.free_, "g2d_free");
  if (finder.missing() != nullptr)
    return fail(Errc::unsupported, "libg2d: lacks a function", "{} of {}", finder.missing(), name);
  const char* const text = object.function<const char>("_G2D_VERSION");
  if (text == nullptr)
    return fail(Errc::unsupported, "libg2d: has no _G2D_VERSION, so its structs are unknown", "{}",
                name);
  const auto version = parse_version(text);
  if (!version) {
    return fail(Errc::unsupported, "libg2d: its _G2D_VERSION has an unknown form", "{}", name);
  }
  library.wide_ = *version >= first_wide_version;
  return library;
}

Result<std::shared_ptr<G2dDevice>> G2dDevice::open(const G2dLibrary& library) {
  auto device = std::make_shared<G2dDevice>(library);
  const int result = library.open_(&device->handle_);
  if (result != 0 || device->handle_ == nullptr) {
    device->handle_ = nullptr;
    return fail(Errc::device, "libg2d: g2d_open fails", "it returns {}", result);
  }
  // Pixels are replaced, not blended.
  for (const Capability off :
       {Capability::blend, Capability::dither, Capability::global_alpha, Capability::blur})
    device->disable(off);
  return device;
}

G2dDevice::~G2dDevice() {
  if (handle_ != nullptr) library_.close_(handle_);
}

bool G2dDevice::probe(Capability capability) noexcept {
  const int number = static_cast<int>(capability);
  if (library_.enable_(handle_, number) != 0) return false;
  int enabled = library_.query_cap_ == nullptr ? 0 : 1;
  if (enabled != 0 && library_.query_cap_(handle_, number, &enabled) != 0) enabled = 0;
  library_.disable_(handle_, number);
  return enabled != 0;
}

Status G2dDevice::enable(Capability capability) {
  return device_status(library_.enable_(handle_, static_cast<int>(capability)),
                       "libg2d: g2d_enable fails");
}

void G2dDevice::disable(Capability capability) noexcept {
  static_cast<void>(library_.disable_(handle_, static_cast<int>(capability)));
}

Status G2dDevice::clear(const Surface& area) {
  constexpr const char* what = "libg2d: g2d_clear fails";
  if (library_.is_wide()) {
    auto raw = to_raw<unsigned long>(area);
    return device_status(library_.clear_(handle_, &raw), what);
  }
  auto raw = to_raw<int>(area);
  return device_status(library_.clear_(handle_, &raw), what);
}

Status G2dDevice::blit(const Surface& src, const Surface& dst) {
  const auto run = [&]<class Address>(Address) {
    auto from = to_raw<Address>(src);
    auto to = to_raw<Address>(dst);
    from.blend_factor = blend_factor_one;
    to.blend_factor = blend_zero;
    return device_status(library_.blit_(handle_, &from, &to), "libg2d: g2d_blit fails");
  };
  return library_.is_wide() ? run(0UL) : run(0);
}

Status G2dDevice::finish() {
  return device_status(library_.finish_(handle_), "libg2d: g2d_finish fails");
}

std::optional<OpenBuffer> G2dDevice::open_buffer(int fd) const noexcept {
  void* const handle = library_.buf_from_fd_(fd);
  if (handle == nullptr) return std::nullopt;
  return library_.is_wide() ? to_open_buffer<unsigned long>(handle) : to_open_buffer<int>(handle);
}

void G2dDevice::close_buffer(void* handle) const noexcept {
  static_cast<void>(library_.free_(handle));
}

Status G2dDevice::maintain_cache(void* handle, CacheOperation operation) const {
  if (library_.cache_op_ == nullptr) return {};
  return device_status(library_.cache_op_(handle, static_cast<int>(operation)),
                       "libg2d: g2d_cache_op fails");
}

}  // namespace halyard::image::g2d
