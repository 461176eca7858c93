// Any object as a pod, and as its own event: its state has text that can be shown.
#include "kubernetes/pod/pod_state.h"
#include "base/text.h"
#include "kubernetes/pod/admission.h"
#include "kubernetes/pod/scheduling_text.h"

#include <algorithm>
#include <cstdlib>

using namespace hone;
using namespace hone::kubernetes;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    (void)explain_scheduling(text);
    const auto parsed = json::parse(text);
    if (!parsed.ok()) return 0;
    const PodState state = read_pod_state(parsed.value(), {parsed.value()});
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (!is_valid_utf8(state.text) || std::any_of(state.text.begin(), state.text.end(), is_control)) std::abort();
    if (state.text.size() > 4096) std::abort();
    if (state.phase == PodPhase::ended && state.text.empty()) std::abort();
    if (!admission_differences(parsed.value(), parsed.value()).empty() && parsed.value().is_object() &&
        parsed.value().get_object().contains("spec") && parsed.value().get_object().at("spec").is_object())
        std::abort();
    return 0;
}
