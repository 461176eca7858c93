// One driver per protocol of a harness. It is a pure translator: bytes of the harness's stdout in, events and bytes
// for its stdin out. It starts no process and reads no clock, so recorded transcripts test it. One thread at a time.
// Order: launch, begin, (send | interrupt | read)*, close?, end. A server that re-attaches makes a new driver with the
// same Setup, calls launch and begin (throwing their output away) and reads the spool from its start.
#pragma once

#include "base/result.h"
#include "harness/event.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::harness {

// What a run gives its harness. All addresses and paths are those inside the sandbox; none of them is a secret.
struct Setup {
    std::string model = {};
    std::string system_prompt = {}; // added to the harness's own
    std::string context = {};       // CLAUDE.md / AGENTS.md of the run
    std::string session = {};       // UUID of the session; becomes the harness's id where it lets us choose
    std::string resume = {};        // the harness's id of an earlier sandbox of this session; empty at first
    std::string gateway = "http://127.0.0.1:3129";
    std::string placeholder_key = "hone";       // what the CLIs send as a key; the gateway replaces it
    std::string home = "/workspace/.hone/home"; // kept with the thread
    std::string workspace = "/workspace";
    std::string program = {};                // the harness's executable
    std::string node = {};                   // Node.js to run it with, where it needs one
    std::vector<std::string> arguments = {}; // of `command`: appended to the program
    std::string model_protocol = {};         // of harnesses that speak several: anthropic, openai, gemini
    struct SkillFolder {
        std::string name;
        std::string path; // inside the sandbox, read-only
    };
    std::vector<SkillFolder> skills = {};
};

// A file that is mounted read-only, so that nothing a worker plants can take its place.
struct ConfigFile {
    std::string path;
    std::string content;
};

// A folder that is mounted read-only at another place: skills where the harness reads them.
struct ConfigFolder {
    std::string path;
    std::string source; // inside the sandbox
};

struct Launch {
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> env;
    std::vector<ConfigFile> files;
    std::vector<ConfigFolder> folders;
    bool open_stdin = true;
};

// How a harness process ended.
struct Exit {
    int64_t code = 0;
    bool by_signal = false;
};

// What a driver wants done after a call.
struct Output {
    std::vector<Event> events;
    std::string input; // bytes for the harness's stdin
    bool close_input = false;
};

class Driver {
public:
    virtual ~Driver() = default;

    virtual Result<Launch> launch(const Setup& setup) = 0;
    // The handshake, once the process runs.
    virtual void begin(Output& output) = 0;
    // A prompt. Joins the running turn where the harness can, else waits for its end.
    virtual void send(std::string_view text, Output& output) = 0;
    virtual void interrupt(Output& output) = 0;
    virtual void read(std::string_view bytes, Output& output) = 0;
    // Requests the harness to end after its turn.
    virtual void close(Output& output) = 0;
    // The process is gone. A turn that was running is reported as failed.
    virtual void end(Exit exit, Output& output) = 0;

    // A turn was requested and is not over.
    bool busy() const { return m_turns_open > 0; }
    // The last turn ended well.
    bool succeeded() const { return m_succeeded; }
    // What the harness calls this session; empty until known.
    const std::string& harness_session() const { return m_harness_session; }

protected:
    void open_turn() { m_turns_open += 1; }
    void close_turn(bool succeeded) {
        if (m_turns_open > 0) m_turns_open -= 1;
        m_succeeded = succeeded;
    }
    // The common part of end().
    void end_turns(Exit exit, Output& output);

    int m_turns_open = 0;
    bool m_succeeded = false;
    std::string m_harness_session;
};

// Splits a stream into lines; a line over the cap is dropped and counted.
class Lines {
public:
    static constexpr size_t cap = size_t{32} << 20;
    // Calls `take` for each whole line, without its newline.
    template <class Take>
    void add(std::string_view bytes, Take&& take) {
        while (!bytes.empty()) {
            const size_t newline = bytes.find('\n');
            const std::string_view part = bytes.substr(0, newline);
            if (m_line.size() + part.size() > cap) m_overlong = true, m_line.clear();
            if (!m_overlong) m_line.append(part);
            if (newline == std::string_view::npos) return;
            bytes.remove_prefix(newline + 1);
            if (m_overlong)
                m_dropped += 1;
            else if (!m_line.empty())
                take(std::string_view(m_line));
            m_line.clear();
            m_overlong = false;
        }
    }
    // What stands after the last newline.
    std::string rest() { return std::exchange(m_line, {}); }
    int64_t dropped() const { return m_dropped; }

private:
    std::string m_line;
    bool m_overlong = false;
    int64_t m_dropped = 0;
};

std::unique_ptr<Driver> make_claude_code();
std::unique_ptr<Driver> make_codex();
// `flavour` is the harness's name in the catalog: opencode, gemini, qwen, copilot.
std::unique_ptr<Driver> make_acp(std::string flavour);
// Any executable: prompt on stdin, text or Claude-style JSON lines out.
std::unique_ptr<Driver> make_command();

} // namespace hone::harness
