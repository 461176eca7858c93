// Reads the output of a command in a sandbox on a thread of its own, with a connection of its own: waiting for output
// must not keep the worker from anything else. `start`, `stop` and `take` belong to the worker's thread.
#pragma once

#include "base/mutex.h"
#include "sandbox/provider/provider.h"

#include <functional>
#include <thread>
#include <vector>

namespace hone::run {

// A piece of output, or its end.
struct OutputChunk {
    sandbox::Stream stream = sandbox::Stream::out;
    std::string bytes;
    int64_t next = 0; // offset in the output after this piece
    bool is_last = false;
};

class OutputReader {
public:
    // `arrived` is called on the reader's thread when there is something to take.
    explicit OutputReader(std::function<void()> arrived) : m_arrived(std::move(arrived)) {}
    ~OutputReader() { stop(); }
    OutputReader(const OutputReader&) = delete;
    OutputReader& operator=(const OutputReader&) = delete;

    // Reads from `offset` on; what was not taken of an earlier command is dropped.
    void start(sandbox::Provider& provider, const sandbox::SandboxId& sandbox, int64_t command, int64_t offset);
    void stop();
    // Everything that arrived since the last call.
    std::vector<OutputChunk> take();

private:
    void run(const std::stop_token& stop, sandbox::Provider& provider, const sandbox::SandboxId& sandbox,
             int64_t command, int64_t offset);
    void add(OutputChunk chunk);

    const std::function<void()> m_arrived;
    Mutex m_mutex;
    Condition m_taken;
    std::vector<OutputChunk> m_chunks GUARDED_BY(m_mutex);
    size_t m_bytes GUARDED_BY(m_mutex) = 0;
    std::jthread m_thread; // last: it uses what stands above
};

} // namespace hone::run
