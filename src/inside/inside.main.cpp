// The command `hone` inside a sandbox: every tool of the MCP server as a sub-command, for shells, scripts and
// playbooks. Connects only to the gateway on 127.0.0.1:3129, which adds the run's key. Static and small: it needs
// nothing of the sandbox's root.
//   hone help                         the tools
//   hone search_spans --filter 'status = error' --limit 5
//   hone query_sql --sql 'SELECT …' --output rows.jsonl
//   hone save_file --name chart.svg --file chart.svg
//   hone save_investigation --title 'Why' --markdown @report.md
#include "inside/relay.h"

#include "base/text.h"
#include "json/json.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace hone;

constexpr uint16_t gateway_port = 3129;
constexpr int longest_wait_seconds = 120; // for a server that starts again
constexpr size_t most_answer_bytes = 64 << 20;

[[noreturn]] void fail(const std::string& why, int code = 1) {
    std::fprintf(stderr, "hone: %s\n", why.c_str());
    std::exit(code);
}

std::string read_all(std::FILE* file, const std::string& name) {
    std::string content;
    char buffer[65536];
    while (const size_t count = std::fread(buffer, 1, sizeof buffer, file)) {
        content.append(buffer, count);
        if (content.size() > (size_t{32} << 20)) fail(name + " is larger than 32 MiB");
    }
    return content;
}

std::string read_path(const std::string& path) {
    if (path == "-") return read_all(stdin, "the input");
    std::FILE* file = std::fopen(path.c_str(), "rbe");
    if (file == nullptr) fail(path + ": " + std::strerror(errno));
    std::string content = read_all(file, path);
    std::fclose(file);
    return content;
}

// Whether a response was not cut off.
bool is_whole(const std::string& answer) {
    const size_t head_end = answer.find("\r\n\r\n");
    if (head_end == std::string::npos) return false;
    const std::string head = lowercase_ascii(std::string_view(answer).substr(0, head_end));
    constexpr std::string_view length = "\ncontent-length: ";
    const size_t at = head.find(length);
    if (at == std::string::npos) return answer.ends_with("0\r\n\r\n");
    return answer.size() - head_end - 4 == std::strtoul(head.c_str() + at + length.size(), nullptr, 10);
}

// How far a request came.
enum class Exchange { not_sent, sent, answered };

// One request; `answer` is the whole response.
Exchange exchange(const std::string& body, std::string& answer) {
    const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(gateway_port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connection < 0) fail(std::string("socket: ") + std::strerror(errno), 3);
    if (::connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        ::close(connection);
        return Exchange::not_sent;
    }
    const std::string request = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:3129\r\nContent-Type: application/json\r\n"
                                "Accept: application/json\r\nConnection: close\r\nContent-Length: " +
                                std::to_string(body.size()) + "\r\n\r\n" + body;
    for (size_t sent = 0; sent < request.size();) {
        const ssize_t count = ::send(connection, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break; // the response may state why
        sent += static_cast<size_t>(count);
    }
    answer.clear();
    char buffer[65536];
    for (;;) {
        const ssize_t count = ::recv(connection, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        answer.append(buffer, static_cast<size_t>(count));
        if (answer.size() > most_answer_bytes) fail("the response is too large", 3);
    }
    ::close(connection);
    // The gateway is there, and the server behind it not yet or not any more; or it has too much to do.
    const bool is_refused = answer.starts_with("HTTP/1.1 502 ") || answer.starts_with("HTTP/1.1 503 ");
    return is_whole(answer) && !is_refused ? Exchange::answered : Exchange::sent;
}

// The run outlives the server: while another one starts, there is no gateway. A request that may have arrived is sent
// again only if that does no harm. Returns the body of the response.
std::string post(const std::string& body, bool is_repeatable) {
    std::string answer;
    const bool is_in_run = ::access("/hone/bin/hone", X_OK) == 0;
    for (int seconds = 0;; ++seconds) {
        const Exchange came = exchange(body, answer);
        if (came == Exchange::answered) break;
        const bool is_over = !is_in_run || seconds >= longest_wait_seconds;
        if (came == Exchange::not_sent && is_over)
            fail("the gateway does not respond; this command works inside a run only", 3);
        if (came == Exchange::sent && (is_over || !is_repeatable)) {
            if (!is_whole(answer)) fail("the gateway's response is incomplete", 3);
            break; // it states why
        }
        ::sleep(1);
    }
    const size_t head_end = answer.find("\r\n\r\n");
    const std::string head = lowercase_ascii(std::string_view(answer).substr(0, head_end));
    std::string content = answer.substr(head_end + 4);
    if (head.find("\ntransfer-encoding: chunked") == std::string::npos) return content;
    std::string joined;
    for (size_t at = 0;;) {
        const size_t line_end = content.find("\r\n", at);
        if (line_end == std::string::npos) fail("the gateway's response is incomplete", 3);
        const size_t length = std::strtoul(content.c_str() + at, nullptr, 16);
        if (length == 0) return joined;
        if (line_end + 2 + length > content.size()) fail("the gateway's response is incomplete", 3);
        joined.append(content, line_end + 2, length);
        at = line_end + 2 + length + 2;
    }
}

const json::Object& member(const json::Object& object, std::string_view key) {
    static const json::Object empty;
    const json::Value* found = object.if_contains(key);
    return found != nullptr && found->is_object() ? found->get_object() : empty;
}

std::string text(const json::Object& object, std::string_view key) {
    const json::Value* found = object.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

json::Object ask(const std::string& method, json::Object params, bool is_repeatable) {
    const json::Object request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}};
    const std::string answer = post(json::print(request), is_repeatable);
    auto parsed = json::parse(answer);
    if (!parsed.ok() || !parsed.value().is_object()) fail("the gateway returned: " + answer.substr(0, 500), 3);
    const json::Object& object = parsed.value().get_object();
    if (const json::Value* error = object.if_contains("error"); error != nullptr) fail(json::print(*error), 3);
    return member(object, "result");
}

json::Array tools() {
    const json::Object result = ask("tools/list", {}, true);
    const json::Value* found = result.if_contains("tools");
    return found != nullptr && found->is_array() ? found->get_array() : json::Array();
}

int help() {
    std::printf("hone TOOL [--argument VALUE]…   reads the project of this run, or saves a result.\n"
                "A value may be @FILE, or @- for standard input. `--file PATH` gives save_file its content.\n"
                "`--output FILE` follows the cursor of a list and writes every row as a line of JSON.\n\n");
    for (const json::Value& value : tools()) {
        const json::Object& tool = value.get_object();
        std::printf("%s\n    %s\n", text(tool, "name").c_str(), text(tool, "description").c_str());
        for (const auto& entry : member(member(tool, "inputSchema"), "properties"))
            std::printf("      --%-12s %s\n", std::string(entry.key()).c_str(),
                        text(entry.value().get_object(), "description").c_str());
    }
    return 0;
}

// As the tool's schema wants it: text as it is, everything else as JSON.
json::Value argument(const json::Object& properties, const std::string& name, const std::string& value) {
    const json::Object& described = member(properties, name);
    if (!properties.contains(name)) fail("there is no --" + name + " here; `hone help` shows the arguments", 2);
    const std::string content = value.starts_with("@") ? read_path(value.substr(1)) : value;
    if (text(described, "type") == "string" || described.contains("enum"))
        return json::Value(std::string_view(content));
    auto parsed = json::parse(content);
    if (!parsed.ok()) fail("--" + name + ": " + parsed.error().message, 2);
    return std::move(parsed).value();
}

// Reads, or replaces what the same call saved before.
bool is_harmless_twice(const std::string& tool) {
    for (const char* start : {"get_", "list_", "read_", "search_", "query_", "describe_"})
        if (tool.starts_with(start)) return true;
    return tool == "save_investigation" || tool == "save_file" || tool == "label_spans";
}

// The text of a tool's reply; errors end the program.
std::string reply_text(const std::string& name, const json::Object& arguments) {
    const json::Object result = ask("tools/call", {{"name", name}, {"arguments", arguments}}, is_harmless_twice(name));
    const json::Value* content = result.if_contains("content");
    const json::Value* is_error = result.if_contains("isError");
    std::string joined;
    if (content != nullptr && content->is_array())
        for (const json::Value& part : content->get_array())
            if (part.is_object()) joined += text(part.get_object(), "text") + "\n";
    if (is_error != nullptr && is_error->is_bool() && is_error->get_bool()) {
        std::fputs(joined.c_str(), stderr);
        std::exit(1);
    }
    return joined;
}

// The rows of a reply: the list that it is about.
const json::Array* rows_in(const json::Object& reply) {
    for (const char* key : {"data", "spans", "buckets"})
        if (const json::Value* found = reply.if_contains(key); found != nullptr && found->is_array())
            return &found->get_array();
    return nullptr;
}

// Follows the cursor to the end. A file is for all of it, so pages are as large as they can be.
int write_all_rows(const std::string& name, const json::Object& properties, json::Object arguments,
                   const std::string& path) {
    for (const auto& [option, most] : {std::pair{"max_bytes", 262'144}, {"limit", name == "query_sql" ? 10'000 : 200}})
        if (properties.contains(option) && !arguments.contains(option)) arguments[option] = most;
    std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "wbe");
    if (file == nullptr) fail(path + ": " + std::strerror(errno));
    size_t rows = 0, bytes = 0;
    for (;;) {
        const auto reply = json::parse(reply_text(name, arguments));
        if (!reply.ok() || !reply.value().is_object()) fail("the reply of " + name + " is not an object", 3);
        const json::Object& object = reply.value().get_object();
        const json::Array* list = rows_in(object);
        if (list == nullptr) fail(name + " returns no list; --output is for lists", 2);
        for (const json::Value& row : *list) {
            const std::string line = json::print(row) + "\n";
            if (std::fwrite(line.data(), 1, line.size(), file) != line.size())
                fail("cannot write " + path + ": " + std::strerror(errno));
            bytes += line.size();
        }
        rows += list->size();
        const std::string cursor = text(object, "next_cursor");
        if (cursor.empty() || !properties.contains("cursor")) break;
        arguments["cursor"] = cursor;
    }
    if (std::fflush(file) != 0) fail("cannot write " + path + ": " + std::strerror(errno));
    if (file != stdout) std::fclose(file);
    std::fprintf(stderr, "%zu rows, %zu bytes in %s\n", rows, bytes, path.c_str());
    return 0;
}

int call(const std::string& name, int count, char** rest) {
    json::Object properties;
    bool known = false;
    for (const json::Value& value : tools())
        if (text(value.get_object(), "name") == name) {
            properties = member(member(value.get_object(), "inputSchema"), "properties");
            known = true;
        }
    if (!known) fail("there is no tool named " + name + "; `hone help` shows them", 2);
    json::Object arguments;
    std::string output;
    for (int i = 0; i < count; ++i) {
        std::string option = rest[i];
        if (!option.starts_with("--")) fail("unexpected " + option + "; arguments are --NAME VALUE", 2);
        option.erase(0, 2);
        std::string value;
        if (const size_t equals = option.find('='); equals != std::string::npos) {
            value = option.substr(equals + 1);
            option.resize(equals);
        } else if (i + 1 < count) {
            value = rest[++i];
        } else {
            fail("--" + option + " needs a value", 2);
        }
        if (option == "output") {
            output = value;
        } else if (option == "file" && properties.contains("base64")) {
            const std::string content = read_path(value);
            const bool is_text = is_valid_utf8(content) && content.find('\0') == std::string::npos;
            arguments[is_text ? "text" : "base64"] = is_text ? content : to_base64(content);
        } else {
            arguments[option] = argument(properties, option, value);
        }
    }
    if (!output.empty()) return write_all_rows(name, properties, std::move(arguments), output);
    std::fputs(reply_text(name, arguments).c_str(), stdout);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2 || std::strcmp(argv[1], "help") == 0 || std::strcmp(argv[1], "--help") == 0) return help();
    if (argc == 3 && std::strcmp(argv[1], "relay") == 0) return inside::relay(argv[2]);
    return call(argv[1], argc - 2, argv + 2);
}
