// SPDX-License-Identifier: Apache-2.0
// docs/json.schema.json describes the document.
#include "output/val_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "halyard/enumerators.h"
#include "input/json_document.h"
#include "options/paths.h"
#include "report.h"

namespace halyard::tool {
namespace {

std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : "-";
}

std::string name_of(const CocoCategory& category) {
  return category.name.empty() ? fmt::format("category {}", category.id) : category.name;
}

std::string key_of(CocoKind kind) {
  for (const auto& [name, value] : enumerators<CocoKind>)
    if (value == kind) return std::string(name);
  return {};
}

/// The category's name, and its sigmas if there are some.
void print_sigmas(const CocoCategory& category) {
  if (category.sigmas.empty()) return;
  std::string line = fmt::format("sigmas of {}:", name_of(category));
  for (const double sigma : category.sigmas)
    line += fmt::format(" {:.4g}", sigma);
  print_line(line);
}

Json table_json(const ValTable& table) {
  const auto number = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  Json document;
  document["kind"] = key_of(table.kind);
  document["images"] = table.truth.images.size();
  document["annotations"] = table.truth.objects.size();
  document["detections"] = table.detections;
  document["left_out"] = table.left_out;
  for (const CocoMetric& metric : table.scores.summary)
    document["summary"][metric.name] = number(metric.value);
  document["categories"] = Json::array();
  for (std::size_t i = 0; i < table.truth.categories.size(); ++i) {
    const CocoCategory& category = table.truth.categories[i];
    Json entry{{"id", category.id}, {"name", category.name}};
    entry[table.kind == CocoKind::classes ? "top1" : "AP"] = number(table.scores.category_ap[i]);
    if (!category.sigmas.empty()) entry["sigmas"] = category.sigmas;
    document["categories"].push_back(std::move(entry));
  }
  return document;
}

}  // namespace

Result<ValTable> measure(CocoTruth truth, const CocoResults& results, CocoKind kind) {
  ValTable table{kind, std::move(truth), 0, results.left_out, {}};
  std::vector<CocoObject> with_points;
  std::span<const CocoObject> found = results.objects;
  if (kind == CocoKind::keypoints) {
    std::copy_if(found.begin(), found.end(), std::back_inserter(with_points),
                 [&](const CocoObject& object) {
                   return !table.truth.categories[object.category].sigmas.empty();
                 });
    table.left_out += found.size() - with_points.size();
    found = with_points;
  }
  table.detections = found.size();
  HALYARD_TRY(table.scores, evaluate_coco(table.truth, found, kind));
  return table;
}

void print_table(const ValTable& table, bool lists_classes) {
  const CocoTruth& truth = table.truth;
  std::string kind = key_of(table.kind);
  std::replace(kind.begin(), kind.end(), '_', ' ');
  print_line(fmt::format("{}: {} images, {} annotations of {} categories, {} detections", kind,
                         truth.images.size(), truth.objects.size(), truth.categories.size(),
                         table.detections));
  if (table.left_out != 0)
    print_line(fmt::format("{} detections of other categories are left out", table.left_out));
  for (const CocoCategory& category : truth.categories)
    print_sigmas(category);
  for (const CocoMetric& metric : table.scores.summary)
    print_line(fmt::format("{:<10} {:>7}  {}", metric.name, shown(metric.value), metric.meaning));
  if (!lists_classes) return;
  for (std::size_t i = 0; i < truth.categories.size(); ++i)
    print_line(fmt::format("  {:<24} {:>7}", name_of(truth.categories[i]),
                           shown(table.scores.category_ap[i])));
}

Status write_tables(const std::string& path, std::span<const ValTable> tables) {
  Json document = json_document(table_json(tables[0]));
  for (const ValTable& table : tables.subspan(1))
    document[key_of(table.kind)] = table_json(table);
  HALYARD_TRY(auto file, open_output(path));
  // Escapes control characters, because a terminal may show the text. The JSON keeps its meaning.
  const std::string text = json_text(document, 2);
  HALYARD_RETURN_IF_ERROR(file.write(printable_lines(text) + "\n"));
  return file.commit();
}

}  // namespace halyard::tool
