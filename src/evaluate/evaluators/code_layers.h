// Dependencies of code: installed once into a prepared layer (sandbox/image/layer.h) without network, from a folder of
// packages of the server, by a list for pip or npm and by a script. Equal dependencies of a space share a layer. A file
// per layer names the versions that use it; layers that no version names any more are removed. Thread-safe; blocks.
#pragma once

#include "base/mutex.h"
#include "evaluate/evaluators/evaluator_version.h"
#include "sandbox/image/layer.h"
#include "sql/sql.h"

#include <functional>

namespace hone::evaluate {

// Where a layer keeps them; the runners of code look there.
constexpr std::string_view python_dependencies = "/opt/evaluator/python";
constexpr std::string_view node_dependencies = "/opt/evaluator/node_modules";

class CodeLayers {
public:
    // `data_directory`: of the sandboxes. `packages`: the folder, empty: there is none. `marks`: for the files.
    CodeLayers(sandbox::Provider& provider, std::string data_directory, std::string packages, std::string marks)
        : m_provider(provider),
          m_data_directory(std::move(data_directory)),
          m_packages(std::move(packages)),
          m_marks(std::move(marks)) {}

    // The key of the layer; empty: the code needs none. `invalid`: it could not be installed, with the end of the log.
    // `conflict`: `stopped` returned true.
    Result<std::string> prepare(const EvaluatorVersion& version, const std::function<bool()>& stopped);
    // Removes the layers that no version names. Those in use stay until the next call. Returns how many.
    Result<int64_t> collect(sql::Database& database);

private:
    struct Failure {
        std::string why;
        Duration until{}; // steady time: not retried before
    };

    Result<> mark(const std::string& key, const std::string& content_hash);

    sandbox::Provider& m_provider;
    const std::string m_data_directory;
    const std::string m_packages;
    const std::string m_marks;
    Mutex m_mutex;
    std::map<std::string, Failure> m_failures GUARDED_BY(m_mutex); // by key
};

// What can be checked before anything is installed: names, sizes, the language.
Result<> check(const CodeDependencies& dependencies, CodeLanguage language);

// The script that installs them; `has_packages`: a folder of packages is at /packages.
std::string install_script(const CodeDependencies& dependencies, bool has_packages);

} // namespace hone::evaluate
