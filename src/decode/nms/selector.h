// SPDX-License-Identifier: Apache-2.0
// Converts the options of a caller to those of suppression: defaults, checks, a text form.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/nms/nms.h"
#include "halyard/decode.h"
#include "halyard/selection.h"

namespace halyard::decode {

/// The caller's choice, else that of the model's description, else class_aware. With several labels
/// per anchor, class_agnostic becomes class_aware; otherwise one label would suppress the others.
Nms resolved_nms(std::optional<Nms> chosen, std::optional<Nms> described,
                 bool multi_label = false) noexcept;

/// `options.nms` must be set.
SelectionOptions selection_options(const DecodeOptions& options);

/// The lowest score with which a candidate of any class can pass. Heads compare with it first.
float min_score(const SelectionOptions& options) noexcept;

/// A readable line.
std::string describe(const SelectionOptions& options);

/// Errors: invalid_argument; the message names the field and its range.
Status check(const SelectionOptions& options);

Status check_unit(float value, const char* what);

/// The candidates that select() kept, with their scores.
std::vector<Detection> survivors(std::span<const Detection> candidates, const Workspace& workspace);

}  // namespace halyard::decode
