// SPDX-License-Identifier: Apache-2.0
// Makes the built-in engines from their settings.
#pragma once

#include <memory>
#include <string_view>

#include "halyard/buffer_engine.h"

namespace halyard {

using MadeEngine = Result<std::shared_ptr<const BufferEngine>>;

MadeEngine make_cpu(std::string_view name, std::string_view settings);
MadeEngine make_simd(std::string_view name, std::string_view settings);
MadeEngine make_pbo(std::string_view name, std::string_view settings);
MadeEngine make_egl(std::string_view name, std::string_view settings);
MadeEngine make_g2d(std::string_view name, std::string_view settings);
MadeEngine make_v4l2(std::string_view name, std::string_view settings);
MadeEngine make_dla(std::string_view name, std::string_view settings);
MadeEngine make_proxy(std::string_view name, std::string_view settings);

}  // namespace halyard
