#include "base/id.h"
#include "base/log.h"
#include "base/text.h"
#include "broker/gateway/gateway_pipe.h"
#include "broker/gateway/gateway_state.h"
#include "broker/gateway/model_request.h"
#include "broker/spending/model_json.h"
#include "broker/spending/usage_filter.h"

#include <algorithm>

namespace hone::broker {

namespace {

// For what a provider has charged without saying so.
constexpr int64_t request_bytes_per_token = 4;

// For reservations, which must not be below what a call can use. A token is at least one byte of text; images and pages
// of documents have tokens that their bytes do not show.
constexpr int64_t hidden_tokens = 1'000; // of the provider's own instructions for tools
constexpr int64_t tokens_of_image = 5'000;
constexpr int64_t tokens_of_document = 300'000;
constexpr int64_t largest_input = 2'000'000;
constexpr int64_t largest_output = 128'000;

// What the models of a family write at most when the request does not say; the first name that fits.
struct OutputLimit {
    std::string_view family;
    int64_t tokens;
};
constexpr OutputLimit output_limits[] = {
    {"claude-3-haiku", 4'096},  {"claude-3-opus", 4'096}, {"claude-3-5", 8'192},  {"claude-opus-4-1", 32'000},
    {"claude-haiku-4", 64'000}, {"gpt-3.5", 4'096},       {"gpt-4o", 16'384},     {"gpt-4.1", 32'768},
    {"gpt-4", 8'192},           {"o1", 100'000},          {"o3", 100'000},        {"o4", 100'000},
    {"gemini-1.5", 8'192},      {"gemini-2.0", 8'192},    {"gemini-2.5", 65'536}, {"gemini-3", 65'536},
};

// "gpt-4" is the family of gpt-4 and gpt-4-turbo, not of gpt-4.5 or gpt-4x, which can write more.
bool is_of_family(std::string_view model, std::string_view family) {
    if (!model.starts_with(family)) return false;
    return model.size() == family.size() ||
           std::string_view("-@:").find(model[family.size()]) != std::string_view::npos;
}

std::string notice_text(const Admission& admission) {
    const std::string whose = admission.scope == BudgetScope::run          ? "This run"
                              : admission.scope == BudgetScope::automation ? "This automation"
                                                                           : "This space";
    return "[Notice from Hone, not from the user] " + whose + " has used " + std::to_string(admission.percent) +
           "% of its budget for model calls. Wrap up now: save your results, finish the current step and end with a "
           "short "
           "summary. When the budget is used up, the run is stopped.";
}

bool is_success(int status) {
    return status >= 200 && status < 300;
}

bool offers_protocol(std::span<const skill::ModelEndpoint> endpoints, std::string_view protocol) {
    return std::any_of(endpoints.begin(), endpoints.end(),
                       [&](const skill::ModelEndpoint& endpoint) { return endpoint.protocol == protocol; });
}

bool is_plain(std::string_view encoding) {
    return encoding.empty() || equals_ignoring_case(trim(encoding), "identity");
}

// What is written into a cache costs more than input: up to twice as much for the longest lifetime.
telemetry::Price highest_price(const telemetry::Price& price, ModelApi api) {
    telemetry::Price made = price;
    made.input = std::max(price.cache_write, api == ModelApi::messages ? price.input * 2 : price.input);
    return made;
}

} // namespace

int64_t most_output_of(std::string_view model) {
    for (const OutputLimit& limit : output_limits)
        if (is_of_family(model, limit.family)) return limit.tokens;
    return largest_output;
}

bool ModelExchange::refuse(ModelRefusal refusal, std::string_view message, bool close) {
    const ModelError error = model_error(m_route.api, refusal, message);
    if (m_own != nullptr && m_own->refused) m_own->refused(refusal);
    close = close || !m_client_keeps;
    std::vector<Header> more;
    if (refusal == ModelRefusal::busy)
        more.push_back({"retry-after", "5"});
    else if (error.status < 500)
        more.push_back({"x-should-retry", "false"}); // what the providers' own libraries listen to
    const bool is_sent = send_response(m_client, error.status, "application/json", error.body, close,
                                       m_gateway.m_options.idle_timeout, more)
                             .ok();
    if (close) end_politely(m_client);
    return is_sent && !close;
}

// The most that the call can use.
CallEstimate ModelExchange::estimate(const ModelRequest& request, size_t body_bytes) {
    telemetry::Tokens& tokens = m_most;
    tokens.input = std::min(static_cast<int64_t>(body_bytes) + hidden_tokens + m_content.images * tokens_of_image +
                                m_content.documents * tokens_of_document,
                            largest_input);
    tokens.output = request.max_output_tokens.value_or(most_output_of(m_call.requested_model)) * request.completions;
    const telemetry::Price* price = price_of(m_call.requested_model);
    if (price == nullptr) return {tokens.total(), 0, false};
    return {tokens.total(), telemetry::cost_nano_usd(highest_price(*price, m_route.api), tokens), true};
}

Result<> ModelExchange::check(const RequestHead& head, std::string_view body, const skill::ModelEndpoint& endpoint) {
    TRY(check_model_name(m_call.requested_model, endpoint.features));
    m_content = TRY(check_model_request(m_route.api, body, endpoint.features));
    m_headers = TRY(model_headers(head.headers, endpoint.features));
    if (!endpoint.prices.empty()) TRY(m_own_prices.add(endpoint.prices));
    return {};
}

const telemetry::Price* ModelExchange::price_of(std::string_view model) const {
    const telemetry::Price* own = m_own_prices.find(model, m_call.started);
    return own != nullptr ? own : m_gateway.m_prices.find(model, m_call.started);
}

// A cost limit cannot be enforced for a model without a price.
bool ModelExchange::refuse_unpriced(BudgetScope scope) {
    const std::string whose = scope == BudgetScope::run          ? "the run"
                              : scope == BudgetScope::automation ? "the automation"
                                                                 : "the space";
    return refuse(ModelRefusal::not_configured,
                  "Could not call the model " + m_call.requested_model + ": it has no price, and " + whose +
                      " has a cost limit. Set a price in the model skill (hone skill set " + m_skill_id +
                      " --var 'PRICES=" + m_call.requested_model +
                      " INPUT OUTPUT', US dollars per million tokens, 0 0 if it is free) or in the installation's "
                      "prices_file, or remove the cost limit",
                  false);
}

// No model skill of the run fits the request.
bool ModelExchange::refuse_unoffered(const skill::Grant& grant) {
    const std::string protocol(protocol_of(m_route.api));
    if (offers_protocol(grant.models, protocol))
        return refuse(ModelRefusal::not_found,
                      "this run's model skills with PROTOCOL=" + protocol + " do not offer the model " +
                          m_call.requested_model + "; add it to MODELS of one, or leave MODELS empty",
                      false);
    return refuse(ModelRefusal::not_configured,
                  "Hone has no model skill with PROTOCOL=" + protocol +
                      " for this run. Make one with its API_KEY (hone skill create NAME --type model --var PROTOCOL=" +
                      protocol + " --secret API_KEY) and attach it to the preset",
                  false);
}

// The request did not reach the provider, or its response did not arrive.
bool ModelExchange::refuse_unreached(const Error& error) {
    if (error.code == Code::busy) return refuse(ModelRefusal::too_slow, "the model endpoint timed out", false);
    if (m_is_locked_out)
        return refuse(ModelRefusal::not_configured,
                      "Hone cannot use the credential of the model skill " + m_skill_id + ": " + error.message +
                          ". Set it again: hone secret set " + m_skill_id + " API_KEY",
                      false);
    if (error.code == Code::forbidden) return refuse(ModelRefusal::forbidden, error.message, false);
    if (error.code == Code::conflict) return false; // the client disconnected or the run ended
    return refuse(ModelRefusal::unreachable, "the model endpoint cannot be reached: " + error.message, false);
}

bool ModelExchange::serve_request(RequestHead& head, ModelRoute route) {
    const GatewayOptions& options = m_gateway.m_options;
    m_route = std::move(route);
    m_client_keeps = head.keep_alive && !head.http_1_0;
    m_client_is_old = head.http_1_0;
    m_call.started = m_gateway.m_clock.now();
    m_began = m_gateway.m_clock.steady();

    auto body = read_whole_body(m_client, head, options.request_bytes, options.idle_timeout);
    if (!body.ok()) {
        if (body.error().code == Code::too_large) return refuse(ModelRefusal::too_large, body.error().message, true);
        if (body.error().code == Code::invalid) return refuse(ModelRefusal::invalid, body.error().message, true);
        return false;
    }
    if (!is_plain(net::header_value(head.headers, "content-encoding")))
        return refuse(ModelRefusal::invalid, "Hone's gateway accepts only requests without content encoding", false);
    auto request = read_model_request(m_route.api, body.value());
    if (!request.ok()) return refuse(ModelRefusal::invalid, request.error().message, false);
    m_call.requested_model = m_route.api == ModelApi::gemini ? m_route.model : request.value().model;

    const auto policy = m_attached.policy();
    const skill::ModelEndpoint* endpoint = choose_endpoint(policy->grant().models, m_route.api, m_call.requested_model);
    if (endpoint == nullptr) return refuse_unoffered(policy->grant());
    m_skill_id = endpoint->skill_id;
    // 400, because no harness retries it.
    if (const auto checked = check(head, body.value(), *endpoint); !checked.ok())
        return refuse(ModelRefusal::invalid, checked.error().message, false);

    Result<Admission> reserved = Admission{};
    if (!m_route.counts_only)
        reserved = m_gateway.m_budgets.reserve(m_run.run.account, estimate(request.value(), body.value().size()),
                                               m_attached.cancel(), Deadline::after(options.budget_wait));
    if (!reserved.ok()) {
        if (reserved.error().code == Code::conflict) return false;
        log(Level::warning, "model call rejected: budget",
            {{"run", m_attached.run_id()}, {"error", reserved.error().message}});
        return refuse(ModelRefusal::busy, reserved.error().message, false);
    }
    Admission& admission = reserved.value();
    if (admission.level == BudgetLevel::unpriced) return refuse_unpriced(admission.scope);
    if (admission.level == BudgetLevel::hard) {
        m_run.stop_for_budget(admission.scope, admission.message);
        return refuse(ModelRefusal::budget, "Hone stopped this run: " + admission.message + " (stopped: budget)",
                      false);
    }
    if (has_left(m_client)) return false; // while it waited: the response would not be read
    m_reservation = std::move(admission.reservation);
    m_capture = std::min(m_run.run.capture, admission.capture);
    m_sent = prepare(request.value(), std::move(body).value(), admission, *endpoint);
    auto reached = reach(head, *endpoint, m_sent);
    if (reached.ok()) return forward_response(reached.value()) && m_client_keeps;

    m_call.error = reached.error().message;
    // Not when the provider closes the connection: that is no decision of the worker.
    if (reached.error().code == Code::conflict || reached.error().code == Code::busy) abandon();
    settle();
    return refuse_unreached(reached.error());
}

// The body as it is sent: with a request for token counts where they do not come by themselves, and with a notice when
// the budget is nearly used up.
std::string ModelExchange::prepare(const ModelRequest& request, std::string body, const Admission& admission,
                                   const skill::ModelEndpoint& endpoint) {
    // Who does not say keeps the response at the provider.
    const bool may_store =
        std::find(endpoint.features.begin(), endpoint.features.end(), "stored_state") != endpoint.features.end();
    if (m_route.api == ModelApi::responses && !m_content.says_store && !may_store) body = with_no_storage(body);
    if (m_route.api == ModelApi::chat && request.stream && !request.asks_for_usage) {
        body = with_usage_in_stream(body);
        m_drops_usage = true;
    }
    if (admission.level == BudgetLevel::soft && m_run.run.gets_notices)
        if (auto noticed = with_notice(m_route.api, body, notice_text(admission))) body = std::move(*noticed);
    return body;
}

// Everything of the request but its body; holds the credential, so its receiver wipes it.
Result<std::string> ModelExchange::prepare_head(const RequestHead& head, const skill::ModelEndpoint& endpoint,
                                                size_t length) {
    RequestHead sent;
    sent.method = head.method;
    sent.headers = m_headers;
    if (!endpoint.header.empty()) remove_header(sent.headers, endpoint.header);
    set_header(sent.headers, "host", m_address.host.header(m_address.tls ? 443 : 80));
    set_header(sent.headers, "accept-encoding", "identity"); // else there is nothing to meter
    sent.framing = Framing::length;
    sent.length = length;
    std::string text = write_request_head(sent, m_address.target(m_route));
    if (!m_credential) return text;

    const size_t hole = endpoint.format.find("{}");
    if (endpoint.header.empty() || hole == std::string::npos) return invalid("the model skill names no header");
    const std::string_view value = m_credential->value.reveal();
    if (std::any_of(value.begin(), value.end(), [](char c) { return c < ' ' || c == 0x7f; }))
        return forbidden("the secret " + endpoint.secret_name + " has characters that a header cannot contain");
    text.reserve(text.size() + endpoint.header.size() + endpoint.format.size() + value.size() + 8 + length);
    text.resize(text.size() - 2); // before the empty line
    text.append(endpoint.header).append(": ").append(endpoint.format, 0, hole).append(value);
    text.append(endpoint.format, hole + 2).append("\r\n\r\n");
    return text;
}

// Each call has its row and its span; the audit log records once per run which secret is sent where.
Result<> ModelExchange::note_use(const skill::ModelEndpoint& endpoint) {
    const std::string use = endpoint.skill_id + " " + endpoint.secret_id + " " + m_idle_key;
    Decision decision;
    decision.time = m_call.started;
    decision.run_id = m_attached.run_id();
    decision.allowed = true;
    decision.method = "POST";
    decision.target = m_address.host;
    decision.tls = m_address.tls;
    decision.path = m_route.path;
    decision.rule = "model skill " + endpoint.skill_id;
    decision.reason = "model calls of this run";
    if (!endpoint.secret_name.empty()) decision.secret_names.push_back(endpoint.secret_name);
    return m_run.note_once(use, [&] { return m_attached.decided(decision); });
}

Result<ResponseHead> ModelExchange::reach(const RequestHead& head, const skill::ModelEndpoint& endpoint,
                                          const std::string& body) {
    const GatewayOptions& options = m_gateway.m_options;
    m_address = TRY(parse_model_address(endpoint.base_url));
    m_call.provider = m_address.host.host;
    if (!endpoint.secret_id.empty()) {
        auto opened = m_run.credential(m_attached, endpoint.secret_id, options.secret_lifetime);
        m_is_locked_out = !opened.ok();
        m_credential = TRY(std::move(opened));
    }
    m_idle_key = m_address.host.text() + (m_address.tls ? " tls" : " plain");
    TRY(note_use(endpoint));

    const Reach range = endpoint.allow_private ? Reach::also_private : Reach::public_only;
    for (;;) {
        m_was_sent = false;
        m_other = m_run.take_idle(m_idle_key, m_gateway.m_clock.steady());
        const bool is_reused = m_other.has_value();
        if (!is_reused) {
            auto dialed = m_address.tls ? m_attached.dialer().dial_tls(m_address.host, range, m_attached.cancel())
                                        : m_attached.dialer().dial(m_address.host, range, m_attached.cancel());
            m_other = TRY(std::move(dialed)).channel;
        }
        std::string text = TRY(prepare_head(head, endpoint, body.size()));
        text += body;
        const auto written = m_other->write(text, Deadline::after(options.idle_timeout));
        crypto::wipe(text);
        m_was_sent = written.ok();
        m_sent_bytes = static_cast<int64_t>(body.size());
        // Also after a failed write: a provider may refuse a request before it has read it.
        auto response = await_response(*m_other, m_client, head.method, options.response_timeout, options.idle_timeout);
        if (response.ok()) return response;
        const bool is_untouched = m_other->buffer().empty() && response.error().code == Code::unavailable;
        if (is_reused && is_untouched) continue; // it was closed while it lay idle
        if (!written.ok() && response.error().code == Code::unavailable) return written.error();
        return response;
    }
}

// The response's head as the client gets it.
ResponseHead ModelExchange::client_head(const ResponseHead& response) const {
    ResponseHead passed = response;
    remove_hop_headers(passed.headers);
    remove_header(passed.headers, "set-cookie");
    remove_header(passed.headers, "set-cookie2");
    remove_header(passed.headers, "content-length");
    if (m_credential)
        for (Header& header : passed.headers) m_credential->redactor.redact(header.value);
    if (response.framing == Framing::until_close || m_filter) passed.framing = Framing::chunked;
    if (m_client_is_old && passed.framing == Framing::chunked) passed.framing = Framing::until_close;
    if (!m_client_keeps) passed.headers.push_back({"connection", "close"});
    return passed;
}

// Sends one piece of the response's body to the client.
bool ModelExchange::take_piece(std::string& piece, bool last) {
    if (!m_call.first_byte) m_call.first_byte = m_gateway.m_clock.steady() - m_began;
    const auto received = static_cast<int64_t>(piece.size());
    if (m_blanked) {
        m_blanked->feed(piece);
        if (last) m_blanked->finish(piece);
    }
    if (m_meter) m_meter->observe(piece);
    const size_t kept = m_call.response.size(), most = m_gateway.m_options.captured_bytes;
    if (m_gateway.m_sink && m_capture == Capture::full && kept < most) m_call.response.append(piece, 0, most - kept);
    if (m_filter) {
        std::string unfiltered;
        unfiltered.swap(piece);
        m_filter->feed(unfiltered, piece);
        if (last) m_filter->finish(piece);
    }
    if (last) { // before the client can see the end: its next call finds this one counted
        if (m_meter) m_meter->finish(true);
        settle();
    }
    return m_attached.count_bytes(received).ok();
}

bool ModelExchange::forward_response(const ResponseHead& response) {
    const GatewayOptions& options = m_gateway.m_options;
    m_call.status = response.status;
    if (is_success(response.status) && !is_plain(net::header_value(response.headers, "content-encoding"))) {
        const std::string why = "the response is compressed although the request forbids it";
        m_call.error = why;
        settle();
        return refuse(ModelRefusal::unreachable, why, false);
    }
    if (response.status == 401) return refuse_for_credential(response);
    m_call.form = response_format(net::header_value(response.headers, "content-type"));
    if (is_success(response.status) && !m_route.counts_only) m_meter.emplace(m_route.api, m_call.form);
    if (m_drops_usage && m_meter && m_call.form == ResponseFormat::events) m_filter.emplace();
    if (m_credential) m_blanked.emplace(m_credential->redactor);

    const ResponseHead passed = client_head(response);
    PipeEnd end = PipeEnd::client_gone;
    if (m_client.write(write_response_head(passed), Deadline::after(options.idle_timeout)).ok())
        end = pipe_body(*m_other, m_client, response, passed.framing, options.idle_timeout,
                        [&](std::string& piece, bool last) { return take_piece(piece, last); });
    if (end != PipeEnd::whole) {
        m_call.error = end == PipeEnd::cut           ? "the response was interrupted"
                       : end == PipeEnd::client_gone ? "the client disconnected"
                                                     : "the run has reached its limit of bytes";
        if (m_meter && !m_is_settled) m_meter->finish(false);
        if (end != PipeEnd::cut) abandon();
        settle();
        return false;
    }
    if (response.keep_alive && m_other->buffer().empty())
        m_run.keep_idle(m_idle_key, std::move(*m_other), m_gateway.m_clock.steady() + options.reuse_for);
    return true;
}

// The credential is not the worker's: it can do nothing about it, and its harness would only prompt for a login.
bool ModelExchange::refuse_for_credential(const ResponseHead& response) {
    constexpr size_t most_text = 300;
    std::string said = read_some_body(*m_other, response, 16 << 10);
    if (m_credential) m_credential->redactor.redact(said);
    const auto text = text_of(member_at(said, {"error", "message"}));
    const std::string why = text && !text->empty() ? ": " + repair_utf8(truncate_utf8(*text, most_text)) : "";
    m_call.error = "the endpoint does not take the credential" + why;
    settle();
    const std::string advice = "hone secret set " + m_skill_id + " API_KEY";
    return refuse(ModelRefusal::not_configured,
                  m_credential ? m_address.host.host + " does not take the credential of the model skill " +
                                     m_skill_id + " (401" + why + "). Set one that works: " + advice
                               : m_address.host.host + " needs a key, and the model skill " + m_skill_id +
                                     " has none (401" + why + "). Set it: " + advice,
                  false);
}

// The provider computes and charges on, whether it is read or not.
void ModelExchange::abandon() {
    m_is_abandoned = !m_meter || !m_meter->has_final_numbers();
}

// What the provider has probably charged without reporting it. For an abandoned call this is the most that it can use:
// otherwise a worker would only have to close its connections early. For a response that was interrupted elsewhere it
// is an estimate: the input, if it was not reported, and the output that was seen.
telemetry::Tokens ModelExchange::unreported_tokens() const {
    const ModelUsage& usage = m_call.usage;
    telemetry::Tokens unreported;
    const bool was_taken = is_success(m_call.status) || (m_call.status == 0 && m_was_sent);
    if (usage.complete || !was_taken) return unreported;
    unreported.output = usage.estimated_output;
    if (!usage.reported) unreported.input = m_sent_bytes / request_bytes_per_token;
    if (!m_is_abandoned) return unreported;
    unreported.output = std::max(unreported.output, m_most.output - usage.tokens.output - usage.tokens.reasoning);
    if (!usage.reported) unreported.input = m_most.input;
    return unreported;
}

void ModelExchange::set_cost(UsageRow& row, const telemetry::Tokens& unreported) const {
    const telemetry::Price* price = nullptr;
    if (!m_call.usage.model.empty()) price = price_of(m_call.usage.model);
    if (price == nullptr) price = price_of(m_call.requested_model);
    if (price == nullptr) return;
    const telemetry::Price rest = m_is_abandoned ? highest_price(*price, m_route.api) : *price;
    row.cost_nano_usd = telemetry::cost_nano_usd(*price, row.tokens) + telemetry::cost_nano_usd(rest, unreported);
    // Anthropic's cache of one hour: its writes cost twice the input, those of the price table live for five minutes.
    row.cost_nano_usd = *row.cost_nano_usd +
                        m_call.usage.hour_cache_write * std::max<int64_t>(0, 2 * price->input - price->cache_write);
    row.price = price->line();
}

// The call is over, however it ended: counts it, records it, traces it.
void ModelExchange::settle() {
    if (m_route.counts_only || std::exchange(m_is_settled, true)) return;
    UsageRow row;
    row.id = "call_" + make_ulid(m_call.started);
    row.space_id = m_attached.space_id();
    row.project_id = m_attached.project_id();
    row.run_id = m_run.run.account.run_id;
    row.automation_id = m_run.run.account.automation_id;
    row.started = m_call.started;
    row.took = m_gateway.m_clock.steady() - m_began;
    row.api = m_route.api;
    row.model = m_call.requested_model;
    row.status = m_call.status;
    if (m_meter) m_call.usage = m_meter->usage();
    row.tokens = m_call.usage.tokens;
    row.complete = m_call.usage.complete;
    const telemetry::Tokens unreported = unreported_tokens();
    row.estimated_tokens = unreported.total();
    set_cost(row, unreported);
    m_gateway.m_budgets.settle(std::move(m_reservation), row);
    const bool is_traced = m_gateway.m_sink != nullptr && m_capture != Capture::none;
    if (m_own != nullptr && m_own->settled) m_own->settled(row, m_call.usage, is_traced);
    if (!is_traced) return;
    m_call.id = row.id;
    m_call.request = std::move(m_sent);
    m_call.place = m_own != nullptr ? m_own->place : m_run.run.place;
    if (m_own != nullptr) m_call.attributes = m_own->attributes;
    m_call.capture = m_capture;
    m_call.api = m_route.api;
    m_call.took = row.took;
    m_call.cost_nano_usd = row.cost_nano_usd;
    m_call.price = row.price;
    m_gateway.m_sink->called(std::move(m_call));
}

} // namespace hone::broker
