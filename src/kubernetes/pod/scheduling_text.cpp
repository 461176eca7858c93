#include "kubernetes/pod/scheduling_text.h"

#include "base/text.h"

#include <array>

namespace hone::kubernetes {

namespace {

struct NodeReason {
    std::string_view part; // of the scheduler's text
    std::string_view words;
};
constexpr std::array node_reasons{
    NodeReason{"Insufficient memory", "too little free memory"},
    NodeReason{"Insufficient cpu", "too little free CPU"},
    NodeReason{"Insufficient ephemeral-storage", "too little free disk"},
    NodeReason{"Insufficient pods", "as many pods as it can have"},
    NodeReason{"Too many pods", "as many pods as it can have"},
    NodeReason{"untolerated taint", "a taint that workers do not tolerate"},
    NodeReason{"didn't tolerate", "a taint that workers do not tolerate"},
    NodeReason{"didn't match Pod's node affinity/selector", "not the labels that the settings require"},
    NodeReason{"didn't match node selector", "not the labels that the settings require"},
    NodeReason{"volume node affinity conflict", "no access to the volume of the thread"},
    NodeReason{"node(s) were unschedulable", "been closed for new pods"},
    NodeReason{"didn't find available persistent volumes", "no volume for the thread"},
    NodeReason{"unbound immediate PersistentVolumeClaims", "no volume for the thread"},
    NodeReason{"exceed max volume count", "as many volumes as it can have"},
};

// "2 Insufficient memory" → "2 have too little free memory".
std::string explain_part(std::string_view part) {
    const size_t blank = part.find(' ');
    const auto count = parse_integer(part.substr(0, blank));
    for (const NodeReason& known : node_reasons) {
        if (part.find(known.part) == std::string_view::npos) continue;
        std::string words = (count.ok() ? std::to_string(count.value()) + (count.value() == 1 ? " has " : " have ")
                                        : std::string("a node has ")) +
                            std::string(known.words);
        const size_t open = part.find('{');
        if (const size_t close = part.find('}', open == std::string_view::npos ? part.size() : open);
            close != std::string_view::npos)
            words += " (" + std::string(trim(part.substr(open + 1, close - open - 1))) + ")";
        return words;
    }
    return std::string(part);
}

} // namespace

std::string explain_scheduling(std::string_view message) {
    constexpr std::string_view mark = " nodes are available: ";
    if (message.empty()) return "No node of the cluster can take the pod";
    const size_t at = message.find(mark);
    if (at == std::string_view::npos) return "No node of the cluster can take the pod: " + std::string(message);
    const size_t slash = message.find('/');
    const std::string total = slash < at ? std::string(message.substr(slash + 1, at - slash - 1)) : std::string();
    std::string_view reasons = message.substr(at + mark.size());
    reasons = reasons.substr(0, reasons.find(" preemption:")); // of the same nodes again
    while (reasons.ends_with('.') || reasons.ends_with(' ')) reasons.remove_suffix(1);
    std::string text = "None of the cluster's " + total + " nodes can take the pod: ";
    bool first = true;
    while (!reasons.empty()) {
        // A taint may contain ", ": pieces end before a number.
        size_t end = reasons.find(", ");
        while (end != std::string_view::npos && !(reasons[end + 2] >= '0' && reasons[end + 2] <= '9'))
            end = reasons.find(", ", end + 2);
        text += (first ? "" : ", ") + explain_part(reasons.substr(0, end));
        first = false;
        reasons = end == std::string_view::npos ? std::string_view() : reasons.substr(end + 2);
    }
    return text;
}

} // namespace hone::kubernetes
