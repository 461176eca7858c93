// Applies one version of an evaluator to one document: code in a sandbox, a model through the gateway, an agent as a
// run, a remote service by a signed request. There is a verdict, or the reason why there is none; a failure is never a
// score. Used by experiments, online tasks, tests of people and calibrations. Thread-safe; blocks.
//
//   JudgeRequest request{.version = version, .document = document, .owner = "calibration_01J…"};
//   request.use_cache = false; request.repetition = 2;
//   const JudgeOutcome outcome = judges.judge(request);   // outcome.verdict, or outcome.error and outcome.reason
#pragma once

#include "access/access.h"
#include "base/mutex.h"
#include "evaluate/evaluators/code_runner.h"
#include "evaluate/evaluators/evaluator_version.h"
#include "evaluate/evaluators/replied_models.h"
#include "evaluate/judges/endpoint_gate.h"
#include "evaluate/judges/judge_cache.h"
#include "evaluate/prompts/model_session.h"
#include "net/client/client.h"

#include <functional>
#include <map>
#include <memory>

namespace hone::evaluate {

// Why there is no verdict. Stored with jobs.
enum class JudgeReason {
    none,
    missing_variable, // a variable or an argument is not in the document
    too_large,        // the document, or the reply
    timeout,
    provider,    // the model, the service or the run failed; `is_temporary`: a retry may help
    rejected,    // credential, credit or model are refused: every other call would be, too
    unparsable,  // the reply has no verdict
    off_config,  // the verdict does not fit the output of the evaluator
    budget,      // a budget is used up; nothing was sent, or the vote is incomplete
    code_failed, // the code raised an error
    unavailable, // this server cannot run this kind of evaluator
    stopped,     // the server stops: not tried
};
constexpr auto enum_names(JudgeReason) {
    using enum JudgeReason;
    return std::array{EnumName{none, ""},
                      EnumName{missing_variable, "missing_variable"},
                      EnumName{too_large, "too_large"},
                      EnumName{timeout, "timeout"},
                      EnumName{provider, "provider"},
                      EnumName{rejected, "rejected"},
                      EnumName{unparsable, "unparsable"},
                      EnumName{off_config, "off_config"},
                      EnumName{budget, "budget"},
                      EnumName{code_failed, "code_failed"},
                      EnumName{unavailable, "unavailable"},
                      EnumName{stopped, "stopped"}};
}

// What the document is about, for remote services, agents and spans.
struct JudgeTarget {
    std::string kind{}; // span, trace, chat_session, experiment_run; empty: a document of a person
    std::string id{};
    std::string project_id{};
    std::string project_name{};
};

struct JudgeRequest {
    const EvaluatorVersion& version;
    const json::Value& document;
    std::string owner{};    // experiment, task, calibration: calls are counted under it
    bool use_cache = true;  // false: a new verdict, which is not stored either
    int64_t repetition = 1; // equal documents of other repetitions have verdicts of their own
    JudgeTarget target{};
    std::string job{};                            // idempotency key; empty: made from the owner and the document
    std::optional<int64_t> token_limit{};         // of all calls of the owner together
    std::optional<int64_t> cost_limit_nano_usd{}; // of all calls of the owner together
    std::function<bool()> stopped{};              // true: the server stops
    const DocumentFiles* files = nullptr;         // that the document names; null: none
};

struct JudgeOutcome {
    std::optional<Verdict> verdict; // its metadata has votes, agreement and model of an llm
    JudgeReason reason = JudgeReason::none;
    std::string error;         // why there is no verdict
    bool is_temporary = false; // a retry may help
    bool is_pending = false;   // a remote service is still working: the retry is no new attempt
    Duration retry_after{};
    bool is_cached = false; // every vote came from the cache: nothing was spent
    int64_t input_tokens = 0;
    int64_t output_tokens = 0;
    int64_t estimated_tokens = 0;             // used, but not reported by the provider
    std::optional<int64_t> cost_nano_usd = 0; // of all these tokens; nothing: the model has no price
    int64_t duration_ms = 0;
    std::string trace_id; // of the last call, in the hidden project `hone-evals`; or the id of the agent's run
    int64_t tokens() const { return input_tokens + output_tokens + estimated_tokens; }
};

// The id of an agent's run, how it ended and the verdict that it reported. Implemented by server/.
struct AgentReport {
    std::string run_id;
    std::optional<json::Value> verdict; // nothing: it ended without one
    std::string error;
    bool is_timeout = false;
    bool is_out_of_budget = false;
    int64_t tokens = 0;
    std::optional<int64_t> cost_nano_usd = 0;
};
class AgentRuns {
public:
    virtual ~AgentRuns() = default;
    // Starts the run with the document in its trigger file and waits for its end. The worker reads only the project of
    // the target, or none. Errors: conflict (the server stops), what keeps the run from being started.
    virtual Result<AgentReport> run(const JudgeRequest& request, const AgentDefinition& agent,
                                    const std::string& prompt) = 0;
};

// What remote evaluators need of the server.
class RemoteAccess {
public:
    virtual ~RemoteAccess() = default;
    // The secret that signs the requests of an evaluator; not_found: none was made.
    virtual Result<std::string> signing_secret(const access::SpaceId& space, const EvaluatorId& id) = 0;
    // Makes a new one, which replaces the one before.
    virtual Result<std::string> make_signing_secret(const access::SpaceId& space, const EvaluatorId& id) = 0;
    virtual bool allows_private(const std::string& host, int64_t port) = 0;
};

// Null: this server cannot do it.
struct JudgeParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    std::function<ModelCalls*()> models{};
    std::function<Result<std::vector<CodeResult>>(const EvaluatorVersion&, const std::vector<json::Value>&,
                                                  const std::function<bool()>&)>
        run_code{};
    AgentRuns* agents = nullptr;
    RemoteAccess* remote = nullptr;
};

// How an endpoint takes verdicts, from the most to the least strict. What is not supported is remembered.
enum class VerdictForm { tool, json_schema, json_object, text };

class Judges {
public:
    explicit Judges(JudgeParts parts)
        : m_parts(std::move(parts)),
          m_cache(m_parts.database, m_parts.clock),
          m_replied(m_parts.database, m_parts.clock) {}

    JudgeOutcome judge(const JudgeRequest& request);
    // The same with up to four retries of failures that are temporary; for callers that have no queue.
    JudgeOutcome judge_persistently(const JudgeRequest& request);
    // Several documents of one version; code shares a sandbox. In their order.
    std::vector<JudgeOutcome> judge_all(const EvaluatorVersion& version, const std::vector<json::Value>& documents,
                                        const JudgeRequest& like);
    JudgeCache& cache() { return m_cache; }
    // For a person who tries it: nothing is stored but spans and the cache. Models and agents need run_start.
    Result<std::vector<JudgeOutcome>> test(const access::Caller& caller, const EvaluatorVersion& version,
                                           const std::vector<json::Value>& documents, bool use_cache,
                                           const std::function<bool()>& stopped);
    // Checks a definition before it is saved, and fills in its skill and provider, as the caller sees them, and the
    // labels of one that compares pairs. Needs eval_write.
    Result<> pin(const access::Caller& caller, const access::SpaceId& space, LlmDefinition& llm) const;
    // Only skill and provider.
    Result<> pin_model(const access::Caller& caller, const access::SpaceId& space, JudgeModel& model) const;
    // The secret that signs requests of a remote evaluator; replaces the one before.
    Result<std::string> make_signing_secret(const access::Caller& caller, const access::SpaceId& space,
                                            const EvaluatorId& id) const;
    // Ends the requests that are under way and refuses all later ones: the server stops.
    void stop();

private:
    friend class LlmJudge;
    struct Endpoint {
        VerdictForm form = VerdictForm::tool;
        bool accepts_temperature = true;
        std::shared_ptr<EndpointGate> gate = std::make_shared<EndpointGate>(); // shared: calls wait at it unlocked
    };
    struct Session {
        std::shared_ptr<ModelSession> session; // shared: a call may outlive its entry
        Duration opened{};
        Duration used{};
    };

    JudgeOutcome judge_code(const JudgeRequest& request);
    JudgeOutcome judge_agent(const JudgeRequest& request);
    JudgeOutcome judge_remote(const JudgeRequest& request);
    bool is_stopped(const JudgeRequest& request);
    Result<std::shared_ptr<ModelSession>> session_for(const JudgeRequest& request, const std::string& skill_id);
    void forget_session(const JudgeRequest& request, const std::string& skill_id);
    Result<access::Project> project_of(const access::SpaceId& space);

    const JudgeParts m_parts;
    JudgeCache m_cache;
    RepliedModels m_replied;
    Mutex m_mutex;
    std::map<std::string, Endpoint> m_endpoints GUARDED_BY(m_mutex);       // by skill and model
    std::map<std::string, Session> m_sessions GUARDED_BY(m_mutex);         // by owner, skill and limits
    std::map<std::string, access::Project> m_projects GUARDED_BY(m_mutex); // by space
    net::HttpClient m_client;
    net::Cancel m_cancel; // of remote requests; cancelled: the server stops
};

// The name of the hidden project of a space that has the spans of judges.
constexpr std::string_view judge_project = "hone-evals";

// The output of a version that evaluates documents; invalid for a rule.
Result<OutputConfig> output_of(const EvaluatorVersion& version);

// a, b and tie.
OutputConfig pairwise_output();
// Why an evaluator cannot be applied to a single document; ok: it can.
Result<> require_single(const EvaluatorVersion& version);

// What can be checked before a document is there: roles, variables, sizes, ranges, the address.
Result<> check(const LlmDefinition& llm);
Result<> check(const AgentDefinition& agent);
Result<> check(const RemoteDefinition& remote);

} // namespace hone::evaluate
