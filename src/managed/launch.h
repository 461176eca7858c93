// Starts, continues and ends managed sessions. The API has no idempotency key, so each function reads before it sends
// again: a session is found by its run, an agent and an environment by their names, a message by its number. Blocks;
// any thread.
#pragma once

#include "managed/api.h"

namespace hone::managed {

// What an agent is made of. It cannot be deleted at the provider, so one of each content is kept and used again.
struct AgentSpec {
    std::string label; // begins its name; the rest is a hash of everything below
    std::string model;
    std::string system;
    json::Array tools; // toolsets and custom tools, as the API has them
};

// Where the agent runs. Hosts: none allowed when the list is empty and `open` is false.
struct EnvironmentSpec {
    std::string label;
    bool open = false;
    std::vector<std::string> hosts;
    bool package_managers = false;
    std::map<std::string, std::vector<std::string>> packages; // by package manager
};

struct RepositorySpec {
    std::string url; // https://github.com/owner/name
    std::string branch;
    std::string commit; // instead of a branch
};

struct NewSession {
    std::string run_id; // finds the session again after a restart
    std::string title;
    std::string agent;
    std::string environment;
    std::string first_message;
    std::vector<std::string> vaults;
    std::vector<RepositorySpec> repositories;
    // Reads the repositories; the provider keeps it outside the agent's container. Empty: they are public.
    const crypto::SecretBytes* repository_token = nullptr;
    int64_t budget_cents = 0; // 0: none
};

// "label-1f2e3d4c5b6a": the same for the same content.
std::string name_of(const AgentSpec& spec);
std::string name_of(const EnvironmentSpec& spec);

class Launch {
public:
    explicit Launch(Api& api) : m_api(api) {}

    // The id of an agent or environment with this content; made when there is none.
    Result<std::string> agent(const AgentSpec& spec, net::Cancel& cancel);
    Result<std::string> environment(const EnvironmentSpec& spec, net::Cancel& cancel);
    // The id of the session of this run; made when there is none. `since`: when the run was first given to the
    // provider.
    Result<std::string> session(const NewSession& wanted, Time since, net::Cancel& cancel);

    // Sends the message that is number `number` in the session (the first one is 1), unless it has that many.
    Result<> message(const std::string& session, int64_t number, const std::string& text, net::Cancel& cancel);
    // Ends the current turn; the session takes further messages.
    Result<> interrupt(const std::string& session, net::Cancel& cancel);
    // Ends the session: interrupts it, waits until it is idle, archives it. Nothing: it was archived or deleted.
    Result<> stop(const std::string& session, net::Cancel& cancel);
    // Deletes it with its history.
    Result<> forget(const std::string& session, net::Cancel& cancel);

private:
    Result<std::optional<std::string>> find(const std::string& collection, const std::string& name,
                                            net::Cancel& cancel);
    Result<std::string> make(const std::string& collection, const std::string& name, const json::Object& body,
                             net::Cancel& cancel);
    Result<std::optional<std::string>> find_session(const NewSession& wanted, Time since, net::Cancel& cancel);
    Result<int64_t> count_messages(const std::string& session, net::Cancel& cancel);
    Result<> wait_until_idle(const std::string& session, net::Cancel& cancel);
    Result<> end(const std::string& method, const std::string& target, net::Cancel& cancel);

    Api& m_api;
};

} // namespace hone::managed
