// SPDX-License-Identifier: Apache-2.0
// Everything, in the order in which a frame meets it.
#pragma once

// base
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/fd.h"
#include "halyard/geometry.h"
#include "halyard/detection.h"
#include "halyard/placement.h"
#include "halyard/log.h"
#include "halyard/trace.h"
#include "halyard/version.h"
// tensor
#include "halyard/format.h"
#include "halyard/colorimetry.h"
#include "halyard/quantization.h"
#include "halyard/buffer.h"
#include "halyard/tensor.h"
// codec, image, decode, track, draw, model, capture
#include "halyard/codec.h"
#include "halyard/image.h"
#include "halyard/decode.h"
#include "halyard/track.h"
#include "halyard/draw.h"
#include "halyard/model.h"
#include "halyard/capture.h"
