#include "cli/remote/view.h"

#include "base/text.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/terminal/table.h"

#include <algorithm>

namespace hone::cli {

namespace {

constexpr int64_t default_limit = 100;

const json::Value* field_of(const json::Value& object, std::string_view field) {
    const size_t dot = field.find('.');
    const json::Value* found = object.is_object() ? object.get_object().if_contains(field.substr(0, dot)) : nullptr;
    if (found == nullptr || found->is_null()) return nullptr;
    return dot == std::string_view::npos ? found : field_of(*found, field.substr(dot + 1));
}

bool is_amount(Kind kind) {
    return kind == Kind::number || kind == Kind::duration || kind == Kind::count || kind == Kind::money ||
           kind == Kind::bytes;
}

std::string show_amount(Kind kind, int64_t amount) {
    switch (kind) {
    case Kind::duration:
        return duration_text(amount);
    case Kind::count:
        return count_text(amount);
    case Kind::money:
        return money_text(amount);
    case Kind::bytes:
        return bytes_text(static_cast<uint64_t>(std::max<int64_t>(0, amount)));
    default:
        return std::to_string(amount);
    }
}

std::string show_time(const Context& context, const std::string& text) {
    const auto time = parse_time(text);
    if (!time.ok()) return text;
    if (context.console.is_output_terminal()) return relative_time(time.value(), context.clock.now());
    return to_text(time.value()).substr(0, 19) + "Z";
}

std::string join_list(const json::Value& value) {
    if (!value.is_array()) return json::print(value);
    std::string text;
    for (const auto& item : value.get_array())
        text += (text.empty() ? "" : ", ") + (item.is_string() ? std::string(item.get_string()) : json::print(item));
    return text;
}

std::string show_cell(const Context& context, const json::Value& object, const Column& column) {
    const json::Value* value = field_of(object, column.field);
    if (value == nullptr) return std::string(column.absent);
    std::string text;
    if (column.kind == Kind::list)
        text = join_list(*value);
    else if (value->is_bool())
        text = value->get_bool() ? "yes" : "no";
    else if (value->is_string())
        text = std::string(value->get_string());
    else if (is_amount(column.kind) && value->is_int64())
        text = show_amount(column.kind, value->get_int64());
    else if (value->is_double())
        text = decimal_text(value->get_double());
    else if (!value->is_object() || !value->get_object().empty())
        text = json::print(*value);
    if (column.kind == Kind::time) text = show_time(context, text);
    return text.empty() ? std::string(column.absent) : text;
}

std::string plural(int64_t count, std::string_view one, std::string_view many) {
    return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

void print_table(const Context& context, const json::Array& items, const Columns& columns) {
    std::vector<TableColumn> titles;
    Columns shown;
    for (const auto& column : columns) {
        if (column.only_single) continue;
        std::string title(column.title);
        for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        const bool whole = column.kind != Kind::text && column.kind != Kind::list;
        titles.push_back({std::move(title), whole, is_amount(column.kind)});
        shown.push_back(column);
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& item : items) {
        std::vector<std::string> row;
        for (const auto& column : shown) row.push_back(safe_line(show_cell(context, item, column)));
        rows.push_back(std::move(row));
    }
    const auto lines = layout_table(titles, rows, context.console.width());
    std::string text = context.console.paint(Style::bold, lines.front()) + "\n";
    for (size_t i = 1; i < lines.size(); ++i) text += lines[i] + "\n";
    context.console.print(text);
}

} // namespace

std::string relative_time(Time time, Time now) {
    const bool past = time <= now;
    const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(past ? now - time : time - now).count();
    constexpr int64_t minute = 60, hour = 3600, day = 86400;
    std::string amount;
    if (seconds < 10) return past ? "just now" : "in a moment";
    if (seconds < minute)
        amount = std::to_string(seconds) + " s";
    else if (seconds < hour)
        amount = std::to_string(seconds / minute) + " min";
    else if (seconds < 2 * day)
        amount = std::to_string(seconds / hour) + " h";
    else if (seconds < 31 * day)
        amount = plural(seconds / day, "day", "days");
    else
        return to_text(time).substr(0, 10);
    return past ? amount + " ago" : "in " + amount;
}

const json::Value* member(const json::Value& object, std::string_view name) {
    return object.is_object() ? object.get_object().if_contains(name) : nullptr;
}

std::string text_of(const json::Value& object, std::string_view field) {
    const json::Value* value = field_of(object, field);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

int64_t number_of(const json::Value& object, std::string_view field) {
    const json::Value* value = field_of(object, field);
    return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

void print_json(const Context& context, const json::Value& value) {
    context.console.print(safe_json(json::print_pretty(value)));
}

Result<> show_list(const Context& context, std::string path, Query query, const Columns& columns,
                   std::string_view empty) {
    if (context.parsed.has("--all") && context.parsed.has("--limit"))
        return context.usage("--all and --limit contradict each other");
    std::optional<size_t> limit = static_cast<size_t>(TRY(context.integer("--limit", 1)).value_or(default_limit));
    if (context.parsed.has("--all")) limit.reset();
    const bool paged = context.parsed.command->lists;
    const Items list = paged ? TRY(context.remote.list(std::move(path), std::move(query), limit))
                             : TRY(context.remote.list_whole(std::move(path), std::move(query)));
    if (context.json())
        print_json(context, list.items);
    else if (list.items.empty())
        context.console.print(std::string(empty) + "\n");
    else
        print_table(context, list.items, columns);
    if (list.more)
        context.console.note(context.console.paint_note(
            Style::dim, "Only the first " + std::to_string(list.items.size()) + " are shown; --all shows all.\n"));
    return {};
}

Result<> show_rows(const Context& context, const json::Value& rows, const Columns& columns, std::string_view empty) {
    if (context.json() || !rows.is_array()) {
        print_json(context, rows);
        return {};
    }
    if (rows.get_array().empty())
        context.console.print(std::string(empty) + "\n");
    else
        print_table(context, rows.get_array(), columns);
    return {};
}

Result<> show_record(const Context& context, const json::Value& object, const Columns& columns) {
    if (context.json()) {
        print_json(context, object);
        return {};
    }
    size_t widest = 0;
    for (const auto& column : columns) widest = std::max(widest, display_width(column.title));
    std::string text;
    for (const auto& column : columns) {
        const std::string title = std::string(column.title) + std::string(widest - display_width(column.title), ' ');
        std::string value = safe_block(show_cell(context, object, column));
        for (size_t at = value.find('\n'); at != std::string::npos; at = value.find('\n', at + 1))
            value.insert(at + 1, std::string(widest + 2, ' '));
        text += context.console.paint(Style::dim, title) + "  " + value + "\n";
    }
    context.console.print(text);
    return {};
}

Result<> show_done(const Context& context, const json::Value& data, const std::string& sentence) {
    if (context.json())
        print_json(context, data);
    else
        context.print(sentence);
    return {};
}

} // namespace hone::cli
