// Any text as a prompt: refused with words, or filled without a variable left.
#include "automation/prompt_template.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::automation;
    const std::string_view prompt(reinterpret_cast<const char*>(data), size);
    const auto checked = check_template(prompt, TriggerType::metric);
    if (!checked.ok() && checked.error().message.empty()) std::abort();
    Automation automation;
    Slot slot;
    const std::string filled = fill_template(prompt, values_of(automation, slot));
    if (filled.size() > prompt.size() * 60 + 1000) std::abort();
    return 0;
}
