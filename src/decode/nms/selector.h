// SPDX-License-Identifier: Apache-2.0
// From the options of a caller to those of suppression: defaults, checks, a line for people.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/nms/nms.h"
#include "halyard/decode.h"
#include "halyard/selection.h"

namespace halyard::decode {

/// What was asked for, else what the model's description says, else class_aware. Where an anchor
/// may have several labels, class_aware in place of class_agnostic: one would take the others.
Nms resolved_nms(std::optional<Nms> chosen, std::optional<Nms> described,
                 bool multi_label = false) noexcept;

/// `options.nms` must be set.
SelectionOptions selection_of(const DecodeOptions& options);

/// The lowest score with which a candidate of any class may stay: what heads compare with first.
float min_score(const SelectionOptions& options) noexcept;

/// A line for people.
std::string describe(const SelectionOptions& options);

/// Errors: invalid_argument; the message names the field and its range.
Status check(const SelectionOptions& options);

Status check_unit(float value, const char* what);

/// The candidates that select() left, with their scores.
std::vector<Detection> survivors(std::span<const Detection> candidates, const Workspace& workspace);

}  // namespace halyard::decode
