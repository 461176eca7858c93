// A model provider in memory for tests of judges: replies are a function of the request. Not part of the product.
#pragma once

#include "base/mutex.h"
#include "evaluate/judges/judge.h"

namespace hone::evaluate::testing {

class ScriptedModels final : public ModelCalls {
public:
    using Reply = std::function<Result<ModelReply>(const json::Object& request, int number)>;
    Reply reply;
    bool has_skill = true;

    Result<std::string> find_skill(const access::Caller&, const access::SpaceId&, const std::string&,
                                   const std::string& protocol, const std::string& model) override {
        if (!has_skill || protocol != "openai") return invalid("no model skill offers the model " + model);
        return std::string("skill_1");
    }
    Result<std::unique_ptr<ModelSession>> open(const ModelOwner& owner) override {
        const Lock lock(mutex);
        owners.push_back(owner);
        return std::unique_ptr<ModelSession>(std::make_unique<Session>(*this));
    }
    // Ten output tokens, each token one nano-USD; "unpriced" has no price.
    Result<CallForecast> forecast(const access::SpaceId&, const std::string&, const PromptRequest& request,
                                  int64_t input_tokens) override {
        CallForecast made;
        made.output_tokens = 10;
        made.measured_calls = 3;
        if (request.model != "unpriced") made.cost_nano_usd = (input_tokens + made.output_tokens) * 1000;
        return made;
    }
    void stop() override {}
    Result<ModelSpending> spent(const std::string&) override { return ModelSpending{}; }

    // A reply with a verdict in the form that the request has.
    static ModelReply verdict(const json::Object& request, const std::string& arguments) {
        ModelReply made;
        made.status = 200;
        made.model = "scripted";
        made.finish_reason = "stop";
        made.input_tokens = 100;
        made.output_tokens = 10;
        made.cost_nano_usd = 5000;
        made.trace_id = "0123456789abcdef0123456789abcdef";
        if (request.contains("tools"))
            made.tool_calls.push_back({"call_1", "report_verdict", arguments});
        else
            made.text = arguments;
        return made;
    }
    static ModelReply text(const std::string& words) {
        ModelReply made = verdict({}, words);
        return made;
    }
    static ModelReply refused(int status, const std::string& why, Duration retry_after = {}) {
        ModelReply made;
        made.status = status;
        made.error = "the model endpoint responded with status " + std::to_string(status) + ": " + why;
        made.is_temporary = status == 429 || status >= 500;
        made.retry_after = retry_after;
        return made;
    }

    Mutex mutex;
    std::vector<json::Object> requests; // bodies
    std::vector<ModelOwner> owners;

private:
    class Session final : public ModelSession {
    public:
        explicit Session(ScriptedModels& models) : m_models(models) {}
        Result<ModelReply> send(const OutgoingCall& outgoing) override {
            auto body = json::parse(outgoing.request.body);
            if (!body.ok()) return body.error();
            int number = 0;
            {
                const Lock lock(m_models.mutex);
                m_models.requests.push_back(body.value().get_object());
                number = static_cast<int>(m_models.requests.size());
            }
            return m_models.reply(body.value().get_object(), number);
        }
        void cancel() override {}

    private:
        ScriptedModels& m_models;
    };
};

// An evaluator with the labels pass and fail.
inline EvaluatorVersion polite(const access::SpaceId& space) {
    EvaluatorVersion version;
    version.evaluator_id = EvaluatorId("evaluator_01J0000000000000000000000A");
    version.space_id = space;
    version.kind = EvaluatorKind::llm;
    version.name = "polite";
    LlmDefinition llm;
    llm.model.name = "scripted";
    llm.messages = {{"system", "Decide whether the output is polite."},
                    {"user", "Input: {{input}} Output: {{output}}"}};
    OutputConfig output;
    output.type = OutputType::categorical;
    output.values = std::vector<OutputValue>{{"pass", 1}, {"fail", 0}};
    llm.output = output;
    version.llm = llm;
    version.content_hash = "hash of the version";
    return version;
}

} // namespace hone::evaluate::testing
