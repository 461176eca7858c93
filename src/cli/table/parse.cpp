#include "cli/table/parse.h"

#include "cli/terminal/display.h"

#include <algorithm>

namespace hone::cli {

namespace {

std::string in_quotes(std::string_view text) {
    return "\"" + safe_line(cut_to_width(text, 60)) + "\"";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& words) {
    const std::string_view near = suggest(word, words);
    return near.empty() ? "" : "; did you mean " + std::string(near) + "?";
}

std::string one_of(const std::vector<std::string_view>& choices) {
    std::string text;
    for (const auto choice : choices) text += (text.empty() ? "" : ", ") + std::string(choice);
    return text;
}

class Parser {
public:
    Parser(const Tree& tree, const std::vector<std::string>& words) : m_tree(tree), m_words(words) {}

    Parsed parse() {
        m_parsed.json = std::find(m_words.begin(), m_words.end(), "--json") != m_words.end();
        bool options_end = false;
        while (m_at < m_words.size() && !m_parsed.problem) {
            const std::string& word = m_words[m_at++];
            if (!options_end && word == "--")
                options_end = true;
            else if (!options_end && word.size() > 1 && word.front() == '-')
                take_option(word);
            else
                take_word(word);
        }
        if (!m_parsed.problem && !m_parsed.help) check_complete();
        return std::move(m_parsed);
    }

private:
    void fail(std::string problem) { m_parsed.problem = std::move(problem); }

    void take_option(const std::string& word) {
        if (word == "-h") {
            m_parsed.help = true;
            return;
        }
        const size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const auto options = m_tree.options_of(m_parsed.command);
        const auto option =
            std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.is_called(name); });
        if (option == options.end()) {
            std::vector<std::string_view> names;
            for (const auto& known : options) names.push_back(known.name);
            return fail("unknown option " + in_quotes(name) + did_you_mean(name, names));
        }
        if (option->value.empty()) {
            if (equals != std::string::npos) return fail(name + " takes no value");
            m_parsed.values[std::string(option->name)] = {};
            m_parsed.help = m_parsed.help || name == "--help";
            return;
        }
        std::string value;
        if (equals != std::string::npos)
            value = word.substr(equals + 1);
        else if (m_at < m_words.size())
            value = m_words[m_at++];
        else
            return fail(name + " needs a value: " + name + " " + std::string(option->value));
        add_value(*option, std::move(value));
    }

    void add_value(const Option& option, std::string value) {
        const std::string name(option.name);
        if (!is_choice(option.choices, value))
            return fail(name + " must be one of " + one_of(option.choices) + ", not " + in_quotes(value) +
                        did_you_mean(value, option.choices));
        auto& values = m_parsed.values[name];
        if (!values.empty() && !option.repeated) return fail(name + " is given twice");
        values.push_back(std::move(value));
    }

    static bool is_choice(const std::vector<std::string_view>& choices, std::string_view value) {
        return choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end();
    }

    void take_word(const std::string& word) {
        // "import" is a command, "import langfuse" another one.
        const Command* longer = m_parsed.command != nullptr && m_argument == 0
                                    ? m_tree.find(std::string(m_parsed.command->path) + " " + word)
                                    : nullptr;
        if (m_parsed.command == nullptr || longer != nullptr)
            take_command_word(word);
        else
            take_argument(word);
    }

    // "skills" is the group "skill".
    std::string group_of(const std::string& word) const {
        if (!m_parsed.path.empty() || !word.ends_with('s') || m_tree.find_group(word) != nullptr ||
            m_tree.find(word) != nullptr)
            return word;
        const std::string singular = word.substr(0, word.size() - 1);
        return m_tree.find_group(singular) != nullptr ? singular : word;
    }

    void take_command_word(const std::string& given) {
        const std::string word = group_of(given);
        const std::string path = m_parsed.path.empty() ? word : m_parsed.path + " " + word;
        m_parsed.command = m_tree.find(path);
        if (m_parsed.command != nullptr || (m_parsed.path.empty() && m_tree.find_group(word) != nullptr)) {
            m_parsed.path = path;
            return;
        }
        const auto words = m_tree.words_after(m_parsed.path);
        fail("unknown command " + in_quotes(path) + did_you_mean(word, words));
    }

    void take_argument(const std::string& word) {
        const auto& arguments = m_parsed.command->arguments;
        if (m_argument == arguments.size())
            return fail("unexpected argument " + in_quotes(word) + ": " + in_quotes(m_parsed.path) + " takes " +
                        (arguments.empty() ? "none" : "at most " + std::to_string(arguments.size())));
        const Argument& argument = arguments[m_argument++];
        if (word.empty()) return fail(std::string(argument.name) + " must not be empty");
        if (!is_choice(argument.choices, word))
            return fail(std::string(argument.name) + " must be one of " + one_of(argument.choices) + ", not " +
                        in_quotes(word) + did_you_mean(word, argument.choices));
        m_parsed.values[std::string(argument.name)] = {word};
    }

    void check_complete() {
        if (m_parsed.command == nullptr) {
            if (!m_parsed.path.empty())
                fail("hone " + m_parsed.path + " needs one of: " + one_of(m_tree.words_after(m_parsed.path)));
            return;
        }
        for (size_t i = m_argument; i < m_parsed.command->arguments.size(); ++i)
            if (!m_parsed.command->arguments[i].optional)
                return fail("hone " + m_parsed.path + " needs " + std::string(m_parsed.command->arguments[i].name) +
                            ": " + std::string(m_parsed.command->arguments[i].doc));
    }

    const Tree& m_tree;
    const std::vector<std::string>& m_words;
    size_t m_at = 0;
    size_t m_argument = 0;
    Parsed m_parsed;
};

} // namespace

std::optional<std::string> Parsed::value(std::string_view name) const {
    const auto found = values.find(name);
    if (found == values.end() || found->second.empty()) return std::nullopt;
    return found->second.back();
}

std::vector<std::string> Parsed::all(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::vector<std::string>() : found->second;
}

Parsed parse(const Tree& tree, const std::vector<std::string>& words) {
    return Parser(tree, words).parse();
}

} // namespace hone::cli
