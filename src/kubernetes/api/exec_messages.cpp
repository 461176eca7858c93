#include "kubernetes/api/exec_messages.h"

#include "base/text.h"
#include "kubernetes/api/object.h"

namespace hone::kubernetes {

namespace {

constexpr size_t most_status_text = 4096;

} // namespace

Result<ExecMessage> parse_exec_message(std::string_view message) {
    if (message.empty()) return invalid("the cluster sent a message without a channel");
    const auto stream = static_cast<ExecStream>(message[0]);
    message.remove_prefix(1);
    switch (stream) {
    case ExecStream::out:
    case ExecStream::err:
    case ExecStream::status:
        return ExecMessage{stream, message};
    case ExecStream::close:
        if (message.size() != 1) return invalid("the cluster closed a channel without its number");
        return ExecMessage{stream, message};
    case ExecStream::in:
    case ExecStream::resize:
        break;
    }
    return invalid("the cluster sent a message on a channel that is not its own");
}

std::string input_message(std::string_view bytes) {
    std::string message(1, static_cast<char>(ExecStream::in));
    message += bytes;
    return message;
}

std::string close_input_message() {
    return {static_cast<char>(ExecStream::close), static_cast<char>(ExecStream::in)};
}

std::string resize_message(int rows, int columns) {
    return std::string(1, static_cast<char>(ExecStream::resize)) + "{\"Width\":" + std::to_string(columns) +
           ",\"Height\":" + std::to_string(rows) + "}";
}

Result<ExecOutcome> parse_exec_status(std::string_view text) {
    const auto parsed = json::parse(text);
    if (!parsed.ok() || !parsed.value().is_object()) return corrupt("the cluster sent a status that cannot be read");
    const json::Value& status = parsed.value();
    ExecOutcome outcome;
    const std::string verdict = text_at(status, {"status"});
    if (verdict == "Success") {
        outcome.exit_code = 0;
        return outcome;
    }
    if (verdict != "Failure") return corrupt("the cluster sent a status that is neither a success nor a failure");
    if (text_at(status, {"reason"}) == "NonZeroExitCode")
        for (const json::Value& cause : list_at(status, {"details", "causes"}))
            if (text_at(cause, {"reason"}) == "ExitCode")
                if (const auto code = parse_integer(text_at(cause, {"message"})); code.ok())
                    outcome.exit_code = code.value();
    if (!outcome.exit_code) {
        outcome.message = std::string(truncate_utf8(text_at(status, {"message"}), most_status_text));
        if (outcome.message.empty()) outcome.message = "the cluster reports a failure without a reason";
    }
    return outcome;
}

} // namespace hone::kubernetes
