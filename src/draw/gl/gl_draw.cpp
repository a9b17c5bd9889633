// SPDX-License-Identifier: Apache-2.0
#include "draw/gl/gl_draw.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <utility>

#include "base/text/format_error.h"
#include "base/text/log_format.h"
#include "draw/gl/draw_objects.h"
#include "gl/display/gpu_nodes.h"
#include "gl/display/worker_objects.h"

namespace halyard::draw {
namespace {

// Of a loop of a shader: it must not keep a GPU busy for so long that the driver resets it.
constexpr std::int32_t max_channels = 4096;

std::array<std::atomic<std::uint64_t>, 3> drawn{};
std::atomic<std::uint64_t> computed{0};

RowRange rows_of(const PaintJob& job, Size size) noexcept {
  if (job.clears || job.kind == PaintKind::class_map) return {0, size.height};
  RowRange out;
  for (const MaskOp& mask : job.masks) {
    out.begin = out.is_empty() ? mask.rect.y0 : std::min(out.begin, mask.rect.y0);
    out.end = std::max(out.end, mask.rect.y1);
  }
  return out;
}

bool is_gl31(const gl::Capabilities& c) noexcept {
  return c.major > 3 || (c.major == 3 && c.minor >= 1);
}

// Where blending has weights of 8 bits, and rounds each of its products, a mask adds up to 1 to the
// chroma of blocks that it covers in part: two of them stay within 2 codes.
constexpr std::size_t max_coarse_masks = 2;

// Whether no mask's rectangle, of whole blocks of 2 x 2 pixels, meets as many others.
bool are_at_most(std::size_t most, std::span<const MaskOp> masks) noexcept {
  const auto meet = [](const Rect& a, const Rect& b) {
    return a.x0 / 2 <= (b.x1 - 1) / 2 && b.x0 / 2 <= (a.x1 - 1) / 2 && a.y0 / 2 <= (b.y1 - 1) / 2 &&
           b.y0 / 2 <= (a.y1 - 1) / 2;
  };
  if (masks.size() <= most) return true;
  return std::ranges::all_of(masks, [&](const MaskOp& mask) {
    const auto met = std::ranges::count_if(
        masks, [&](const MaskOp& other) { return meet(mask.rect, other.rect); });
    return static_cast<std::size_t>(met) <= most;  // itself among them
  });
}

}  // namespace

GlDraw::GlDraw(const Environment& env, const image::GlTransferRules& rules,
               bool is_automatic) noexcept
    : rules_(rules),
      is_automatic_(is_automatic),
      allows_software_(env.allow_software_gl),
      binds_renderbuffers_(env.opengl_rendersurface),
      wants_compute_(env.proto_compute) {}

Result<std::unique_ptr<GlDraw>> GlDraw::create(const Environment& env, bool is_automatic) {
  HALYARD_TRY(const image::GlTransferRules rules,
              image::GlTransferRules::create(env.force_transfer.value_or("")));
  std::unique_ptr<GlDraw> out(new GlDraw(env, rules, is_automatic));
  if (!is_automatic) HALYARD_RETURN_IF_ERROR(out->start());
  return out;
}

Status GlDraw::start() {
  HALYARD_TRY(worker_, gl::Worker::shared(allows_software_));
  objects_ = gl::shared_objects<DrawObjects>(worker_);
  if (wants_compute_ && !is_gl31(worker_->capabilities())) {
    HALYARD_LOG(LogLevel::warn, "draw",
                "HALYARD_PROTO_COMPUTE needs OpenGL ES 3.1, but this is {}.{}; fragment shaders "
                "compute the logits",
                worker_->capabilities().major, worker_->capabilities().minor);
    wants_compute_ = false;
  }
  return {};
}

image::GlTransfer GlDraw::transfer_of(const Tensor& image) const noexcept {
  const auto out = image::GlImage::choose(image, Access::read_write, rules_, *worker_);
  if (out != image::GlTransfer::dma_buf) return out;
  for (std::size_t i = 0; i < image.plane_count(); ++i) {
    const auto plane = image.image_plane(i);
    if (!plane || gl::DmaImages::has_refused(*plane->buffer, *worker_, gl::DmaUse::draw))
      return image::GlTransfer::copy;
  }
  return out;
}

const char* GlDraw::start_once() {
  if (worker_ == nullptr && start_refusal_.empty()) {
    Status status = allows_software_ ? Status() : gl::find_gpu_node();
    if (status) status = start();
    if (!status) start_refusal_ = status.error().message();
  }
  return worker_ == nullptr ? start_refusal_.c_str() : nullptr;
}

const char* GlDraw::refusal_of(const Tensor& image) {
  if (is_automatic_) {
    const Memory memory = image.buffer()->memory();
    if (memory != Memory::dma && memory != Memory::pbo)
      return "copies of images in CPU memory take longer than the CPU's work";
    if (const char* const reason = start_once()) return reason;
    if (worker_->capabilities().is_software)
      return "its renderer runs on the CPU, which does the work faster itself";
    if (transfer_of(image) == image::GlTransfer::copy)
      return "the driver does not import the image, or its rows are not whole texels of 4 bytes";
  }
  const auto format = image.format();
  const bool is_packed = format == PixelFormat::rgb || format == PixelFormat::bgr;
  const auto most = static_cast<std::size_t>(worker_->capabilities().max_texture_size);
  if (image.width() > most / (is_packed ? 3 : 1) || image.height() > most)
    return "the image is larger than the GPU's largest texture";
  return nullptr;
}

std::string GlDraw::refusal(const Tensor& image) {
  const char* const reason = refusal_of(image);
  return reason == nullptr ? "" : reason;
}

bool GlDraw::serves(const Tensor& /*image*/, const DrawList& list) const noexcept {
  return std::ranges::all_of(list.operations(), [&](const DrawOp& op) {
    return (op.words[4] & 255) != static_cast<std::int32_t>(DrawOpKind::coverage) ||
           CoverageAtlas::fits(list.bitmap(op.words[12]));
  });
}

bool GlDraw::serves(const Tensor& image, const PaintJob& job) const noexcept {
  if (worker_->capabilities().coarse_blending && image.format() == PixelFormat::nv12 &&
      !are_at_most(max_coarse_masks, job.masks))
    return false;
  const std::int32_t side = worker_->capabilities().max_texture_size;
  const std::size_t most = DataTexture::capacity(side);
  const LogitSource& logits = job.logits;
  return job.is_readable && job.bytes.count <= most && job.masks.size() * command_vectors <= most &&
         logits.elements.count <= most && logits.numbers.size() <= most &&
         logits.channels <= max_channels && std::max(logits.grid.width, logits.grid.height) <= side;
}

std::string GlDraw::describe(const Tensor& image) const {
  return std::string(to_string(transfer_of(image)));
}

Status GlDraw::run_on(const image::GlImage& image, DrawRun& run) {
  run.image = &image;
  run.is_half_drawn = false;
  const Status status = worker_->run([&] { return objects_->draw(run); });
  is_half_drawn_ = run.is_half_drawn;
  if (!status) return status;
  ++drawn[static_cast<std::size_t>(image.transfer())];
  if (run.computes_logits) ++computed;
  return status;
}

Status GlDraw::draw(const Tensor& image, DrawRun& run) {
  is_half_drawn_ = false;
  if (run.rows.is_empty()) return {};
  // A lost context does not come back; another one may serve.
  if (worker_->is_lost()) {
    const Status started = start();
    if (!started)
      return fail(Errc::device, "opengl: no context in place of the lost one", "{}",
                  started.error().message());
  }
  run.format = *image.format();
  run.size = image.size();
  if (binds_renderbuffers_) run.binding = gl::DmaTarget::renderbuffer;
  if (transfer_of(image) != image::GlTransfer::copy) {
    HALYARD_TRY(const image::GlImage prepared,
                image::GlImage::prepare(image, Access::read_write, rules_, *worker_));
    const Status status = run_on(prepared, run);
    // Of a DMA-BUF: by the driver, or because its description does not fit it.
    const bool is_refusal = !status && (status.error().code == Errc::unsupported ||
                                        status.error().code == Errc::invalid_argument);
    if (!is_refusal || prepared.transfer() != image::GlTransfer::dma_buf) return status;
  }
  HALYARD_TRY(const image::GlImage copied, image::GlImage::prepare_copy(image, Access::read_write));
  return run_on(copied, run);
}

Status GlDraw::draw(const Tensor& image, const DrawList& list) {
  DrawRun run{.list = &list};
  run.rows = list.rows();
  return draw(image, run);
}

Status GlDraw::draw(const Tensor& image, const PaintJob& job) {
  DrawRun run{.job = &job};
  run.rows = rows_of(job, image.size());
  run.computes_logits = wants_compute_ && job.kind == PaintKind::prototypes && !job.masks.empty();
  return draw(image, run);
}

GlDrawStats gl_draw_stats() noexcept {
  const auto count = [](image::GlTransfer transfer) {
    return drawn[static_cast<std::size_t>(transfer)].load();
  };
  return {count(image::GlTransfer::dma_buf), count(image::GlTransfer::pixel_buffer),
          count(image::GlTransfer::copy), computed.load()};
}

}  // namespace halyard::draw
