// SPDX-License-Identifier: Apache-2.0
// Capabilities: what a context offers, read once after it was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gl/display/display.h"

namespace halyard::gl {

struct Capabilities {
  std::string vendor;
  std::string renderer;
  std::string version;
  int major = 0;  ///< of OpenGL ES
  int minor = 0;
  bool is_software = false;                   ///< the renderer runs on the CPU
  std::vector<std::string_view> quirks = {};  ///< what is done about the renderer, in words

  std::int32_t max_texture_size = 0;
  std::int32_t max_draw_buffers = 0;
  std::int32_t max_texture_units = 0;  ///< of a fragment shader
  bool float_targets = false;          ///< GL_EXT_color_buffer_float
  bool external_images = false;        ///< GL_OES_EGL_image_external_essl3
  bool program_binaries = false;       ///< the driver has a format for them, and no quirk
  bool reset_status = false;           ///< GL_EXT_robustness: it tells of a lost context

  bool dma_buf_import = false;     ///< EGL_EXT_image_dma_buf_import and GL_OES_EGL_image
  bool dma_buf_modifiers = false;  ///< EGL_EXT_image_dma_buf_import_modifiers
  bool dma_buf_export = false;     ///< EGL_MESA_image_dma_buf_export
  /// Of which the pitch of an imported DMA-BUF is a multiple.
  std::size_t import_pitch_bytes = 1;
  bool renderbuffer_targets = false;  ///< imported DMA-BUFs are drawn into as renderbuffers only
  bool coarse_blending = false;       ///< weights of blending have 8 bits
  bool fences = false;                ///< EGL_KHR_fence_sync
  bool native_fences = false;         ///< EGL_ANDROID_native_fence_sync: fences as descriptors
};

/// Reads what the context that is current on this thread offers.
Capabilities read_capabilities(const Display& display);

/// Whether the driver tells that the current context was lost in a reset of the GPU. False where it
/// cannot tell.
bool is_context_lost(const Capabilities& capabilities) noexcept;

/// As `program_binaries`, of the context that is current on this thread.
bool offers_program_binaries();

}  // namespace halyard::gl
