// The table that a span query of Phoenix' Python client requests: spans in rows, selected fields in columns, lists
// exploded into rows or joined into texts; printed as JSON that pandas reads ("table" orientation). Pure; any thread.
#pragma once

#include "base/fields.h"
#include "json/json.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hone::api {

struct FrameKey {
    static constexpr bool ignores_unknown = true;
    std::string key;
    static constexpr Pack fields{Field{"key", &FrameKey::key, "Field or attribute."}};
};

struct FrameCondition {
    static constexpr bool ignores_unknown = true;
    std::optional<std::string> condition;
    static constexpr Pack fields{
        Field{"condition", &FrameCondition::condition, "Such as span_kind == 'LLM' and latency_ms > 1000."}};
};

struct FrameExplosion {
    static constexpr bool ignores_unknown = true;
    std::string key;
    std::optional<std::map<std::string, std::string>> kwargs;
    std::optional<std::string> primary_index_key;
    static constexpr Pack fields{
        Field{"key", &FrameExplosion::key, "Attribute that is a list of objects; each becomes a row."},
        Field{"kwargs", &FrameExplosion::kwargs, "Columns with the place of their value in the object; all if none."},
        Field{"primary_index_key", &FrameExplosion::primary_index_key, "First column of the index."},
    };
};

struct FrameConcatenation {
    static constexpr bool ignores_unknown = true;
    std::string key;
    std::optional<std::map<std::string, std::string>> kwargs;
    std::optional<std::string> separator;
    static constexpr Pack fields{
        Field{"key", &FrameConcatenation::key, "Attribute that is a list; its texts are joined."},
        Field{"kwargs", &FrameConcatenation::kwargs, "Columns with the place of their text in each object."},
        Field{"separator", &FrameConcatenation::separator, "Between the texts; an empty line if not given."},
    };
};

struct FrameQuery {
    static constexpr bool ignores_unknown = true;
    std::optional<std::map<std::string, FrameKey>> select;
    std::optional<FrameCondition> filter;
    std::optional<FrameExplosion> explode;
    std::optional<FrameConcatenation> concat;
    std::optional<std::map<std::string, std::string>> rename;
    std::optional<FrameKey> index;
    static constexpr Pack fields{
        Field{"select", &FrameQuery::select, "Columns; all fields if not given."},
        Field{"filter", &FrameQuery::filter, "Which spans."},
        Field{"explode", &FrameQuery::explode, ""},
        Field{"concat", &FrameQuery::concat, ""},
        Field{"rename", &FrameQuery::rename, "New names of columns."},
        Field{"index", &FrameQuery::index, "Column of the index; context.span_id if not given."},
    };
};

// Attributes as a tree: "a.b.0.c" becomes a list inside objects, JSON texts of metadata become objects.
json::Value nested_attributes(const json::Object& attributes);

// `spans` as GET /v1/projects/{project}/spans returns them.
std::string print_frame(const FrameQuery& query, const std::vector<json::Value>& spans);

} // namespace hone::api
