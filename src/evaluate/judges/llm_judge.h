// One verdict of a model: the votes, each from the cache or by a call that requires the verdict in the strictest form
// that the endpoint takes. Lives for one document; one thread.
#pragma once

#include "evaluate/judges/judge.h"
#include "evaluate/judges/judge_text.h"

namespace hone::evaluate {

class LlmJudge {
public:
    LlmJudge(Judges& judges, const JudgeRequest& request)
        : m_judges(judges),
          m_request(request),
          m_llm(*request.version.llm),
          m_model(m_llm.model) {}

    JudgeOutcome run();

private:
    enum class Sent { replied, unsupported, failed };
    struct Attempt {
        VerdictForm form = VerdictForm::tool;
        bool with_temperature = true;
        std::vector<JudgeMessage> messages;
    };

    bool prepare();
    bool cast_vote(int64_t number);
    bool call_model(json::Value& reported, Verdict& verdict, ModelReply& reply);
    Sent send(const Attempt& attempt, ModelReply& reply);
    Sent classify(const Attempt& attempt, const ModelReply& reply);
    Result<json::Value> reported_in(const ModelReply& reply) const;
    json::Value content_for(const Attempt& attempt) const;
    bool fail(JudgeReason reason, std::string why, bool is_temporary = false);
    Judges::Endpoint endpoint() const;
    void remember(const Attempt& attempt) const;
    std::string endpoint_key() const { return *m_model.skill + "\n" + m_model.name; }

    Judges& m_judges;
    const JudgeRequest& m_request;
    const LlmDefinition& m_llm;
    JudgeModel m_model; // with skill and provider filled in
    RenderedMessages m_rendered;
    JudgeOutcome m_outcome;
    std::vector<Verdict> m_votes;
    std::string m_replied_model;
    int64_t m_cached_votes = 0;
    bool m_is_priced = true;
    std::vector<const GivenFile*> m_images; // that the variables name
    bool m_takes_no_images = false;
};

} // namespace hone::evaluate
