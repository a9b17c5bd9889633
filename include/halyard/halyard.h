// SPDX-License-Identifier: Apache-2.0
// Everything, lowest layer first.
#pragma once

// base
#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/fd.h"
#include "halyard/geometry.h"
#include "halyard/log.h"
#include "halyard/placement.h"
#include "halyard/result.h"
#include "halyard/trace.h"
#include "halyard/version.h"
// tensor
#include "halyard/buffer.h"
#include "halyard/colorimetry.h"
#include "halyard/device.h"
#include "halyard/dlpack.h"
#include "halyard/dmabuf.h"
#include "halyard/drm.h"
#include "halyard/format.h"
#include "halyard/import.h"
#include "halyard/quantization.h"
#include "halyard/recycler.h"
#include "halyard/tensor.h"
#include "halyard/transfer.h"
#include "halyard/view.h"
// the layers above
#include "halyard/capture.h"
#include "halyard/codec.h"
#include "halyard/decode.h"
#include "halyard/description.h"
#include "halyard/draw.h"
#include "halyard/image.h"
#include "halyard/model.h"
#include "halyard/tile_merge.h"
#include "halyard/tiling.h"
#include "halyard/track.h"
