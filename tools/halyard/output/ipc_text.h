// SPDX-License-Identifier: Apache-2.0
// Pools and topics as text: numbers with units, tables, and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halyard/ipc_info.h"
#include "input/json_document.h"
#include "output/rates.h"

namespace halyard::tool {

/// "512 B", "1.5 MiB".
std::string bytes_text(double bytes);
/// "30.0/s".
std::string rate_text(double per_second);
/// "1 slot", "2 slots".
std::string count_text(std::uint64_t count, const char* noun);
/// "4711", or "unknown" if the kernel does not report the process.
std::string pid_text(const IpcProcess& process);
/// 16 hexadecimal digits.
std::string id_text(std::uint64_t id);
std::string role_text(TopicRole role);
/// Two digits for each byte. If there are more than `max_bytes`, the first ones and the count of
/// the others.
std::string hex_text(const std::vector<std::byte>& bytes, std::size_t max_bytes);

/// Formats rows of cells as lines with aligned columns, two spaces apart. Each letter of `columns`
/// is the alignment of a column: 'l' or 'r'.
std::vector<std::string> table(const std::vector<std::vector<std::string>>& rows,
                               const std::string& columns);

/// The topic that owns this pool; empty: none.
std::string topic_of(const PoolInfo& pool, const std::vector<TopicInfo>& topics);

Json describe(const IpcProcess& process);
Json describe(const PoolInfo& pool);
/// With rates for endpoints that `rates` contains.
Json describe(const TopicInfo& topic, const Rates& rates);
/// Both lists, in an object.
Json describe(const std::vector<PoolInfo>& pools, const std::vector<TopicInfo>& topics,
              const Rates& rates);
/// A complete document (json_document) on one line.
std::string dump_line(const Json& json);
/// The same on several lines, indented.
std::string dump_lines(const Json& json);

}  // namespace halyard::tool
