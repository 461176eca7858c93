#include "evaluate/files/example_rows.h"

#include "base/text.h"

#include <algorithm>
#include <set>

namespace hone::evaluate {

namespace {

constexpr size_t largest_line = 8 << 20;

bool is_output_name(std::string_view name) {
    const std::string lower = lowercase_ascii(name);
    for (const char* word : {"answer", "output", "response", "expected", "reference", "completion", "label", "target"})
        if (lower.find(word) != std::string::npos) return true;
    return false;
}

bool has_prefix(const std::vector<std::string>& columns, std::string_view prefix) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const std::string& column) { return column.starts_with(prefix); });
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

// A text that is a JSON object or list; any other value as it is.
json::Value parsed_if_json(const json::Value& value) {
    if (!value.is_string()) return value;
    const std::string_view text = trim(std::string_view(value.get_string()));
    if (text.empty() || (text.front() != '{' && text.front() != '[')) return value;
    auto parsed = json::parse(text);
    return parsed.ok() ? std::move(parsed).value() : value;
}

// An example's part must be an object: {"input": "hi"} for a row whose input is "hi".
json::Value as_object(const json::Value& value, std::string_view name) {
    const json::Value plain = parsed_if_json(value);
    if (plain.is_object()) return plain;
    if (plain.is_null()) return json::Object{};
    return json::Object{{name, plain}};
}

std::vector<std::string> split_names(const json::Value& value) {
    std::vector<std::string> names;
    const json::Value plain = parsed_if_json(value);
    if (plain.is_array()) {
        for (const json::Value& item : plain.get_array())
            if (item.is_string()) names.emplace_back(item.get_string());
    } else if (plain.is_string() && !trim(std::string_view(plain.get_string())).empty()) {
        for (const auto name : split(std::string_view(plain.get_string()), ','))
            if (!trim(name).empty()) names.emplace_back(trim(name));
    }
    return names;
}

std::string text_of_value(const json::Value& value) {
    return value.is_string() ? std::string(value.get_string()) : json::print(value);
}

} // namespace

ExampleReader::ExampleReader(FileFormat format, ColumnNames names, Take take)
    : m_format(format),
      m_names(std::move(names)),
      m_is_guessed(m_names.is_guessed()),
      m_take(std::move(take)),
      m_csv([this](std::vector<std::string>& cells, int64_t row) {
          return m_header.empty() ? take_header(cells) : take_cells(cells, row);
      }) {}

Result<> ExampleReader::add(std::string_view bytes) {
    if (m_format == FileFormat::csv) return m_csv.add(bytes);
    while (!bytes.empty()) {
        const size_t end = bytes.find('\n');
        m_line += bytes.substr(0, end);
        if (m_line.size() > largest_line) return invalid("line " + std::to_string(m_line_number + 1) + " is too long");
        if (end == bytes.npos) return {};
        TRY(take_line(m_line));
        m_line.clear();
        bytes.remove_prefix(end + 1);
    }
    return {};
}

Result<> ExampleReader::finish() {
    if (m_format == FileFormat::jsonl) return take_line(m_line);
    TRY(m_csv.finish());
    if (m_header.empty()) return invalid("the file is empty: the first row must name the columns");
    return {};
}

Result<> ExampleReader::take_header(std::vector<std::string>& cells) {
    std::set<std::string> seen;
    for (std::string& cell : cells) {
        if (!is_valid_utf8(cell)) return invalid("row 1 is not valid UTF-8");
        if (!seen.insert(cell).second) return invalid("column " + cell + " is there twice");
    }
    m_header = std::move(cells);
    if (m_is_guessed) guess(m_header);
    for (const auto* list : {&m_names.input, &m_names.output, &m_names.metadata, &m_names.splits})
        for (const std::string& name : *list)
            if (!seen.contains(name)) return invalid("there is no column " + std::string(truncate_utf8(name, 100)));
    m_has_splits = !m_names.splits.empty();
    return {};
}

void ExampleReader::guess(const std::vector<std::string>& columns) {
    const bool is_prefixed = has_prefix(columns, "input.") || contains(columns, "input");
    for (const std::string& column : columns) {
        if (column == "node_id") continue;
        if (column == "id" || column == "example_id")
            m_names.example_id = column;
        else if (column == "span_id")
            m_names.span_id = column;
        else if (column == "split" || column == "splits")
            m_names.splits = {column};
        else if (is_prefixed && (column == "output" || column.starts_with("output.") || is_output_name(column)))
            m_names.output.push_back(column);
        else if (column == "metadata" || column.starts_with("metadata."))
            m_names.metadata.push_back(column);
        else
            m_names.input.push_back(column);
    }
    if (m_names.input.empty()) std::swap(m_names.input, m_names.output);
    // "id,text,label,split": the last column that is neither an id nor a split.
    if (!is_prefixed && m_names.input.size() > 1 && is_output_name(m_names.input.back())) {
        m_names.output.push_back(m_names.input.back());
        m_names.input.pop_back();
    }
}

Result<> ExampleReader::take_cells(std::vector<std::string>& cells, int64_t row) {
    const std::string where = "row " + std::to_string(row);
    if (cells.size() != m_header.size())
        return invalid(where + " has " + std::to_string(cells.size()) + " cells, the header " +
                       std::to_string(m_header.size()));
    json::Object values;
    for (size_t i = 0; i < cells.size(); ++i) {
        if (!is_valid_utf8(cells[i])) return invalid(where + " is not valid UTF-8");
        if (!cells[i].empty()) values[m_header[i]] = json::Value(cells[i]);
    }
    return take_row(std::move(values), where);
}

Result<> ExampleReader::take_line(std::string_view line) {
    ++m_line_number;
    if (m_line_number == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    line = trim(line);
    if (line.empty()) return {};
    const std::string where = "line " + std::to_string(m_line_number);
    auto value = json::parse(line);
    if (!value.ok()) return invalid(where + ": " + value.error().message);
    if (!value.value().is_object()) return invalid(where + " must be an object");
    json::Object row = std::move(value.value().get_object());
    if (m_is_guessed) {
        m_names = {};
        std::vector<std::string> columns;
        for (const auto& entry : row) columns.emplace_back(entry.key());
        guess(columns);
    }
    for (const std::string& name : m_names.splits) m_has_splits = m_has_splits || row.contains(name);
    return take_row(std::move(row), where);
}

Result<> ExampleReader::take_row(json::Object row, const std::string& where) {
    NewExample example;
    const auto part = [&](const std::vector<std::string>& columns, std::string_view prefix) -> Result<json::Value> {
        // A column named as the part is the part.
        if (m_is_guessed && columns.size() == 1 && columns.front() == prefix) {
            const json::Value* whole = row.if_contains(prefix);
            return whole == nullptr ? json::Value(json::Object{}) : as_object(*whole, prefix);
        }
        json::Object values;
        for (const std::string& column : columns) {
            const json::Value* value = row.if_contains(column);
            if (value == nullptr) continue;
            std::string key = column;
            if (m_is_guessed && key.starts_with(std::string(prefix) + ".")) key = key.substr(prefix.size() + 1);
            if (contains(m_names.flatten, column)) {
                const json::Value members = parsed_if_json(*value);
                if (members.is_object()) {
                    for (const auto& entry : members.get_object()) values[entry.key()] = entry.value();
                    continue;
                }
            }
            values[key] = *value;
        }
        if (!m_is_guessed || m_format == FileFormat::jsonl) return json::Value(std::move(values));
        return json::Value(TRY(unflatten(values)));
    };
    auto input = part(m_names.input, "input");
    auto output = part(m_names.output, "output");
    auto metadata = part(m_names.metadata, "metadata");
    for (auto* each : {&input, &output, &metadata})
        if (!each->ok()) return invalid(where + ": " + each->error().message);
    example.input = std::move(input).value();
    example.output = std::move(output).value();
    example.metadata = std::move(metadata).value();
    if (!m_names.example_id.empty())
        if (const json::Value* id = row.if_contains(m_names.example_id); id != nullptr && !id->is_null())
            example.example_id = text_of_value(*id);
    if (const json::Value* node = row.if_contains("node_id"); m_is_guessed && node != nullptr && example.example_id)
        example.has_assigned_id = text_of_value(*node) == *example.example_id;
    if (!m_names.span_id.empty())
        if (const json::Value* id = row.if_contains(m_names.span_id); id != nullptr && id->is_string())
            example.source = ExampleSource{"", "", std::string(id->get_string())};
    for (const std::string& column : m_names.splits)
        if (const json::Value* value = row.if_contains(column))
            for (std::string& name : split_names(*value)) example.splits.push_back(std::move(name));
    return m_take(std::move(example));
}

Result<json::Object> unflatten(const json::Object& flat) {
    json::Object nested;
    for (const auto& entry : flat) {
        const auto parts = split(std::string_view(entry.key()), '.');
        json::Object* at = &nested;
        const bool is_plain = std::any_of(parts.begin(), parts.end(), [](auto each) { return each.empty(); });
        for (size_t i = 0; !is_plain && i + 1 < parts.size(); ++i) {
            json::Value& member = (*at)[parts[i]];
            if (member.is_null()) member = json::Object{};
            if (!member.is_object())
                return invalid("column " + std::string(entry.key()) + " is inside another column's value");
            at = &member.get_object();
        }
        json::Value& member = (*at)[is_plain ? std::string_view(entry.key()) : parts.back()];
        if (!member.is_null())
            return invalid("column " + std::string(entry.key()) + " is inside another column's value");
        member = parsed_if_json(entry.value());
    }
    return nested;
}

void flatten_into(const json::Value& value, const std::string& prefix,
                  std::vector<std::pair<std::string, std::string>>& cells) {
    if (value.is_object() && !value.get_object().empty()) {
        for (const auto& entry : value.get_object())
            flatten_into(entry.value(), prefix + "." + std::string(entry.key()), cells);
    } else if (value.is_object()) {
        return;
    } else if (value.is_null()) {
        cells.emplace_back(prefix, "");
    } else {
        cells.emplace_back(prefix, text_of_value(value));
    }
}

} // namespace hone::evaluate
