#include "cli/toolkit/completion.h"

#include "cli/remote/context.h"

#include <algorithm>

namespace hone::cli {

namespace {

// ${COMP_WORDS[0]} is what the user typed, so a program that is not in PATH completes too.
constexpr std::string_view bash_script = R"(# bash completion for hone; load with: source <(hone completion bash)
_hone() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == ":files" ]]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("${COMP_WORDS[0]/#\~/$HOME}" completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _hone hone
)";

constexpr std::string_view zsh_script = R"(#compdef hone
# zsh completion for hone; load with: source <(hone completion zsh)
_hone() {
    local line files=0
    local -a found
    while IFS= read -r line; do
        if [[ $line == ":files" ]]; then
            files=1
        else
            found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        fi
    done < <("${~words[1]}" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( ${#found} )) && _describe 'hone' found
    (( files )) && _files
}
if [ "${funcstack[1]}" = "_hone" ]; then
    _hone "$@"
else
    compdef _hone hone
fi
)";

constexpr std::string_view fish_script = R"(# fish completion for hone; load with: hone completion fish | source
function __hone_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] completion words $words[2..-1] 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c hone -f -a '(__hone_complete)'
)";

// bash splits "--role=ad" into "--role", "=", "ad"; the other shells leave it whole.
std::vector<std::string> join_equals(const std::vector<std::string>& words) {
    std::vector<std::string> joined;
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] != "=" || joined.empty() || !joined.back().starts_with("--")) {
            joined.push_back(words[i]);
            continue;
        }
        joined.push_back(i + 1 < words.size() ? words[++i] : "");
    }
    return joined;
}

class Completer {
public:
    explicit Completer(const Tree& tree) : m_tree(tree) {}

    Candidates complete(std::vector<std::string> words) {
        if (words.empty()) words.emplace_back();
        const std::string current = words.back();
        words.pop_back();
        for (size_t i = 0; i < words.size(); ++i) {
            const Option* option = find_option(words[i]);
            if (option != nullptr && !option->value.empty() && words[i].find('=') == std::string::npos) {
                if (i + 1 == words.size()) return values_of(*option, "", current);
                ++i;
            } else if (option == nullptr && !take_word(words[i])) {
                return {};
            }
        }
        if (current.starts_with('-')) return options(current);
        return next_words(current);
    }

private:
    const Option* find_option(std::string_view word) {
        if (!word.starts_with('-')) return nullptr;
        m_options = m_tree.options_of(m_command);
        const std::string_view name = word.substr(0, word.find('='));
        const auto found = std::find_if(m_options.begin(), m_options.end(),
                                        [&](const auto& option) { return option.is_called(name); });
        return found == m_options.end() ? nullptr : &*found;
    }

    bool take_word(const std::string& word) {
        if (word.starts_with('-')) return true;
        const bool is_longer = m_command != nullptr && m_argument == 0 && m_tree.find(m_path + " " + word) != nullptr;
        if (m_command != nullptr && !is_longer) {
            ++m_argument;
            return true;
        }
        const std::string path = m_path.empty() ? word : m_path + " " + word;
        m_command = m_tree.find(path);
        const bool known = m_command != nullptr || (m_path.empty() && m_tree.find_group(path) != nullptr);
        m_path = path;
        return known;
    }

    static void offer(Candidates& into, std::string word, std::string_view doc, std::string_view typed) {
        if (word.starts_with(typed)) into.words.push_back({std::move(word), std::string(doc)});
    }

    static Candidates values_of(const Option& option, const std::string& prefix, std::string_view typed) {
        Candidates found;
        for (const auto choice : option.choices) offer(found, prefix + std::string(choice), "", typed);
        found.files = option.value == "FILE";
        return found;
    }

    Candidates options(const std::string& current) {
        const Option* option = find_option(current);
        if (const size_t equals = current.find('='); equals != std::string::npos)
            return option == nullptr ? Candidates() : values_of(*option, current.substr(0, equals + 1), current);
        Candidates found;
        for (const auto& known : m_tree.options_of(m_command))
            offer(found, std::string(known.name), known.doc, current);
        return found;
    }

    Candidates next_words(const std::string& current) const {
        Candidates found;
        if (m_command == nullptr) {
            for (const auto word : m_tree.words_after(m_path)) offer(found, std::string(word), doc_of(word), current);
            return found;
        }
        if (m_command->path == "help" && m_argument == 0) {
            for (const auto word : m_tree.words_after("")) offer(found, std::string(word), doc_of(word), current);
            return found;
        }
        if (m_argument == 0)
            for (const auto word : m_tree.words_after(m_path))
                offer(found, std::string(word), m_tree.find(m_path + " " + std::string(word))->summary, current);
        if (m_argument >= m_command->arguments.size()) return found;
        const Argument& argument = m_command->arguments[m_argument];
        for (const auto choice : argument.choices) offer(found, std::string(choice), "", current);
        found.files = argument.name == "FILE";
        return found;
    }

    std::string_view doc_of(std::string_view word) const {
        const std::string path = m_path.empty() || m_command ? std::string(word) : m_path + " " + std::string(word);
        if (const Command* command = m_tree.find(path)) return command->summary;
        if (const Group* group = m_tree.find_group(path)) return group->summary;
        for (const auto& local : m_tree.local)
            if (local.name == word) return local.summary;
        return "";
    }

    const Tree& m_tree;
    std::string m_path;
    const Command* m_command = nullptr;
    size_t m_argument = 0;
    std::vector<Option> m_options;
};

Result<> print_script(Context& context) {
    context.console.print(completion_script(context.value_or_empty("SHELL")));
    return {};
}

} // namespace

Candidates complete(const Tree& tree, const std::vector<std::string>& words) {
    return Completer(tree).complete(join_equals(words));
}

std::string print_candidates(const Candidates& candidates) {
    std::string text;
    for (const auto& [word, doc] : candidates.words) text += word + (doc.empty() ? "" : "\t" + doc) + "\n";
    if (candidates.files) text += ":files\n";
    return text;
}

std::string_view completion_script(std::string_view shell) {
    if (shell == "bash") return bash_script;
    return shell == "zsh" ? zsh_script : fish_script;
}

std::vector<Command> completion_commands() {
    return {{.path = "completion",
             .summary = "Print the completion script of a shell.",
             .arguments = {{.name = "SHELL", .doc = "bash, zsh or fish.", .choices = {"bash", "zsh", "fish"}}},
             .details = "bash: source <(hone completion bash)\nzsh:  source <(hone completion zsh)\n"
                        "fish: hone completion fish | source",
             .needs = Needs::nothing,
             .run = print_script}};
}

} // namespace hone::cli
