#include "config/config.h"

#include "base/file.h"
#include "base/text.h"

namespace {
// toml++ asserts, instead of refusing, that a key begins with a letter: `[!` in the file would end the program.
struct NotToml {};
[[noreturn]] void refuse_toml() {
    throw NotToml{};
}
} // namespace
#undef NDEBUG // else it takes for granted what it would have asserted
#define TOML_ASSERT(expression) (static_cast<bool>(expression) ? static_cast<void>(0) : refuse_toml())
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace hone::config {

namespace {

Result<toml::parse_result> parse_toml(std::string_view text, const std::string& origin) {
    try {
        return toml::parse(text, origin);
    } catch (const NotToml&) {
        return invalid(origin + ": not valid TOML");
    }
}

const Setting* find(std::string_view name) {
    for (const Setting& setting : settings())
        if (setting.name == name) return &setting;
    return nullptr;
}

Result<> apply(Loaded& loaded, const Setting& setting, std::string_view value, Source source,
               const std::string& where) {
    auto outcome = setting.set(loaded.config, setting, value);
    if (!outcome.ok()) return invalid(where + ": " + outcome.error().message);
    loaded.sources[std::string(setting.name)] = source;
    return {};
}

} // namespace

std::string Setting::flag() const {
    std::string text = "--" + std::string(name);
    for (char& c : text)
        if (c == '_') c = '-';
    return text;
}

std::string Setting::variable() const {
    std::string text = "HONE_" + std::string(name);
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

const char* source_name(Source source) {
    switch (source) {
    case Source::built_in:
        return "default";
    case Source::file:
        return "file";
    case Source::environment:
        return "environment";
    case Source::flag:
        return "flag";
    }
    return "default";
}

Result<> apply_file(Loaded& loaded, std::string_view toml, const std::string& origin) {
    const toml::parse_result parsed = TRY(parse_toml(toml, origin));
    if (!parsed) {
        const auto& error = parsed.error();
        return invalid(origin + ", line " + std::to_string(error.source().begin.line) + ": " +
                       std::string(error.description()));
    }
    for (const auto& [key, node] : parsed.table()) {
        const std::string where = origin + ", line " + std::to_string(node.source().begin.line);
        const Setting* setting = find(key.str());
        if (setting == nullptr || setting->name == "data_dir")
            return invalid(where + ": unknown setting " + std::string(key.str()) + " (`hone serve --help` lists them)");
        std::string value;
        if (const auto text = node.value_exact<std::string>())
            value = *text;
        else if (const auto number = node.value_exact<int64_t>())
            value = std::to_string(*number);
        else if (const auto flag = node.value_exact<bool>())
            value = *flag ? "true" : "false";
        else
            return invalid(where + ": " + std::string(key.str()) + " must be text or a number");
        TRY(apply(loaded, *setting, value, Source::file, where));
    }
    return {};
}

Result<Loaded> load(const std::map<std::string, std::string>& flags, const Lookup& environment) {
    Loaded loaded;
    // The data directory first: it tells where the file is.
    const Setting* data_dir = find("data_dir");
    if (const auto value = environment(data_dir->variable()))
        TRY(apply(loaded, *data_dir, *value, Source::environment, data_dir->variable()));
    if (const auto value = flags.find("data_dir"); value != flags.end())
        TRY(apply(loaded, *data_dir, value->second, Source::flag, "--data-dir"));

    const std::string path = loaded.config.data_dir + "/hone.toml";
    if (file_exists(path)) {
        const std::string text = TRY(read_file(path, 1 << 20));
        TRY(apply_file(loaded, text, path));
    }
    for (const Setting& setting : settings())
        if (const auto value = environment(setting.variable()); value && setting.name != "data_dir")
            TRY(apply(loaded, setting, *value, Source::environment, setting.variable()));
    for (const auto& [name, value] : flags) {
        const Setting* setting = find(name);
        CHECK_OR_ABORT(setting != nullptr);
        TRY(apply(loaded, *setting, value, Source::flag, setting->flag()));
    }
    if (loaded.config.tls_certificate_file.empty() != loaded.config.tls_key_file.empty())
        return invalid("tls_certificate_file and tls_key_file belong together: set both or neither");
    return loaded;
}

Result<std::map<std::string, std::string>> parse_flags(std::span<const char* const> arguments) {
    std::map<std::string, std::string> flags;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view argument = arguments[i];
        const size_t equals = argument.find('=');
        const std::string_view flag = argument.substr(0, equals);
        const Setting* found = nullptr;
        for (const Setting& setting : settings())
            if (setting.flag() == flag) found = &setting;
        if (found == nullptr) return invalid("unknown option " + std::string(flag) + " (--help lists them)");
        if (flags.contains(std::string(found->name))) return invalid(std::string(flag) + " is given twice");
        if (equals == std::string_view::npos && i + 1 == arguments.size())
            return invalid(std::string(flag) + " needs a value");
        flags[std::string(found->name)] =
            equals == std::string_view::npos ? arguments[++i] : argument.substr(equals + 1);
    }
    return flags;
}

std::string flags_help() {
    std::string out;
    const Config defaults;
    for (const Setting& setting : settings()) {
        out += "  " + setting.flag() + " " + std::string(setting.value_hint) + "\n      " + std::string(setting.doc);
        if (const std::string value = setting.get(defaults); !value.empty()) out += " [" + value + "]";
        out += "\n";
    }
    return out;
}

std::string print_markdown() {
    std::string out =
        "# Settings of `hone serve`\n\n"
        "Printed by `hone print config`. A flag wins over the environment variable, the variable over the key in\n"
        "`hone.toml` in the data directory. Durations: `90s`, `10m`, `1h30m`, `7d`. Sizes: `512k`, `64m`, `4g`.\n\n"
        "| key in `hone.toml` | flag | variable | default | meaning |\n|---|---|---|---|---|\n";
    const Config defaults;
    for (const Setting& setting : settings()) {
        const std::string value = setting.get(defaults);
        out += "| `" + std::string(setting.name) + "` | `" + setting.flag() + "` | `" + setting.variable() + "` | " +
               (value.empty() ? "" : "`" + value + "`") + " | " + std::string(setting.doc) + " |\n";
    }
    return out;
}

} // namespace hone::config
