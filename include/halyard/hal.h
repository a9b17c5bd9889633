// SPDX-License-Identifier: Apache-2.0
// The C interface, all of it: the rules and the choice of a generation stand in hal_base.h.
#pragma once

#include "halyard/hal_base.h"
#include "halyard/hal_decode.h"
#include "halyard/hal_decoded.h"
#include "halyard/hal_delegate.h"
#include "halyard/hal_image.h"
#include "halyard/hal_mask.h"
#include "halyard/hal_message.h"
#include "halyard/hal_negotiate.h"
#include "halyard/hal_pool.h"
#include "halyard/hal_system.h"
#include "halyard/hal_tensor.h"
#include "halyard/hal_tile.h"
#include "halyard/hal_topic.h"
#include "halyard/hal_track.h"
