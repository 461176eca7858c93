#include "cli/commands/evaluate/comparison_report.h"

#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"

#include <fmt/format.h>

namespace hone::cli {

namespace {

double real_of(const json::Value& object, std::string_view name) {
    const json::Value* found = member(object, name);
    return found != nullptr && found->is_number() ? found->to_number<double>() : 0;
}

bool flag_of(const json::Value& object, std::string_view name) {
    const json::Value* found = member(object, name);
    return found != nullptr && found->is_bool() && found->get_bool();
}

json::Array list_of(const json::Value& object, std::string_view name) {
    const json::Value* found = member(object, name);
    return found != nullptr && found->is_array() ? found->get_array() : json::Array{};
}

json::Value object_of(const json::Value& object, std::string_view name) {
    const json::Value* found = member(object, name);
    return found != nullptr && found->is_object() ? *found : json::Value(json::Object{});
}

std::string verdict_text(const json::Value& metric) {
    const std::string verdict = text_of(metric, "verdict");
    return verdict == "no_difference_shown" ? "no difference shown" : verdict;
}

std::string interval_text(const json::Value& metric) {
    const json::Value* low = member(metric, "low");
    if (low == nullptr || low->is_null()) return "too few examples for an interval";
    return fmt::format("95 % interval {:+.3f} to {:+.3f}", real_of(metric, "low"), real_of(metric, "high"));
}

std::string flips_text(const json::Value& metric) {
    if (!flag_of(metric, "is_pass_fail")) return "";
    return fmt::format("{} fixed, {} broken, {} passed in both, {} failed in both, {} flaky",
                       number_of(metric, "fixed"), number_of(metric, "broken"), number_of(metric, "passed_both"),
                       number_of(metric, "failed_both"), number_of(metric, "flaky"));
}

// Nothing in a name ends a cell, starts markup or breaks a line.
std::string markdown_cell(const std::string& text) {
    std::string safe;
    for (const char letter : safe_line(text)) {
        if (std::string_view("\\`*_{}[]()<>#+-.!|~&@").find(letter) != std::string_view::npos) safe += '\\';
        safe += letter;
    }
    return safe;
}

std::string xml_text(const std::string& text) {
    std::string safe;
    for (const char letter : text) {
        switch (letter) {
        case '&':
            safe += "&amp;";
            break;
        case '<':
            safe += "&lt;";
            break;
        case '>':
            safe += "&gt;";
            break;
        case '"':
            safe += "&quot;";
            break;
        default:
            safe += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
        }
    }
    return safe;
}

// "62 % of 21 decided (95 % interval 41 to 79), p 0.38"
std::string preference_text(const json::Value& pair) {
    const json::Value* rate = member(pair, "win_rate");
    if (rate == nullptr || !rate->is_number()) return "no example is decided";
    return fmt::format("better for {:.0f} % of {} decided examples (95 % interval {:.0f} to {:.0f} %), sign test p "
                       "{:.3g}, q {:.3g}",
                       100 * rate->to_number<double>(), number_of(pair, "wins") + number_of(pair, "losses"),
                       100 * real_of(pair, "low"), 100 * real_of(pair, "high"), real_of(pair, "p"), real_of(pair, "q"));
}

std::string bias_text(const json::Value& pair) {
    const json::Value* rate = member(pair, "flip_rate");
    if (rate == nullptr || !rate->is_number()) return "";
    std::string text =
        fmt::format("the verdict changes with the order for {:.0f} % of the pairs", 100 * rate->to_number<double>());
    if (const std::string favours = text_of(pair, "favours"); favours == "first" || favours == "second")
        text += fmt::format("; it favours the output shown {} ({} of {} picks are the first)", favours,
                            number_of(pair, "first_picks"), number_of(pair, "picks"));
    return text;
}

std::string people_text(const json::Value& pair) {
    const json::Value people = object_of(pair, "people");
    if (number_of(people, "count") == 0) return "";
    std::string text = fmt::format("agrees with people on {:.0f} % of {} pairs", 100 * real_of(people, "agreement"),
                                   number_of(people, "count"));
    if (const json::Value* kappa = member(people, "kappa"); kappa != nullptr && kappa->is_number())
        text += fmt::format(", kappa {:.2f} ({:.2f} to {:.2f})", kappa->to_number<double>(), real_of(people, "low"),
                            real_of(people, "high"));
    return text;
}

std::string pair_text(const json::Value& pair) {
    std::string text =
        fmt::format("{}@{}  {} better, {} worse, {} ties, {} inconsistent, {} undecided  {}\n    {}\n",
                    safe_line(text_of(pair, "name")), number_of(pair, "version"), number_of(pair, "wins"),
                    number_of(pair, "losses"), number_of(pair, "ties"), number_of(pair, "inconsistent"),
                    number_of(pair, "undecided"), verdict_text(pair), preference_text(pair));
    for (const std::string& line : {bias_text(pair), people_text(pair)})
        if (!line.empty()) text += "    " + line + "\n";
    if (number_of(pair, "pairs") < number_of(pair, "expected_pairs"))
        text += fmt::format("    {}: {} of {} pairs have verdicts, {} failed {}\n", text_of(pair, "state"),
                            number_of(pair, "pairs"), number_of(pair, "expected_pairs"),
                            number_of(pair, "failed_pairs"), safe_line(text_of(pair, "reason")));
    return text + "    " + text_of(pair, "task_id") + "\n";
}

} // namespace

std::string first_reason(const json::Value& comparison) {
    const json::Array reasons = list_of(object_of(comparison, "gate"), "reasons");
    if (reasons.empty()) return "no reason is given";
    return safe_line(text_of(reasons.front(), "message")) +
           (reasons.size() > 1 ? fmt::format(" (and {} more)", reasons.size() - 1) : "");
}

std::string comparison_text(const json::Value& comparison) {
    std::string text =
        fmt::format("{} against {}: {} examples in common\n\n", safe_line(text_of(comparison, "other_name")),
                    safe_line(text_of(comparison, "base_name")), number_of(comparison, "common_examples"));
    for (const json::Value& metric : list_of(comparison, "metrics")) {
        text += fmt::format("{}  {:+.3f}  {}\n", safe_line(text_of(metric, "name")), real_of(metric, "delta"),
                            verdict_text(metric));
        text += fmt::format("    {:.3f} -> {:.3f} over {} examples, {}, p {:.3g}, q {:.3g} ({})\n",
                            real_of(metric, "base_mean"), real_of(metric, "other_mean"), number_of(metric, "pairs"),
                            interval_text(metric), real_of(metric, "p"), real_of(metric, "q"),
                            safe_line(text_of(metric, "test")));
        if (const std::string flips = flips_text(metric); !flips.empty()) text += "    " + flips + "\n";
    }
    if (const json::Array pairs = list_of(comparison, "pairwise"); !pairs.empty()) {
        text += "\npairwise\n";
        for (const json::Value& pair : pairs) text += pair_text(pair);
    }
    const json::Value latency = object_of(comparison, "latency");
    if (number_of(latency, "pairs") > 0)
        text +=
            fmt::format("\nlatency  x{:.2f}  median {:.0f} ms -> {:.0f} ms, p {:.3g}\n", real_of(latency, "ratio"),
                        real_of(latency, "base_median_ms"), real_of(latency, "other_median_ms"), real_of(latency, "p"));
    const json::Value gate = object_of(comparison, "gate");
    text += "\ngate " + text_of(gate, "verdict") + "\n";
    for (const json::Value& reason : list_of(gate, "reasons"))
        text += "    " + safe_line(text_of(reason, "message")) + "\n";
    for (const json::Value& note : list_of(gate, "notes"))
        if (note.is_string()) text += "    " + safe_line(std::string(note.get_string())) + "\n";
    return text;
}

std::string comparison_markdown(const json::Value& comparison) {
    const json::Value gate = object_of(comparison, "gate");
    std::string text =
        fmt::format("### Experiment gate {}\n\n{} against {}, {} examples in common.\n\n", text_of(gate, "verdict"),
                    markdown_cell(text_of(comparison, "other_name")), markdown_cell(text_of(comparison, "base_name")),
                    number_of(comparison, "common_examples"));
    text += "| metric | base | now | difference | 95 % interval | q | fixed | broken | result |\n";
    text += "|---|---|---|---|---|---|---|---|---|\n";
    for (const json::Value& metric : list_of(comparison, "metrics")) {
        const bool has_flips = flag_of(metric, "is_pass_fail");
        const json::Value* low = member(metric, "low");
        text += fmt::format("| {} | {:.3f} | {:.3f} | {:+.3f} | {} | {:.3g} | {} | {} | {} |\n",
                            markdown_cell(text_of(metric, "name")), real_of(metric, "base_mean"),
                            real_of(metric, "other_mean"), real_of(metric, "delta"),
                            low == nullptr || low->is_null()
                                ? std::string("too few examples")
                                : fmt::format("{:+.3f} to {:+.3f}", real_of(metric, "low"), real_of(metric, "high")),
                            real_of(metric, "q"), has_flips ? std::to_string(number_of(metric, "fixed")) : "",
                            has_flips ? std::to_string(number_of(metric, "broken")) : "", verdict_text(metric));
    }
    if (const json::Array pairs = list_of(comparison, "pairwise"); !pairs.empty()) {
        text += "\n| pairwise | better | worse | ties | inconsistent | undecided | q | changes with the order | result "
                "|\n|---|---|---|---|---|---|---|---|---|\n";
        for (const json::Value& pair : pairs)
            text +=
                fmt::format("| {} | {} | {} | {} | {} | {} | {:.3g} | {:.0f} % | {} |\n",
                            markdown_cell(text_of(pair, "name")), number_of(pair, "wins"), number_of(pair, "losses"),
                            number_of(pair, "ties"), number_of(pair, "inconsistent"), number_of(pair, "undecided"),
                            real_of(pair, "q"), 100 * real_of(pair, "flip_rate"), verdict_text(pair));
    }
    const json::Value coverage = object_of(gate, "coverage");
    text += fmt::format("\n{} of {} runs succeeded, {} failed, {} are missing.\n", number_of(coverage, "runs"),
                        number_of(coverage, "expected"), number_of(coverage, "failed"), number_of(coverage, "missing"));
    for (const json::Value& reason : list_of(gate, "reasons"))
        text += "\n- **Failed:** " + markdown_cell(text_of(reason, "message"));
    for (const json::Value& note : list_of(gate, "notes"))
        if (note.is_string()) text += "\n- " + markdown_cell(std::string(note.get_string()));
    return text + "\n";
}

std::string comparison_junit(const json::Value& comparison) {
    const json::Value gate = object_of(comparison, "gate");
    const json::Array metrics = list_of(comparison, "metrics");
    std::string cases;
    size_t failed = 0;
    const auto add = [&](const std::string& name, const std::string& guard_of) {
        std::string failures;
        for (const json::Value& reason : list_of(gate, "reasons"))
            if (text_of(reason, "metric") == guard_of)
                failures += fmt::format("      <failure type=\"{}\" message=\"{}\"/>\n",
                                        xml_text(text_of(reason, "guard")), xml_text(text_of(reason, "message")));
        failed += !failures.empty();
        cases += fmt::format("    <testcase classname=\"experiment\" name=\"{}\"", xml_text(name));
        cases += failures.empty() ? "/>\n" : ">\n" + failures + "    </testcase>\n";
    };
    for (const json::Value& metric : metrics) add(text_of(metric, "name"), text_of(metric, "name"));
    const json::Array pairs = list_of(comparison, "pairwise");
    for (const json::Value& pair : pairs) add(text_of(pair, "name"), text_of(pair, "name"));
    add("coverage", "");
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" "
        "failures=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
        xml_text(text_of(comparison, "other_name")), metrics.size() + pairs.size() + 1, failed, cases);
}

} // namespace hone::cli
