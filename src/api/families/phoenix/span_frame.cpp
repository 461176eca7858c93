#include "api/families/phoenix/span_frame.h"

#include "base/text.h"
#include "base/time.h"

#include <algorithm>

namespace hone::api {

namespace {

constexpr std::string_view span_id_column = "context.span_id";
constexpr size_t longest_index = 6; // digits of a position in a list

std::vector<std::string> segments_of(std::string_view key) {
    std::vector<std::string> segments;
    for (const std::string_view segment : split(key, '.')) segments.emplace_back(segment);
    return segments;
}

bool is_position(std::string_view segment) {
    return !segment.empty() && segment.size() <= longest_index &&
           segment.find_first_not_of("0123456789") == std::string_view::npos;
}

// Objects whose keys are the positions 0, 1, 2 … are lists.
void make_lists(json::Value& value) {
    if (!value.is_object()) return;
    json::Object& object = value.get_object();
    for (auto& entry : object) make_lists(entry.value());
    if (object.empty()) return;
    std::vector<std::pair<size_t, json::Value*>> items;
    for (auto& entry : object) {
        if (!is_position(entry.key())) return;
        items.emplace_back(std::stoul(std::string(entry.key())), &entry.value());
    }
    std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    json::Array list;
    for (auto& [position, item] : items) list.push_back(std::move(*item));
    value = std::move(list);
}

void put(json::Object& tree, const std::vector<std::string>& path, const json::Value& value) {
    json::Object* at = &tree;
    for (size_t i = 0; i + 1 < path.size(); ++i) {
        json::Value& next = (*at)[path[i]];
        if (!next.is_object()) next = json::Object{};
        at = &next.get_object();
    }
    (*at)[path.back()] = value;
}

// What senders write as a JSON text because attributes have no objects.
void read_json_text(json::Value& value) {
    if (!value.is_string()) return;
    auto parsed = json::parse(std::string_view(value.get_string()));
    if (parsed.ok() && parsed.value().is_object()) value = std::move(parsed).value();
}

void read_json_texts(json::Value& value) {
    if (value.is_array())
        for (json::Value& item : value.get_array()) read_json_texts(item);
    if (!value.is_object()) return;
    for (auto& entry : value.get_object()) {
        if (entry.key() == "metadata" || entry.key() == "variables" || entry.key() == "parameters")
            read_json_text(entry.value());
        read_json_texts(entry.value());
    }
}

// Missing: null.
json::Value value_in(const json::Value& tree, std::string_view key) {
    const json::Value* at = &tree;
    for (const std::string& segment : segments_of(key)) {
        if (at->is_object()) {
            at = at->get_object().if_contains(segment);
        } else if (at->is_array() && is_position(segment)) {
            const size_t position = std::stoul(segment);
            at = position < at->get_array().size() ? &at->get_array()[position] : nullptr;
        } else {
            at = nullptr;
        }
        if (at == nullptr) return nullptr;
    }
    return *at;
}

// Objects that are one value: people choose their keys.
bool is_one_value(const std::string& prefix) {
    return prefix.ends_with("metadata") || prefix.ends_with("prompt_template.variables") ||
           prefix.ends_with("tool.parameters");
}

void flatten(const json::Value& value, const std::string& prefix, json::Object& out) {
    if (!value.is_object() || value.get_object().empty() || is_one_value(prefix)) {
        if (!prefix.empty()) out[prefix] = value;
        return;
    }
    for (const auto& entry : value.get_object())
        flatten(entry.value(), prefix.empty() ? std::string(entry.key()) : prefix + "." + std::string(entry.key()),
                out);
}

// Whether a column is made of each field below this name of OpenInference. Objects below other names are one column.
bool is_namespace(std::string_view name) {
    constexpr std::string_view names[] = {"agent",   "decision",      "embedding", "graph",  "input",
                                          "llm",     "openinference", "output",    "prompt", "retrieval",
                                          "session", "tag",           "tool",      "trace",  "user"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Objects in lists have one level, with dots in their keys: [{"message.role": …}].
json::Value with_flat_items(const json::Value& value) {
    if (!value.is_array()) return value;
    json::Array items;
    for (const json::Value& item : value.get_array()) {
        json::Object flat;
        if (item.is_object()) flatten(item, "", flat);
        for (auto& entry : flat) entry.value() = with_flat_items(entry.value());
        items.push_back(item.is_object() ? json::Value(std::move(flat)) : with_flat_items(item));
    }
    return items;
}

// A span as the query sees it.
class FrameSpan {
public:
    explicit FrameSpan(const json::Value& span) : m_span(span.get_object()) {
        m_attributes = nested_attributes(m_span.at("attributes").get_object());
    }

    json::Value at(std::string_view key) const {
        if (key == span_id_column || key == "span_id") return m_span.at("context").get_object().at("span_id");
        if (key == "context.trace_id" || key == "trace_id") return m_span.at("context").get_object().at("trace_id");
        if (key == "latency_ms") return latency();
        for (const std::string_view own : own_columns)
            if (key == own) return m_span.at(own);
        constexpr std::string_view prefix = "attributes.";
        return value_in(m_attributes, key.starts_with(prefix) ? key.substr(prefix.size()) : key);
    }

    // Every field, as when nothing is selected.
    json::Object all() const {
        json::Object row;
        for (const std::string_view own : own_columns) row[own] = m_span.at(own);
        row[span_id_column] = at(span_id_column);
        row["context.trace_id"] = at("context.trace_id");
        for (const auto& entry : m_attributes.get_object()) {
            json::Object columns;
            const std::string name = "attributes." + std::string(entry.key());
            if (is_namespace(entry.key()))
                flatten(entry.value(), name, columns);
            else
                columns[name] = entry.value();
            for (const auto& column : columns) row[column.key()] = with_flat_items(column.value());
        }
        return row;
    }

private:
    static constexpr std::string_view own_columns[] = {"name",     "span_kind",   "parent_id",      "start_time",
                                                       "end_time", "status_code", "status_message", "events"};

    json::Value latency() const {
        const auto start = parse_time(std::string(m_span.at("start_time").get_string()));
        const auto end = parse_time(std::string(m_span.at("end_time").get_string()));
        if (!start.ok() || !end.ok()) return nullptr;
        return static_cast<double>((end.value() - start.value()).count()) / 1e6;
    }

    const json::Object& m_span;
    json::Value m_attributes;
};

// Rows with named cells; the first columns are the index.
class Frame {
public:
    explicit Frame(std::vector<std::string> index) : m_index(std::move(index)) {}

    void add_column(const std::string& name) {
        if (std::find(m_columns.begin(), m_columns.end(), name) == m_columns.end()) m_columns.push_back(name);
    }
    void add(json::Array index, json::Object cells) {
        for (const auto& cell : cells) add_column(std::string(cell.key()));
        m_rows.push_back({std::move(index), std::move(cells)});
    }

    // Names have a number in front, so that an index and a column can have the same; the client removes it.
    std::string print(const std::map<std::string, std::string>& rename) const {
        json::Array fields;
        json::Array key;
        std::vector<std::string> names;
        for (size_t i = 0; i < m_index.size() + m_columns.size(); ++i) {
            const bool is_index = i < m_index.size();
            std::string name = is_index ? m_index[i] : m_columns[i - m_index.size()];
            const auto renamed = rename.find(name);
            if (!is_index && renamed != rename.end()) name = renamed->second;
            names.push_back(std::to_string(i) + "_" + name);
            if (is_index) key.push_back(json::Value(names.back()));
            json::Object field = type_of_column(i);
            field["name"] = names.back();
            fields.push_back(std::move(field));
        }
        json::Array data;
        for (const Row& row : m_rows) {
            json::Object printed;
            for (size_t i = 0; i < names.size(); ++i) printed[names[i]] = cell(row, i);
            data.push_back(std::move(printed));
        }
        return json::print(json::Object{
            {"schema",
             json::Object{{"fields", std::move(fields)}, {"primaryKey", std::move(key)}, {"pandas_version", "1.4.0"}}},
            {"data", std::move(data)}});
    }

private:
    struct Row {
        json::Array index;
        json::Object cells;
    };

    json::Value cell(const Row& row, size_t at) const {
        if (at < m_index.size()) return row.index[at];
        const json::Value* found = row.cells.if_contains(m_columns[at - m_index.size()]);
        return found == nullptr ? json::Value(nullptr) : *found;
    }

    json::Object type_of_column(size_t at) const {
        if (at >= m_index.size()) {
            const std::string& name = m_columns[at - m_index.size()];
            if (name == "start_time" || name == "end_time") return {{"type", "datetime"}, {"tz", "UTC"}};
        }
        bool has_integers = !m_rows.empty(), has_numbers = !m_rows.empty(), has_flags = !m_rows.empty();
        bool has_value = false;
        for (const Row& row : m_rows) {
            const json::Value value = cell(row, at);
            has_value = has_value || !value.is_null();
            has_integers = has_integers && (value.is_int64() || value.is_uint64());
            has_numbers = has_numbers && (value.is_number() || value.is_null());
            has_flags = has_flags && value.is_bool();
        }
        return {{"type", !has_value     ? "any"
                         : has_integers ? "integer"
                         : has_numbers  ? "number"
                         : has_flags    ? "boolean"
                                        : "any"}};
    }

    std::vector<std::string> m_index;
    std::vector<std::string> m_columns;
    std::vector<Row> m_rows;
};

std::string text_of(const json::Value& value) {
    return value.is_string() ? std::string(value.get_string()) : json::print(value);
}

using Columns = std::map<std::string, std::string>;

// False: the span has no such list, and is left out.
bool concatenate(const FrameConcatenation& wanted, const FrameSpan& span, json::Object& cells) {
    const json::Value list = span.at(wanted.key);
    if (!list.is_array()) return false;
    const std::string separator = wanted.separator.value_or("\n\n");
    Columns columns = wanted.kwargs.value_or(Columns{});
    if (columns.empty()) columns[wanted.key] = "";
    for (const auto& [name, place] : columns) {
        std::string joined;
        bool is_first = true;
        for (const json::Value& item : list.get_array()) {
            const json::Value value = place.empty() ? item : value_in(item, place);
            if (value.is_null()) continue;
            joined += (is_first ? "" : separator) + text_of(value);
            is_first = false;
        }
        cells[name] = joined;
    }
    return true;
}

void explode(const FrameExplosion& wanted, const FrameSpan& span, const json::Value& first, const json::Object& cells,
             Frame& frame) {
    const json::Value list = span.at(wanted.key);
    if (!list.is_array()) return;
    int64_t position = -1;
    for (const json::Value& item : list.get_array()) {
        ++position;
        if (!item.is_object()) continue;
        json::Object row = cells;
        if (wanted.kwargs && !wanted.kwargs->empty())
            for (const auto& [name, place] : *wanted.kwargs) row[name] = value_in(item, place);
        else
            flatten(item, "", row);
        frame.add({first, position}, std::move(row));
    }
}

std::string own_name(const std::string& key) {
    return key == "span_id" || key == "trace_id" ? "context." + key : key;
}

} // namespace

json::Value nested_attributes(const json::Object& attributes) {
    json::Object tree;
    for (const auto& entry : attributes) {
        if (entry.value().is_object() && !entry.value().get_object().empty()) {
            json::Object flat;
            flatten(entry.value(), std::string(entry.key()), flat);
            for (const auto& inner : flat) put(tree, segments_of(inner.key()), inner.value());
        } else {
            put(tree, segments_of(entry.key()), entry.value());
        }
    }
    json::Value made = std::move(tree);
    make_lists(made);
    read_json_texts(made);
    return made;
}

std::string print_frame(const FrameQuery& query, const std::vector<json::Value>& spans) {
    std::string key = query.index ? own_name(query.index->key) : std::string(span_id_column);
    std::vector<std::string> index{key};
    if (query.explode) {
        if (query.explode->primary_index_key) index[0] = key = own_name(*query.explode->primary_index_key);
        index.push_back(query.explode->key.ends_with("retrieval.documents") ? "document_position" : "position");
    }
    Frame frame(index);
    const bool selects = query.select && !query.select->empty();
    if (selects)
        for (const auto& [name, place] : *query.select)
            if (name != key) frame.add_column(name);
    if (query.explode && query.explode->kwargs)
        for (const auto& [name, place] : *query.explode->kwargs) frame.add_column(name);
    if (query.concat && query.concat->kwargs)
        for (const auto& [name, place] : *query.concat->kwargs) frame.add_column(name);
    for (const json::Value& each : spans) {
        const FrameSpan span(each);
        json::Object cells;
        if (selects) {
            for (const auto& [name, place] : *query.select)
                if (name != key) cells[name] = span.at(place.key);
        } else if (!query.explode && !query.concat) {
            cells = span.all();
        }
        if (query.concat && !concatenate(*query.concat, span, cells)) continue;
        if (query.explode)
            explode(*query.explode, span, span.at(key), cells, frame);
        else
            frame.add({span.at(key)}, std::move(cells));
    }
    return frame.print(query.rename.value_or(Columns{}));
}

} // namespace hone::api
