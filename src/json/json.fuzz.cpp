#include "json/json.h"

namespace {
struct Inner {
    std::vector<std::string> labels;
    static constexpr Pack fields{hone::Field{"labels", &Inner::labels, ""}};
};
struct Outer {
    std::string name;
    std::optional<hone::Time> when;
    std::vector<Inner> parts;
    static constexpr Pack fields{hone::Field{"name", &Outer::name, ""}, hone::Field{"when", &Outer::when, ""},
                                 hone::Field{"parts", &Outer::parts, ""}};
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (auto tree = hone::json::parse(text); tree.ok()) {
        // What was printed reads back the same.
        const std::string printed = hone::json::print(tree.value());
        CHECK_OR_ABORT(hone::json::print(hone::json::parse(printed).value()) == printed);
    }
    (void)hone::json::read<Outer>(text).ok();
    return 0;
}
