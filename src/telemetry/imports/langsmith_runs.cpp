#include "telemetry/imports/langsmith_runs.h"

#include "base/text.h"
#include "crypto/crypto.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace hone::telemetry {

namespace {

constexpr size_t most_parts = 200'000;
constexpr size_t most_runs = 50'000;
// Fields of a run that are parts of their own in a form.
constexpr std::string_view part_fields[] = {"inputs", "outputs", "events", "extra", "error", "serialized"};

// --- form ----------------------------------------------------------------------------------------------------------

// The value of a parameter of a header: boundary in `multipart/form-data; boundary=x`, name in
// `form-data; name="post.1"`.
std::string_view parameter_of(std::string_view header, std::string_view name) {
    for (std::string_view piece : split(header, ';')) {
        piece = trim(piece);
        const size_t equals = piece.find('=');
        if (equals == std::string_view::npos || !equals_ignoring_case(trim(piece.substr(0, equals)), name)) continue;
        std::string_view value = trim(piece.substr(equals + 1));
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
        return value;
    }
    return {};
}

struct FormPart {
    std::string_view name;
    std::string_view content;
};

// The next part of a form; false at the end.
bool next_part(std::string_view& rest, std::string_view delimiter, FormPart& part) {
    part = {};
    const size_t headers_end = rest.find("\r\n\r\n");
    if (headers_end == std::string_view::npos) return false;
    for (const std::string_view line : split(rest.substr(0, headers_end), '\n')) {
        const size_t colon = line.find(':');
        if (colon != std::string_view::npos && equals_ignoring_case(trim(line.substr(0, colon)), "Content-Disposition"))
            part.name = parameter_of(line.substr(colon + 1), "name");
    }
    rest.remove_prefix(headers_end + 4);
    const size_t end = rest.find(delimiter);
    if (end == std::string_view::npos) return false;
    part.content = rest.substr(0, end);
    rest.remove_prefix(end + delimiter.size());
    return true;
}

json::Value value_or_text(std::string_view content) {
    auto value = json::parse(content);
    if (value.ok()) return std::move(value).value();
    return json::Value(repair_utf8(content));
}

// "post.ID" and "post.ID.inputs".
void add_form_part(const FormPart& part, std::map<std::string, RunOperation, std::less<>>& runs,
                   RunOperations& operations) {
    const size_t first = part.name.find('.');
    const std::string_view kind = part.name.substr(0, first);
    std::string_view id = first == std::string_view::npos ? std::string_view() : part.name.substr(first + 1);
    if (kind == "attachment") operations.attachments++;
    if (kind == "feedback")
        if (auto value = json::parse(part.content); value.ok() && value.value().is_object())
            operations.feedback.push_back(std::move(value).value().get_object());
    if ((kind != "post" && kind != "patch") || id.empty()) return;
    const size_t second = id.find('.');
    const std::string_view field = second == std::string_view::npos ? std::string_view() : id.substr(second + 1);
    id = id.substr(0, second);
    RunOperation& operation = runs[std::string(kind) + "." + std::string(id)];
    operation.is_patch = kind == "patch";
    if (!operation.run.contains("id")) operation.run["id"] = id;
    if (!field.empty()) {
        if (std::find(std::begin(part_fields), std::end(part_fields), field) != std::end(part_fields))
            operation.run[field] = value_or_text(part.content);
        return;
    }
    if (auto run = json::parse(part.content); run.ok() && run.value().is_object())
        for (auto& entry : run.value().get_object()) operation.run[entry.key()] = entry.value();
}

// --- spans ---------------------------------------------------------------------------------------------------------

const json::Value* in(const json::Value* value, std::string_view name) {
    return value && value->is_object() ? value->get_object().if_contains(name) : nullptr;
}
const json::Value* in(const json::Object& object, std::string_view name) {
    return object.if_contains(name);
}
const json::Value* first_of(const json::Value* list) {
    return list && list->is_array() && !list->get_array().empty() ? &list->get_array().front() : nullptr;
}
std::string_view run_text(const json::Value* value) {
    return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}
std::string_view first_text(std::initializer_list<const json::Value*> values) {
    for (const json::Value* value : values)
        if (const auto text = run_text(value); !text.empty()) return text;
    return {};
}
int64_t run_count(const json::Value* value) {
    if (value == nullptr) return 0;
    if (value->is_int64()) return std::max<int64_t>(value->get_int64(), 0);
    if (value->is_double() && value->get_double() > 0 && value->get_double() < 1e15)
        return static_cast<int64_t>(value->get_double());
    return 0;
}

// "01a1e3de-85bb-7000-8000-02025a391419" -> 16 bytes; empty when it is no UUID.
std::string bytes_of_uuid(std::string_view text) {
    std::string digits;
    for (const char c : text.substr(0, 64))
        if (c != '-') digits += c;
    auto bytes = from_hex(digits);
    return bytes.ok() && bytes.value().size() == 16 ? std::move(bytes).value() : std::string();
}

// All 16 bytes count: those of some clients differ in the middle only.
std::string span_id_bytes(std::string_view uuid) {
    const std::string bytes = bytes_of_uuid(uuid);
    return bytes.empty() ? std::string() : crypto::hash(bytes).substr(0, 8);
}

// A text (with or without an offset) or milliseconds; 0 when absent.
uint64_t run_time(const json::Value* value) {
    if (value == nullptr) return 0;
    double ms = 0;
    if (value->is_int64()) ms = static_cast<double>(value->get_int64());
    if (value->is_double()) ms = value->get_double();
    if (ms > 0 && ms < 9e12) return static_cast<uint64_t>(std::llround(ms * 1000)) * 1000;
    const std::string text(run_text(value));
    auto time = parse_time(text);
    if (!time.ok()) time = parse_time(text + "Z");
    return time.ok() && to_ns(time.value()) > 0 ? static_cast<uint64_t>(to_ns(time.value())) : 0;
}

// "20261116T101933691001ZUUID" per level, joined by dots.
struct DottedOrder {
    std::string root, parent;
    explicit DottedOrder(std::string_view text) {
        const auto levels = split(text, '.');
        const auto id_of = [](std::string_view level) {
            const size_t mark = level.find('Z');
            return std::string(mark == std::string_view::npos ? std::string_view() : level.substr(mark + 1));
        };
        if (!text.empty()) root = id_of(levels.front());
        if (levels.size() > 1) parent = id_of(levels[levels.size() - 2]);
    }
};

std::string_view kind_of_run(std::string_view type) {
    if (type == "llm" || type == "chat_model") return "LLM";
    if (type == "tool") return "TOOL";
    if (type == "retriever") return "RETRIEVER";
    if (type == "embedding") return "EMBEDDING";
    return "CHAIN";
}

class RunSpan {
public:
    RunSpan(const RunOperation& operation, otlp::Batch& batch) : m_run(operation.run), m_batch(batch) {}

    // False when the run has no valid id.
    bool read(int64_t now_ns) {
        const DottedOrder order(run_text(in(m_run, "dotted_order")));
        const std::string id = span_id_bytes(run_text(in(m_run, "id")));
        if (id.empty()) return false;
        std::string trace = bytes_of_uuid(run_text(in(m_run, "trace_id")));
        if (trace.empty()) trace = bytes_of_uuid(order.root);
        if (trace.empty()) trace = bytes_of_uuid(run_text(in(m_run, "id")));
        std::string parent = span_id_bytes(run_text(in(m_run, "parent_run_id")));
        if (parent.empty()) parent = span_id_bytes(order.parent);
        span.trace_id = m_batch.keep(std::move(trace));
        span.span_id = m_batch.keep(id);
        if (!parent.empty() && parent != id) span.parent_span_id = m_batch.keep(std::move(parent));
        span.name = truncate_utf8(run_text(in(m_run, "name")), 4096);
        span.end_ns = run_time(in(m_run, "end_time"));
        span.start_ns = run_time(in(m_run, "start_time"));
        if (span.start_ns == 0) span.start_ns = span.end_ns != 0 ? span.end_ns : static_cast<uint64_t>(now_ns);
        read_metadata();
        if (const std::string_view type = run_text(in(m_run, "run_type")); !type.empty()) {
            put("openinference.span.kind", kind_of_run(type));
            if (type == "tool") put("tool.name", span.name);
        }
        read_content("inputs", "input", "input.value", "input.mime_type");
        read_content("outputs", "output", "output.value", "output.mime_type");
        const std::string_view type = run_text(in(m_run, "run_type"));
        if (type == "llm" || type == "chat_model" || type == "embedding") read_model();
        read_error();
        read_events();
        return true;
    }

    otlp::Span span;

private:
    void put(std::string_view key, std::string_view text) {
        if (!text.empty()) span.attributes.push_back({key, {text}});
    }
    void put(std::string_view key, int64_t number) {
        if (number != 0) span.attributes.push_back({key, {number}});
    }
    void put_json(std::string_view key, const json::Value* value) {
        const bool is_empty = value == nullptr || value->is_null() ||
                              (value->is_object() && value->get_object().empty()) ||
                              (value->is_array() && value->get_array().empty());
        if (!is_empty) span.attributes.push_back({key, {m_batch.keep(json::print(*value))}});
    }

    void read_metadata() {
        const json::Value* extra = in(m_run, "extra");
        const json::Value* metadata = in(extra, "metadata");
        put("session.id",
            first_text({in(metadata, "session_id"), in(metadata, "thread_id"), in(metadata, "conversation_id")}));
        put("user.id", run_text(in(metadata, "user_id")));
        put_json("metadata", metadata);
        put_json("llm.invocation_parameters", in(extra, "invocation_params"));
        if (const json::Value* tags = in(m_run, "tags"); tags && tags->is_array() && !tags->get_array().empty()) {
            std::vector<otlp::Value> list;
            for (const json::Value& tag : tags->get_array())
                if (tag.is_string()) list.push_back({std::string_view(tag.get_string())});
            span.attributes.push_back({"tag.tags", {std::move(list)}});
        }
    }

    // {"input": "text"} is shown as the text; the arguments of a wrapped call are its first one.
    void read_content(std::string_view field, std::string_view wrapper, std::string_view key, std::string_view mime) {
        const json::Value* content = in(m_run, field);
        if (const json::Value* first = first_of(in(content, "args")); first && first->is_object()) content = first;
        if (content && content->is_object() && content->get_object().size() == 1)
            for (const std::string& name : {std::string(wrapper), std::string(wrapper) + "s"})
                if (const json::Value* inner = in(content, name); inner && !inner->is_null()) content = inner;
        if (content && content->is_string()) {
            put(key, std::string_view(content->get_string()));
            put(mime, "text/plain");
            return;
        }
        const size_t before = span.attributes.size();
        put_json(key, content);
        if (span.attributes.size() > before) put(mime, "application/json");
    }

    // Of LangChain's {"generations":[[{"message":{"kwargs":{…}}}]]}.
    const json::Value* generation() const { return first_of(first_of(in(in(m_run, "outputs"), "generations"))); }

    void read_model() {
        const json::Value* metadata = in(in(m_run, "extra"), "metadata");
        const json::Value* outputs = in(m_run, "outputs");
        const json::Value* message = in(in(generation(), "message"), "kwargs");
        const json::Value* response = in(message, "response_metadata");
        put("llm.provider", run_text(in(metadata, "ls_provider")));
        put("llm.model_name", first_text({in(outputs, "model"), in(response, "model_name"),
                                          in(metadata, "ls_model_name"), in(in(m_run, "inputs"), "model")}));
        put("llm.finish_reason",
            first_text({in(first_of(in(outputs, "choices")), "finish_reason"), in(response, "finish_reason"),
                        in(in(generation(), "generation_info"), "finish_reason"),
                        in(in(generation(), "generationInfo"), "finish_reason")}));
        for (const json::Value* usage :
             {in(outputs, "usage_metadata"), in(message, "usage_metadata"), in(metadata, "usage_metadata")})
            if (usage && usage->is_object()) {
                read_usage(*usage);
                return;
            }
    }

    // Input includes what was read from and written to caches, output includes reasoning.
    void read_usage(const json::Value& usage) {
        put("llm.token_count.prompt", run_count(in(&usage, "input_tokens")));
        put("llm.token_count.completion", run_count(in(&usage, "output_tokens")));
        const json::Value* details = in(&usage, "input_token_details");
        put("llm.token_count.prompt_details.cache_read", run_count(in(details, "cache_read")));
        put("llm.token_count.prompt_details.cache_write", run_count(in(details, "cache_creation")));
        put("llm.token_count.completion_details.reasoning",
            run_count(in(in(&usage, "output_token_details"), "reasoning")));
        if (const json::Value* cost = in(&usage, "total_cost"); cost && cost->is_double() && cost->get_double() > 0)
            span.attributes.push_back({"llm.cost.total", {cost->get_double()}});
    }

    // "OrderNotFound: order 1 does not exist" and "OrderNotFound('order 1 does not exist')Traceback …".
    void read_error() {
        const std::string_view error = run_text(in(m_run, "error"));
        if (error.empty()) {
            if (span.end_ns != 0) span.status = otlp::StatusCode::ok;
            return;
        }
        span.status = otlp::StatusCode::error;
        std::string_view message =
            error.substr(0, std::min(error.find("Traceback (most recent"), error.find("\n    at ")));
        message = trim(message.substr(0, message.find("\n\n")));
        size_t name = 0;
        while (name < message.size() && (std::isalnum(static_cast<unsigned char>(message[name])) ||
                                         message[name] == '_' || message[name] == '.'))
            ++name;
        otlp::Event exception;
        exception.name = "exception";
        exception.time_ns = span.end_ns != 0 ? span.end_ns : span.start_ns;
        if (name > 0 && name < message.size() && (message[name] == ':' || message[name] == '(')) {
            exception.attributes.push_back({"exception.type", {message.substr(0, name)}});
            message = message[name] == ':' ? trim(message.substr(name + 1)) : unquoted(message.substr(name));
        }
        span.status_message = message;
        exception.attributes.push_back({"exception.message", {message}});
        if (message.size() + 200 < error.size()) exception.attributes.push_back({"exception.stacktrace", {error}});
        span.events.push_back(std::move(exception));
    }

    // ('order 1 does not exist') -> order 1 does not exist
    static std::string_view unquoted(std::string_view text) {
        if (text.size() >= 2 && text.front() == '(' && text.back() == ')') text = text.substr(1, text.size() - 2);
        if (text.ends_with(',')) text.remove_suffix(1);
        if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front())
            text = text.substr(1, text.size() - 2);
        return text;
    }

    // The first token is the one that is measured; the others are left out.
    void read_events() {
        const json::Value* events = in(m_run, "events");
        if (events == nullptr || !events->is_array()) return;
        for (const json::Value& entry : events->get_array()) {
            if (run_text(in(&entry, "name")) != "new_token") continue;
            if (const uint64_t time = run_time(in(&entry, "time")); time != 0) {
                otlp::Event first;
                first.name = "First Token Stream Event";
                first.time_ns = time;
                span.events.push_back(std::move(first));
                return;
            }
        }
    }

    const json::Object& m_run;
    otlp::Batch& m_batch;
};

// The resource of a project, one per name.
uint32_t resource_of(otlp::Batch& batch, std::map<std::string, uint32_t>& known, std::string_view project) {
    const auto [place, is_new] = known.try_emplace(std::string(project), static_cast<uint32_t>(batch.resources.size()));
    if (!is_new) return place->second;
    otlp::Resource resource;
    resource.attributes = {{"openinference.project.name", {batch.keep(std::string(project))}},
                           {"telemetry.sdk.name", {std::string_view("langsmith")}}};
    batch.resources.push_back(std::move(resource));
    batch.scopes.push_back({"langsmith", {}, {}, 0, {}});
    return place->second;
}

} // namespace

Result<RunOperations> read_run_form(std::string_view content_type, std::string_view body) {
    const std::string_view boundary = parameter_of(content_type, "boundary");
    if (boundary.empty() || boundary.size() > 200) return invalid("the form has no boundary");
    const std::string delimiter = "\r\n--" + std::string(boundary);
    const std::string_view opening = std::string_view(delimiter).substr(2);
    const size_t start = body.find(opening);
    if (start == std::string_view::npos) return invalid("the body is not a form with this boundary");
    std::string_view rest = body.substr(start + opening.size());
    RunOperations operations;
    std::map<std::string, RunOperation, std::less<>> runs;
    FormPart part;
    for (size_t parts = 0; !rest.starts_with("--") && next_part(rest, delimiter, part); ++parts) {
        if (parts >= most_parts || runs.size() > most_runs) return too_large("too many runs in one request");
        add_form_part(part, runs, operations);
    }
    if (!rest.starts_with("--")) return invalid("the form is incomplete");
    for (auto& [name, operation] : runs) operations.runs.push_back(std::move(operation));
    return operations;
}

Result<RunOperations> read_run_batch(std::string_view body) {
    const json::Value tree = TRY(json::parse(body));
    if (!tree.is_object()) return invalid("the body must be an object with the lists post and patch");
    RunOperations operations;
    for (const char* kind : {"post", "patch"}) {
        const json::Value* list = tree.get_object().if_contains(kind);
        if (list == nullptr || !list->is_array()) continue;
        for (const json::Value& run : list->get_array()) {
            if (operations.runs.size() >= most_runs) return too_large("too many runs in one request");
            if (run.is_object()) operations.runs.push_back({std::string_view(kind) == "patch", run.get_object()});
        }
    }
    return operations;
}

Result<RunOperations> read_run(std::string_view body, bool is_patch, std::string_view id) {
    json::Value tree = TRY(json::parse(body));
    if (!tree.is_object()) return invalid("the body must be a run");
    if (!id.empty()) tree.get_object()["id"] = id;
    RunOperations operations;
    operations.runs.push_back({is_patch, std::move(tree.get_object())});
    return operations;
}

RunParts spans_of_runs(const std::vector<RunOperation>& operations, int64_t now_ns) {
    RunParts runs;
    std::map<std::string, uint32_t> resources;
    for (const RunOperation& operation : operations) {
        const std::string_view session = run_text(in(operation.run, "session_name"));
        const uint32_t resource = resource_of(runs.batch, resources, session.empty() ? "default" : session);
        RunSpan run(operation, runs.batch);
        if (!run.read(now_ns)) {
            runs.batch.rejected.push_back({"the id of a run is not a UUID", resource});
            continue;
        }
        run.span.resource = run.span.scope = resource;
        const bool is_whole = !operation.is_patch && run.span.end_ns != 0;
        runs.add(std::move(run.span), is_whole);
    }
    return runs;
}

std::string span_id_of_run(std::string_view id) {
    return to_hex(span_id_bytes(id));
}

} // namespace hone::telemetry
