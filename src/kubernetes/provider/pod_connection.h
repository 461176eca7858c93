// A server's conversation with one pod: calls with replies, files in and out, and the connections that come from
// inside. Any thread; threads of its own for replies and for each connection.
//   open → (call | send_files | receive | listeners)* → stop
#pragma once

#include "base/file.h"
#include "kubernetes/link/calls.h"
#include "kubernetes/pod/pod_state.h"
#include "kubernetes/pod_channel.h"

#include <functional>
#include <list>
#include <set>

namespace hone::kubernetes {

class PodConnection {
public:
    PodConnection(Api& api, PodChannelOptions options, std::string folder);
    ~PodConnection() { stop(); }
    PodConnection(const PodConnection&) = delete;
    PodConnection& operator=(const PodConnection&) = delete;

    // Waits for the pod's first words, as long as `check` returns no error.
    Result<> open(Duration timeout, const std::function<Result<>()>& check);
    void stop();
    // The pod has ended, or does not exist any more: all calls fail with this.
    void set_ended(const PodState& state);
    std::optional<PodState> ended() const;

    struct Reply {
        sandbox::ShimReply reply;
        std::string bytes;
    };
    // Errors are those of the reply, and `unavailable` when the pod does not respond. `timeout`: of the call itself; a
    // lost channel has two minutes to return.
    Result<Reply> call(const sandbox::ShimRequest& request, std::optional<Duration> timeout,
                       std::string_view bytes = {});
    // `forbidden`: the pod can reach one of these.
    Result<> probe(const std::vector<std::string>& addresses);
    // `conflict`: it has none. A server that does not know hostUsers removes it, which admission.h sees; a node that
    // cannot do it may report nothing.
    Result<> require_user_namespace();

    // Files and folders of this machine, each with its target in the pod.
    Result<> send_files(const std::vector<std::pair<std::string, std::string>>& files);
    // An archive of the home (sandbox/archive/home_archive.h), in pieces up to an empty one. `is_kept`: on a volume.
    Result<> send_home(bool is_kept, const std::function<Result<std::string>()>& next);
    // What src/pod/helpers.h sends for the request. The pod is hostile: more than `most` bytes are an error.
    Result<int64_t> receive(const std::string& request, int64_t most,
                            const std::function<Result<>(std::string_view)>& sink);

    // Listening sockets of this process for ports 3128 and 3129 of the pod; new ones replace those of an earlier call.
    Result<std::vector<Fd>> listeners();

private:
    using Sink = std::function<Result<>(std::string_view)>;
    // Opens a stream, writes what `work` gives its sink, and reads the report at its end.
    Result<> send(const StreamOpen& open, const std::function<Result<>(const Sink&)>& work);
    Result<Reply> exchange(PodCall call, std::optional<Duration> timeout, std::string_view bytes);
    void read_replies(const std::stop_token& stop);
    void accept_connections(const std::stop_token& stop);
    void carry(uint32_t stream, const Fd& socket);
    Error gone() const REQUIRES_LOCK(m_mutex);

    const std::string m_folder; // of this machine: for a moment while a listener is made
    PodChannel m_channel;
    Mutex m_write; // one message at a time; before m_mutex
    mutable Mutex m_mutex;
    Condition m_changed;
    int64_t m_next_call GUARDED_BY(m_mutex) = 1;
    std::map<int64_t, std::optional<Reply>> m_calls GUARDED_BY(m_mutex);
    std::optional<PodState> m_ended GUARDED_BY(m_mutex);
    bool m_stopped GUARDED_BY(m_mutex) = false;
    std::map<int64_t, std::shared_ptr<Fd>> m_entrances GUARDED_BY(m_mutex); // by port: a path to its listener
    std::set<int> m_sockets GUARDED_BY(m_mutex);                            // of connections, to end them
    std::list<std::thread> m_carriers GUARDED_BY(m_mutex);
    std::vector<std::thread::id> m_done GUARDED_BY(m_mutex); // carriers that can be joined
    std::jthread m_replies, m_acceptor;                      // last
};

} // namespace hone::kubernetes
