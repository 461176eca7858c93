#include "evaluate/judges/llm_judge.h"

#include "base/log.h"
#include "base/text.h"
#include "evaluate/evaluators/verdict.h"
#include "evaluate/judges/judge_images.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::evaluate {

namespace {

constexpr size_t shown_reply = 200;

bool contains_word(const std::string& text, std::initializer_list<std::string_view> words) {
    const std::string lower = lowercase_ascii(text);
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool is_refusal(const std::string& finish_reason) {
    return contains_word(finish_reason, {"refus", "content_filter", "safety", "blocklist", "prohibited"});
}

// The next less strict form; nothing after plain text. Anthropic has no json_object.
std::optional<VerdictForm> next_form(VerdictForm form, std::string_view protocol) {
    switch (form) {
    case VerdictForm::tool:
        return VerdictForm::json_schema;
    case VerdictForm::json_schema:
        return protocol == "anthropic" ? VerdictForm::text : VerdictForm::json_object;
    case VerdictForm::json_object:
        return VerdictForm::text;
    case VerdictForm::text:
        break;
    }
    return std::nullopt;
}

std::string shown_text(const ModelReply& reply) {
    if (!reply.tool_calls.empty())
        return std::string(
            truncate_utf8(reply.tool_calls.front().name + " " + reply.tool_calls.front().arguments, shown_reply));
    return repair_utf8(truncate_utf8(trim(reply.text), shown_reply));
}

json::Value stored_verdict(const Verdict& verdict) {
    json::Object stored;
    if (verdict.label) stored["label"] = *verdict.label;
    if (verdict.score) stored["score"] = *verdict.score;
    if (verdict.explanation) stored["explanation"] = *verdict.explanation;
    return stored;
}

} // namespace

bool LlmJudge::fail(JudgeReason reason, std::string why, bool is_temporary) {
    m_outcome.reason = reason;
    m_outcome.error = std::move(why);
    m_outcome.is_temporary = is_temporary;
    return false;
}

Judges::Endpoint LlmJudge::endpoint() const {
    const Lock lock(m_judges.m_mutex);
    return m_judges.m_endpoints[endpoint_key()];
}

void LlmJudge::remember(const Attempt& attempt) const {
    const Lock lock(m_judges.m_mutex);
    Judges::Endpoint& known = m_judges.m_endpoints[endpoint_key()];
    known.form = attempt.form;
    known.accepts_temperature = attempt.with_temperature;
}

bool LlmJudge::prepare() {
    ModelCalls* const models = m_judges.m_parts.models ? m_judges.m_parts.models() : nullptr;
    if (models == nullptr) return fail(JudgeReason::unavailable, "this server calls no models");
    auto rendered = render_messages(m_llm, m_request.version.content_hash, m_request.document);
    if (!rendered.ok())
        return fail(rendered.error().code == Code::too_large ? JudgeReason::too_large : JudgeReason::missing_variable,
                    rendered.error().message);
    m_rendered = std::move(rendered).value();
    if (m_request.files != nullptr) m_images = given_files(m_rendered.values, *m_request.files);
    const auto pinned = m_judges.pin_model(access::Caller::system(), m_request.version.space_id, m_model);
    if (!pinned.ok()) return fail(JudgeReason::rejected, pinned.error().message);
    return true;
}

// The request as a prompt version, which prompt_request.h writes in the words of the provider.
json::Value LlmJudge::content_for(const Attempt& attempt) const {
    json::Array messages;
    for (const JudgeMessage& message : attempt.messages)
        messages.push_back(json::Object{{"role", message.role}, {"content", message.content}});
    json::Object content{{"model_provider", *m_model.provider},
                         {"model_name", m_model.name},
                         {"template_format", "NONE"},
                         {"template", json::Object{{"messages", std::move(messages)}}}};
    const json::Value schema = verdict_schema(*m_llm.output, *m_llm.explain);
    if (attempt.form == VerdictForm::tool) {
        json::Object function{{"name", std::string(verdict_tool)},
                              {"description", "Reports the verdict. Call it exactly once."},
                              {"parameters", schema}};
        content["tools"] = json::Object{
            {"tools", json::Array{json::Object{{"type", "function"}, {"function", std::move(function)}}}},
            {"tool_choice", json::Object{{"type", "specific_function"}, {"function_name", std::string(verdict_tool)}}}};
    }
    if (attempt.form == VerdictForm::json_schema)
        content["response_format"] =
            json::Object{{"type", "json_schema"},
                         {"json_schema", json::Object{{"name", "verdict"}, {"schema", schema}, {"strict", true}}}};
    return content;
}

LlmJudge::Sent LlmJudge::send(const Attempt& attempt, ModelReply& reply) {
    PromptTarget target;
    target.parameters = m_model.parameters.value.is_object() ? m_model.parameters.value.get_object() : json::Object{};
    if (attempt.with_temperature && !target.parameters.contains("temperature")) target.parameters["temperature"] = 0;
    if (!attempt.with_temperature) target.parameters.erase("temperature");
    const auto protocol = protocol_of_provider(*m_model.provider);
    if (attempt.form == VerdictForm::json_object) {
        if (protocol.ok() && protocol.value() == "gemini")
            target.parameters["responseMimeType"] = "application/json";
        else
            target.parameters["response_format"] = json::Object{{"type", "json_object"}};
    }
    auto request = make_prompt_request(content_for(attempt), target, {});
    if (!request.ok()) {
        fail(JudgeReason::rejected, request.error().message);
        return Sent::failed;
    }
    if (!m_images.empty()) {
        auto body = with_images(request.value().protocol, request.value().body, m_images);
        if (!body.ok()) {
            fail(JudgeReason::rejected, body.error().message);
            return Sent::failed;
        }
        request.value().body = std::move(body).value();
    }
    const auto session = m_judges.session_for(m_request, *m_model.skill);
    if (!session.ok()) {
        const bool is_gone = session.error().code == Code::not_found || session.error().code == Code::invalid;
        fail(is_gone ? JudgeReason::rejected : JudgeReason::provider, session.error().message, !is_gone);
        return Sent::failed;
    }
    OutgoingCall outgoing{request.value()};
    outgoing.timeout = std::chrono::milliseconds(*m_llm.timeout_ms);
    outgoing.attributes = {{"hone.evaluator_id", m_request.version.evaluator_id.text()},
                           {"hone.evaluator_version", std::to_string(m_request.version.number)},
                           {"hone.eval_target", m_request.target.kind + ":" + m_request.target.id}};
    const auto gate = endpoint().gate;
    if (!gate->enter([this] { return m_judges.is_stopped(m_request); })) {
        fail(JudgeReason::stopped, "the server stops", true);
        return Sent::failed;
    }
    const auto sent = session.value()->send(outgoing);
    gate->leave(sent.ok() && (sent.value().status == 429 || sent.value().status == 529));
    if (!sent.ok()) {
        if (sent.error().code == Code::conflict)
            fail(JudgeReason::stopped, "the server stops", true);
        else if (sent.error().code == Code::busy)
            fail(JudgeReason::timeout, fmt::format("the model took longer than {} ms", *m_llm.timeout_ms), true);
        else
            fail(JudgeReason::provider, "the call of the model failed: " + sent.error().message, true);
        return Sent::failed;
    }
    reply = sent.value();
    m_outcome.input_tokens += reply.input_tokens;
    m_outcome.output_tokens += reply.output_tokens;
    m_outcome.estimated_tokens += reply.estimated_tokens;
    if (!reply.trace_id.empty()) m_outcome.trace_id = reply.trace_id;
    if (reply.cost_nano_usd && m_outcome.cost_nano_usd)
        *m_outcome.cost_nano_usd += *reply.cost_nano_usd;
    else if (reply.error.empty())
        m_is_priced = m_is_priced && reply.cost_nano_usd.has_value();
    return classify(attempt, reply);
}

LlmJudge::Sent LlmJudge::classify(const Attempt& attempt, const ModelReply& reply) {
    if (reply.error.empty()) return Sent::replied;
    if (reply.out_of_budget) {
        m_judges.forget_session(m_request, *m_model.skill); // the next one reads the budget again
        fail(JudgeReason::budget, reply.error);
        return Sent::failed;
    }
    const bool has_no_credit = contains_word(reply.error, {"insufficient_quota", "billing", "credit balance"});
    const bool has_no_model = reply.status == 404 || contains_word(reply.error, {"model_not_found", "unknown model"});
    if (reply.is_not_configured || reply.status == 401 || reply.status == 402 || reply.status == 403 || has_no_credit ||
        has_no_model) {
        fail(JudgeReason::rejected, reply.error);
        return Sent::failed;
    }
    const bool is_refused_form = reply.status == 400 || reply.status == 422 || reply.status == 501;
    if (is_refused_form &&
        contains_word(reply.error, {"context length", "context window", "too long", "too many tokens"})) {
        fail(JudgeReason::too_large, reply.error);
        return Sent::failed;
    }
    fail(JudgeReason::provider, reply.error, reply.is_temporary);
    m_takes_no_images =
        is_refused_form && !m_images.empty() && contains_word(reply.error, {"image", "vision", "multimodal"});
    if (m_takes_no_images) return Sent::failed;
    m_outcome.retry_after = reply.retry_after;
    const bool is_last = attempt.form == VerdictForm::text && !attempt.with_temperature;
    return is_refused_form && !is_last ? Sent::unsupported : Sent::failed;
}

Result<json::Value> LlmJudge::reported_in(const ModelReply& reply) const {
    if (is_refusal(reply.finish_reason)) return invalid("the model refused: " + reply.finish_reason);
    if (!reply.tool_calls.empty()) {
        if (reply.tool_calls.size() > 1) return invalid("the model reported several verdicts");
        const ModelToolUse& call = reply.tool_calls.front();
        if (call.name != verdict_tool) return invalid("the model called " + call.name + ", which it was not given");
        auto value = json::parse(call.arguments);
        if (!value.ok()) return invalid("the verdict is not JSON: " + value.error().message);
        return value;
    }
    if (trim(reply.text).empty()) return invalid("the reply is empty");
    return object_in_text(reply.text);
}

// The strictest form that works, and one repair when the reply has no verdict.
bool LlmJudge::call_model(json::Value& reported, Verdict& verdict, ModelReply& reply) {
    const Judges::Endpoint known = endpoint();
    const auto protocol = protocol_of_provider(*m_model.provider);
    Attempt attempt{known.form, known.accepts_temperature, m_rendered.messages};
    const std::string instructions = verdict_instructions(*m_llm.output, *m_llm.explain);
    const auto shape = [&](VerdictForm form) {
        attempt.form = form;
        attempt.messages = m_rendered.messages;
        if (form != VerdictForm::tool) attempt.messages.front().content += "\n\n" + instructions;
    };
    shape(known.form);
    bool is_repaired = false;
    for (;;) {
        const Sent sent = send(attempt, reply);
        if (sent == Sent::failed) return false;
        if (sent == Sent::unsupported) {
            if (attempt.with_temperature && contains_word(m_outcome.error, {"temperature"})) {
                attempt.with_temperature = false;
                continue;
            }
            const auto next = next_form(attempt.form, protocol.ok() ? protocol.value() : "openai");
            if (!next) return false;
            shape(*next);
            continue;
        }
        if (reply.text.empty() && reply.tool_calls.empty() && reply.finish_reason.empty())
            return fail(JudgeReason::provider, "the response of the model is empty or was cut off", true);
        remember(attempt);
        const auto found = reported_in(reply);
        std::string why = found.ok() ? "" : found.error().message;
        JudgeReason reason = JudgeReason::unparsable;
        if (found.ok()) {
            auto fitting = reported_verdict(*m_llm.output, found.value());
            if (fitting.ok()) {
                verdict = std::move(fitting).value();
                reported = stored_verdict(verdict);
                m_outcome.reason = JudgeReason::none;
                m_outcome.error.clear();
                m_outcome.is_temporary = false;
                return true;
            }
            reason = JudgeReason::off_config;
            why = fitting.error().message;
        }
        if (is_repaired || is_refusal(reply.finish_reason))
            return fail(reason, fmt::format("{}: {}", why, shown_text(reply)));
        is_repaired = true;
        attempt.messages.push_back({"assistant", reply.text.empty() ? shown_text(reply) : reply.text});
        if (trim(attempt.messages.back().content).empty()) attempt.messages.back().content = "(empty)";
        attempt.messages.push_back({"user", "That is not a verdict: " + why + ". " + instructions});
    }
}

bool LlmJudge::cast_vote(int64_t number) {
    const CacheKey key{m_request.version.space_id,
                       m_request.version.content_hash,
                       *m_model.skill + "/" + m_model.name,
                       json::print(*m_model.parameters),
                       m_rendered.text(),
                       number,
                       m_request.repetition};
    const bool uses_cache = m_request.use_cache && *m_llm.cache;
    if (uses_cache) {
        const auto cached = m_judges.m_cache.find(key);
        if (cached.ok() && cached.value()) {
            auto verdict = reported_verdict(*m_llm.output, cached.value()->result);
            if (verdict.ok()) {
                ++m_cached_votes;
                m_replied_model = cached.value()->model;
                if (m_outcome.trace_id.empty()) m_outcome.trace_id = cached.value()->trace_id;
                m_votes.push_back(std::move(verdict).value());
                return true;
            }
        }
    }
    json::Value reported;
    Verdict verdict;
    ModelReply reply;
    if (!call_model(reported, verdict, reply)) return false;
    m_replied_model = reply.model;
    const auto noted = m_judges.m_replied.note(m_request.version.evaluator_id, m_request.version.number, reply.model);
    if (!noted.ok()) log(Level::warning, "the name of a model was not stored", {{"why", noted.error().message}});
    if (uses_cache) {
        const auto stored = m_judges.m_cache.store(key, {std::move(reported), reply.model, reply.trace_id});
        if (!stored.ok()) log(Level::warning, "a verdict was not cached", {{"why", stored.error().message}});
    }
    m_votes.push_back(std::move(verdict));
    return true;
}

JudgeOutcome LlmJudge::run() {
    const Duration began = m_judges.m_parts.clock.steady();
    const auto ended = [&]() -> JudgeOutcome {
        m_outcome.duration_ms =
            std::chrono::duration_cast<std::chrono::milliseconds>(m_judges.m_parts.clock.steady() - began).count();
        if (!m_is_priced) m_outcome.cost_nano_usd.reset();
        return std::move(m_outcome);
    };
    const auto cannot = [&](std::string why) {
        Verdict verdict;
        verdict.label = std::string(cannot_judge);
        verdict.explanation = std::move(why);
        m_outcome.verdict = std::move(verdict);
        m_outcome.reason = JudgeReason::none;
        m_outcome.error.clear();
        m_outcome.is_temporary = false;
        return ended();
    };
    if (!prepare()) return ended();
    if (std::string why = refused_files(m_images); !why.empty()) return cannot(std::move(why));
    const int64_t votes = *m_llm.votes;
    int64_t failed = 0;
    for (int64_t number = 1; number <= votes; ++number) {
        if (cast_vote(number)) continue;
        // A vote that has no verdict may be outvoted; what would fail every vote ends it.
        const bool is_of_vote =
            m_outcome.reason == JudgeReason::unparsable || m_outcome.reason == JudgeReason::off_config;
        if (m_takes_no_images) return cannot("the model takes no images: " + m_outcome.error);
        if (!is_of_vote || ++failed * 2 > votes) return ended();
    }
    Verdict verdict = majority_of(*m_llm.output, m_votes);
    json::Object metadata = verdict.metadata.is_object() ? verdict.metadata.get_object() : json::Object{};
    metadata["model"] = m_replied_model;
    if (failed > 0) metadata["failed_votes"] = failed;
    if (m_request.document.is_object())
        if (const json::Value* cut = m_request.document.get_object().if_contains("truncated"))
            metadata["truncated"] = *cut;
    verdict.metadata = std::move(metadata);
    m_outcome.verdict = std::move(verdict);
    m_outcome.reason = JudgeReason::none;
    m_outcome.error.clear();
    m_outcome.is_temporary = false;
    m_outcome.is_cached = m_cached_votes == votes;
    return ended();
}

} // namespace hone::evaluate
