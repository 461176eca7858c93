#include "signal/advice.h"

#include <algorithm>
#include <iterator>

namespace hone::signal {

namespace {

struct AdviceRow {
    Detector detector;
    const char* usual_cause;
    const char* next_step;
};

constexpr AdviceRow advice_table[] = {
    {Detector::error_cluster, "Every one of these spans ends in the same message, so one cause explains them all.",
     "Handle this failure where it begins: retry what is temporary, reject bad input before the call, "
     "and return an error that the caller can act on."},
    {Detector::tool_failure,
     "The tool itself fails, always with the same message: a dependency is not available, too slow, "
     "or rejects the input.",
     "Give the tool a shorter time limit with one retry, return to the agent what failed and what to "
     "do instead, and monitor the service behind it."},
    {Detector::tool_loop, "The tool's result does not show the agent that a repeated call will not help.",
     "Return a clear final result when nothing is found, and stop the agent after a few equal calls."},
    {Detector::latency_regression,
     "The spans take longer than before while nothing else that is recorded about them has changed.",
     "Compare the slow examples with older ones: search for work that moved into the request, a "
     "larger input, a missing index or a cache that no longer hits."},
    {Detector::version_regression,
     "The change came with the new version: spans before and after it differ in nothing else that is "
     "recorded.",
     "Compare the two versions of this step, or roll the new one back until the cause is known."},
    {Detector::token_spike, "The calls send or receive more than before.",
     "Read the prompt of an example: send only what the task needs, and cut or summarise the "
     "conversation."},
    {Detector::cost_spike, "More calls, more expensive models or larger prompts in that hour than in any other.",
     "Find the source of the calls, and set a budget that stops them."},
    {Detector::truncated_output, "The limit on output tokens is lower than what the task needs.",
     "Raise the limit, or request a shorter output; treat a cut output as a failure."},
    {Detector::refused_output, "The prompt, or the users' input, violates the model's rules.",
     "Read the inputs below: state in the prompt what is allowed, and handle refusals in the "
     "application."},
    {Detector::unparsable_output, "The model returns free text where a program expects a format.",
     "Request structured output with a schema, and retry once with the parser's message when it does "
     "not fit."},
    {Detector::empty_retrieval, "The index does not contain what users search for, or its filter is too narrow.",
     "Read the inputs below, add the missing documents to the index, and let the agent report that it "
     "found nothing."},
    {Detector::eval_drop, "Outputs are evaluated worse than in the baseline.",
     "Read the examples with their explanations; compare prompt, model and retrieved documents with "
     "better ones."},
    {Detector::session_failure, "The last response that users saw was a failure.",
     "Find what fails in the examples first; then give the agent a fallback that lets users continue."},
    {Detector::provider_limit,
     "The provider rejects calls for a time: more requests or tokens than its limit allows, or it is "
     "overloaded.",
     "Retry with growing pauses, spread the calls, raise the limit, or configure a second provider."},
    {Detector::reported_error, "A tool returns its failure as an ordinary result, so no span is marked as failed.",
     "Set the status of the tool's span to error and raise the failure where it happens, so that it "
     "is counted."},
    {Detector::unused_tools,
     "The agent returns a result from the model's memory, or writes about a tool instead of calling "
     "it.",
     "Require in the prompt that facts come from a tool, show one correct call, and reject results "
     "without a call."},
    {Detector::invalid_tool_call,
     "The model writes calls that the tool's schema does not allow; the schema or its description is "
     "unclear.",
     "Use the provider's strict tool mode, simplify the schema, and return to the model which "
     "argument is wrong."},
    {Detector::agent_loop,
     "The agent makes no progress: the result of a step does not show it that another try will not "
     "help.",
     "Return a clear final result when nothing is found, and stop the agent after a few similar steps."},
    {Detector::ignored_instruction,
     "The instruction competes with others in the prompt, or the model cannot check it itself.",
     "State it once, at the end of the prompt, and enforce it in code instead of in the prompt."},
    {Detector::missing_result, "The agent uses all its steps, or ends before it returns a result.",
     "Read the last steps of the examples: raise the limit only when they make progress, else stop "
     "earlier."},
    {Detector::growing_context, "Each step adds to the conversation until the model cannot read all of it.",
     "Summarise or drop old results of tools, and limit how much of a result is added."},
    {Detector::reading, "Programs see no failure: the model decides wrongly, or its prompt allows it to.",
     "Read the quoted spans; change the prompt or the tools, and add an evaluator or a dataset of such cases."},
};
constexpr AdviceRow advice_of_reported = {Detector::reported, "It was reported; nothing was measured.",
                                          "Read the examples and decide whether it recurs."};

} // namespace

Advice advice_of(Detector detector) {
    const AdviceRow* row = std::find_if(std::begin(advice_table), std::end(advice_table),
                                        [&](const AdviceRow& one) { return one.detector == detector; });
    if (row == std::end(advice_table)) row = &advice_of_reported;
    return {row->usual_cause, row->next_step};
}

} // namespace hone::signal
