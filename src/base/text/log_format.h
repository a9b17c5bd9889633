// SPDX-License-Identifier: Apache-2.0
// HALYARD_LOG: formats a message only if the level is enabled.
#pragma once

#include <fmt/format.h>

#include "halyard/log.h"

#define HALYARD_LOG(level, target, ...)                              \
  do {                                                               \
    if ((level) <= ::halyard::log_level())                           \
      ::halyard::log((level), (target), ::fmt::format(__VA_ARGS__)); \
  } while (false)
