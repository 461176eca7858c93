// Calibrations: a version of an evaluator compared with the labels of people.
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>
#include <thread>

namespace hone::cli {

namespace {

const Argument calibrated_argument{.name = "EVALUATOR", .doc = "Id or name of the evaluator."};

// Of an id, or of a name among the evaluators of the space.
Result<std::string> calibrated_path(const Context& context, const std::vector<std::string>& rest) {
    const std::string given = context.value_or_empty("EVALUATOR");
    std::string id = given;
    if (!given.starts_with("evaluator_")) {
        id.clear();
        constexpr size_t most = 1000;
        const Items all = TRY(context.remote.list("/v1/evaluators", space_query(context), most));
        for (const json::Value& one : all.items)
            if (text_of(one, "name") == given) id = text_of(one, "id");
        if (id.empty()) return context.fail(Exit::not_found, "no evaluator is named " + safe_line(given));
    }
    std::vector<std::string> parts{id, "calibrations"};
    parts.insert(parts.end(), rest.begin(), rest.end());
    return path_of("/v1/evaluators", parts);
}

std::string ratio_text(const json::Value* value) {
    return value != nullptr && value->is_number() ? fmt::format("{:.3f}", value->to_number<double>())
                                                  : std::string("not known");
}

std::string kappa_text(const json::Value& view) {
    const json::Value* kappa = member(view, "kappa");
    if (kappa == nullptr || !kappa->is_number()) return "kappa not known";
    return fmt::format("kappa {} ({} to {})", ratio_text(kappa), ratio_text(member(view, "low")),
                       ratio_text(member(view, "high")));
}

void print_calibration(const Context& context, const json::Value& one) {
    Console& console = context.console;
    const json::Value& result = *member(one, "result");
    console.print(fmt::format("{} version {} against {}: {}\n", safe_line(text_of(one, "name")),
                              number_of(one, "number"), safe_line(text_of(one, "config")), text_of(one, "state")));
    if (text_of(one, "state") == "failed") console.print("Reason: " + safe_line(text_of(one, "reason")) + "\n");
    if (text_of(one, "state") != "done") return;
    const json::Value& all = *member(result, "all");
    console.print(fmt::format("{} targets, agreement {}, {}\n", number_of(all, "count"),
                              ratio_text(member(all, "agreement")), kappa_text(all)));
    const json::Value& held_out = *member(result, "held_out");
    console.print(fmt::format("held out: {} targets, {}\n", number_of(held_out, "count"), kappa_text(held_out)));
    console.print(fmt::format("label {}: precision {}, recall {}\n", safe_line(text_of(result, "failing_label")),
                              ratio_text(member(*member(result, "precision"), "rate")),
                              ratio_text(member(*member(result, "recall"), "rate"))));
    console.print(fmt::format("flip rate {}, {} ms and {} nano-USD per verdict\n",
                              ratio_text(member(result, "flip_rate")), number_of(result, "mean_ms"),
                              number_of(result, "mean_cost_nano_usd")));
    for (const json::Value& warning : member(result, "warnings")->as_array())
        if (warning.is_string()) console.print("Note: " + safe_line(std::string(warning.get_string())) + "\n");
    if (const std::string alarm = text_of(one, "alarm"); !alarm.empty())
        console.print("Drift: " + safe_line(alarm) + "\n");
}

Result<> calibrate(Context& context) {
    json::Object body{{"project", context.value_or_empty("--project")}, {"config", context.value_or_empty("--config")}};
    if (const auto target = context.parsed.value("--target")) body["target"] = *target;
    if (const auto label = context.parsed.value("--failing-label")) body["failing_label"] = *label;
    for (const auto& [option, field] :
         {std::pair("--version", "version"), {"--repeat", "repetitions"}, {"--most", "limit"}})
        if (const auto value = TRY(context.integer(option, 1))) body[field] = *value;
    if (context.parsed.has("--canary")) body["canary"] = true;
    const std::string path = TRY(calibrated_path(context, {}));
    json::Value made = TRY(context.remote.post(path, std::move(body)));
    const std::string id = text_of(made, "id");
    while (!context.parsed.has("--no-wait") &&
           (text_of(made, "state") == "queued" || text_of(made, "state") == "running")) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        made = TRY(context.remote.get(TRY(calibrated_path(context, {id}))));
    }
    if (context.json())
        print_json(context, made);
    else
        print_calibration(context, made);
    if (text_of(made, "state") == "failed") return context.fail(Exit::failure, "the calibration failed");
    return {};
}

Result<> list_calibrations(Context& context) {
    const Columns columns{
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "version", .field = "number", .kind = Kind::number},
        {.title = "config", .field = "config"},
        {.title = "state", .field = "state"},
        {.title = "targets", .field = "targets", .kind = Kind::number},
        {.title = "kappa", .field = "result.all.kappa"},
        {.title = "by", .field = "started_by"},
        {.title = "drift", .field = "alarm"},
        {.title = "created", .field = "created_at", .kind = Kind::time},
    };
    return show_list(context, TRY(calibrated_path(context, {})), {}, columns,
                     "No calibrations. Label some traces, then: hone evaluator calibrate EVALUATOR --project PROJECT "
                     "--config CONFIG");
}

} // namespace

std::vector<Command> calibration_commands() {
    return {
        {.path = "evaluator calibrate",
         .summary = "Compare an evaluator with the labels of people: kappa, precision, recall, flip rate, cost.",
         .arguments = {calibrated_argument},
         .options =
             {{.name = "--project", .value = "PROJECT", .doc = "Project of the labelled targets.", .short_name = "-p"},
              {.name = "--config", .value = "NAME", .doc = "Name of the human evals."},
              {.name = "--target",
               .value = "TARGET",
               .doc = "What is labelled. Default: trace.",
               .choices = {"span", "trace", "chat_session"}},
              {.name = "--failing-label",
               .value = "LABEL",
               .doc = "Label whose precision and recall are shown. Default: the one with the lowest score."},
              {.name = "--version", .value = "NUMBER", .doc = "Version of the evaluator. Default: the newest."},
              {.name = "--repeat", .value = "NUMBER", .doc = "Verdicts per target, uncached. Default: 3."},
              {.name = "--most", .value = "NUMBER", .doc = "Most targets. Default: 200."},
              {.name = "--canary",
               .value = "",
               .doc = "Evaluate up to 50 of them again every week, and send a notice about drift."},
              {.name = "--no-wait", .value = "", .doc = "Return immediately."}},
         .run = calibrate},
        {.path = "evaluator calibrations",
         .summary = "List the calibrations and weekly checks of an evaluator.",
         .arguments = {calibrated_argument},
         .lists = true,
         .run = list_calibrations},
    };
}

} // namespace hone::cli
