// One call of a model by a person who tries out a prompt: the text streams, the numbers follow. The calls are metered,
// limited by the budgets of the space and traced into a project. Each call has a thread; there is a limit for all
// together and for one person. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "evaluate/prompts/model_session.h"
#include "evaluate/prompts/prompts.h"
#include "evaluate/runner/experiment_tasks.h"

#include <list>
#include <thread>

namespace hone::evaluate {

struct PlaygroundRun {
    json::Defaulted<std::string> prompt;
    json::Defaulted<json::Value> prompt_version = json::Value(nullptr);
    json::Defaulted<std::string> provider;
    json::Defaulted<std::string> model;
    json::Defaulted<std::string> skill;
    json::Defaulted<json::Value> parameters = json::Value(json::Object{});
    json::Defaulted<json::Value> variables = json::Value(json::Object{});
    json::Defaulted<std::string> project;
    json::Defaulted<int64_t> timeout_ms = int64_t{300'000};
    static constexpr Pack fields{
        Field{"prompt", &PlaygroundRun::prompt,
              "Prompt: NAME for its newest version, NAME@TAG, NAME:NUMBER, or the id of a version."},
        Field{"prompt_version", &PlaygroundRun::prompt_version,
              "Content of a version, as POST /v1/prompts has it, instead of `prompt`."},
        Field{"provider", &PlaygroundRun::provider, "Model provider instead of the version's, such as ANTHROPIC."},
        Field{"model", &PlaygroundRun::model, "Model instead of the version's."},
        Field{"skill", &PlaygroundRun::skill,
              "Id or name of the model skill; if not given, the one of the space that offers the model."},
        Field{"parameters", &PlaygroundRun::parameters,
              "Invocation parameters that replace those of the version; null removes one."},
        Field{"variables", &PlaygroundRun::variables, "Values of the variables of the template."},
        Field{"project", &PlaygroundRun::project,
              "Project that gets the trace, by id or name; `hone-playground`, which lists do not show, if not given."},
        Field{"timeout_ms", &PlaygroundRun::timeout_ms, "Time of the call, 1000 to 600000."},
    };
};

struct PlaygroundToolCall {
    std::string id, name, arguments;
    static constexpr Pack fields{
        Field{"id", &PlaygroundToolCall::id, ""},
        Field{"name", &PlaygroundToolCall::name, ""},
        Field{"arguments", &PlaygroundToolCall::arguments, "JSON."},
    };
};

// The last event of a call.
struct PlaygroundReply {
    std::string text;
    std::vector<PlaygroundToolCall> tool_calls;
    std::string finish_reason;
    std::string model;
    int64_t input_tokens = 0;
    int64_t output_tokens = 0;
    int64_t estimated_tokens = 0;
    std::optional<int64_t> cost_micro_usd;
    int64_t duration_ms = 0;
    std::optional<int64_t> first_text_ms;
    std::string project_id;
    std::optional<std::string> trace_id;
    static constexpr Pack fields{
        Field{"text", &PlaygroundReply::text, "The whole text."},
        Field{"tool_calls", &PlaygroundReply::tool_calls, "Calls that the model requests; none is made."},
        Field{"finish_reason", &PlaygroundReply::finish_reason, "In the words of the provider."},
        Field{"model", &PlaygroundReply::model, "As the provider names it."},
        Field{"input_tokens", &PlaygroundReply::input_tokens, "With those of caches."},
        Field{"output_tokens", &PlaygroundReply::output_tokens, "With those of reasoning."},
        Field{"estimated_tokens", &PlaygroundReply::estimated_tokens,
              "Beside these: not reported by the provider, estimated. The cost is estimated with them."},
        Field{"cost_micro_usd", &PlaygroundReply::cost_micro_usd,
              "In millionths of a US dollar; null: the model has no price."},
        Field{"duration_ms", &PlaygroundReply::duration_ms, "From the request to the end."},
        Field{"first_text_ms", &PlaygroundReply::first_text_ms, "Until the first text; null: none came."},
        Field{"project_id", &PlaygroundReply::project_id, "Project that has the trace."},
        Field{"trace_id", &PlaygroundReply::trace_id, "null: the space keeps no spans of model calls."},
    };
};

struct EstimateCalls {
    PlaygroundRun call;
    json::Defaulted<std::string> dataset;
    json::Defaulted<std::string> split;
    json::Defaulted<int64_t> repetitions = int64_t{1};
    static constexpr Pack fields{
        Field{"call", &EstimateCalls::call, "The call, as POST /v1/playground/run has it."},
        Field{"dataset", &EstimateCalls::dataset,
              "Id or name of a dataset: one call for each of its examples, whose inputs are the variables. Empty: one "
              "call."},
        Field{"split", &EstimateCalls::split, "Id or name of a split: only its examples."},
        Field{"repetitions", &EstimateCalls::repetitions, "Calls for each example, 1 to 1000."},
    };
};

struct CallsEstimate {
    std::string model;
    int64_t calls = 0;
    int64_t input_tokens = 0;
    int64_t output_tokens = 0;
    int64_t measured_calls = 0;
    std::optional<int64_t> cost_micro_usd;
    static constexpr Pack fields{
        Field{"model", &CallsEstimate::model, "As the request names it."},
        Field{"calls", &CallsEstimate::calls, "Calls that would be made."},
        Field{"input_tokens", &CallsEstimate::input_tokens, "Of all calls, estimated from the length of the text."},
        Field{"output_tokens", &CallsEstimate::output_tokens,
              "Of all calls: the mean of past calls of the model in this space times their number, or the most that "
              "they can write."},
        Field{"measured_calls", &CallsEstimate::measured_calls,
              "Past calls of the last 30 days; 0: output_tokens is the most that the calls can write."},
        Field{"cost_micro_usd", &CallsEstimate::cost_micro_usd,
              "Of these tokens, in millionths of a US dollar; null: the model has no price."},
    };
};

// About four bytes of text are a token; an attachment in base64 counts as an image.
int64_t estimated_input_tokens(std::string_view body);

// A checked call that has not begun.
class PlaygroundCall {
public:
    // Ends it, also before it begins.
    void cancel() { m_session->cancel(); }

private:
    friend class Playground;
    std::string m_who;
    std::string m_project_id;
    OutgoingCall m_outgoing;
    std::unique_ptr<ModelSession> m_session;
};

class Playground {
public:
    Playground(const Clock& clock, access::Access& access, const Datasets& datasets, const Prompts& prompts,
               TaskSources* sources)
        : m_clock(clock),
          m_access(access),
          m_datasets(datasets),
          m_prompts(prompts),
          m_sources(sources) {}
    // Ends all calls.
    ~Playground();
    Playground(const Playground&) = delete;
    Playground& operator=(const Playground&) = delete;

    static constexpr size_t most_calls = 32;
    static constexpr size_t most_calls_of_one = 8;

    // Everything that can be refused is refused here. Needs run_start. The caller may then start it.
    // Shared: the connection cancels what a thread of the playground runs.
    Result<std::shared_ptr<PlaygroundCall>> prepare(const access::Caller& caller, const access::SpaceId& space,
                                                    const PlaygroundRun& wanted);
    // What a call, or a call for each example of a dataset, is likely to use. Needs run_start; sends nothing.
    Result<CallsEstimate> estimate(const access::Caller& caller, const access::SpaceId& space,
                                   const EstimateCalls& wanted) const;
    // The models to choose from. Needs run_start.
    Result<std::vector<OfferedModel>> list_models(const access::Caller& caller, const access::SpaceId& space,
                                                  const ModelListRequest& wanted) const;
    // `send` gets the events: `text` {text} for each piece, then one `done` (PlaygroundReply) or `error` {message}; it
    // returns false when the connection is closed. `ended` is called once, at the end.
    using Send = std::function<bool(std::string_view event, const std::string& data)>;
    void start(std::shared_ptr<PlaygroundCall> call, Send send, std::function<void()> ended);

private:
    struct Live {
        std::shared_ptr<PlaygroundCall> call;
        bool finished = false;
        std::thread thread;
    };
    // A prompt version with what the request changes of it.
    struct Chosen {
        json::Value content;
        std::string version_id; // empty: the request has the content
        PromptTarget target;
    };
    Result<ModelCalls*> models_for(const access::Caller& caller, const access::SpaceId& space) const;
    Result<Chosen> choose(const access::Caller& caller, const access::SpaceId& space,
                          const PlaygroundRun& wanted) const;
    Result<access::Project> project_of(const access::Caller& caller, const access::SpaceId& space,
                                       const std::string& wanted) const;
    void run(PlaygroundCall& call, const Send& send) const;
    void join_finished();

    const Clock& m_clock;
    access::Access& m_access;
    const Datasets& m_datasets;
    const Prompts& m_prompts;
    TaskSources* const m_sources;
    Mutex m_mutex;
    std::list<Live> m_live GUARDED_BY(m_mutex);
    bool m_ending GUARDED_BY(m_mutex) = false;
};

} // namespace hone::evaluate
