// How the tables of datasets are read; for the files of this folder and for experiments, which read examples.
#pragma once

#include "evaluate/datasets/dataset.h"
#include "sql/columns.h"

namespace hone::evaluate {

// `replaced` of a revision that no version replaces.
constexpr int64_t never_replaced = INT64_MAX;

// Stored JSON; what cannot be read is an empty object.
inline json::Value stored_json(const std::string& text) {
    auto value = json::parse(text);
    return value.ok() ? std::move(value).value() : json::Value(json::Object{});
}

inline constexpr auto stored_metadata =
    sql::Converted{[](auto& record, const sql::Row& row, size_t at) { record.metadata = stored_json(row.text(at)); },
                   [](const auto& record) { return json::print(record.metadata); }};

inline constexpr Pack dataset_columns{
    sql::Column{"id", &Dataset::id},
    sql::Column{"space_id", &Dataset::space_id},
    sql::Column{"name", &Dataset::name},
    sql::Column{"description", &Dataset::description},
    sql::Column{"metadata", stored_metadata},
    sql::Column{"version", &Dataset::version},
    sql::Column{"example_count", &Dataset::example_count},
    sql::Column{"created_by_name", &Dataset::created_by},
    sql::Column{"created_at", &Dataset::created_at},
    sql::Column{"updated_at", &Dataset::updated_at},
};
inline constexpr Pack version_columns{
    sql::Column{"id", &DatasetVersion::id},
    sql::Column{"dataset_id", &DatasetVersion::dataset_id},
    sql::Column{"number", &DatasetVersion::number},
    sql::Column{"note", &DatasetVersion::note},
    sql::Column{"source", &DatasetVersion::source},
    sql::Column{"created", &DatasetVersion::created},
    sql::Column{"patched", &DatasetVersion::patched},
    sql::Column{"deleted", &DatasetVersion::deleted},
    sql::Column{"example_count", &DatasetVersion::example_count},
    sql::Column{"created_by_name", &DatasetVersion::created_by},
    sql::Column{"created_at", &DatasetVersion::created_at},
};

// Of `dataset_examples e` joined with `dataset_revisions r`.
inline constexpr std::string_view example_columns =
    "e.id, e.external_id, e.position, r.input, r.output, r.metadata, e.source_project, e.source_trace, e.source_span, "
    "r.created_at";
inline Example example_of(const sql::Row& row, size_t first = 0) {
    Example example;
    example.id = row.id<ExampleTag>(first);
    example.external_id = row.optional_text(first + 1);
    example.position = row.integer(first + 2);
    example.input = row.text(first + 3);
    example.output = row.text(first + 4);
    example.metadata = row.text(first + 5);
    example.source_project = row.optional_text(first + 6);
    example.source_trace = row.optional_text(first + 7);
    example.source_span = row.optional_text(first + 8);
    example.updated_at = row.time(first + 9);
    return example;
}

} // namespace hone::evaluate
