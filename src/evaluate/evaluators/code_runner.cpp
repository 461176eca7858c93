#include "evaluate/evaluators/code_runner.h"

#include "base/id.h"
#include "base/log.h"
#include "evaluate/evaluators/short_lived_file.h"
#include "evaluate/evaluators/verdict.h"
#include "sandbox/image/tree.h"

#include <fmt/format.h>
#include <unistd.h>

namespace hone::evaluate {

namespace {

constexpr int64_t start_ms = 30'000; // for loading the code, beside the time of the first document
constexpr size_t largest_answer = 256 << 10;
constexpr int64_t largest_batch_output = int64_t{64} << 20;
constexpr size_t largest_document = 5 << 20;
constexpr size_t kept_stderr = 4096;
constexpr int most_restarts = 20;
constexpr std::string_view files_folder = "/evaluator/files";

// stdout is the channel of results, so what the code prints goes to stderr.
constexpr std::string_view python_runner = R"py(import importlib.util, json, os, sys
if os.path.isdir("/opt/evaluator/python"):
    sys.path.insert(0, "/opt/evaluator/python")
results = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
os.dup2(2, 1)
def reply(**fields):
    results.write(json.dumps(fields, allow_nan=False) + "\n")
    results.flush()
def reason(error):
    return (type(error).__name__ + ": " + str(error))[:2000]
try:
    spec = importlib.util.spec_from_file_location("evaluator", "/evaluator/source.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    evaluate = module.evaluate
except BaseException as error:
    reply(load_error=reason(error))
    sys.exit(0)
with open("/evaluator/documents.jsonl", encoding="utf-8") as documents:
    for line in documents:
        item = json.loads(line)
        try:
            reply(seq=item["seq"], result=evaluate(item["document"]))
        except BaseException as error:
            reply(seq=item["seq"], error=reason(error))
)py";

constexpr std::string_view node_runner = R"js(import fs from "node:fs";
import readline from "node:readline";
process.stdout.write = process.stderr.write.bind(process.stderr);
const reply = (fields) => fs.writeSync(1, JSON.stringify(fields) + "\n");
const reason = (error) => String(error instanceof Error ? `${error.name}: ${error.message}` : error).slice(0, 2000);
let evaluate;
try {
  ({ evaluate } = await import("/evaluator/source.mjs"));
  if (typeof evaluate !== "function") throw new Error("the module exports no function named evaluate");
} catch (error) {
  reply({ load_error: reason(error) });
  process.exit(0);
}
for await (const line of readline.createInterface({ input: fs.createReadStream("/evaluator/documents.jsonl") })) {
  const item = JSON.parse(line);
  try {
    const result = await evaluate(item.document);
    if (typeof result === "number" && !Number.isFinite(result)) throw new Error("the result is not a finite number");
    reply({ seq: item.seq, result });
  } catch (error) {
    reply({ seq: item.seq, error: reason(error) });
  }
}
)js";

struct EvaluatorFolder {
    std::string path;
    ~EvaluatorFolder() { static_cast<void>(sandbox::remove_tree(path)); }
};

// Ends the sandbox however the batch ends.
struct BatchSandbox {
    std::unique_ptr<sandbox::Sandbox> box;
    ~BatchSandbox() {
        if (const auto done = box->destroy(); !done.ok())
            log(Level::warning, "sandbox of an evaluator not removed", {{"why", done.error().message}});
    }
};

sandbox::SandboxSpec evaluator_spec(const std::string& folder, const std::string& layer) {
    sandbox::SandboxSpec spec;
    if (!layer.empty()) spec.layers.value.push_back(layer);
    spec.mounts.value.push_back({folder, "/evaluator", true});
    spec.limits.value.memory_bytes = int64_t{1} << 30;
    spec.limits.value.cpus = 1.0;
    spec.limits.value.pids = int64_t{64};
    spec.limits.value.disk_bytes = int64_t{64} << 20;
    spec.limits.value.output_bytes = largest_batch_output;
    spec.labels.value = {{"evaluator", "code"}};
    return spec;
}

std::map<std::string, std::string> evaluator_environment() {
    return {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
            {"HOME", "/workspace"},
            {"LANG", "C.UTF-8"},
            {"PYTHONDONTWRITEBYTECODE", "1"}};
}

void keep_end(std::string& text, std::string_view more) {
    text += more;
    if (text.size() > 2 * kept_stderr) text.erase(0, text.size() - kept_stderr);
}

std::string limits_in(const sandbox::CommandResult& ended) {
    std::string names;
    for (const sandbox::LimitHit hit : ended.limits_hit)
        names += (names.empty() ? "" : ", ") + std::string(name_of(hit));
    return names;
}

// Why a process ended before it had replied.
std::string end_of(const sandbox::CommandResult& ended, const std::string& said) {
    std::string why;
    if (const std::string limits = limits_in(ended); !limits.empty())
        why = "the code ran into a limit: " + limits;
    else if (ended.error)
        why = "the code could not be started: " + *ended.error;
    else if (ended.signal)
        why = fmt::format("the code was ended by signal {}", *ended.signal);
    else
        why = fmt::format("the code exited with status {} without a result", ended.exit_code.value_or(-1));
    std::string last = repair_utf8(trim(said));
    if (last.size() > kept_stderr) last.erase(0, last.size() - kept_stderr);
    std::erase(last, '\0');
    return last.empty() ? why : why + "; stderr: " + repair_utf8(last);
}

} // namespace

struct CodeRunner::Batch {
    const CodeDefinition& code;
    const std::string& name; // of the evaluator
    const std::vector<json::Value>& documents;
    const std::function<bool()>& stopped;
    std::string folder;
    std::string layer; // with its dependencies; empty: none
    std::vector<CodeResult> judged;
    std::optional<std::string> load_error{};

    bool is_stopped() const { return stopped && stopped(); }
    void take(size_t at, const json::Value& result, int64_t duration_ms) {
        auto verdict = verdict_of(*code.output, result, name);
        if (verdict.ok())
            judged[at].verdict = std::move(verdict).value();
        else
            judged[at].error = verdict.error().message;
        judged[at].duration_ms = duration_ms;
    }
};

namespace {

// One line of the result channel; false: it is not the reply to document `at`.
bool read_reply(std::string_view line, size_t at, json::Value& reply) {
    auto parsed = line.size() > largest_answer ? Result<json::Value>(too_large("reply")) : json::parse(line);
    if (!parsed.ok() || !parsed.value().is_object()) return false;
    reply = std::move(parsed).value();
    const json::Object& object = reply.get_object();
    if (object.contains("load_error")) return true;
    const json::Value* seq = object.if_contains("seq");
    return seq != nullptr && seq->is_int64() && seq->get_int64() == static_cast<int64_t>(at);
}

} // namespace

// Gives the documents from `first` on to one process. Returns the first document that has no result yet.
Result<size_t> CodeRunner::run_process(Batch& batch, size_t first) const {
    std::string lines;
    for (size_t at = first; at < batch.documents.size(); ++at)
        lines += json::print(json::Object{{"seq", static_cast<int64_t>(at)}, {"document", batch.documents[at]}}) + "\n";
    TRY(write_short_lived(batch.folder + "/documents.jsonl", lines));
    const bool is_python = batch.code.language == CodeLanguage::python;
    sandbox::SandboxSpec spec = evaluator_spec(batch.folder, batch.layer);
    sandbox::Command command;
    command.argv = is_python ? std::vector<std::string>{"python3", "-I", "/evaluator/runner.py"}
                             : std::vector<std::string>{"node", "/evaluator/runner.mjs"};
    command.env = evaluator_environment();
    spec.command = command;
    spec.limits.value.wall_clock_ms = std::min<int64_t>(
        start_ms + *batch.code.timeout_ms * static_cast<int64_t>(batch.documents.size() - first) + 10'000, 86'400'000);
    const BatchSandbox sandbox{TRY(m_provider.start(spec))};
    const SystemClock clock;
    size_t at = first;
    std::string line, said;
    Duration since = clock.steady();
    Duration allowed = std::chrono::milliseconds(start_ms + *batch.code.timeout_ms);
    for (int64_t offset = 0; at < batch.documents.size();) {
        if (batch.is_stopped()) return conflict("the evaluation was stopped");
        const sandbox::Output output = TRY(sandbox.box->output(0, offset, 100));
        offset = output.next;
        for (const auto& part : output.parts) {
            if (part.stream == sandbox::Stream::err) {
                keep_end(said, part.bytes);
                continue;
            }
            line += part.bytes;
        }
        size_t used = 0;
        for (size_t end; at < batch.documents.size() && (end = line.find('\n', used)) != std::string::npos;
             used = end + 1) {
            json::Value reply;
            const Duration now = clock.steady();
            const int64_t took = std::chrono::duration_cast<std::chrono::milliseconds>(now - since).count();
            if (!read_reply(std::string_view(line).substr(used, end - used), at, reply)) {
                batch.judged[at].error =
                    "the code wrote something to the channel of results that is not its result, or "
                    "a result of more than 256 KiB";
                return at + 1;
            }
            const json::Object& object = reply.get_object();
            if (const json::Value* why = object.if_contains("load_error")) {
                batch.load_error =
                    "the code could not be loaded: " + (why->is_string() ? std::string(why->get_string()) : "");
                return at;
            }
            if (const json::Value* why = object.if_contains("error"))
                batch.judged[at].error = "the code failed: " + (why->is_string() ? std::string(why->get_string()) : "");
            else if (const json::Value* result = object.if_contains("result"))
                batch.take(at, *result, took);
            else
                batch.judged[at].error = "evaluate returned nothing";
            ++at;
            since = now;
            allowed = std::chrono::milliseconds(*batch.code.timeout_ms);
        }
        line.erase(0, used);
        if (at == batch.documents.size()) break;
        if (line.size() > largest_answer) {
            batch.judged[at].error = "the result has more than 256 KiB";
            return at + 1;
        }
        if (output.finished) {
            batch.judged[at].error = end_of(TRY(sandbox.box->wait(0, 10'000)), said);
            return at + 1;
        }
        if (clock.steady() - since > allowed) {
            batch.judged[at].error = fmt::format("the code took longer than {} ms", *batch.code.timeout_ms);
            return at + 1;
        }
    }
    return at;
}

// One command per document, in one sandbox.
Result<> CodeRunner::run_commands(Batch& batch) const {
    for (size_t at = 0; at < batch.documents.size(); ++at)
        TRY(write_short_lived(fmt::format("{}/{}.json", batch.folder, at), json::print(batch.documents[at])));
    sandbox::SandboxSpec spec = evaluator_spec(batch.folder, batch.layer);
    spec.keep = true;
    spec.limits.value.wall_clock_ms = std::min<int64_t>(
        start_ms + (*batch.code.timeout_ms + 1000) * static_cast<int64_t>(batch.documents.size()), 86'400'000);
    const BatchSandbox sandbox{TRY(m_provider.start(spec))};
    for (size_t at = 0; at < batch.documents.size(); ++at) {
        if (batch.is_stopped()) return conflict("the evaluation was stopped");
        sandbox::Command command;
        command.argv = {"/bin/sh", "-c", fmt::format("exec /bin/sh /evaluator/source.sh < /evaluator/{}.json", at)};
        command.env = evaluator_environment();
        command.timeout_ms = *batch.code.timeout_ms;
        const int64_t number = TRY(sandbox.box->execute(command));
        std::string out, said;
        bool is_large = false;
        for (int64_t offset = 0;;) {
            const sandbox::Output output = TRY(sandbox.box->output(number, offset, 1000));
            for (const auto& part : output.parts) {
                if (part.stream == sandbox::Stream::err)
                    keep_end(said, part.bytes);
                else if (out.size() + part.bytes.size() <= largest_answer)
                    out += part.bytes;
                else
                    is_large = true;
            }
            offset = output.next;
            if (output.finished) break;
        }
        const sandbox::CommandResult ended = TRY(sandbox.box->wait(number, 10'000));
        const auto result = json::parse(trim(out));
        if (!ended.limits_hit.empty() || ended.exit_code != 0)
            batch.judged[at].error = end_of(ended, said);
        else if (is_large)
            batch.judged[at].error = "the result has more than 256 KiB";
        else if (trim(out).empty())
            batch.judged[at].error = "the script wrote nothing to stdout; write the result as JSON";
        else if (!result.ok())
            batch.judged[at].error = "stdout is not JSON: " + result.error().message;
        else
            batch.take(at, result.value(), ended.duration_ms);
    }
    return {};
}

Result<std::vector<CodeResult>> CodeRunner::run_code(const EvaluatorVersion& version,
                                                     const std::vector<json::Value>& documents,
                                                     const std::function<bool()>& stopped,
                                                     const DocumentFiles& files) const {
    if (!version.code) return invalid("the evaluator has no code");
    const CodeDefinition& code = *version.code;
    TRY(check(code));
    const auto layer = m_layers.prepare(version, stopped);
    if (!layer.ok() && layer.error().code != Code::invalid) return layer.error();
    const EvaluatorFolder folder{m_directory + "/evaluator-" + make_ulid(SystemClock().now())};
    TRY(make_readable_directory(folder.path));
    std::vector<json::Value> given;
    std::vector<size_t> places;
    std::vector<CodeResult> all(documents.size());
    if (!layer.ok()) {
        for (CodeResult& result : all) result.error = layer.error().message;
        return all;
    }
    for (size_t at = 0; at < documents.size(); ++at) {
        auto arguments = arguments_of(*code.mapping, documents[at]);
        if (!arguments.ok()) {
            all[at].error = arguments.error().message;
            continue;
        }
        if (json::print(arguments.value()).size() > largest_document) {
            all[at].error = "the document has more than 5 MiB";
            continue;
        }
        if (!files.empty()) add_file_paths(arguments.value(), files, std::string(files_folder));
        given.push_back(std::move(arguments).value());
        places.push_back(at);
    }
    Batch batch{code, version.name, given, stopped, folder.path, layer.value(), std::vector<CodeResult>(given.size())};
    if (!files.empty()) TRY(make_readable_directory(folder.path + "/files"));
    for (const auto& [id, file] : files) TRY(write_short_lived(folder.path + "/files/" + id, file.content));
    switch (code.language) {
    case CodeLanguage::python:
        TRY(write_short_lived(folder.path + "/source.py", code.source));
        TRY(write_short_lived(folder.path + "/runner.py", python_runner));
        break;
    case CodeLanguage::node:
        TRY(write_short_lived(folder.path + "/source.mjs", code.source));
        TRY(write_short_lived(folder.path + "/runner.mjs", node_runner));
        // Imports are looked up beside the file; the link leads into the layer.
        if (!batch.layer.empty() &&
            ::symlink(std::string(node_dependencies).c_str(), (folder.path + "/node_modules").c_str()) != 0)
            return unavailable("could not link the dependencies of the code");
        break;
    case CodeLanguage::shell:
        TRY(write_short_lived(folder.path + "/source.sh", code.source));
        break;
    }
    if (code.language == CodeLanguage::shell) {
        TRY(run_commands(batch));
    } else {
        int processes = 0;
        size_t next = 0;
        while (next < given.size() && !batch.load_error && processes <= most_restarts) {
            next = TRY(run_process(batch, next));
            ++processes;
        }
        for (; next < given.size(); ++next)
            batch.judged[next].error = batch.load_error.value_or(
                fmt::format("not evaluated: the code ended without a result {} times", processes));
    }
    for (size_t i = 0; i < places.size(); ++i) all[places[i]] = std::move(batch.judged[i]);
    return all;
}

} // namespace hone::evaluate
