// SPDX-License-Identifier: Apache-2.0
// A libg2d for tests: it declares the binary interface again, checks every argument as strictly as
// devices do, and computes pixels in double precision when g2d_finish() is called, not before.
// Long: a library is one file.
#include "support/fake_g2d.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#ifndef FAKE_G2D_ADDRESS
#define FAKE_G2D_ADDRESS int
#endif
#ifndef FAKE_G2D_VERSION
#define FAKE_G2D_VERSION "$VERSION$6.4.3:398061:d3dac3f35d$"
#endif

extern "C" {
using g2d_phys_addr = FAKE_G2D_ADDRESS;
struct g2d_surface {
  int format;
  g2d_phys_addr planes[3];
  int left, top, right, bottom;
  int stride;
  int width, height;
  int blendfunc;
  int global_alpha;
  int clrcolor;
  int rot;
};
struct g2d_buf {
  void* buf_handle;
  void* buf_vaddr;
  g2d_phys_addr buf_paddr;
  int buf_size;
};
}

namespace halyard::test {
namespace {

enum Format { rgba8888 = 1, bgra8888 = 3, rgb888 = 10, nv12 = 20, yuyv = 24 };

bool is_yuv(int format) {
  return format == nv12 || format == yuyv;
}
int bytes_per_pixel(int format) {
  return format == nv12 ? 1 : format == yuyv ? 2 : format == rgb888 ? 3 : 4;
}

using Pixel = std::array<double, 4>;  ///< R G B A, or Y U V and 255

struct Memory {
  std::uint64_t device, inode;
  std::byte* bytes;
  std::size_t size;
};

/// One operation that g2d_finish() runs, with its surfaces' bytes.
struct Area {
  g2d_surface s{};
  std::array<std::uint8_t*, 2> planes{};

  int width() const { return s.right - s.left; }
  int height() const { return s.bottom - s.top; }
  std::uint8_t* row(int y) const {
    return planes[0] +
           static_cast<std::ptrdiff_t>(s.top + y) * s.stride * bytes_per_pixel(s.format) +
           static_cast<std::ptrdiff_t>(s.left) * bytes_per_pixel(s.format);
  }
  /// Sample `c` of the block of the rectangle's pixel (x, y): colours, alpha, luma or chroma.
  double sample(int c, int x, int y) const {
    const std::uint8_t* at = row(y) + static_cast<std::ptrdiff_t>(x) * bytes_per_pixel(s.format);
    switch (s.format) {
      case rgba8888:
        return at[c];
      case bgra8888:
        return at[c == 0 ? 2 : c == 2 ? 0 : c];
      case yuyv:
        return c == 0 ? at[0] : row(y)[x / 2 * 4 + (c == 1 ? 1 : 3)];
      default:
        return c == 0 ? at[0]
                      : planes[1][static_cast<std::ptrdiff_t>(s.top + y) / 2 * s.stride + s.left +
                                  x / 2 * 2 + (c - 1)];
    }
  }
};

struct Operation {
  bool clears = false;
  int capability = -1;  ///< the matrix in force
  Area src;
  Area dst;
};

std::uint8_t to_code(double value) {
  return static_cast<std::uint8_t>(std::floor(std::clamp(value, 0.0, 255.0) + 0.5));
}

struct Weights {
  double kr, kb, y_offset, y_span, c_span;
};
Weights weights_of(int capability) {
  const bool full = capability == 7 || capability == 8;
  const bool bt709 = capability == 6 || capability == 8;
  return {bt709 ? 0.2126 : 0.299, bt709 ? 0.0722 : 0.114, full ? 0.0 : 16.0, full ? 255.0 : 219.0,
          full ? 255.0 : 224.0};
}

Pixel to_rgb(const Pixel& yuv, const Weights& w) {
  const double luma = std::max(0.0, (yuv[0] - w.y_offset) * 255 / w.y_span);
  const double cb = (yuv[1] - 128) * 255 / w.c_span;
  const double cr = (yuv[2] - 128) * 255 / w.c_span;
  const double red = luma + 2 * (1 - w.kr) * cr;
  const double blue = luma + 2 * (1 - w.kb) * cb;
  const double kg = 1 - w.kr - w.kb;
  return {red, (luma - w.kr * red - w.kb * blue) / kg, blue, 255};
}

Pixel to_yuv(const Pixel& rgb, const Weights& w) {
  const double luma = w.kr * rgb[0] + (1 - w.kr - w.kb) * rgb[1] + w.kb * rgb[2];
  return {w.y_offset + luma * w.y_span / 255,
          128 + (rgb[2] - luma) / (2 * (1 - w.kb)) * w.c_span / 255,
          128 + (rgb[0] - luma) / (2 * (1 - w.kr)) * w.c_span / 255, 255};
}

/// One channel at a place between pixels of the rectangle: bilinear, edges repeat.
double filtered(const Area& src, int c, double x, double y, int shift_x, int shift_y) {
  const int columns = src.width() >> shift_x;
  const int rows = src.height() >> shift_y;
  const double fx = x / (1 << shift_x) - 0.5;
  const double fy = y / (1 << shift_y) - 0.5;
  const auto x0 = static_cast<int>(std::floor(fx));
  const auto y0 = static_cast<int>(std::floor(fy));
  const auto at = [&](int i, int k) {
    return src.sample(c, std::clamp(i, 0, columns - 1) << shift_x,
                      std::clamp(k, 0, rows - 1) << shift_y);
  };
  const double wx = fx - x0;
  const double wy = fy - y0;
  return (at(x0, y0) * (1 - wx) + at(x0 + 1, y0) * wx) * (1 - wy) +
         (at(x0, y0 + 1) * (1 - wx) + at(x0 + 1, y0 + 1) * wx) * wy;
}

class Blit {
 public:
  explicit Blit(const Operation& operation)
      : src_(operation.src), dst_(operation.dst), weights_(weights_of(operation.capability)) {
    const bool swaps = dst_.s.rot == 1 || dst_.s.rot == 3;
    rotated_width_ = swaps ? src_.height() : src_.width();
    rotated_height_ = swaps ? src_.width() : src_.height();
    scales_ = rotated_width_ != dst_.width() || rotated_height_ != dst_.height();
  }

  void run() const {
    for (int y = 0; y < dst_.height(); ++y) {
      for (int x = 0; x < dst_.width(); x += dst_.s.format == yuyv ? 2 : 1)
        store(x, y);
    }
  }

 private:
  Pixel pixel(int x, int y) const {
    double u = (x + 0.5) * rotated_width_ / dst_.width();
    double v = (y + 0.5) * rotated_height_ / dst_.height();
    const double w = src_.width();
    const double h = src_.height();
    const std::array<std::array<double, 2>, 4> back{
        {{u, v}, {v, h - u}, {w - u, h - v}, {w - v, u}}};
    u = back[static_cast<std::size_t>(dst_.s.rot)][0];
    v = back[static_cast<std::size_t>(dst_.s.rot)][1];
    if (src_.s.rot == 4) u = w - u;
    if (src_.s.rot == 5) v = h - v;
    return at(u, v);
  }

  Pixel at(double u, double v) const {
    Pixel out{0, 0, 0, 255};
    const bool yuv = is_yuv(src_.s.format);
    for (int c = 0; c < (yuv ? 3 : 4); ++c) {
      const int shift_x = yuv && c > 0 ? 1 : 0;
      const int shift_y = src_.s.format == nv12 && c > 0 ? 1 : 0;
      out[static_cast<std::size_t>(c)] =
          scales_ ? filtered(src_, c, u, v, shift_x, shift_y)
                  : src_.sample(c, static_cast<int>(u), static_cast<int>(v));
    }
    return yuv && !is_yuv(dst_.s.format) ? to_rgb(out, weights_) : out;
  }

  void store(int x, int y) const {
    const Pixel p = pixel(x, y);
    std::uint8_t* out =
        dst_.row(y) + static_cast<std::ptrdiff_t>(x) * bytes_per_pixel(dst_.s.format);
    if (dst_.s.format == yuyv) {
      const Pixel second = pixel(x + 1, y);
      const Pixel a = is_yuv(src_.s.format) ? p : to_yuv(p, weights_);
      const Pixel b = is_yuv(src_.s.format) ? second : to_yuv(second, weights_);
      out[0] = to_code(a[0]);
      out[1] = to_code((a[1] + b[1]) / 2);
      out[2] = to_code(b[0]);
      out[3] = to_code((a[2] + b[2]) / 2);
      return;
    }
    const bool bgr = dst_.s.format == bgra8888;
    out[bgr ? 2 : 0] = to_code(p[0]);
    out[1] = to_code(p[1]);
    out[bgr ? 0 : 2] = to_code(p[2]);
    if (dst_.s.format != rgb888) out[3] = to_code(p[3]);
  }

  const Area& src_;
  const Area& dst_;
  Weights weights_;
  int rotated_width_ = 0;
  int rotated_height_ = 0;
  bool scales_ = false;
};

void run_clear(const Area& area) {
  const auto color = static_cast<std::uint32_t>(area.s.clrcolor);
  const std::array<std::uint32_t, 4> rgba{color & 255, color >> 8 & 255, color >> 16 & 255,
                                          color >> 24};
  const bool bgr = area.s.format == bgra8888;
  for (int y = 0; y < area.height(); ++y) {
    std::uint8_t* out = area.row(y);
    for (int x = 0; x < area.width(); ++x, out += 4) {
      for (std::size_t c = 0; c < 4; ++c)
        out[c] = static_cast<std::uint8_t>(rgba[bgr && c != 3 ? 2 - c : c]);
    }
  }
}

struct Device {
  std::set<int> enabled;
  std::vector<Operation> queued;
};

class Fake final : public FakeG2d {
 public:
  std::uint64_t add_memory(std::uint64_t device, std::uint64_t inode, std::byte* bytes,
                           std::size_t size) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t physical = next_;
    next_ += (size + 0x3FFF) / 0x1000 * 0x1000;
    memories_[physical] = {device, inode, bytes, size};
    return physical;
  }
  void remove_memory(std::uint64_t physical) override {
    const std::lock_guard lock(mutex_);
    memories_.erase(physical);
  }
  std::uint64_t address_of(std::uint64_t device, std::uint64_t inode) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [physical, memory] : memories_)
      if (memory.device == device && memory.inode == inode) return physical;
    return 0;
  }
  void place_next_memory(std::uint64_t physical) override { next_ = physical; }
  FakeG2dFaults& faults() override { return faults_; }
  FakeG2dCounts counts() override {
    const std::lock_guard lock(mutex_);
    return counts_;
  }
  std::string take_calls() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }
  std::string take_violations() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(violations_, {});
  }

  int open(void** handle) {
    const std::lock_guard lock(mutex_);
    if (down(faults_.refused_opens)) return -1;
    ++counts_.opened;
    auto* device = new Device;
    devices_.insert(device);
    *handle = device;
    return 0;
  }
  int close(void* handle) {
    const std::lock_guard lock(mutex_);
    Device* device = known(handle);
    if (device == nullptr) return -1;
    if (!device->queued.empty()) violate("g2d_close before g2d_finish");
    ++counts_.closed;
    devices_.erase(device);
    delete device;
    return 0;
  }
  int enable(void* handle, int capability, bool on) {
    const std::lock_guard lock(mutex_);
    Device* device = known(handle);
    if (device == nullptr) return -1;
    if (capability < 0 || capability > 9) violate("unknown capability");
    if (on && faults_.lacks_full_range && (capability == 7 || capability == 8)) return -1;
    if (on)
      device->enabled.insert(capability);
    else
      device->enabled.erase(capability);
    return 0;
  }
  int query(void* handle, int capability, int* enabled) {
    const std::lock_guard lock(mutex_);
    Device* device = known(handle);
    if (device == nullptr) return -1;
    *enabled = static_cast<int>(device->enabled.count(capability));
    return 0;
  }
  int clear(void* handle, const g2d_surface* area) {
    const std::lock_guard lock(mutex_);
    Device* device = known(handle);
    if (device == nullptr) return -1;
    note("clear");
    ++counts_.clears;
    if (down(faults_.failed_clears)) return -1;
    Operation operation{true, -1, {}, {}};
    if (area->format != rgba8888 && area->format != bgra8888) return violate("clears this format");
    if (!resolve(*area, operation.dst)) return -1;
    device->queued.push_back(operation);
    return 0;
  }
  int blit(void* handle, const g2d_surface* src, const g2d_surface* dst);
  int finish(void* handle);
  int cache(g2d_buf* buffer, int mode) {
    const std::lock_guard lock(mutex_);
    if (buffers_.count(buffer) == 0) return violate("g2d_cache_op of an unknown buffer");
    if (mode != 0 && mode != 1) return violate("g2d_cache_op drops lines");
    note(mode == 0 ? "clean" : "flush");
    return down(faults_.failed_cache_ops) ? -1 : 0;
  }
  g2d_buf* open_buffer(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return nullptr;
    const std::uint64_t physical = address_of(status.st_dev, status.st_ino);
    const std::lock_guard lock(mutex_);
    if (physical == 0 || faults_.refuses_descriptors) return nullptr;
    auto* buffer = new g2d_buf{nullptr, nullptr, static_cast<g2d_phys_addr>(physical),
                               static_cast<int>(memories_[physical].size)};
    buffers_.insert(buffer);
    ++counts_.buffers_opened;
    return buffer;
  }
  int close_buffer(g2d_buf* buffer) {
    const std::lock_guard lock(mutex_);
    if (buffers_.erase(buffer) == 0) return violate("g2d_free of an unknown buffer");
    if (devices_.empty()) violate("g2d_free without an open device");
    ++counts_.buffers_closed;
    delete buffer;
    return 0;
  }

 private:
  static bool down(int& count) { return count > 0 && count-- > 0; }
  int violate(const char* what) {
    violations_.append(what).append("\n");
    return -1;
  }
  void note(const char* call) {
    if (!calls_.empty()) calls_ += ' ';
    calls_ += call;
  }
  Device* known(void* handle) {
    auto* device = static_cast<Device*>(handle);
    if (devices_.count(device) != 0) return device;
    violate("a device that is not open");
    return nullptr;
  }
  bool check(bool good, const char* what) {
    if (!good) violate(what);
    return good;
  }
  /// Finds the bytes of a surface, after all checks.
  bool resolve(const g2d_surface& s, Area& area) {
    const bool yuv = is_yuv(s.format);
    const int pixel = bytes_per_pixel(s.format);
    const int odd = s.left | s.top | s.right | s.bottom | s.width | s.height;
    area.s = s;
    return check(s.left >= 0 && s.top >= 0 && s.right <= s.width && s.bottom <= s.height,
                 "the rectangle leaves the surface") &&
           check(s.right - s.left >= 4 && s.bottom - s.top >= 4, "a rectangle below 4 x 4") &&
           check(s.stride >= s.width, "the stride is smaller than the width") &&
           check(s.stride * pixel % (yuv ? 8 : 16) == 0, "the stride is not aligned") &&
           check(!yuv || odd % 2 == 0, "a subsampled surface is odd") &&
           resolve_plane(s, 0, area) && (s.format != nv12 || resolve_plane(s, 1, area)) &&
           check(s.planes[2] == 0 && (s.format == nv12 || s.planes[1] == 0), "an unused plane");
  }
  bool resolve_plane(const g2d_surface& s, std::size_t index, Area& area) {
    auto physical = static_cast<std::uint64_t>(s.planes[index]);
    if (sizeof(g2d_phys_addr) == 4) physical &= 0xFFFFFFFFU;
    if (!check(physical % (is_yuv(s.format) ? 64 : 16) == 0, "an address is not aligned"))
      return false;
    const auto rows = static_cast<std::uint64_t>(index == 0 ? s.height : s.height / 2);
    const auto pixel = static_cast<std::uint64_t>(bytes_per_pixel(s.format));
    const std::uint64_t bytes =
        ((rows - 1) * static_cast<std::uint64_t>(s.stride) + static_cast<std::uint64_t>(s.width)) *
        pixel;
    auto memory = memories_.upper_bound(physical);
    if (!check(memory != memories_.begin(), "an address of no memory")) return false;
    --memory;
    const std::uint64_t offset = physical - memory->first;
    if (!check(offset + bytes <= memory->second.size, "a surface leaves its memory")) return false;
    area.planes[index] = reinterpret_cast<std::uint8_t*>(memory->second.bytes) + offset;
    return true;
  }

  std::mutex mutex_;
  std::map<std::uint64_t, Memory> memories_;
  std::uint64_t next_ = 0x90000000;  ///< above 2 GiB: negative as an int
  std::set<Device*> devices_;
  std::set<g2d_buf*> buffers_;
  FakeG2dFaults faults_;
  FakeG2dCounts counts_;
  std::string calls_;
  std::string violations_;
};

int Fake::blit(void* handle, const g2d_surface* src, const g2d_surface* dst) {
  const std::lock_guard lock(mutex_);
  Device* device = known(handle);
  if (device == nullptr) return -1;
  note("blit");
  ++counts_.blits;
  if (faults_.good_blits > 0) {
    --faults_.good_blits;
  } else if (down(faults_.failed_blits)) {
    return -1;
  }
  Operation operation;
  int matrices = 0;
  for (const int capability : {5, 6, 7, 8}) {
    if (device->enabled.count(capability) == 0) continue;
    ++matrices;
    operation.capability = capability;
  }
  const bool yuv = is_yuv(src->format) || is_yuv(dst->format);
  const std::set<int> sources{rgba8888, bgra8888, nv12, yuyv};
  const std::set<int> targets{rgba8888, bgra8888, rgb888, yuyv};
  const bool good =
      check(sources.count(src->format) != 0, "the source's format") &&
      check(targets.count(dst->format) != 0, "the destination's format") &&
      check(src->rot == 0 || src->rot == 4 || src->rot == 5, "the source's rot is no flip") &&
      check(dst->rot >= 0 && dst->rot <= 3, "the destination's rot is no rotation") &&
      check(!yuv || matrices == 1, "not one YUV matrix is enabled") &&
      check(device->enabled.count(0) == 0, "blending is enabled") && resolve(*src, operation.src) &&
      resolve(*dst, operation.dst);
  if (good) device->queued.push_back(operation);
  return good ? 0 : -1;
}

int Fake::finish(void* handle) {
  const std::lock_guard lock(mutex_);
  Device* device = known(handle);
  if (device == nullptr) return -1;
  note("finish");
  ++counts_.finishes;
  for (const Operation& operation : device->queued) {
    if (operation.clears) {
      run_clear(operation.dst);
    } else {
      Blit(operation).run();
    }
  }
  device->queued.clear();
  return down(faults_.failed_finishes) ? -1 : 0;
}

Fake& fake() {
  static Fake one;
  return one;
}

}  // namespace
}  // namespace halyard::test

using halyard::test::fake;

extern "C" {
halyard::test::FakeG2d* fake_g2d() {
  return &fake();
}
#ifndef FAKE_G2D_WITHOUT_VERSION
extern const char _G2D_VERSION[];
const char _G2D_VERSION[] = "\n\0" FAKE_G2D_VERSION "\n";
#endif
int g2d_open(void** handle) {
  return fake().open(handle);
}
int g2d_close(void* handle) {
  return fake().close(handle);
}
#ifdef FAKE_G2D_WITHOUT_BLIT
#define g2d_blit g2d_blit_of_another_version
#endif
int g2d_blit(void* handle, g2d_surface* src, g2d_surface* dst) {
  return fake().blit(handle, src, dst);
}
int g2d_clear(void* handle, g2d_surface* area) {
  return fake().clear(handle, area);
}
int g2d_finish(void* handle) {
  return fake().finish(handle);
}
int g2d_enable(void* handle, int capability) {
  return fake().enable(handle, capability, true);
}
int g2d_disable(void* handle, int capability) {
  return fake().enable(handle, capability, false);
}
#ifndef FAKE_G2D_WITHOUT_BUFFERS
int g2d_query_cap(void* handle, int capability, int* enabled) {
  return fake().query(handle, capability, enabled);
}
int g2d_cache_op(g2d_buf* buffer, int mode) {
  return fake().cache(buffer, mode);
}
g2d_buf* g2d_buf_from_fd(int fd) {
  return fake().open_buffer(fd);
}
int g2d_free(g2d_buf* buffer) {
  return fake().close_buffer(buffer);
}
#endif
}
