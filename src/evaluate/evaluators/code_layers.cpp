#include "evaluate/evaluators/code_layers.h"

#include "base/text.h"
#include "evaluate/evaluators/evaluator_versions.h"
#include "evaluate/evaluators/short_lived_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace hone::evaluate {

namespace {

constexpr size_t most_packages = 50;
constexpr size_t longest_package = 200;
constexpr size_t largest_setup = 32 << 10;
constexpr int64_t install_ms = 300'000;
constexpr Duration retry_after = std::chrono::minutes(1);
constexpr size_t kept_log = 2000;
constexpr std::string_view packages_inside = "/packages";

bool has_only(std::string_view text, std::string_view punctuation) {
    return std::ranges::all_of(text, [&](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || punctuation.find(letter) != std::string_view::npos;
    });
}

Result<> check_packages(std::string_view field, const std::vector<std::string>& packages, std::string_view punctuation,
                        std::string_view example) {
    if (packages.size() > most_packages)
        return invalid(fmt::format("{} has at most {} packages", field, most_packages));
    for (const std::string& package : packages)
        if (package.empty() || package.size() > longest_package || package.front() == '-' || package.front() == '.' ||
            package.find("..") != std::string::npos || !has_only(package, punctuation))
            return invalid(fmt::format("{}: \"{}\" is not a package, such as {}", field,
                                       repair_utf8(truncate_utf8(package, 100)), example));
    return {};
}

// Letters of packages are checked, none is a quote.
std::string quoted(const std::vector<std::string>& packages) {
    std::string text;
    for (const std::string& package : packages) text += " '" + package + "'";
    return text;
}

// The name that `npm pack` gives: @scope/name@1.2.3 is scope-name-1.2.3.tgz.
std::string tarball_of(const std::string& package) {
    std::string name = package.starts_with("@") ? package.substr(1) : package;
    if (const size_t at = name.rfind('@'); at != std::string::npos) name[at] = '-';
    std::ranges::replace(name, '/', '-');
    return std::string(packages_inside) + "/" + name + ".tgz";
}

constexpr std::string_view pip_program = R"sh(if ! python3 -m pip --version > /dev/null 2>&1; then
  for wheel in /usr/share/python-wheels/pip-*.whl; do
    if [ -f "$wheel" ]; then export PYTHONPATH="$wheel"; fi
  done
  python3 -m pip --version > /dev/null 2>&1 || { echo "this server has no pip: install the package python3-pip"; exit 1; }
fi
)sh";

} // namespace

Result<> check(const CodeDependencies& dependencies, CodeLanguage language) {
    TRY(check_packages("dependencies.pip", *dependencies.pip, "._-[],=<>!~*+", "numpy==2.1.0"));
    TRY(check_packages("dependencies.npm", *dependencies.npm, "._-@/+", "ajv@8.17.1"));
    if (!dependencies.pip.value.empty() && language != CodeLanguage::python)
        return invalid("dependencies.pip belongs to code in Python");
    if (!dependencies.npm.value.empty() && language != CodeLanguage::node)
        return invalid("dependencies.npm belongs to code in Node");
    for (const std::string& package : *dependencies.npm)
        if (package.find('@', 1) == std::string::npos)
            return invalid("dependencies.npm: " + package + " needs a version, such as " + package + "@1.2.3");
    if (dependencies.setup.value.size() > largest_setup)
        return too_large(fmt::format("dependencies.setup has at most {} KiB", largest_setup >> 10));
    if (dependencies.setup.value.find('\0') != std::string::npos)
        return invalid("dependencies.setup must not have NUL characters");
    return {};
}

std::string install_script(const CodeDependencies& dependencies, bool has_packages) {
    std::string script = fmt::format("mkdir -p {} {}\n", python_dependencies, node_dependencies);
    if (!dependencies.pip.value.empty())
        script += std::string(pip_program) +
                  fmt::format("python3 -m pip install --no-index --no-cache-dir --disable-pip-version-check{} --target "
                              "{}{}\nunset PYTHONPATH\n",
                              has_packages ? " --find-links " + std::string(packages_inside) : "", python_dependencies,
                              quoted(*dependencies.pip));
    if (!dependencies.npm.value.empty()) {
        std::string tarballs;
        for (const std::string& package : *dependencies.npm) {
            const std::string file = tarball_of(package);
            script += fmt::format("[ -f '{0}' ] || {{ echo 'no package {0}'; exit 1; }}\n", file);
            tarballs += " '" + file + "'";
        }
        script += "cd /opt/evaluator && npm install --offline --no-audit --no-fund --ignore-scripts --no-save" +
                  tarballs + "\n";
    }
    if (!trim(*dependencies.setup).empty()) script += "cd /home/worker\n" + *dependencies.setup + "\n";
    return script;
}

Result<std::string> CodeLayers::prepare(const EvaluatorVersion& version, const std::function<bool()>& stopped) {
    if (!version.code || version.code->dependencies.value.is_empty()) return std::string();
    const CodeDependencies& dependencies = *version.code->dependencies;
    TRY(check(dependencies, version.code->language));
    sandbox::Preparation preparation;
    preparation.space = version.space_id.text();
    preparation.script = install_script(dependencies, !m_packages.empty());
    preparation.env.value = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/home/worker"}, {"LANG", "C.UTF-8"}};
    preparation.inputs.value["purpose"] = "evaluator"; // never the layer of a run
    preparation.timeout_ms = install_ms;
    if (!m_packages.empty()) preparation.mounts.value.push_back({m_packages, std::string(packages_inside), true});
    const sandbox::Store store = TRY(sandbox::Store::open(m_data_directory));
    const std::string key = TRY(sandbox::layer_key(store, preparation));
    const SystemClock clock;
    {
        const Lock lock(m_mutex);
        const auto failed = m_failures.find(key);
        if (failed != m_failures.end() && clock.steady() < failed->second.until) return invalid(failed->second.why);
    }
    TRY(mark(key, definition_hash(version)));
    const auto layer = sandbox::prepare_layer(m_provider, store, preparation, {.cancelled = stopped});
    if (layer.ok()) return key;
    if (stopped && stopped()) return conflict("the evaluation was stopped");
    if (layer.error().code != Code::conflict) return layer.error();
    std::string log = repair_utf8(trim(layer.error().message));
    if (log.size() > kept_log) log = repair_utf8(log.substr(log.size() - kept_log));
    std::string why = "the dependencies could not be installed; they are installed without network, ";
    why += m_packages.empty() ? "and this server has no folder of packages (evaluator_packages_dir)"
                              : "from the folder of packages of the server (evaluator_packages_dir)";
    why += ": " + log;
    const Lock lock(m_mutex);
    m_failures[key] = {why, clock.steady() + retry_after};
    return invalid(why);
}

// A line for each version. Written before the layer is made, so that none is ever without its file.
Result<> CodeLayers::mark(const std::string& key, const std::string& content_hash) {
    const Lock lock(m_mutex);
    const std::string path = m_marks + "/" + key;
    std::string lines;
    if (file_exists(path)) lines = TRY(read_file(path, 16 << 20));
    if (lines.find(content_hash) != std::string::npos) return {};
    TRY(make_directories(m_marks, 0700));
    return write_file(path, lines + content_hash + "\n");
}

Result<int64_t> CodeLayers::collect(sql::Database& database) {
    if (!file_exists(m_marks)) return int64_t{0};
    const sandbox::Store store = TRY(sandbox::Store::open(m_data_directory));
    int64_t removed = 0;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(m_marks, failed)) {
        const std::string key = entry.path().filename().string();
        const Lock lock(m_mutex);
        const std::string lines = TRY(read_file(entry.path().string(), 16 << 20));
        bool is_named = false;
        for (const std::string_view hash : split(lines, '\n')) {
            if (hash.empty() || is_named) continue;
            is_named = !TRY(database.query("SELECT 1 FROM evaluator_versions WHERE content_hash = ? LIMIT 1",
                                           std::string(hash)))
                            .empty();
        }
        if (is_named || !sandbox::is_plain_name(key)) continue;
        if (!TRY(sandbox::remove_layer(store, key))) continue; // in use
        std::filesystem::remove(entry.path(), failed);
        ++removed;
    }
    if (removed > 0) store.empty_trash();
    if (failed) return unavailable("the files of layers could not be read: " + failed.message());
    return removed;
}

} // namespace hone::evaluate
