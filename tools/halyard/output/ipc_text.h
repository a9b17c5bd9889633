// SPDX-License-Identifier: Apache-2.0
// Pools and topics in words: numbers with their units, tables, and JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "halyard/ipc_info.h"
#include "output/rates.h"

namespace halyard::tool {

using Json = nlohmann::ordered_json;

/// "512 B", "1.5 MiB".
std::string bytes_text(double bytes);
/// "30.0/s".
std::string rate_text(double per_second);
/// "1 slot", "2 slots".
std::string count_text(std::uint64_t count, const char* noun);
/// "4711", or "pid unknown" where the kernel does not tell it.
std::string pid_text(const IpcProcess& process);
/// 16 hexadecimal digits.
std::string id_text(std::uint64_t id);
std::string role_text(TopicRole role);
/// Two digits for each byte; of more than `max_bytes` the first, and how many follow.
std::string hex_text(const std::vector<std::byte>& bytes, std::size_t max_bytes);

/// Rows of cells as lines whose columns lie below one another; two blanks stand between them. The
/// letters of `columns` say how a column is aligned: 'l' or 'r'.
std::vector<std::string> table(const std::vector<std::vector<std::string>>& rows,
                               const std::string& columns);

/// The topic whose own pool this is; empty: none.
std::string topic_of(const PoolInfo& pool, const std::vector<TopicInfo>& topics);

Json describe(const IpcProcess& process);
Json describe(const PoolInfo& pool);
/// With rates, where `before` says what the counts were.
Json describe(const TopicInfo& topic, const Rates& rates);
/// A document of its own (json_document) as one line.
std::string dump_line(const Json& json);
/// For people and jq.
std::string dump_lines(const Json& json);

}  // namespace halyard::tool
