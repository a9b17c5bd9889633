// SPDX-License-Identifier: Apache-2.0
// A camera, a 2D engine and a program agree on one buffer, a program and an accelerator on another.
// With a GPU that needs another pitch the first group does not agree, and the report gives the
// reason.
#include <halyard/buffer_engine.h>
#include <halyard/negotiated_buffer.h>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace halyard;

static Result<std::vector<EngineParty>> parties() {
  AttributeList app("app");
  HALYARD_RETURN_IF_ERROR(app.set_image(1920, 1080));
  HALYARD_RETURN_IF_ERROR(app.accept(LayoutTag::image(PixelFormat::nv12)));
  HALYARD_RETURN_IF_ERROR(app.set_cpu(CpuAccess::read));
  HALYARD_RETURN_IF_ERROR(app.set_policy(CpuPolicy::cached));
  AttributeList camera("camera");
  HALYARD_RETURN_IF_ERROR(camera.set(Key::pitch_exact, 1920));
  HALYARD_RETURN_IF_ERROR(camera.set(Key::camp, 4));
  HALYARD_TRY(const auto blitter, make_buffer_engine("nxp.g2d"));
  return std::vector<EngineParty>{
      {app, nullptr}, {camera, nullptr}, {AttributeList("blitter"), blitter}};
}

static bool negotiate(int number, const std::vector<EngineParty>& parties) {
  const auto buffer = reconcile_engines(parties);
  if (!buffer) {
    std::printf("buffer#%d: %s\n", number, buffer.error().message().c_str());
    return false;
  }
  std::printf("buffer#%d %s", number, buffer->to_text().c_str());
  if (const auto base = buffer->value(Key::base_align))
    std::printf(" base %s", std::to_string(base->low).c_str());
  std::printf("\n");
  for (const Statement& each : buffer->explain(Key::contig))
    std::printf("contiguous memory is asked for by %s\n", each.party.c_str());
  return true;
}

static Status use(const Reconciled& result) {
  HALYARD_TRY(auto buffers, allocate_negotiated(result));
  NegotiatedBuffer& first = buffers.front();
  {
    HALYARD_TRY(BufferLock lock, first.lock(Access::write, std::chrono::milliseconds(100)));
    std::ranges::fill(lock.writable_bytes(), std::byte{128});
    HALYARD_RETURN_IF_ERROR(lock.unlock());
  }
  HALYARD_TRY(const Tensor image, first.image());
  std::printf("%zu buffers of %s, rows of %zu bytes\n", buffers.size(),
              std::string(to_string(first.heap())).c_str(), image.row_stride_bytes());
  return {};
}

// A network's input: pixels of four channels, which are a tensor for its accelerator, of i8 because
// the accelerator takes i8 and f16.
static Result<std::vector<EngineParty>> network_parties() {
  AttributeList app("app");
  HALYARD_RETURN_IF_ERROR(app.set_image(640, 480));
  HALYARD_RETURN_IF_ERROR(app.accept(LayoutTag::image(PixelFormat::rgba)));
  HALYARD_RETURN_IF_ERROR(app.set_shape({1, 4, 480, 640}));
  HALYARD_RETURN_IF_ERROR(app.set_dtype(DType::i8));
  HALYARD_RETURN_IF_ERROR(app.set_cpu(CpuAccess::read_write));
  HALYARD_TRY(const auto accelerator, make_buffer_engine("dla"));
  return std::vector<EngineParty>{{app, nullptr}, {AttributeList("network"), accelerator}};
}

int main() {
  auto all = parties();
  const auto gpu = make_buffer_engine("egl.dmabuf", R"({"pitch_align": 256})");
  if (!all || !gpu) return 1;
  const bool agree = negotiate(0, *all);
  all->push_back({AttributeList("gpu"), *gpu});
  const bool still_agree = negotiate(0, *all);
  const auto network = network_parties();
  if (!network || !negotiate(1, *network)) return 1;
  return use(*reconcile_engines(*network)) && agree && !still_agree ? 0 : 1;
}
