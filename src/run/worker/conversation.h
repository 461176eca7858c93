// Between the harness and the people, from the start of the harness's first process to the end of the run: events of
// its output go to the transcript, inputs and commands of people go to the harness. On the worker's thread.
//   (start | resume) converse
#pragma once

#include "run/worker/live_run.h"
#include "run/worker/output_reader.h"

namespace hone::run {

class Conversation {
public:
    explicit Conversation(LiveRun& run) : m_run(run), m_reader([&run] { run.notify_output(); }) {}

    // Starts the harness in the prepared sandbox and sends it the inputs that wait. None: it runs.
    std::optional<RunEnd> start();
    // After a restart of the server: the harness has continued. A new driver reads its output once more up to where the
    // transcript ends, with the same inputs at the same places, and continues from there.
    Result<> resume();
    // Until the run is over. None: released, the sandbox continues.
    std::optional<RunEnd> converse();

    void close_input() { m_has_input = false; }
    void stop_reading() { m_reader.stop(); }
    // The last result of the harness.
    const std::string& result() const { return m_result; }
    // The end of its stderr.
    const std::string& errors() const { return m_errors; }

private:
    Result<> start_process();
    Result<> replay_output();
    std::optional<RunEnd> converse_once();
    Result<> read_output(const std::vector<OutputChunk>& chunks);
    // Writes what happened to the transcript, then passes on what the driver has for the harness.
    Result<> apply(harness::Output output, int64_t offset);
    Result<> mark_sent(int64_t seq, bool opens_turn);
    Result<> write_progress(const std::vector<RunEvent>& events, int64_t offset);
    // Of the run's budget.
    void count_step();
    void write_input();
    std::optional<RunEnd> handle_commands();
    void interrupt();
    Result<> send_inputs();
    // Closes or suspends a conversation whose turn is over.
    std::optional<RunEnd> finish_turn();
    std::optional<RunEnd> end_when_idle(Duration now);
    std::optional<RunEnd> end_process();
    bool restart_process();
    RunEnd outcome() const;

    LiveRun& m_run;
    int64_t m_command = 0;
    int64_t m_offset = 0;                      // output up to here was read
    std::pair<int64_t, std::string> m_written; // offset and session of the harness as the database has them
    bool m_has_input = false;                  // the command has one, and it was not closed
    std::string m_pending_input;
    bool m_close_input = false;
    std::string m_errors;
    std::string m_result;
    std::string m_crash;        // how the harness ended in the middle of a turn
    bool m_interrupted = false; // a person ended the turn: it has not failed by itself
    Duration m_waiting_since{};
    Duration m_commands_read_at{};
    Duration m_usage_counted_at{};
    std::optional<Duration> m_closing_since;
    OutputReader m_reader; // last: its thread uses what stands above
};

} // namespace hone::run
