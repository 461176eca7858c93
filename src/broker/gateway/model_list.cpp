#include "broker/gateway/model_list.h"

#include "base/text.h"
#include "broker/egress/redactor.h"
#include "broker/gateway/model_protocol.h"
#include "broker/spending/model_json.h"
#include "broker/wire/http_head.h"
#include "json/json.h"

#include <algorithm>
#include <array>

namespace hone::broker {

namespace {

constexpr Duration list_timeout = std::chrono::seconds(20);
constexpr size_t most_list_bytes = 8 << 20;
constexpr size_t most_listed = 2000;
constexpr size_t most_name_bytes = 200;
constexpr size_t most_said_bytes = 300;
constexpr std::string_view gemini_prefix = "models/";

ModelRoute list_route(std::string_view protocol) {
    ModelRoute route;
    route.path = protocol == "gemini" ? "/v1beta/models" : "/v1/models";
    if (protocol == "anthropic") route.query = "?limit=1000";
    if (protocol == "gemini") route.query = "?pageSize=1000";
    return route;
}

// Everything of the request; holds the credential, so its receiver wipes it.
Result<std::string> list_request(const ModelAddress& address, const skill::ModelEndpoint& endpoint,
                                 std::string_view key) {
    RequestHead head;
    head.method = "GET";
    head.headers = {{"host", address.host.header(address.tls ? 443 : 80)},
                    {"accept", "application/json"},
                    {"accept-encoding", "identity"},
                    {"connection", "close"}};
    if (endpoint.protocol == "anthropic") head.headers.push_back({"anthropic-version", "2023-06-01"});
    std::string text = write_request_head(head, address.target(list_route(endpoint.protocol)));
    if (key.empty()) return text;
    const size_t hole = endpoint.format.find("{}");
    if (endpoint.header.empty() || hole == std::string::npos) return invalid("the model skill names no header");
    if (std::any_of(key.begin(), key.end(), [](char c) { return c < ' ' || c == 0x7f; }))
        return invalid("the key has characters that a header cannot contain");
    text.reserve(text.size() + endpoint.header.size() + endpoint.format.size() + key.size() + 8);
    text.resize(text.size() - 2); // before the empty line
    text.append(endpoint.header).append(": ").append(endpoint.format, 0, hole).append(key);
    text.append(endpoint.format, hole + 2).append("\r\n\r\n");
    return text;
}

struct ListResponse {
    int status = 0;
    std::string body;
};

Result<ListResponse> receive_list(Channel& channel, Deadline deadline) {
    const auto head = TRY(read_response(channel, "GET", deadline));
    if (!head) return unavailable("the endpoint closed the connection");
    ListResponse response{head->status, {}};
    net::BodyDecoder decoder(head->framing, head->length);
    while (!decoder.is_done()) {
        if (channel.buffer().empty() && !TRY(channel.fill(deadline))) {
            if (decoder.finish_at_end()) break;
            return unavailable("the response was interrupted");
        }
        channel.buffer().erase(0, decoder.feed(channel.buffer(), response.body));
        if (decoder.is_failed()) return unavailable("the response is malformed");
        if (response.body.size() > most_list_bytes) return too_large("the list of models has more than 8 MiB");
    }
    return response;
}

Error refused_list(const ModelAddress& address, const ListResponse& response, bool has_key) {
    const auto message = text_of(member_at(response.body, {"error", "message"}));
    const std::string said =
        message && !message->empty() ? ": " + repair_utf8(truncate_utf8(*message, most_said_bytes)) : "";
    const std::string status = " (" + std::to_string(response.status) + said + ")";
    if (response.status == 401 || response.status == 403)
        return invalid(address.host.host + (has_key ? " does not accept the key" : " needs a key") + status);
    if (response.status == 404 || response.status == 405)
        return unavailable(address.host.host + " does not list its models" + status + "; type the name of the model");
    return unavailable(address.host.host + " did not list its models" + status);
}

std::string member_text(const json::Object& object, std::string_view name) {
    const json::Value* value = object.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(std::string_view(value->get_string())) : "";
}

// Gemini lists models of all kinds with the requests that each takes.
bool generates_text(const json::Object& model) {
    const json::Value* methods = model.if_contains("supportedGenerationMethods");
    if (methods == nullptr || !methods->is_array()) return true;
    return std::any_of(methods->get_array().begin(), methods->get_array().end(), [](const json::Value& method) {
        return method.is_string() && std::string_view(method.get_string()) == "generateContent";
    });
}

bool is_listed_name(std::string_view name) {
    return !name.empty() && name.size() <= most_name_bytes &&
           std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f && c != ','; });
}

} // namespace

Result<std::vector<ListedModel>> read_model_list(std::string_view protocol, std::string_view body) {
    const bool is_gemini = protocol == "gemini";
    const auto parsed = json::parse(body);
    if (!parsed.ok() || !parsed.value().is_object()) return unavailable("the list of models is not a JSON object");
    const json::Value* rows = parsed.value().get_object().if_contains(is_gemini ? "models" : "data");
    if (rows == nullptr || !rows->is_array())
        return unavailable("the endpoint's response is not a list of models; type the name of the model");
    std::vector<ListedModel> models;
    for (const json::Value& row : rows->get_array()) {
        if (!row.is_object() || models.size() >= most_listed) continue;
        const json::Object& object = row.get_object();
        std::string name = member_text(object, is_gemini ? "name" : "id");
        if (is_gemini && name.starts_with(gemini_prefix)) name.erase(0, gemini_prefix.size());
        if (!is_listed_name(name) || (is_gemini && !generates_text(object))) continue;
        const std::string title = member_text(object, is_gemini ? "displayName" : "display_name");
        models.push_back({std::move(name), repair_utf8(truncate_utf8(title, most_name_bytes))});
    }
    return models;
}

Result<std::vector<ListedModel>> list_models(const Dialer& dialer, const skill::ModelEndpoint& endpoint,
                                             std::string_view key, const Cancel& cancel) {
    const ModelAddress address = TRY(parse_model_address(endpoint.base_url));
    const Deadline deadline = Deadline::after(list_timeout);
    const Reach reach = endpoint.allow_private ? Reach::also_private : Reach::public_only;
    auto dialed = address.tls ? dialer.dial_tls(address.host, reach, cancel) : dialer.dial(address.host, reach, cancel);
    if (!dialed.ok()) return dialed.error();
    Channel& channel = dialed.value().channel;
    std::string request = TRY(list_request(address, endpoint, key));
    const auto written = channel.write(request, deadline);
    crypto::wipe(request);
    TRY(written);
    ListResponse response = TRY(receive_list(channel, deadline));
    // What a server reflects is not shown.
    const std::array secrets{key};
    const Redactor redactor(secrets);
    redactor.redact(response.body);
    if (response.status < 200 || response.status > 299) return refused_list(address, response, !key.empty());
    return read_model_list(endpoint.protocol, response.body);
}

} // namespace hone::broker
