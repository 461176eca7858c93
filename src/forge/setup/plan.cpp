#include "forge/setup/plan.h"

#include "base/text.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <set>

namespace hone::forge {

namespace {

constexpr std::string_view own_script = ".hone/setup.sh";
constexpr std::array<std::string_view, 2> devcontainers = {".devcontainer/devcontainer.json", ".devcontainer.json"};
constexpr size_t most_folders = 10; // that have lock files of their own
constexpr size_t deepest_folder = 2;

// A tool that reads a file of this name. Of several for one tool in a folder the first one counts.
struct Installer {
    std::string_view file;
    std::string_view tool;
    std::string_view script;
};
constexpr Installer installers[] = {
    {"package-lock.json", "node", "npm ci --no-audit --no-fund"},
    {"npm-shrinkwrap.json", "node", "npm ci --no-audit --no-fund"},
    {"pnpm-lock.yaml", "node", "npm install --global --prefix \"$HOME/.local\" pnpm@9\npnpm install --frozen-lockfile"},
    {"yarn.lock", "node", "npm install --global --prefix \"$HOME/.local\" yarn@1\nyarn install --frozen-lockfile"},
    {"uv.lock", "python", "pip_install uv\nuv sync --frozen"},
    {"poetry.lock", "python",
     "pip_install poetry\nPOETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction --no-ansi"},
    {"requirements.txt", "python", "pip_install -r requirements.txt"},
    {"pyproject.toml", "python", "pip_install -e ."},
    {"Cargo.lock", "rust", "cargo fetch --locked"},
    {"go.mod", "go", "go mod download"},
    {"pom.xml", "java", "mvn -q -B dependency:go-offline"},
};
// Further names on which a result depends.
constexpr std::string_view other_inputs[] = {
    "package.json",    "pnpm-workspace.yaml",
    ".npmrc",          ".yarnrc",
    ".yarnrc.yml",     "setup.py",
    "setup.cfg",       "Pipfile",
    "Pipfile.lock",    "pdm.lock",
    "Cargo.toml",      "go.sum",
    "go.work",         "rust-toolchain.toml",
    ".python-version", ".nvmrc",
    ".tool-versions",
};

constexpr std::string_view python_prelude = R"sh(pip_install() {
  if ! python3 -m pip --version > /dev/null 2>&1; then
    for wheel in /usr/share/python-wheels/pip-*.whl; do
      if [ -f "$wheel" ]; then PYTHONPATH="$wheel" python3 -m pip install --user --no-warn-script-location pip; fi
    done
  fi
  python3 -m pip install --user --no-warn-script-location "$@"
}
)sh";

std::string_view folder_of(std::string_view path) {
    const size_t slash = path.rfind('/');
    return slash == path.npos ? "" : path.substr(0, slash);
}
bool is_regular(const TreeEntry& entry) {
    return entry.mode == "100644" || entry.mode == "100755";
}

const TreeEntry* find_path(const std::vector<TreeEntry>& files, std::string_view path) {
    const auto found = std::ranges::find(files, path, &TreeEntry::path);
    return found == files.end() ? nullptr : &*found;
}

Result<> check_regular(const TreeEntry& entry) {
    if (is_regular(entry)) return {};
    return invalid(entry.path + " is not a regular file" +
                   (entry.mode == "120000" ? ", but a symbolic link" : std::string()) +
                   ": setup uses regular files only");
}

std::string single_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return quoted + "'";
}

// The installers of one folder; each tool once.
std::string install_in(const std::vector<TreeEntry>& files, std::string_view folder, std::string& source) {
    std::string script;
    std::set<std::string_view> tools;
    for (const Installer& installer : installers) {
        const std::string path = (folder.empty() ? "" : std::string(folder) + "/") + std::string(installer.file);
        const TreeEntry* file = find_path(files, path);
        if (file == nullptr || !is_regular(*file) || !tools.insert(installer.tool).second) continue;
        source += (source.empty() ? "" : ", ") + path;
        script += std::string(installer.script) + "\n";
    }
    return script;
}

// At the top; else, in a repository of several projects, in the folders that have lock files.
std::string install_script(const std::vector<TreeEntry>& files, std::string& source) {
    std::string script = install_in(files, "", source);
    if (!script.empty()) return std::string(python_prelude) + script;
    std::set<std::string_view> folders;
    for (const TreeEntry& file : files) {
        const std::string_view folder = folder_of(file.path);
        const auto depth = static_cast<size_t>(std::ranges::count(folder, '/')) + 1;
        if (!folder.empty() && folder.front() != '.' && depth <= deepest_folder) folders.insert(folder);
    }
    size_t used = 0;
    for (const std::string_view folder : folders) {
        const std::string one = install_in(files, folder, source);
        if (one.empty()) continue;
        if (++used > most_folders) break;
        script += "cd " + single_quoted("./" + std::string(folder)) + "\n" + one + "cd \"$OLDPWD\"\n";
    }
    return script.empty() ? script : std::string(python_prelude) + script;
}

Result<std::string> command_text(const json::Value& value) {
    if (value.is_string()) return std::string(value.get_string());
    if (!value.is_array()) return invalid("postCreateCommand is neither text nor a list");
    std::string words;
    for (const json::Value& word : value.get_array()) {
        if (!word.is_string()) return invalid("postCreateCommand has a word that is no text");
        words += (words.empty() ? "" : " ") + single_quoted(std::string_view(word.get_string()));
    }
    return words;
}

} // namespace

std::string setup_file_pattern() {
    std::string names;
    const auto add = [&](std::string_view name) {
        names += names.empty() ? "" : "|";
        for (const char letter : name) names += letter == '.' ? std::string("\\.") : std::string(1, letter);
    };
    for (const Installer& installer : installers) add(installer.file);
    for (const std::string_view name : other_inputs) add(name);
    return "([[:space:]/](" + names + "|requirements[^/]*\\.txt)|[[:space:]](\\.hone/.*|\\.devcontainer/[^/]*|" +
           "\\.devcontainer\\.json|requirements/[^/]*\\.txt))$";
}

Result<std::vector<TreeEntry>> parse_tree(std::string_view listing) {
    std::vector<TreeEntry> files;
    for (const std::string_view line : split(listing, '\0')) {
        if (line.empty()) continue;
        const size_t tab = line.find('\t');
        const auto words = split(line.substr(0, tab == line.npos ? 0 : tab), ' ');
        if (words.size() != 3) return invalid("git printed a file that cannot be read");
        files.push_back({std::string(words[0]), std::string(words[2]), std::string(line.substr(tab + 1))});
        if (files.size() > most_setup_files)
            return too_large("the repository has more than " + std::to_string(most_setup_files) +
                             " files that setup depends on");
    }
    return files;
}

const TreeEntry* find_devcontainer(std::string_view setup, const std::vector<TreeEntry>& files) {
    if (setup != automatic_setup || find_path(files, own_script) != nullptr) return nullptr;
    for (const std::string_view path : devcontainers)
        if (const TreeEntry* file = find_path(files, path)) return file;
    return nullptr;
}

Result<SetupPlan> plan_setup(std::string_view setup, const std::vector<TreeEntry>& files,
                             std::string_view devcontainer) {
    SetupPlan plan;
    if (setup.empty()) return plan;
    for (const TreeEntry& file : files) plan.inputs["file " + file.path] = file.mode + " " + file.object;
    if (setup != automatic_setup) {
        plan.source = "the preset";
        plan.script = setup;
        return plan;
    }
    if (const TreeEntry* script = find_path(files, own_script)) {
        TRY(check_regular(*script));
        plan.source = own_script;
        plan.script = script->mode == "100755" ? "./.hone/setup.sh" : "/bin/sh -e ./.hone/setup.sh";
        return plan;
    }
    if (const TreeEntry* file = find_devcontainer(setup, files)) {
        TRY(check_regular(*file));
        plan.script = TRY(post_create_command(devcontainer));
        if (!plan.script.empty()) {
            plan.source = file->path;
            return plan;
        }
    }
    plan.script = install_script(files, plan.source);
    return plan;
}

Result<std::string> post_create_command(std::string_view text) {
    if (text.size() > largest_devcontainer)
        return too_large("devcontainer.json is larger than " + std::to_string(largest_devcontainer >> 10) + " KiB");
    const auto parsed = json::parse(without_comments(text));
    if (!parsed.ok()) return invalid("devcontainer.json cannot be read: " + parsed.error().message);
    if (!parsed.value().is_object()) return invalid("devcontainer.json is not an object");
    const json::Value* command = parsed.value().get_object().if_contains("postCreateCommand");
    if (command == nullptr || command->is_null()) return std::string();
    std::string script;
    if (command->is_object()) { // several with names; one after the other
        for (const auto& [name, one] : command->get_object()) script += TRY(command_text(one)) + "\n";
    } else {
        script = TRY(command_text(*command));
    }
    if (script.size() > largest_setup_script || script.find('\0') != script.npos || !is_valid_utf8(script))
        return invalid("postCreateCommand is too long or not text");
    return script;
}

std::string without_comments(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    size_t comma = std::string::npos; // in `plain`: one that may stand before a closing bracket
    for (size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (letter == '/' && at + 1 < text.size() && text[at + 1] == '/') {
            at = std::min(text.find('\n', at), text.size()) - 1;
            continue;
        }
        if (letter == '/' && at + 1 < text.size() && text[at + 1] == '*') {
            const size_t end = text.find("*/", at + 2);
            if (end == text.npos) return plain + "/*"; // not JSON
            at = end + 1;
            continue;
        }
        if (letter == '"') {
            const size_t begin = at;
            for (++at; at < text.size() && text[at] != '"'; ++at)
                if (text[at] == '\\') ++at;
            plain += text.substr(begin, at - begin + 1);
            comma = std::string::npos;
            continue;
        }
        if ((letter == ']' || letter == '}') && comma != std::string::npos) plain[comma] = ' ';
        if (letter == ',')
            comma = plain.size();
        else if (letter != ' ' && letter != '\t' && letter != '\n' && letter != '\r')
            comma = std::string::npos;
        plain += letter;
    }
    return plain;
}

} // namespace hone::forge
