// The schema of a dataset: stored, and compared with examples.
#include "evaluate/datasets/example_schema.h"

#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/datasets/datasets.h"

namespace hone::evaluate {

using access::Caller, access::Permission;

Result<ExampleSchema> ExampleSchema::create(const json::Value& schemas) {
    if (!schemas.is_object() || schemas.get_object().empty())
        return invalid("schema must be an object with input, output or metadata");
    ExampleSchema made;
    for (const auto& entry : schemas.get_object()) {
        const std::string part(entry.key());
        if (part != "input" && part != "output" && part != "metadata")
            return invalid("schema." + std::string(truncate_utf8(part, 60)) +
                           " is unknown; schema has input, output and metadata");
        auto schema = json::JsonSchema::create(entry.value());
        if (!schema.ok()) return invalid("schema." + part + ": " + schema.error().message);
        made.m_parts.emplace(part, std::move(schema).value());
    }
    return made;
}

Result<> ExampleSchema::check(const NewExample& example) const {
    for (const auto& [part, schema] : m_parts) {
        const json::Value& value = part == "input"    ? example.input
                                   : part == "output" ? example.output
                                                      : example.metadata;
        const auto fits = schema.validate(value);
        if (!fits.ok()) return invalid(part + " does not fit the schema of the dataset: " + fits.error().message);
    }
    return {};
}

Result<std::optional<json::Value>> Datasets::schema(const Caller& caller, const DatasetId& id) const {
    TRY(dataset(caller, id, Permission::dataset_read));
    const auto rows = TRY(m_database.query("SELECT schema FROM datasets WHERE id = ?", id));
    if (rows.empty() || rows.front().is_null(0)) return std::optional<json::Value>();
    return std::optional(stored_json(rows.front().text(0)));
}

Result<> Datasets::set_schema(const Caller& caller, const DatasetId& id, const std::optional<json::Value>& schema) {
    const Dataset of = TRY(dataset(caller, id, Permission::dataset_write));
    std::optional<std::string> text;
    if (schema) {
        const ExampleSchema checked = TRY(ExampleSchema::create(*schema));
        // The examples that are there must fit, so that a schema is true of every version that follows.
        for (int64_t after = -1;;) {
            const auto page = TRY(examples(caller, id, newest_version, {}, after, 1000));
            for (const Example& one : page) {
                NewExample example;
                example.input = stored_json(one.input);
                example.output = stored_json(one.output);
                example.metadata = stored_json(one.metadata);
                if (const auto fits = checked.check(example); !fits.ok())
                    return conflict("example " + one.external_id.value_or(one.id.text()) + ": " + fits.error().message);
                after = one.position;
            }
            if (page.size() < 1000) break;
        }
        text = json::print(*schema);
    }
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE datasets SET schema = ?, updated_at = ? WHERE id = ?", text, m_clock.now(),
                                id));
        return m_access.audit.record(
            transaction, caller,
            {"dataset_update", of.space_id, id.text(), {{"name", of.name}, {"schema", schema.has_value()}}});
    });
}

Result<std::optional<ExampleSchema>> stored_schema(sql::Database& database, const access::SpaceId& space,
                                                   const std::string& name) {
    const auto rows = TRY(database.query("SELECT schema FROM datasets WHERE space_id = ? AND name = ?", space, name));
    if (rows.empty() || rows.front().is_null(0)) return std::optional<ExampleSchema>();
    return std::optional(TRY(ExampleSchema::create(stored_json(rows.front().text(0)))));
}

} // namespace hone::evaluate
