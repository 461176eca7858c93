// A run that is about to be written, shared by the files that implement Runs. Values only.
#pragma once

#include "run/runs.h"
#include "run/settings/secret_env.h"

#include <memory>

namespace hone::run {

// A run to be.
struct Runs::New {
    access::Project project;
    Manifest manifest;
    std::string title;
    int64_t priority = 0;
    std::optional<RunId> from_run{};
    std::optional<RunId> fork_of{};
    std::string harness_session{}; // of a fork: what it continues
    bool is_shared = false;        // of a fork: other people may have written what it continues
    std::string earlier_turns{};   // of a fork after an earlier turn: text before its first prompt
    const AutomationStart* automation = nullptr;
    std::shared_ptr<const SecretValues> secrets{}; // of settings that came with the request; shared: a New is copied
    std::vector<std::string> files{};              // ids of uploads
    std::optional<RunId> files_of{};               // a rerun gets the files of this run
};

// Whether all messages of a run are of this person, as far as its rights say.
bool is_only_of(const json::Value& rights, const access::Caller& caller);

// With a message or a file of another person, a run is no longer its starter's alone: it keeps its run key, and loses
// the key of its starter's hone skill. In the transaction of the message, so that the worker never has both.
Result<> note_author(sql::Transaction& transaction, const access::Caller& caller, const RunId& id);

} // namespace hone::run
