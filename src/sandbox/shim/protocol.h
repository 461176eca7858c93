// The grammar of the two conversations: server to spawner, and server to shim. One request, one reply, in order, per
// connection; a second connection is made for what should not wait. Strict JSON over a Channel.
#pragma once

#include "sandbox/provider/spec.h"

namespace hone::sandbox {

enum class SpawnerVerb {
    create,     // `spec`; the reply brings the id and a channel to the new shim, which sends the first message
    prepare,    // the reply brings the id of a slot and a channel to its shim, which reports when it can be claimed
    attach,     // `id`; the reply brings a new channel to its shim
    list,       // the ids of all live sandboxes
    reconcile,  // cleans up after dead shims; `id`: after this one only
    namespaces, // `count`: 1 when this machine makes them, otherwise 0
};
constexpr auto enum_names(SpawnerVerb) {
    return std::array{EnumName{SpawnerVerb::create, "create"},       EnumName{SpawnerVerb::prepare, "prepare"},
                      EnumName{SpawnerVerb::attach, "attach"},       EnumName{SpawnerVerb::list, "list"},
                      EnumName{SpawnerVerb::reconcile, "reconcile"}, EnumName{SpawnerVerb::namespaces, "namespaces"}};
}

struct SpawnerRequest {
    SpawnerVerb verb = SpawnerVerb::list;
    std::optional<SandboxId> id;
    std::optional<SandboxSpec> spec;
    static constexpr Pack fields{
        Field{"verb", &SpawnerRequest::verb, "What to do."},
        Field{"id", &SpawnerRequest::id, "Which sandbox."},
        Field{"spec", &SpawnerRequest::spec, "What to create."},
    };
};

struct SpawnerReply {
    std::optional<std::string> code; // of the error; none is success
    std::optional<std::string> message;
    std::optional<SandboxId> id;
    std::optional<std::vector<SandboxId>> sandboxes;
    std::optional<int64_t> count;
    static constexpr Pack fields{
        Field{"code", &SpawnerReply::code, "Error code, absent on success."},
        Field{"message", &SpawnerReply::message, "Error message."},
        Field{"id", &SpawnerReply::id, "The sandbox."},
        Field{"sandboxes", &SpawnerReply::sandboxes, "Live sandboxes."},
        Field{"count", &SpawnerReply::count, "How many were cleaned up, or another number."},
    };
};

enum class ShimVerb {
    claim, // `spec`, to a slot, once; the reply is that of a new sandbox
    view,
    execute, // `command`; the reply has its number
    wait,    // until command `number` has ended, or the sandbox has (`number` absent); at most `timeout_ms`
    output,  // until its spool is longer than `offset`, or it has ended; the reader has everything before `offset`.
             // Without `offset`: immediately, and the reply brings a descriptor of the spool
    signal,  // `value` to the command
    resize,  // terminal of the command to `rows`, `columns`
    input,   // the reply brings the writing end of the command's input
    close_input,
    stdout_pipe, // the reply brings the reading end of a direct stdout; once
    freeze,
    thaw,
    listeners, // the reply brings the broker's listening sockets
    workspace, // the reply brings a directory descriptor of /workspace, also after the end
    stop,      // ends every process; the sandbox can still be queried
    destroy,   // stop, and forget everything
};
constexpr auto enum_names(ShimVerb) {
    return std::array{EnumName{ShimVerb::claim, "claim"},
                      EnumName{ShimVerb::view, "view"},
                      EnumName{ShimVerb::execute, "execute"},
                      EnumName{ShimVerb::wait, "wait"},
                      EnumName{ShimVerb::output, "output"},
                      EnumName{ShimVerb::signal, "signal"},
                      EnumName{ShimVerb::resize, "resize"},
                      EnumName{ShimVerb::input, "input"},
                      EnumName{ShimVerb::close_input, "close_input"},
                      EnumName{ShimVerb::stdout_pipe, "stdout_pipe"},
                      EnumName{ShimVerb::freeze, "freeze"},
                      EnumName{ShimVerb::thaw, "thaw"},
                      EnumName{ShimVerb::listeners, "listeners"},
                      EnumName{ShimVerb::workspace, "workspace"},
                      EnumName{ShimVerb::stop, "stop"},
                      EnumName{ShimVerb::destroy, "destroy"}};
}

struct ShimRequest {
    ShimVerb verb = ShimVerb::view;
    std::optional<int64_t> number; // of a command
    std::optional<SandboxSpec> spec;
    std::optional<Command> command;
    std::optional<int64_t> offset;
    std::optional<int64_t> timeout_ms;
    std::optional<int64_t> value;
    std::optional<int64_t> rows;
    std::optional<int64_t> columns;
    static constexpr Pack fields{
        Field{"verb", &ShimRequest::verb, "What to do."},
        Field{"number", &ShimRequest::number, "Which command."},
        Field{"spec", &ShimRequest::spec, "What the sandbox is for."},
        Field{"command", &ShimRequest::command, "What to run."},
        Field{"offset", &ShimRequest::offset, "Position in the spool."},
        Field{"timeout_ms", &ShimRequest::timeout_ms, "How long to wait."},
        Field{"value", &ShimRequest::value, "Signal."},
        Field{"rows", &ShimRequest::rows, "Of the terminal."},
        Field{"columns", &ShimRequest::columns, "Of the terminal."},
    };
};

struct ShimReply {
    std::optional<std::string> code;
    std::optional<std::string> message;
    std::optional<int64_t> number;
    std::optional<int64_t> size;
    std::optional<bool> finished;
    std::optional<CommandResult> result;
    std::optional<SandboxView> view;
    static constexpr Pack fields{
        Field{"code", &ShimReply::code, "Error code, absent on success."},
        Field{"message", &ShimReply::message, "Error message."},
        Field{"number", &ShimReply::number, "Number of the command."},
        Field{"size", &ShimReply::size, "Bytes in the spool."},
        Field{"finished", &ShimReply::finished, "Whether the command has ended."},
        Field{"result", &ShimReply::result, "Result so far."},
        Field{"view", &ShimReply::view, "The sandbox."},
    };
};

// The error of a reply, with its code.
template <class Reply>
Error error_of(const Reply& reply) {
    for (int code = 0; code <= static_cast<int>(Code::internal); ++code)
        if (*reply.code == code_name(static_cast<Code>(code)))
            return {static_cast<Code>(code), reply.message.value_or(""), {}};
    return internal(reply.message.value_or(*reply.code));
}

template <class Reply>
Reply refusal(const Error& error) {
    Reply reply;
    reply.code = code_name(error.code);
    reply.message = error.message;
    return reply;
}

} // namespace hone::sandbox
