// Spans as they arrive, one line each, until the user has seen enough.
#include "base/text.h"
#include "cli/remote/event_stream.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include <algorithm>
#include <deque>
#include <set>

namespace hone::cli {

namespace {

constexpr size_t remembered = 5000; // spans that a resumed stream may repeat

class TailFollower {
public:
    TailFollower(const Context& context, Call call) : m_context(context), m_call(std::move(call)) {}

    // Until the reader leaves, --limit spans were shown, or the server refuses.
    Result<> run(std::optional<int64_t> limit) {
        m_left = limit;
        return follow_events(m_context, m_call, "", [&](const auto& event) { return take(event); });
    }

private:
    Result<Next> take(const net::ServerEvent& event) {
        const json::Value data = TRY(json::parse(event.data));
        if (event.event == "spans" && data.is_array())
            for (const auto& span : data.get_array())
                if (show(span) == Next::enough) return Next::enough;
        if (event.event == "dropped")
            m_context.console.note(m_context.console.paint_note(
                Style::yellow, "… " + std::to_string(number_of(data, "count")) +
                                   " more spans were skipped: too many arrive; use a narrower --filter\n"));
        return Next::go_on;
    }

    Next show(const json::Value& span) {
        const std::string identity = text_of(span, "trace_id") + text_of(span, "span_id");
        if (!m_seen.insert(identity).second) return Next::go_on;
        m_order.push_back(identity);
        if (m_order.size() > remembered) {
            m_seen.erase(m_order.front());
            m_order.pop_front();
        }
        if (m_context.json())
            m_context.console.print(safe_json(json::print(span)) + "\n");
        else
            print_line(span);
        const bool is_last = m_left && --*m_left == 0;
        return is_last || m_context.console.is_output_gone() ? Next::enough : Next::go_on;
    }

    void print_line(const json::Value& span) {
        const auto& console = m_context.console;
        const bool failed = text_of(span, "status") == "error";
        const std::string time = text_of(span, "start_time");
        const auto start = parse_time(time);
        std::string line = (start.ok() ? to_text(start.value()).substr(11, 12) : safe_line(time)) + "  ";
        line += console.paint(Style::dim, safe_line(text_of(span, "trace_id"))) + "  ";
        std::string kind = safe_line(text_of(span, "kind"));
        kind.resize(std::max<size_t>(9, kind.size()), ' ');
        std::string duration = duration_text(number_of(span, "duration_ns"));
        duration.insert(0, display_width(duration) < 9 ? 9 - display_width(duration) : 0, ' ');
        line += kind + "  " + duration + "  " + safe_line(text_of(span, "name"));
        if (const auto model = text_of(span, "model"); !model.empty()) line += "  " + safe_line(model);
        if (const auto tokens = number_of(span, "tokens.total")) line += "  " + count_text(tokens) + " tokens";
        if (const auto cost = number_of(span, "cost_micro_usd")) line += "  " + money_text(cost);
        if (failed) line += "  " + console.paint(Style::red, "error " + safe_line(text_of(span, "status_message")));
        m_context.console.print(line + "\n");
    }

    const Context& m_context;
    const Call m_call;
    std::set<std::string> m_seen;
    std::deque<std::string> m_order;
    std::optional<int64_t> m_left;
};

Result<> tail(Context& context) {
    std::string path = TRY(span_path(context, {"tail"}));
    Call call{.path = std::move(path), .query = space_query(context)};
    call.query.emplace_back("filter", context.value_or_empty("--filter"));
    call.query.emplace_back("since", TRY(moment(context, "--since")));
    return TailFollower(context, std::move(call)).run(TRY(context.integer("--limit", 1)));
}

} // namespace

std::vector<Command> tail_commands() {
    std::vector<Option> options = span_options();
    std::erase_if(options, [](const Option& option) { return option.name == "--after" || option.name == "--before"; });
    options.push_back(
        {.name = "--since", .value = "TIME", .doc = "Start with spans received since this time: --since 10m."});
    options.push_back({.name = "--limit", .value = "NUMBER", .doc = "Stop after this many spans."});
    return {{.path = "tail",
             .summary = "Follow the spans of a project as they arrive.",
             .options = std::move(options),
             .details =
                 "hone tail -p shop -q 'status = error'\nWith --json each span is one line of JSON. After a lost "
                 "connection the stream resumes where it stopped.",
             .topic = trace_topic,
             .run = tail}};
}

} // namespace hone::cli
