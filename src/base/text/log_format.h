// SPDX-License-Identifier: Apache-2.0
// HALYARD_LOG: formats a message only when somebody would read it.
#pragma once

#include <fmt/format.h>

#include "halyard/log.h"

#define HALYARD_LOG(level, target, ...)                              \
  do {                                                               \
    if ((level) <= ::halyard::log_level())                           \
      ::halyard::log((level), (target), ::fmt::format(__VA_ARGS__)); \
  } while (false)
