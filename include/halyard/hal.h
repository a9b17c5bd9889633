// SPDX-License-Identifier: Apache-2.0
// The whole C interface. halyard/c/base.h documents its rules and the choice of a generation.
#pragma once

#include "halyard/c/base.h"
#include "halyard/c/camera.h"
#include "halyard/c/capture_plugin.h"
#include "halyard/c/decode.h"
#include "halyard/c/decoded.h"
#include "halyard/c/delegate.h"
#include "halyard/c/engine_plugin.h"
#include "halyard/c/image.h"
#include "halyard/c/mask.h"
#include "halyard/c/message.h"
#include "halyard/c/negotiate.h"
#include "halyard/c/pipeline.h"
#include "halyard/c/pool.h"
#include "halyard/c/system.h"
#include "halyard/c/tensor.h"
#include "halyard/c/tile.h"
#include "halyard/c/topic.h"
#include "halyard/c/track.h"
#include "halyard/c/video_codec.h"
