// Starting the spawner's process. A server that was started as root has a launcher beside it: a small process that
// keeps root's capabilities and whose only act is to start a spawner. So the server itself can drop its own, and still
// gets another spawner when one ends. One thread; Launcher: any thread, one at a time.
#pragma once

#include "base/mutex.h"
#include "sandbox/wall/channel.h"

#include <memory>
#include <string>
#include <sys/types.h>

namespace hone::sandbox {

// A fresh, small process with an empty environment, whatever this one has grown to. `program` empty: the `hone` beside
// this executable.
Result<pid_t> execute_spawner(const std::string& program, const std::string& data_directory, int socket);

class Launcher {
public:
    static Result<std::unique_ptr<Launcher>> open(const std::string& data_directory);
    ~Launcher(); // waits for it and for the spawners, which end when their servers do

    // The spawner serves the other end of `socket`.
    Result<> start_spawner(int socket);
    // As mount_for_reading (volume.h), by the launcher.
    Result<Fd> mount(int image);

private:
    Launcher(Channel channel, pid_t pid) : m_channel(std::move(channel)), m_pid(pid) {}
    Result<Message> request(std::string_view act, int descriptor);
    Mutex m_mutex;
    Channel m_channel GUARDED_BY(m_mutex);
    pid_t m_pid = 0;
};

// The launcher itself: returns when the server has ended.
void run_launcher(const std::string& data_directory, Channel server);

// Of a process of root: keeps what a server needs of root's capabilities (files of workers that have other uids, ports
// below 1024) and drops the others for this thread and those it starts. Does nothing for other users.
Result<> drop_unneeded_capabilities();

} // namespace hone::sandbox
