#include "kubernetes/provider/pod_sandbox.h"

#include "base/text.h"
#include "sandbox/image/workspace.h"

#include <unistd.h>

namespace hone::kubernetes {

using sandbox::ShimReply, sandbox::ShimRequest, sandbox::ShimVerb;

namespace {

constexpr Duration prompt = std::chrono::seconds(30);

ShimRequest request_about(ShimVerb verb, std::optional<int64_t> command = std::nullopt) {
    ShimRequest request;
    request.verb = verb;
    request.number = command;
    return request;
}

// What is known of a pod that does not exist any more.
sandbox::SandboxView view_of_ended(const sandbox::SandboxId& id, const PodState& state) {
    using sandbox::LimitHit;
    sandbox::SandboxView view;
    view.id = id;
    view.state = sandbox::State::stopped;
    view.error = state.text;
    if (state.cause == PodCause::memory) view.limits_hit.push_back(LimitHit::oom);
    if (state.cause == PodCause::disk) view.limits_hit.push_back(LimitHit::disk);
    if (state.cause == PodCause::deadline) view.limits_hit.push_back(LimitHit::timeout);
    return view;
}

class PodFiles final : public sandbox::Files {
public:
    explicit PodFiles(std::shared_ptr<PodConnection> connection) : m_connection(std::move(connection)) {}

    Result<std::vector<sandbox::FileEntry>> list(const std::string& path, const sandbox::FileLimits& limits) override {
        std::string text;
        TRY(m_connection->receive("list " + path, limits.most_entries * 4096, [&](std::string_view bytes) -> Result<> {
            text += bytes;
            return {};
        }));
        std::vector<sandbox::FileEntry> entries;
        for (const std::string_view line : split(text, '\n'))
            if (!line.empty()) entries.push_back(TRY(json::read<sandbox::FileEntry>(line)));
        for (sandbox::FileEntry& entry : entries) // the pod is hostile
            if (!sandbox::checked_workspace_path(entry.path).ok()) entry.path.clear();
        if (static_cast<int64_t>(entries.size()) > limits.most_entries)
            return too_large("the folder has too many entries");
        return entries;
    }
    Result<int64_t> copy(const std::string& path, int into, const sandbox::FileLimits& limits) override {
        return receive("copy " + path, limits.most_file_bytes, into);
    }
    Result<int64_t> archive(const std::string& path, int into, const sandbox::FileLimits& limits) override {
        constexpr int64_t headers = int64_t{64} << 20; // of a tar with many small files
        return receive("archive " + path, limits.most_archive_bytes + headers, into);
    }

private:
    Result<int64_t> receive(const std::string& request, int64_t most, int into) {
        return m_connection->receive(request, most, [into](std::string_view bytes) { return write_all(into, bytes); });
    }

    const std::shared_ptr<PodConnection> m_connection;
};

class PodSandbox final : public sandbox::Sandbox {
public:
    PodSandbox(sandbox::SandboxId id, std::shared_ptr<PodConnection> connection, std::function<Result<>()> destroy,
               SaveCapture save)
        : m_id(std::move(id)),
          m_connection(std::move(connection)),
          m_destroy(std::move(destroy)),
          m_save(std::move(save)) {}

    const sandbox::SandboxId& id() const override { return m_id; }

    Result<sandbox::SandboxView> view() override { return view_by(ShimVerb::view); }
    Result<sandbox::SandboxView> stop() override { return view_by(ShimVerb::stop); }

    Result<int64_t> execute(const sandbox::Command& command) override {
        ShimRequest request = request_about(ShimVerb::execute);
        request.command = command;
        return TRY(m_connection->call(request, prompt)).reply.number.value_or(0);
    }

    Result<sandbox::CommandResult> wait(int64_t command, int64_t timeout_ms) override {
        const ShimReply reply = TRY(wait_for(request_about(ShimVerb::wait, command), timeout_ms)).reply;
        if (!reply.result) return corrupt("the pod sent no result");
        if (!reply.finished.value_or(false)) return busy("the command still runs");
        return *reply.result;
    }

    Result<sandbox::SandboxView> wait_stopped(int64_t timeout_ms) override {
        const ShimReply reply = TRY(wait_for(request_about(ShimVerb::wait), timeout_ms)).reply;
        if (!reply.view) return corrupt("the pod sent no view");
        if (!reply.finished.value_or(false)) return busy("the sandbox still runs");
        return *reply.view;
    }

    Result<sandbox::Output> output(int64_t command, int64_t offset, int64_t timeout_ms) override {
        ShimRequest request = request_about(ShimVerb::output, command);
        request.offset = offset;
        const PodConnection::Reply got = TRY(wait_for(std::move(request), timeout_ms));
        const sandbox::Decoded decoded = TRY(sandbox::decode_frames(got.bytes));
        sandbox::Output output;
        for (const sandbox::Frame& frame : decoded.frames)
            output.parts.push_back({frame.stream, frame.time, std::string(frame.bytes)});
        output.next = offset + static_cast<int64_t>(decoded.used);
        output.finished = got.reply.finished.value_or(false) && output.next >= got.reply.size.value_or(0);
        return output;
    }

    Result<size_t> write_input(int64_t command, std::string_view bytes, int64_t timeout_ms) override {
        const Duration until = SystemClock().steady() + std::chrono::milliseconds(timeout_ms);
        for (;;) {
            const auto got = TRY(
                m_connection->call(request_about(ShimVerb::input, command), prompt, bytes.substr(0, most_call_bytes)));
            const auto accepted = static_cast<size_t>(got.reply.size.value_or(0));
            if (accepted > bytes.size()) return corrupt("the pod accepted more than it got");
            if (accepted > 0 || SystemClock().steady() >= until) return accepted;
            std::this_thread::sleep_for(std::chrono::milliseconds(20)); // its command does not read
        }
    }
    Result<> close_input(int64_t command) override { return send(request_about(ShimVerb::close_input, command)); }
    Result<> signal(int64_t command, int signal) override {
        ShimRequest request = request_about(ShimVerb::signal, command);
        request.value = signal;
        return send(request);
    }
    Result<> resize(int64_t command, int rows, int columns) override {
        ShimRequest request = request_about(ShimVerb::resize, command);
        request.rows = rows;
        request.columns = columns;
        return send(request);
    }
    Result<> freeze() override { return unavailable("a pod cannot be frozen"); }
    Result<> thaw() override { return unavailable("a pod cannot be frozen"); }

    Result<std::vector<Fd>> listeners() override { return m_connection->listeners(); }
    Result<std::unique_ptr<sandbox::Files>> files() override {
        if (const auto ended = m_connection->ended()) return unavailable(ended->text);
        return std::unique_ptr<sandbox::Files>(std::make_unique<PodFiles>(m_connection));
    }
    Result<> refresh(const sandbox::Mount& changed) override {
        return m_connection->send_files({{changed.source, changed.target}});
    }
    Result<> destroy() override { return m_destroy(); }
    Result<> save_capture(const std::function<bool()>& cancelled) override {
        return m_save ? m_save(cancelled) : Result<>();
    }

private:
    Result<PodConnection::Reply> wait_for(ShimRequest request, int64_t timeout_ms) {
        if (timeout_ms < 0) return m_connection->call(request, std::nullopt);
        request.timeout_ms = timeout_ms;
        return m_connection->call(request, std::chrono::milliseconds(timeout_ms) + prompt);
    }
    Result<> send(const ShimRequest& request) {
        TRY(m_connection->call(request, prompt));
        return {};
    }
    Result<sandbox::SandboxView> view_by(ShimVerb verb) {
        if (const auto ended = m_connection->ended()) return view_of_ended(m_id, *ended);
        const auto got = m_connection->call(request_about(verb), prompt);
        if (const auto ended = m_connection->ended(); !got.ok() && ended) return view_of_ended(m_id, *ended);
        if (!got.ok()) return got.error();
        if (!got.value().reply.view) return corrupt("the pod sent no view");
        return *got.value().reply.view;
    }

    const sandbox::SandboxId m_id;
    const std::shared_ptr<PodConnection> m_connection;
    const std::function<Result<>()> m_destroy;
    const SaveCapture m_save;
};

} // namespace

std::unique_ptr<sandbox::Sandbox> sandbox_of(const sandbox::SandboxId& id, std::shared_ptr<PodConnection> connection,
                                             std::function<Result<>()> destroy, SaveCapture save) {
    return std::make_unique<PodSandbox>(id, std::move(connection), std::move(destroy), std::move(save));
}

} // namespace hone::kubernetes
