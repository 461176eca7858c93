// Spans as they arrive, one line each, until the user has seen enough.
#include "base/text.h"
#include "cli/amount.h"
#include "cli/display.h"
#include "cli/scope.h"
#include "cli/view.h"
#include "net/sse.h"

#include <algorithm>
#include <deque>
#include <poll.h>
#include <set>

namespace hone::cli {

namespace {

constexpr Duration silence = std::chrono::seconds(60); // the server says something every 15 s
constexpr Duration longest_pause = std::chrono::seconds(10);
constexpr size_t remembered = 5000; // spans that a resumed stream may repeat

class Follower {
public:
    Follower(const Context& context, Call call) : m_context(context), m_call(std::move(call)) {}

    // Until the reader leaves, --limit spans were shown, or the server refuses.
    Result<> run(std::optional<int64_t> limit) {
        m_left = limit;
        Duration pause = std::chrono::milliseconds(500);
        for (;;) {
            const bool had_events = m_events > 0;
            auto outcome = follow();
            if (m_done || m_context.console.is_output_gone()) return {};
            if (m_context.console.output_error()) return *m_context.console.output_error();
            const bool may_come_back =
                outcome.ok() || outcome.error().code == Code::unavailable || outcome.error().code == Code::busy;
            if (!may_come_back) return outcome;
            // The first connection must work: a wrong address shall not be tried for ever.
            if (!outcome.ok() && !m_was_connected) return outcome;
            if (!outcome.ok()) m_context.console.note("Connection lost; trying again.\n");
            pause = had_events || outcome.ok() ? std::chrono::milliseconds(500) : std::min(longest_pause, pause * 2);
            m_events = 0;
            ::poll(nullptr, 0, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(pause).count()));
        }
    }

private:
    Result<> follow() {
        net::EventParser parser;
        Call call = m_call;
        call.headers.push_back({"Accept", "text/event-stream"});
        if (!m_last_id.empty()) call.headers.push_back({"Last-Event-ID", m_last_id});
        return m_context.remote.stream(
            call, "text/event-stream",
            [&](std::string_view piece) -> Result<> {
                m_was_connected = true;
                return parser.feed(piece, [&](net::ServerEvent&& event) { return take(event); });
            },
            silence);
    }

    Result<> take(const net::ServerEvent& event) {
        ++m_events;
        if (!event.id.empty()) m_last_id = event.id;
        const json::Value data = TRY(json::parse(event.data));
        if (event.event == "spans" && data.is_array())
            for (const auto& span : data.get_array()) TRY(show(span));
        if (event.event == "dropped")
            m_context.console.note(m_context.console.paint_note(
                Style::yellow, "… " + std::to_string(number_of(data, "count")) +
                                   " more spans came than fit; narrow it with --filter\n"));
        return {};
    }

    Result<> show(const json::Value& span) {
        const std::string identity = text_of(span, "trace_id") + text_of(span, "span_id");
        if (!m_seen.insert(identity).second) return {};
        m_order.push_back(identity);
        if (m_order.size() > remembered) {
            m_seen.erase(m_order.front());
            m_order.pop_front();
        }
        if (m_context.json())
            m_context.console.print(safe_json(json::print(span)) + "\n");
        else
            print_line(span);
        if (m_context.console.is_output_gone()) return conflict("nobody reads the output");
        if (m_left && --*m_left == 0) {
            m_done = true;
            return conflict("enough");
        }
        return {};
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
    std::string m_last_id;
    std::set<std::string> m_seen;
    std::deque<std::string> m_order;
    std::optional<int64_t> m_left;
    size_t m_events = 0;
    bool m_was_connected = false;
    bool m_done = false;
};

Result<> tail(Context& context) {
    std::string path = TRY(span_path(context, {"tail"}));
    Call call{.path = std::move(path), .query = space_query(context)};
    call.query.emplace_back("filter", context.value_or_empty("--filter"));
    call.query.emplace_back("since", TRY(moment(context, "--since")));
    return Follower(context, std::move(call)).run(TRY(context.integer("--limit", 1)));
}

} // namespace

std::vector<Command> tail_commands() {
    std::vector<Option> options = span_options();
    std::erase_if(options, [](const Option& option) { return option.name == "--after" || option.name == "--before"; });
    options.push_back({.name = "--since", .value = "TIME", .doc = "First what was received since then: --since 10m."});
    options.push_back({.name = "--limit", .value = "NUMBER", .doc = "End after this many."});
    return {{.path = "tail",
             .summary = "Follow the spans of a project as they arrive.",
             .options = std::move(options),
             .details = "hone tail -p shop -q 'status = error'\nWith --json each span is one line of JSON. A lost "
                        "connection is taken up again where it ended.",
             .topic = trace_topic,
             .run = tail}};
}

} // namespace hone::cli
