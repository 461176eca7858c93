#include "server/evaluation/model_calls.h"

#include "base/log.h"
#include "base/text.h"
#include "broker/gateway/model_list.h"
#include "broker/gateway/model_protocol.h"
#include "broker/gateway/model_request.h"
#include "broker/gateway/model_response.h"
#include "broker/spending/model_json.h"
#include "crypto/crypto.h"
#include "server/adapters/space_secrets.h"

#include <atomic>

namespace hone::server {

namespace {

// How often the text of a stream is read from what has arrived.
constexpr Duration watch_interval = std::chrono::milliseconds(40);
constexpr size_t most_error_text = 500;
// Calls of this time show how long the replies of a model are.
constexpr Duration forecast_past = std::chrono::hours(24 * 30);

// Which secret goes to which endpoint, once per session. A call that cannot be recorded is not sent.
class AuditedModelUse final : public broker::Decisions {
public:
    AuditedModelUse(const access::AuditLog& audit, access::SpaceId space, std::string owner)
        : m_audit(audit),
          m_space(std::move(space)),
          m_owner(std::move(owner)) {}
    Result<> decided(broker::Decision& decision) override {
        json::Array secrets;
        for (const std::string& name : decision.secret_names) secrets.emplace_back(name);
        return m_audit.record(
            access::Caller::system(),
            {"model_calls",
             m_space,
             m_owner,
             {{"target", decision.target.text()}, {"rule", decision.rule}, {"secrets", std::move(secrets)}}});
    }
    void finished(const broker::Decision&, const broker::Outcome&) override {}

private:
    const access::AuditLog& m_audit;
    const access::SpaceId m_space;
    const std::string m_owner;
};

broker::ModelApi api_of(std::string_view protocol) {
    if (protocol == "anthropic") return broker::ModelApi::messages;
    return protocol == "gemini" ? broker::ModelApi::gemini : broker::ModelApi::chat;
}

std::string error_text(const broker::OwnResponse& response) {
    const auto said = broker::text_of(broker::member_at(response.body, {"error", "message"}));
    const std::string text =
        repair_utf8(truncate_utf8(said && !said->empty() ? *said : std::string(trim(response.body)), most_error_text));
    return "the model endpoint responded with status " + std::to_string(response.status) +
           (text.empty() ? "" : ": " + text);
}

Duration seconds_of(const std::string& text) {
    const auto seconds = parse_integer(trim(text));
    return seconds.ok() && seconds.value() > 0 && seconds.value() < 3600 ? std::chrono::seconds(seconds.value())
                                                                         : Duration{};
}

} // namespace

class GatewaySession final : public evaluate::ModelSession {
public:
    GatewaySession(GatewayModelCalls& calls, broker::Broker& broker, broker::Gateway& gateway,
                   evaluate::ModelOwner owner, std::string id)
        : m_calls(calls),
          m_broker(broker),
          m_gateway(gateway),
          m_owner(std::move(owner)),
          m_id(std::move(id)) {}

    ~GatewaySession() override {
        {
            const Lock lock(m_calls.m_mutex);
            m_calls.m_sessions.erase(this);
        }
        if (m_attached) m_broker.detach(m_id);
        if (m_is_at_gateway) m_gateway.remove_run(m_id);
    }
    GatewaySession(const GatewaySession&) = delete;
    GatewaySession& operator=(const GatewaySession&) = delete;

    Result<> connect(skill::Grant grant) {
        broker::GatewayRun run;
        run.account.space_id = m_owner.space_id.text();
        run.account.run_id = m_owner.id;
        run.account.run.cost_nano_usd = m_owner.cost_limit_nano_usd;
        run.account.run.tokens = m_owner.token_limit;
        run.gets_notices = false; // a notice would change what is measured
        run.budget_stopped = [this](broker::BudgetScope scope, const std::string& message) {
            const Lock lock(m_mutex);
            m_budget_message = scope == broker::BudgetScope::run && m_owner.cost_limit_nano_usd
                                   ? "budget_micro_usd is used up"
                                   : message;
        };
        TRY(m_gateway.add_run(m_id, std::move(run)));
        m_is_at_gateway = true;
        broker::RunAccess access;
        access.run_id = m_id;
        access.space_id = m_owner.space_id.text();
        access.project_id = m_owner.project_id;
        access.grant.models = std::move(grant.models);
        access.decisions = std::make_shared<AuditedModelUse>(m_calls.m_audit, m_owner.space_id, m_owner.id);
        access.secrets = std::make_shared<SpaceSecrets>(m_calls.m_vault, m_owner.space_id, m_owner.id);
        m_attached = TRY(m_broker.attach(std::move(access), {}));
        return {};
    }

    Result<evaluate::ModelReply> send(const evaluate::OutgoingCall& outgoing) override {
        evaluate::ModelReply reply;
        const broker::ModelApi api = api_of(outgoing.request.protocol);
        broker::OwnRequest request;
        request.path = outgoing.request.path;
        request.body = outgoing.request.body;
        request.timeout = outgoing.timeout;
        const std::string trace_id = to_hex(crypto::random_bytes(16));
        request.call.place = {m_owner.space_id.text(), m_owner.project_name, "", trace_id, "", ""};
        request.call.attributes = outgoing.attributes;
        reply.model = outgoing.request.model;
        // The thread that calls this has ended when send_own returns.
        request.call.settled = [&](const broker::UsageRow& row, const broker::ModelUsage& usage, bool is_traced) {
            const telemetry::Tokens& tokens = row.tokens;
            reply.input_tokens = tokens.input + tokens.cache_read + tokens.cache_write;
            reply.output_tokens = tokens.output + tokens.reasoning;
            reply.estimated_tokens = row.estimated_tokens;
            reply.cost_nano_usd = row.cost_nano_usd;
            reply.finish_reason = usage.finish_reason;
            if (!usage.model.empty()) reply.model = usage.model;
            if (is_traced) reply.trace_id = trace_id;
        };
        request.call.refused = [&](broker::ModelRefusal refusal) {
            reply.is_not_configured = refusal == broker::ModelRefusal::not_configured;
        };
        Duration watched{};
        size_t seen = 0;
        if (outgoing.watch)
            request.watch = [&](std::string_view content_type, std::string_view body) {
                const Duration now = m_calls.m_clock.steady();
                if (now - watched < watch_interval) return true;
                watched = now;
                const std::string text =
                    broker::read_response_message(api, broker::response_format(content_type), body).text;
                if (text.size() <= seen) return true;
                seen = text.size();
                return outgoing.watch(text);
            };
        const broker::OwnResponse response = TRY(broker::send_own(m_gateway, *m_attached, request, m_cancel));
        reply.status = response.status;
        if (response.status >= 200 && response.status < 300) {
            broker::ModelMessage message =
                broker::read_response_message(api, broker::response_format(response.content_type), response.body);
            reply.text = std::move(message.text);
            for (broker::ModelToolCall& call : message.calls)
                reply.tool_calls.push_back({std::move(call.id), std::move(call.name), std::move(call.arguments)});
            // Some proxies put errors into successful responses.
            if (reply.text.empty() && reply.tool_calls.empty())
                if (const auto why = broker::text_of(broker::member_at(response.body, {"error", "message"}))) {
                    reply.error = error_text(response);
                    reply.is_temporary = true;
                }
            return reply;
        }
        reply.error = error_text(response);
        reply.is_temporary = response.status == 429 || response.status >= 500;
        reply.retry_after = seconds_of(response.retry_after);
        const Lock lock(m_mutex);
        if (!m_budget_message.empty()) {
            reply.out_of_budget = true;
            reply.error = m_budget_message;
        }
        return reply;
    }

    void cancel() override { m_cancel.fire(); }

private:
    GatewayModelCalls& m_calls;
    broker::Broker& m_broker;
    broker::Gateway& m_gateway;
    const evaluate::ModelOwner m_owner;
    const std::string m_id;
    broker::Cancel m_cancel;
    bool m_is_at_gateway = false;
    std::shared_ptr<broker::AttachedRun> m_attached; // shared: as the broker has it
    Mutex m_mutex;
    std::string m_budget_message GUARDED_BY(m_mutex);
};

void GatewayModelCalls::connect(broker::Broker& broker, broker::Gateway& gateway, const broker::Dialer& dialer) {
    const Lock lock(m_mutex);
    m_dialer = &dialer;
    m_broker = &broker;
    m_gateway = &gateway;
}

Result<std::string> GatewayModelCalls::find_skill(const access::Caller& caller, const access::SpaceId& space,
                                                  const std::string& wanted, const std::string& protocol,
                                                  const std::string& model) {
    std::vector<skill::Skill> candidates;
    if (!wanted.empty()) {
        skill::Skill found = TRY(m_skills.find(caller, space, wanted));
        if (found.type != skill::SkillType::model)
            return invalid("skill " + found.name + " is not a model skill, so it has no model to call");
        candidates.push_back(std::move(found));
    } else {
        candidates = TRY(m_skills.list(caller, space, skill::SkillType::model, {access::largest_page, {}})).data;
    }
    std::vector<skill::ModelEndpoint> endpoints;
    std::string problems;
    for (const skill::Skill& candidate : candidates) {
        const std::vector<std::string> ids{candidate.id.text()};
        auto grant = m_skills.resolve(access::Caller::system(), space, ids);
        if (!grant.ok()) {
            problems += "; " + candidate.name + ": " + grant.error().message;
            continue;
        }
        for (skill::ModelEndpoint& endpoint : grant.value().models) endpoints.push_back(std::move(endpoint));
    }
    if (const auto* chosen = broker::choose_endpoint(endpoints, api_of(protocol), model)) return chosen->skill_id;
    return invalid("no model skill " + (wanted.empty() ? "of this space" : "named " + wanted) + " offers the model " +
                   std::string(truncate_utf8(model, 100)) + " with PROTOCOL=" + protocol +
                   ". Make one (hone skill create NAME --type model --var PROTOCOL=" + protocol +
                   " --secret API_KEY), or add the model to MODELS of one" + problems);
}

Result<std::vector<evaluate::OfferedModel>> GatewayModelCalls::list_models(const access::Caller& caller,
                                                                           const access::SpaceId& space,
                                                                           const evaluate::ModelListRequest& wanted) {
    const broker::Dialer* dialer = nullptr;
    {
        const Lock lock(m_mutex);
        if (m_dialer == nullptr || m_stopped) return unavailable("the server is starting or stopping");
        dialer = m_dialer;
    }
    skill::ModelEndpoint endpoint;
    crypto::SecretBytes key(*wanted.key);
    if (wanted.skill.value.empty()) {
        endpoint = TRY(skill::Skills::preview_model(caller, space, *wanted.variables));
    } else {
        const skill::Skill found = TRY(m_skills.find(caller, space, *wanted.skill));
        const std::vector<std::string> ids{found.id.text()};
        skill::Grant grant = TRY(m_skills.resolve(access::Caller::system(), space, ids));
        if (grant.models.empty()) return invalid("skill " + found.name + " is not a model skill, so it has no models");
        endpoint = std::move(grant.models.front());
        if (!endpoint.secret_id.empty()) key = TRY(m_vault.open(space, endpoint.secret_id, "list of models"));
    }
    // A use of a key that cannot be recorded is not made.
    TRY(m_audit.record(
        caller,
        {"model_list", space, endpoint.skill_id, {{"endpoint", endpoint.base_url}, {"secret", endpoint.secret_name}}}));
    std::vector<evaluate::OfferedModel> offered;
    for (broker::ListedModel& model : TRY(broker::list_models(*dialer, endpoint, key.reveal(), m_stop)))
        offered.push_back({std::move(model.name), std::move(model.title)});
    return offered;
}

Result<evaluate::CallForecast> GatewayModelCalls::forecast(const access::SpaceId& space, const std::string& skill_id,
                                                           const evaluate::PromptRequest& request,
                                                           int64_t input_tokens) {
    const std::vector<std::string> ids{skill_id};
    const skill::Grant grant = TRY(m_skills.resolve(access::Caller::system(), space, ids));
    telemetry::Prices own;
    for (const skill::ModelEndpoint& endpoint : grant.models)
        if (!endpoint.prices.empty()) TRY(own.add(endpoint.prices));
    const Time now = m_clock.now();
    const telemetry::Price* price = own.find(request.model, now);
    if (price == nullptr) {
        const Lock lock(m_mutex);
        if (m_gateway == nullptr || m_stopped) return unavailable("the server is starting or stopping");
        price = m_gateway->prices().find(request.model, now);
    }
    const broker::ModelRequest read = TRY(broker::read_model_request(api_of(request.protocol), request.body));
    const int64_t most = read.max_output_tokens.value_or(broker::most_output_of(request.model)) * read.completions;
    broker::UsageQuery past;
    past.group_by = broker::UsageGroup::model;
    past.from_day = broker::day_of(now - forecast_past);
    past.to_day = broker::day_of(now);
    past.model = request.model;
    evaluate::CallForecast made;
    made.output_tokens = most;
    for (const broker::UsageSum& sum : TRY(m_ledger.report(access::Caller::system(), space, past))) {
        made.measured_calls = sum.calls - sum.failed_calls;
        if (made.measured_calls > 0)
            made.output_tokens = std::min(most, (sum.tokens.output + sum.tokens.reasoning) / made.measured_calls);
    }
    if (price != nullptr) {
        telemetry::Tokens tokens;
        tokens.input = input_tokens;
        tokens.output = made.output_tokens;
        made.cost_nano_usd = telemetry::cost_nano_usd(*price, tokens);
    }
    return made;
}

Result<std::unique_ptr<evaluate::ModelSession>> GatewayModelCalls::open(const evaluate::ModelOwner& owner) {
    const std::vector<std::string> ids{owner.skill_id};
    skill::Grant grant = TRY(m_skills.resolve(access::Caller::system(), owner.space_id, ids));
    std::unique_ptr<GatewaySession> session;
    {
        const Lock lock(m_mutex);
        if (m_broker == nullptr || m_stopped) return unavailable("the server is starting or stopping");
        // Unique: an experiment whose lease was lost may still be ending when it is claimed again.
        session = std::make_unique<GatewaySession>(*this, *m_broker, *m_gateway, owner,
                                                   owner.id + "/" + make_ulid(m_clock.now()));
        m_sessions.insert(session.get());
    }
    TRY(session->connect(std::move(grant)));
    return std::unique_ptr<evaluate::ModelSession>(std::move(session));
}

void GatewayModelCalls::stop() {
    const Lock lock(m_mutex);
    m_stopped = true;
    m_stop.fire();
    for (evaluate::ModelSession* session : m_sessions) session->cancel();
}

Result<evaluate::ModelSpending> GatewayModelCalls::spent(const std::string& owner_id) {
    constexpr Duration wait = std::chrono::seconds(1);
    // Calls that are over are counted; when the database is slow, the last of them may be missing for a moment.
    static_cast<void>(m_ledger.flush(wait));
    const broker::Spending spent = TRY(m_ledger.spent_by_run(owner_id));
    return evaluate::ModelSpending{spent.tokens, spent.cost_nano_usd};
}

} // namespace hone::server
