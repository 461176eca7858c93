#include "base/file.h"
#include "cli/remote/remote.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"

namespace hone::cli {

namespace {

constexpr const char* credential_path = "/v1/cluster/credential";
constexpr size_t largest_kubeconfig = 1 << 20;

Columns credential_columns() {
    return {
        {.title = "stored", .field = "stored", .kind = Kind::yes_no},
        {.title = "server", .field = "server"},
        {.title = "namespace", .field = "name_space"},
        {.title = "context", .field = "context", .absent = "the current one"},
        {.title = "kind", .field = "kind"},
        {.title = "set", .field = "set_at", .kind = Kind::time},
        {.title = "used by this server", .field = "in_use", .kind = Kind::yes_no},
    };
}

Result<> show_credential(Context& context) {
    return show_record(context, TRY(context.remote.get(credential_path)), credential_columns());
}

Result<> set_credential(Context& context) {
    std::string text = TRY(read_file(context.value_or_empty("FILE"), largest_kubeconfig));
    json::Object body{{"kubeconfig", std::move(text)}};
    if (const auto chosen = context.parsed.value("--context")) body["context"] = *chosen;
    const json::Value made = TRY(context.remote.put(credential_path, std::move(body)));
    TRY(show_record(context, made, credential_columns()));
    const json::Value* used = member(made, "in_use");
    if (context.json()) return {};
    const bool is_used = used != nullptr && used->is_bool() && used->get_bool();
    context.console.note(is_used ? "Restart the servers: they read it when they start.\n"
                                 : "Set kubernetes_kubeconfig to sealed, and restart the servers.\n");
    return {};
}

Result<> remove_credential(Context& context) {
    TRY(context.confirm("Servers that start after this do not reach the cluster; runs in its pods end.", "cluster"));
    const json::Value gone = TRY(context.remote.remove(credential_path));
    return show_done(context, gone, "Deleted the credentials for the cluster.");
}

} // namespace

std::vector<Command> cluster_commands() {
    return {
        {.path = "cluster show",
         .summary = "Show what the stored credentials for a Kubernetes cluster are for.",
         .run = show_credential},
        {.path = "cluster set",
         .summary = "Store credentials for a Kubernetes cluster, encrypted.",
         .arguments = {{.name = "FILE", .doc = "A kubeconfig with everything in it, which names no file or program."}},
         .options = {{.name = "--context", .value = "NAME", .doc = "Context to use; the current one if not given."}},
         .details = "Servers with kubernetes_kubeconfig = sealed use it from their next start on.\n"
                    "Example: kubectl config view --minify --flatten > cluster.yaml && hone cluster set cluster.yaml",
         .run = set_credential},
        {.path = "cluster remove",
         .summary = "Delete the stored credentials for a Kubernetes cluster.",
         .destructive = true,
         .run = remove_credential},
    };
}

} // namespace hone::cli
