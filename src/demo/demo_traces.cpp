#include "demo/demo_traces.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hone::demo {

namespace {

constexpr int64_t second = 1'000'000'000;
constexpr int64_t hour = 3600 * second;
constexpr int64_t span_of_time = 72 * hour;
constexpr double release_at = 0.55; // share of the time after which version 1.9.0 runs

struct Topic {
    std::string_view name;
    std::string_view question;
    std::string_view answer;
};
constexpr Topic topics[] = {
    {"delivery", "Where is my order {}? It should have been here on Monday.",
     "Your order {} left our warehouse and arrives tomorrow before noon."},
    {"refund", "I sent order {} back two weeks ago and still have no refund.",
     "The refund for order {} was issued today; it takes three to five days."},
    {"warranty", "My kettle from order {} leaks after four months. Is that covered by the warranty?",
     "I am sorry to hear that. I could not find our warranty terms, so a colleague will get back to you about {}."},
    {"address", "Please send order {} to my new address instead.", "I changed the delivery address of order {}."},
    {"invoice", "I need an invoice with VAT for order {}.", "The invoice for order {} is attached to this message."},
    {"return", "How do I return something from order {}?",
     "You can return items of order {} within 30 days; here is the label."},
    {"stock", "Is the blue lamp from order {} available again?",
     "The lamp is back in stock; shall I add it to order {}?"},
};

// A small generator of our own, so that every machine makes the same traces.
class Dice {
public:
    explicit Dice(uint64_t seed) : m_state(seed * 0x9E3779B97F4A7C15ULL + 0x1234567) {}
    uint64_t next() {
        m_state += 0x9E3779B97F4A7C15ULL;
        return mixed(m_state);
    }
    static uint64_t mixed(uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    double share() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }
    bool happens(double chance) { return share() < chance; }
    size_t below(size_t count) { return static_cast<size_t>(next() % count); }
    // Spread like real durations: a long tail to the right.
    int64_t around(double milliseconds) {
        const double normal = share() + share() + share() + share() - 2.0;
        return static_cast<int64_t>(milliseconds * 1e6 * std::exp(normal * 0.45));
    }

private:
    uint64_t m_state;
};

// One trace being written.
class Writer {
public:
    Writer(otlp::Batch& batch, Dice& dice, uint64_t number, int64_t start_ns)
        : m_batch(batch),
          m_dice(dice),
          m_salt(Dice::mixed(number)),
          m_trace_id(batch.keep(random_id(16))),
          m_now(start_ns) {}

    // Adds a span that starts now and lasts so long; returns its index.
    size_t add(std::string_view name, std::string_view kind, int64_t duration_ns, size_t parent = npos) {
        otlp::Span span;
        span.trace_id = m_trace_id;
        span.span_id = m_batch.keep(random_id(8));
        if (parent != npos) span.parent_span_id = m_batch.spans[parent].span_id;
        span.name = name;
        span.kind = 1;
        span.start_ns = static_cast<uint64_t>(m_now);
        span.end_ns = static_cast<uint64_t>(m_now + duration_ns);
        span.status = otlp::StatusCode::ok;
        m_batch.spans.push_back(std::move(span));
        text(m_batch.spans.size() - 1, "openinference.span.kind", kind);
        return m_batch.spans.size() - 1;
    }
    void text(size_t span, std::string_view key, std::string_view value) {
        m_batch.spans[span].attributes.push_back({m_batch.keep(std::string(key)), {m_batch.keep(std::string(value))}});
    }
    void number(size_t span, std::string_view key, int64_t value) {
        m_batch.spans[span].attributes.push_back({key, {value}});
    }
    void fail(size_t span, std::string_view type, const std::string& message) {
        otlp::Span& failed = m_batch.spans[span];
        failed.status = otlp::StatusCode::error;
        failed.status_message = m_batch.keep(message);
        otlp::Event event;
        event.time_ns = failed.end_ns;
        event.name = "exception";
        event.attributes.push_back({"exception.type", {type}});
        event.attributes.push_back({"exception.message", {failed.status_message}});
        failed.events.push_back(std::move(event));
    }
    void pass(int64_t duration_ns) { m_now += duration_ns; }
    int64_t now() const { return m_now; }
    void end(size_t span) { m_batch.spans[span].end_ns = static_cast<uint64_t>(m_now); }

    static constexpr size_t npos = static_cast<size_t>(-1);

private:
    // Dice of neighbouring traces throw parts of one sequence; the salt keeps their ids apart.
    std::string random_id(size_t bytes) {
        std::string id;
        while (id.size() < bytes) {
            const uint64_t more = Dice::mixed(m_dice.next() ^ m_salt);
            for (int shift = 0; shift < 64 && id.size() < bytes; shift += 8)
                id += static_cast<char>(more >> shift & 0xFF);
        }
        return id;
    }

    otlp::Batch& m_batch;
    Dice& m_dice;
    uint64_t m_salt;
    std::string_view m_trace_id;
    int64_t m_now;
};

void add_resource(otlp::Batch& batch, std::string_view version) {
    otlp::Resource resource;
    resource.attributes.push_back({"service.name", {project_name}});
    resource.attributes.push_back({"service.version", {version}});
    resource.attributes.push_back({"openinference.project.name", {project_name}});
    resource.attributes.push_back({"deployment.environment", {std::string_view("production")}});
    batch.resources.push_back(std::move(resource));
}

// A call of a model; advances the time by its duration.
size_t model_call(Writer& writer, Dice& dice, size_t parent, std::string_view name, std::string_view model,
                  const std::string& question, const std::string& answer, int64_t input_tokens, bool cut) {
    const int64_t output_tokens = cut ? 512 : static_cast<int64_t>(answer.size() / 4 + dice.below(40));
    const int64_t took = dice.around(350 + static_cast<double>(output_tokens) * 9);
    const size_t span = writer.add(name, "LLM", took, parent);
    writer.text(span, "llm.model_name", model);
    writer.text(span, "llm.provider", "openai");
    writer.text(span, "llm.input_messages.0.message.role", "system");
    writer.text(span, "llm.input_messages.0.message.content",
                "You are the support agent of a shop. Be short and correct.");
    writer.text(span, "llm.input_messages.1.message.role", "user");
    writer.text(span, "llm.input_messages.1.message.content", question);
    writer.text(span, "llm.output_messages.0.message.role", "assistant");
    writer.text(span, "llm.output_messages.0.message.content", answer);
    writer.text(span, "llm.finish_reason", cut ? "length" : "stop");
    writer.text(span, "input.value", question);
    writer.text(span, "output.value", answer);
    writer.number(span, "llm.token_count.prompt", input_tokens);
    writer.number(span, "llm.token_count.completion", output_tokens);
    writer.number(span, "llm.token_count.total", input_tokens + output_tokens);
    writer.pass(took);
    return span;
}

size_t tool_call(Writer& writer, size_t parent, std::string_view name, int64_t took, const std::string& input,
                 const std::string& output) {
    const size_t span = writer.add(name, "TOOL", took, parent);
    writer.text(span, "tool.name", name);
    writer.text(span, "input.value", input);
    writer.text(span, "input.mime_type", "application/json");
    if (!output.empty()) writer.text(span, "output.value", output);
    writer.pass(took);
    return span;
}

void search_articles(Writer& writer, Dice& dice, size_t parent, const Topic& topic, const std::string& question) {
    const int64_t took = dice.around(80);
    const size_t span = writer.add("search_articles", "RETRIEVER", took, parent);
    writer.text(span, "input.value", question);
    // Fault: there is no article about warranties.
    const int64_t found = topic.name == "warranty" ? 0 : 2 + static_cast<int64_t>(dice.below(3));
    for (int64_t i = 0; i < found; ++i) {
        const std::string prefix = fmt::format("retrieval.documents.{}.document.", i);
        writer.text(span, prefix + "id", fmt::format("kb-{}-{}", topic.name, i));
        writer.text(span, prefix + "content", fmt::format("Help article {} about {}.", i + 1, topic.name));
    }
    writer.pass(took);
}

struct Moment {
    double share = 0; // 0 oldest, 1 now
    bool released = false;
};

void write_trace(otlp::Batch& batch, size_t number, const Moment& moment, int64_t start_ns) {
    Dice dice(number + 1);
    const Topic& topic = topics[dice.below(std::size(topics))];
    const std::string order = fmt::format("ORD-{}", 40000 + dice.below(9000));
    const std::string question = fmt::format(fmt::runtime(topic.question), order);
    const std::string answer = fmt::format(fmt::runtime(topic.answer), order);
    const bool small = dice.happens(0.6);
    const std::string_view model = small ? "gpt-4o-mini" : "gpt-4o";
    const size_t from = batch.spans.size();
    Writer writer(batch, dice, number, start_ns);
    const size_t root = writer.add("handle_ticket", "AGENT", 0);
    writer.text(root, "session.id", fmt::format("chat-{}", number / 3));
    writer.text(root, "user.id", fmt::format("customer-{}", dice.below(600)));
    writer.text(root, "metadata.topic", topic.name);
    writer.text(root, "input.value", question);
    writer.pass(dice.around(4));
    const std::string intent = fmt::format("{{\"intent\": \"{}\", \"order\": \"{}\"}}", topic.name, order);
    const bool unparsable = dice.happens(0.02);
    model_call(writer, dice, root, "classify", "gpt-4o-mini", question,
               unparsable ? "Sure! The intent is " + std::string(topic.name) + "." : intent, 220, false);
    const size_t parse = writer.add("parse_intent", "CHAIN", dice.around(2), root);
    // Fault: a response in words instead of JSON.
    if (unparsable) writer.fail(parse, "JSONDecodeError", "Expecting value: line 1 column 1 (char 0)");
    search_articles(writer, dice, root, topic, question);
    // Fault: slower since the release.
    const int64_t ranking = dice.around(moment.released ? 1450 : 460);
    const size_t rank = writer.add("rank_articles", "RERANKER", ranking, root);
    writer.text(rank, "input.value", question);
    writer.pass(ranking);
    bool failed = false;
    if (topic.name == "stock" && dice.happens(0.25)) {
        // Fault: the tool's result does not show that a repeated call has no effect.
        const size_t times = 6 + dice.below(4);
        for (size_t i = 0; i < times; ++i)
            tool_call(writer, root, "check_stock", dice.around(60), "{\"item\": \"blue lamp\"}",
                      "{\"status\": \"unknown\"}");
    } else {
        // Fault: the order service times out, most of all lately.
        const bool late = moment.share > 1.0 - 12.0 / 72.0;
        failed = dice.happens(late ? 0.17 : 0.025);
        const size_t lookup =
            tool_call(writer, root, "lookup_order", failed ? 5000 * (second / 1000) : dice.around(120),
                      fmt::format("{{\"order\": \"{}\"}}", order), failed ? "" : "{\"state\": \"sent\"}");
        if (failed)
            writer.fail(lookup, "OrderServiceTimeout",
                        fmt::format("order service did not answer for {} within 5000 ms", order));
    }
    const bool cut = small && dice.happens(0.05);
    // The new version sends the whole conversation with every call.
    const int64_t prompt_tokens = (moment.released ? 2600 : 1100) + static_cast<int64_t>(dice.below(400));
    const std::string said = failed ? "I cannot see your order right now. Please try again later."
                             : cut  ? answer + " Here is everything about how we handle such cases in detail, step by"
                                    : answer;
    model_call(writer, dice, root, "answer", model, question, said, prompt_tokens, cut);
    if (topic.name == "refund" && !failed && dice.happens(0.5))
        tool_call(writer, root, "issue_refund", dice.around(200), fmt::format("{{\"order\": \"{}\"}}", order),
                  "{\"ok\": true}");
    writer.text(root, "output.value", said);
    writer.end(root);
    if (failed) writer.fail(root, "TicketFailed", "the order could not be looked up");
    const uint32_t resource = moment.released ? 1 : 0;
    for (size_t i = from; i < batch.spans.size(); ++i) batch.spans[i].resource = resource;
}

} // namespace

otlp::Batch make_traces(Time now, size_t first, size_t last) {
    otlp::Batch batch;
    add_resource(batch, "1.8.2");
    add_resource(batch, "1.9.0");
    batch.scopes.push_back({.name = "support-agent", .version = "1", .attributes = {}, .schema_url = {}});
    for (size_t number = first; number < std::min(last, trace_count); ++number) {
        Moment moment;
        moment.share = (static_cast<double>(number) + 0.5) / static_cast<double>(trace_count);
        moment.released = moment.share > release_at;
        // A minute is left, so that no span ends in the future.
        const int64_t start = to_ns(now) - 60 * second - span_of_time +
                              static_cast<int64_t>(moment.share * static_cast<double>(span_of_time - 60 * second));
        write_trace(batch, number, moment, start);
    }
    return batch;
}

} // namespace hone::demo
