#include "api/span_handlers.h"
#include "telemetry/query/compare.h"

#include <cmath>

namespace hone::api {

namespace {

constexpr size_t snippet_before = 80;
constexpr size_t snippet_bytes = 240;
constexpr Duration usual_window = std::chrono::hours(24);

std::optional<double> number_of(double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

GroupChange change_of(const telemetry::Change& change) {
    GroupChange view;
    view.group = change.group;
    const auto metrics = telemetry::compared_metrics();
    for (size_t i = 0; i < metrics.size(); ++i) {
        const double baseline = change.baseline[i], current = change.current[i];
        view.metrics.push_back({std::string(name_of(metrics[i])), number_of(baseline), number_of(current),
                                number_of(current - baseline),
                                baseline == 0 ? std::nullopt : number_of(current / baseline)});
    }
    return view;
}

// What is left out of the four times follows from the others.
ComparisonView windows_of(const AskComparison& query, Time now) {
    ComparisonView view;
    view.before = query.before.value_or(now);
    view.after = query.after.value_or(view.before - usual_window);
    view.baseline_before = query.baseline_before.value_or(view.after);
    view.baseline_after = query.baseline_after.value_or(view.baseline_before - (view.before - view.after));
    return view;
}

// The text around the first place where one of the words stands; empty where none does.
std::string snippet_of(std::string_view text, std::string_view wanted) {
    const std::string low = lowercase_ascii(text);
    size_t place = low.npos;
    std::string word;
    const auto look = [&] {
        if (!word.empty()) place = std::min(place, low.find(word));
        word.clear();
    };
    for (const char letter : lowercase_ascii(wanted)) {
        const bool belongs = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
                             static_cast<unsigned char>(letter) >= 0x80;
        if (belongs)
            word += letter;
        else
            look();
    }
    look();
    if (place == low.npos) return {};
    size_t begin = place > snippet_before ? place - snippet_before : 0;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) --begin; // not inside a letter
    return std::string(truncate_utf8(text.substr(begin), snippet_bytes));
}

std::string filter_of(const AskSearch& query) {
    std::string quoted;
    for (const char letter : *query.text) {
        if (letter == '"' || letter == '\\') quoted += '\\';
        quoted += letter;
    }
    std::string filter = "text ~ \"" + quoted + "\"";
    if (query.filter && !trim(*query.filter).empty()) filter += " and (" + *query.filter + ")";
    return filter;
}

} // namespace

Result<One<ComparisonView>> get_comparison(const Call& call, const AskComparison& query) {
    ComparisonView view = windows_of(query, call.services.clock.now());
    telemetry::CompareWindows request;
    request.scope = TRY(scope_of(call, query));
    request.baseline = {to_ns(view.baseline_after), to_ns(view.baseline_before)};
    request.current = {to_ns(view.after), to_ns(view.before)};
    request.group_by = query.group_by.value_or("");
    if (query.groups && (*query.groups < 1 || *query.groups > 200))
        return invalid("query parameter groups must be between 1 and 200");
    if (query.groups) request.groups = static_cast<size_t>(*query.groups);
    const auto comparison = TRY(telemetry::compare(*TRY(store_of(call)), request));
    view.all = change_of(comparison.all);
    for (const auto& group : comparison.groups) view.groups.push_back(change_of(group));
    view.is_cut = comparison.is_cut;
    return One<ComparisonView>{std::move(view)};
}

Result<List<SearchHit>> search_spans(const Call& call, const AskSearch& query) {
    telemetry::ListSpans request;
    request.scope = TRY(scope_of(call, query));
    const auto page = TRY(page_of(query.limit, query.cursor));
    if (!query.text || trim(*query.text).empty()) return invalid("query parameter text must not be empty");
    request.scope.filter = filter_of(query);
    request.limit = static_cast<size_t>(page.limit);
    request.cursor = page.cursor.value_or("");
    const auto found = TRY(payload_page(call, std::move(request)));
    List<SearchHit> list;
    for (const auto& payload : found.spans) {
        SearchHit hit{view_of(payload.row), "output", snippet_of(payload.output, *query.text)};
        if (hit.snippet.empty()) hit = {std::move(hit.span), "input", snippet_of(payload.input, *query.text)};
        list.data.push_back(std::move(hit));
    }
    if (!found.next_cursor.empty()) list.next_cursor = found.next_cursor;
    return list;
}

} // namespace hone::api
