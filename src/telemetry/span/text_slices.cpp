#include "telemetry/span/text_slices.h"

#include "otlp/attribute_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace hone::telemetry {

namespace {

constexpr std::string_view slice_mark = R"({"$slice":[")";
constexpr std::string_view escaped_map = R"("$map":)"; // a map of the sender that looks like a mark follows
constexpr std::string_view json_suffix = "_json";
constexpr std::array<std::string_view, 2> slice_columns{"input", "output"};
// A span whose texts are found nowhere costs a bounded search.
constexpr size_t most_scanned = 4 << 20;

bool needs_escapes(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char letter) {
        return static_cast<unsigned char>(letter) < 0x20 || letter == '"' || letter == '\\';
    });
}

bool may_be_json(std::string_view text) {
    return text.starts_with('{') || text.starts_with('[');
}

struct SliceMark {
    size_t column = 0;
    bool is_json = false;
    size_t from = 0;
    size_t length = 0;
    size_t end = 0; // offset after the mark
};

// What follows slice_mark: input",0,1500]}
std::optional<SliceMark> read_mark(std::string_view text, size_t at) {
    SliceMark mark;
    std::string_view rest = text.substr(at);
    for (; mark.column < slice_columns.size(); ++mark.column)
        if (rest.starts_with(slice_columns[mark.column])) break;
    if (mark.column == slice_columns.size()) return std::nullopt;
    rest.remove_prefix(slice_columns[mark.column].size());
    mark.is_json = rest.starts_with(json_suffix);
    if (mark.is_json) rest.remove_prefix(json_suffix.size());
    const auto take = [&](std::string_view wanted) {
        if (!rest.starts_with(wanted)) return false;
        rest.remove_prefix(wanted.size());
        return true;
    };
    const auto number = [&](size_t& value) {
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc()) return false;
        rest.remove_prefix(static_cast<size_t>(end - rest.data()));
        return true;
    };
    if (!take("\",") || !number(mark.from) || !take(",") || !number(mark.length) || !take("]}")) return std::nullopt;
    mark.end = text.size() - rest.size();
    return mark;
}

} // namespace

size_t TextSlicer::find(Column& column, std::string_view text) {
    if (text.size() > column.text.size() || m_scanned > most_scanned) return std::string_view::npos;
    const auto search = [&](size_t from) {
        const std::string_view where = column.text.substr(from);
        const void* found = ::memmem(where.data(), where.size(), text.data(), text.size());
        const size_t at =
            found ? static_cast<size_t>(static_cast<const char*>(found) - column.text.data()) : std::string_view::npos;
        m_scanned += found ? at + text.size() - from : where.size();
        return at;
    };
    size_t at = search(column.last_end);
    if (at == std::string_view::npos && column.last_end > 0) at = search(0);
    if (at != std::string_view::npos) column.last_end = at + text.size();
    return at;
}

bool TextSlicer::append_found(std::string& out, std::string_view text, std::string_view suffix, bool in_json) {
    for (size_t i = 0; i < slice_columns.size(); ++i) {
        if (may_be_json(m_columns[i].text) != in_json) continue;
        const size_t at = find(m_columns[i], text);
        if (at == std::string_view::npos) continue;
        out += slice_mark;
        out += slice_columns[i];
        out += suffix;
        out += "\"," + std::to_string(at) + "," + std::to_string(text.size()) + "]}";
        return true;
    }
    return false;
}

bool TextSlicer::append_mark(std::string& out, std::string_view text) {
    if (text.size() < shortest) return false;
    if (append_found(out, text, {}, false)) return true;
    // Of a text with quotes or line ends, JSON holds the escaped form: a search for the other one first would read it
    // all.
    if (needs_escapes(text)) {
        m_escaped.clear();
        otlp::append_json_string(m_escaped, text);
        const std::string_view inner = std::string_view(m_escaped).substr(1, m_escaped.size() - 2);
        if (append_found(out, inner, json_suffix, true)) return true;
    }
    return append_found(out, text, {}, true);
}

std::string restore_slices(std::string attributes, std::string_view input, std::string_view output) {
    size_t at = attributes.find(slice_mark);
    if (at == std::string::npos) return attributes;
    const std::string_view stored = attributes;
    std::string full;
    size_t done = 0;
    for (; at != std::string::npos; at = stored.find(slice_mark, at + slice_mark.size())) {
        if (stored.substr(0, at).ends_with(escaped_map)) continue;
        const auto mark = read_mark(stored, at + slice_mark.size());
        if (!mark) continue;
        const std::string_view column = mark->column == 0 ? input : output;
        if (mark->from > column.size() || mark->length > column.size() - mark->from) continue;
        const std::string_view text = column.substr(mark->from, mark->length);
        full.append(stored, done, at - done);
        if (mark->is_json)
            full.append("\"").append(text).append("\"");
        else
            otlp::append_json_string(full, text);
        done = mark->end;
    }
    return full.append(stored, done);
}

namespace {

const std::string mark_sql = "'" + std::string(slice_mark) + "'";
// What read_mark reads, as groups: the column, _json or nothing, the offset, the length.
constexpr std::string_view mark_groups = R"('^(input|output)(_json)?",([0-9]+),([0-9]+)]}')";

// A text as JSON; a part of a JSON text has its escapes.
std::string quoted_sql(const std::string& is_json, const std::string& text) {
    return "if(" + is_json + R"(, concat('"', )" + text + R"(, '"'), toJSONString()" + text + "))";
}

} // namespace

// The engine copies what a lambda uses for every element it is called with, and a long conversation has hundreds of
// marks in a megabyte of input. So the marks are taken in groups, one after the other, and each group gets only the
// part of the input and of the output of its marks: mostly a short one, since messages follow each other.
std::string full_attributes_sql() {
    const std::string pieces = "splitByString(" + mark_sql + ", attributes)"; // all but the first begin in a mark
    const std::string read = "arrayMap((piece, before) -> (piece, extractGroups(if(endsWith(before, '" +
                             std::string(escaped_map) + "'), '', piece), " + std::string(mark_groups) +
                             ")), arrayPopFront(" + pieces + "), arrayPopBack(" + pieces + "))";
    const std::string marks = "arrayMap(part -> (part.1, part.2[1], part.2[2] != '', toUInt64OrZero(part.2[3]), "
                              "toUInt64OrZero(part.2[4])), " +
                              read + ")";
    const std::string groups =
        "arrayMap(at -> arraySlice(" + marks + ", at, 32), range(1, length(" + pieces + "), 32))";
    const auto text_of = [](const std::string& column) {
        const std::string own = "arrayFilter(mark -> mark.2 = '" + column + "', group)";
        const std::string from = "arrayMin(arrayMap(mark -> mark.4, " + own + "))";
        const std::string to = "arrayMax(arrayMap(mark -> mark.4 + mark.5, " + own + "))";
        return "substring(substring(" + column + ", " + from + " + 1, " + to + " - " + from + "), mark.4 - " + from +
               " + 1, mark.5)";
    };
    const std::string text = "if(mark.2 = 'input', " + text_of("input") + ", " + text_of("output") + ")";
    const std::string restored = "if(mark.2 = '', concat(" + mark_sql + ", mark.1), concat(" +
                                 quoted_sql("mark.3", text) + ", substring(mark.1, position(mark.1, ']}') + 2)))";
    return "if(position(attributes, " + mark_sql +
           ") = 0, attributes, arrayFold((done, group) -> concat(done, arrayStringConcat(arrayMap(mark -> " + restored +
           ", group))), " + groups + ", " + pieces + "[1]))";
}

std::string attribute_sql(const std::string& key) {
    const std::string stored = "JSONExtractRaw(attributes, " + key + ")";
    const std::string groups = "extractGroups(substring(" + stored + ", " + std::to_string(slice_mark.size() + 1) +
                               "), " + std::string(mark_groups) + ")";
    const std::string range = ", toUInt64OrZero(" + groups + "[3]) + 1, toUInt64OrZero(" + groups + "[4]))";
    const std::string text =
        "if(" + groups + "[1] = 'input', substring(input" + range + ", substring(output" + range + ")";
    return "if(startsWith(" + stored + ", " + mark_sql + ") AND notEmpty(" + groups + "), " +
           quoted_sql(groups + "[2] != ''", text) + ", " + stored + ")";
}

} // namespace hone::telemetry
