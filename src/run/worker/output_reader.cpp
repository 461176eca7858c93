#include "run/worker/output_reader.h"

namespace hone::run {

namespace {

constexpr size_t most_waiting_bytes = 8 << 20;

} // namespace

void OutputReader::start(sandbox::Provider& provider, const sandbox::SandboxId& sandbox, int64_t command,
                         int64_t offset) {
    stop();
    m_thread = std::jthread([this, &provider, sandbox, command, offset](const std::stop_token& stop) {
        run(stop, provider, sandbox, command, offset);
    });
}

void OutputReader::stop() {
    if (!m_thread.joinable()) return;
    m_thread.request_stop();
    m_thread.join();
    (void)take();
}

std::vector<OutputChunk> OutputReader::take() {
    std::vector<OutputChunk> chunks;
    {
        const Lock lock(m_mutex);
        chunks.swap(m_chunks);
        m_bytes = 0;
    }
    m_taken.notify_all(); // the reader may wait for room
    return chunks;
}

void OutputReader::add(OutputChunk chunk) {
    {
        const Lock lock(m_mutex);
        m_bytes += chunk.bytes.size();
        m_chunks.push_back(std::move(chunk));
    }
    m_arrived();
}

void OutputReader::run(const std::stop_token& stop, sandbox::Provider& provider, const sandbox::SandboxId& sandbox,
                       int64_t command, int64_t offset) {
    auto connection = provider.attach(sandbox);
    while (connection.ok() && !stop.stop_requested()) {
        {
            const Lock lock(m_mutex);
            m_taken.wait(m_mutex, stop, [this]() REQUIRES_LOCK(m_mutex) { return m_bytes <= most_waiting_bytes; });
        }
        auto output = connection.value()->output(command, offset, 1000);
        if (!output.ok()) {
            if (output.error().code == Code::busy) continue;
            break;
        }
        for (sandbox::Output::Part& part : output.value().parts) {
            offset += static_cast<int64_t>(sandbox::frame_header_bytes + part.bytes.size());
            add({part.stream, std::move(part.bytes), offset, false});
        }
        if (output.value().finished) break;
    }
    if (!stop.stop_requested()) add({sandbox::Stream::out, "", offset, true});
}

} // namespace hone::run
