// Langfuse's exports: traces with observations (API, download), enriched observations and separate tables (blob
// storage). Spans get the attributes that Langfuse's own SDKs send, so that one convention reads both.
#include "base/text.h"
#include "telemetry/imports/foreign.h"
#include "telemetry/imports/imports.h"

#include <algorithm>
#include <set>

namespace hone::telemetry {

namespace {

using foreign::SpanBuilder;

constexpr size_t most_metadata = 200; // values of one object

// What a trace shares with its observations.
struct LangfuseTrace {
    std::string_view id, session, user, release, version, environment, name;
    const json::Value* tags = nullptr;
};

LangfuseTrace langfuse_trace(const json::Object& object, std::string_view id) {
    return {id,
            foreign::text(object, {"sessionId", "session_id"}),
            foreign::text(object, {"userId", "user_id"}),
            foreign::text(object, {"release"}),
            foreign::text(object, {"version"}),
            foreign::text(object, {"environment"}),
            foreign::text(object, {"traceName", "trace_name"}),
            foreign::find(object, {"tags", "traceTags", "trace_tags"})};
}

class LangfuseReader {
public:
    LangfuseReader() : m_batch(foreign::begin_batch("langfuse")) {}

    // A trace, an observation or a page of either.
    Result<> read(const json::Value& value, int depth = 0) {
        if (!value.is_object()) return invalid("not a trace or an observation of Langfuse");
        const json::Object& object = value.get_object();
        if (const json::Value* page = foreign::find(object, {"data", "traces"}); page && page->is_array()) {
            if (depth > 1) return invalid("not a trace or an observation of Langfuse");
            for (const json::Value& entry : page->get_array())
                if (auto read_entry = read(entry, depth + 1); !read_entry.ok())
                    m_batch.rejected.push_back({read_entry.error().message, 0});
            return {};
        }
        const json::Value* trace = foreign::find(object, {"trace"}); // a download has it beside the observations
        const json::Object& head = trace && trace->is_object() ? trace->get_object() : object;
        const json::Value* observations = foreign::find(object, {"observations"});
        if (observations == nullptr) observations = foreign::find(head, {"observations"});
        const bool is_observation =
            !foreign::text(object, {"type"}).empty() && !foreign::text(object, {"traceId", "trace_id"}).empty();
        if (is_observation)
            return add_observation(object, langfuse_trace(object, foreign::text(object, {"traceId", "trace_id"})), {},
                                   nullptr);
        return add_trace(head, observations && observations->is_array() ? &observations->get_array() : nullptr);
    }

    ImportElement finish() { return element_of(m_batch); }

private:
    static bool has_parent(const json::Object& observation) {
        return !foreign::text(observation, {"parentObservationId", "parent_observation_id"}).empty();
    }

    // A trace with exactly one root observation is that observation; otherwise it becomes a span of its own.
    Result<> add_trace(const json::Object& trace, const json::Array* observations) {
        const LangfuseTrace context = langfuse_trace(trace, foreign::text(trace, {"id"}));
        if (context.id.empty()) return invalid("the trace has no id");
        std::vector<const json::Object*> all;
        const json::Object* root = nullptr;
        size_t roots = 0;
        if (observations != nullptr)
            for (const json::Value& entry : *observations) {
                if (!entry.is_object()) continue;
                all.push_back(&entry.get_object());
                if (!has_parent(entry.get_object())) root = all.back(), ++roots;
            }
        const std::string own =
            roots == 1 ? std::string() : foreign::span_id("langfuse trace " + std::string(context.id));
        if (roots != 1) TRY(add_root(trace, context, own, all));
        for (const json::Object* observation : all) {
            auto added =
                add_observation(*observation, context, own, roots == 1 && observation == root ? &trace : nullptr);
            if (!added.ok()) m_batch.rejected.push_back({added.error().message, 0});
        }
        return {};
    }

    Result<> add_root(const json::Object& trace, const LangfuseTrace& context, const std::string& own,
                      const std::vector<const json::Object*>& observations) {
        SpanBuilder builder(m_batch);
        builder.ids(foreign::trace_id(context.id), own);
        builder.span.start_ns = foreign::time_ns(foreign::find(trace, {"timestamp", "createdAt", "created_at"}));
        if (builder.span.start_ns == 0) return invalid("the trace has no timestamp");
        const double seconds = foreign::real(foreign::find(trace, {"latency"}));
        if (seconds > 0 && seconds < 1e7)
            builder.span.end_ns = builder.span.start_ns + static_cast<uint64_t>(seconds * 1e9);
        for (const json::Object* observation : observations)
            builder.span.end_ns =
                std::max(builder.span.end_ns, foreign::time_ns(foreign::find(*observation, {"endTime", "end_time"})));
        const std::string_view name = foreign::text(trace, {"name"});
        builder.span.name = builder.keep(name.empty() ? "trace" : name);
        builder.put("langfuse.observation.type", "span");
        put_trace(builder, context);
        put_trace_content(builder, trace);
        builder.finish();
        return {};
    }

    // `trace`: the observation is the root of it and shows its texts where it has none.
    Result<> add_observation(const json::Object& observation, const LangfuseTrace& context, const std::string& root,
                             const json::Object* trace) {
        const std::string_view id = foreign::text(observation, {"id"});
        if (id.empty()) return invalid("an observation has no id");
        SpanBuilder builder(m_batch);
        const std::string_view parent = foreign::text(observation, {"parentObservationId", "parent_observation_id"});
        builder.ids(foreign::trace_id(context.id), foreign::span_id(id),
                    parent.empty() ? root : foreign::span_id(parent));
        builder.span.start_ns = foreign::time_ns(foreign::find(observation, {"startTime", "start_time"}));
        if (builder.span.start_ns == 0) return invalid("an observation has no startTime");
        builder.span.end_ns = foreign::time_ns(foreign::find(observation, {"endTime", "end_time"}));
        const std::string type = lowercase_ascii(foreign::text(observation, {"type"}));
        const std::string_view name = foreign::text(observation, {"name"});
        builder.span.name = builder.keep(name.empty() ? std::string_view(type) : name);
        builder.put("langfuse.observation.type", type);
        put_trace(builder, context);
        const json::Value* input = foreign::find(observation, {"input"});
        const json::Value* output = foreign::find(observation, {"output"});
        builder.put_content("langfuse.observation.input", input);
        builder.put_content("langfuse.observation.output", output);
        if (trace != nullptr) put_trace_content(builder, *trace, input == nullptr, output == nullptr);
        put_metadata(builder, "langfuse.observation.metadata.", foreign::find(observation, {"metadata"}));
        put_model(builder, observation);
        put_end(builder, observation);
        builder.finish();
        return {};
    }

    static void put_trace(SpanBuilder& builder, const LangfuseTrace& trace) {
        builder.put("langfuse.session.id", trace.session);
        builder.put("langfuse.user.id", trace.user);
        builder.put("langfuse.release", trace.release);
        builder.put("langfuse.version", trace.version);
        builder.put("langfuse.environment", trace.environment);
        builder.put("langfuse.trace.name", trace.name);
        builder.put_texts("langfuse.trace.tags", trace.tags);
    }

    static void put_trace_content(SpanBuilder& builder, const json::Object& trace, bool input = true,
                                  bool output = true) {
        if (input) builder.put_content("langfuse.observation.input", foreign::find(trace, {"input"}));
        if (output) builder.put_content("langfuse.observation.output", foreign::find(trace, {"output"}));
        put_metadata(builder, "langfuse.trace.metadata.", foreign::find(trace, {"metadata"}));
    }

    static void put_metadata(SpanBuilder& builder, const std::string& prefix, const json::Value* metadata) {
        if (metadata == nullptr) return;
        if (metadata->is_string()) { // blob storage may have JSON inside JSON
            auto inner = json::parse(foreign::text(metadata));
            if (inner.ok() && inner.value().is_object()) return put_metadata(builder, prefix, &inner.value());
            return builder.put(prefix + "value", foreign::text(metadata));
        }
        if (!metadata->is_object()) return builder.put_content(prefix + "value", metadata);
        size_t count = 0;
        for (const auto& entry : metadata->get_object())
            if (count++ < most_metadata) builder.put_content(prefix + std::string(entry.key()), &entry.value());
    }

    static void put_model(SpanBuilder& builder, const json::Object& observation) {
        builder.put("langfuse.observation.model.name",
                    foreign::text(observation, {"providedModelName", "provided_model_name", "model"}));
        builder.put_content("langfuse.observation.model.parameters",
                            foreign::find(observation, {"modelParameters", "model_parameters"}));
        const json::Value* usage = foreign::find(observation, {"usageDetails", "usage_details"});
        if (usage == nullptr || (usage->is_object() && usage->get_object().empty()))
            usage = foreign::find(observation, {"usage"});
        if (usage != nullptr) {
            builder.put_content("langfuse.observation.usage_details", usage);
        } else {
            json::Object counts;
            for (const auto& [name, key] : {std::pair{"promptTokens", "input"}, std::pair{"completionTokens", "output"},
                                            std::pair{"totalTokens", "total"}})
                if (const int64_t count = foreign::whole(foreign::find(observation, {name})); count > 0)
                    counts[key] = count;
            const json::Value made(std::move(counts));
            builder.put_content("langfuse.observation.usage_details", &made);
        }
        const json::Value* costs = foreign::find(observation, {"costDetails", "cost_details"});
        if (costs != nullptr && costs->is_object() && !costs->get_object().empty())
            return builder.put_content("langfuse.observation.cost_details", costs);
        const double total =
            foreign::real(foreign::find(observation, {"calculatedTotalCost", "totalCost", "total_cost"}));
        if (total > 0) {
            const json::Value made(json::Object{{"total", total}});
            builder.put_content("langfuse.observation.cost_details", &made);
        }
    }

    static void put_end(SpanBuilder& builder, const json::Object& observation) {
        if (const uint64_t first =
                foreign::time_ns(foreign::find(observation, {"completionStartTime", "completion_start_time"}));
            first > 0 && first < INT64_MAX)
            builder.put("langfuse.observation.completion_start_time", to_text(from_ns(static_cast<int64_t>(first))));
        const std::string_view level = foreign::text(observation, {"level"});
        const std::string_view message = foreign::text(observation, {"statusMessage", "status_message"});
        builder.put("langfuse.observation.level", level);
        builder.put("langfuse.observation.status_message", message);
        if (level == "ERROR") {
            builder.span.status = otlp::StatusCode::error;
            builder.span.status_message = builder.keep(message);
        }
    }

    otlp::Batch m_batch;
};

} // namespace

Result<ImportElement> read_langfuse(std::string_view text) {
    const json::Value tree = TRY(json::parse(text));
    LangfuseReader reader;
    TRY(reader.read(tree));
    return reader.finish();
}

} // namespace hone::telemetry
