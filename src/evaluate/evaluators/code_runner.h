// Runs the code of evaluators: a batch of documents in one sandbox without network, with limits on time, memory,
// processes and output. Each document gets a verdict or the reason why there is none. A process that ends, hangs or
// writes nonsense fails the document that it was working on; the rest of the batch continues in a new sandbox.
// Thread-safe; blocks.
#pragma once

#include "evaluate/content/files.h"
#include "evaluate/evaluators/code_layers.h"
#include "sandbox/provider/provider.h"

#include <functional>

namespace hone::evaluate {

struct CodeResult {
    std::optional<Verdict> verdict;
    std::string error; // why there is no verdict
    int64_t duration_ms = 0;
};

class CodeRunner {
public:
    // Short-lived files are below `directory`.
    CodeRunner(sandbox::Provider& provider, CodeLayers& layers, std::string directory)
        : m_provider(provider),
          m_layers(layers),
          m_directory(std::move(directory)) {}

    // One result per document, in their order. Where a document names one of `files`, it also has its path. `stopped`:
    // true ends the batch with `conflict`. An error otherwise is about the machine (no sandbox), not about the code.
    Result<std::vector<CodeResult>> run_code(const EvaluatorVersion& version, const std::vector<json::Value>& documents,
                                             const std::function<bool()>& stopped = {},
                                             const DocumentFiles& files = {}) const;

private:
    struct Batch;
    Result<size_t> run_process(Batch& batch, size_t first) const;
    Result<> run_commands(Batch& batch) const;

    sandbox::Provider& m_provider;
    CodeLayers& m_layers;
    const std::string m_directory;
};

} // namespace hone::evaluate
