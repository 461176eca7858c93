#include "signal/text/failure_text.h"

#include <doctest/doctest.h>

using namespace hone::signal;

namespace {

std::string shown(const Cause& cause) {
    return cause.type + "|" + cause.detail;
}

std::string reported(std::string_view text) {
    const auto cause = reported_failure(text);
    return cause ? shown(*cause) : "nothing";
}

} // namespace

TEST_CASE("names that differ in numbers and ids are one") {
    CHECK(normalised_name("Step 1") == "Step #");
    CHECK(normalised_name("Step 12") == "Step #");
    CHECK(normalised_name("run-7f3a91c2d4") == "run-#");
    CHECK(normalised_name("GET /users/018f6d2e-aa11-4c/orders") == "GET /users/#/orders");
    CHECK(normalised_name("lookup_order") == "lookup_order");
    CHECK(normalised_name("") == "");
}

TEST_CASE("the innermost cause of a message is the last exception that it names") {
    CHECK(shown(innermost_cause("Code execution failed at line 'x = ingest(\"a/b\", commit=\"77\")' due to: TypeError: "
                                "ingest() got an unexpected keyword argument 'commit'")) ==
          "TypeError|ingest() got an unexpected keyword argument 'commit'");
    CHECK(
        shown(innermost_cause("Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: bad\n\nDuring "
                              "handling of it:\nFileNotFoundError: [Errno 2] No such file: 'x'")) ==
        "FileNotFoundError|[Errno 2] No such file: 'x'");
    CHECK(shown(innermost_cause("parsing failed on line 7 due to: SyntaxError\n  x = \"\"\"\n  ^\nError: unterminated "
                                "string literal (line 7)")) == "SyntaxError|unterminated string literal (line 7)");
    CHECK(shown(innermost_cause("litellm.RateLimitError: Provider - {\"type\":\"error\"}")) ==
          "RateLimitError|Provider - {\"type\":\"error\"}");
    CHECK(shown(innermost_cause("order service did not respond\nsecond line")) == "|order service did not respond");
    CHECK(shown(innermost_cause("")) == "|");
}

TEST_CASE("the cause of a message that wraps another one is the wrapped one") {
    CHECK(shown(innermost_cause("Error in agent run: {'error': \"The model refused: I'm sorry.\"}")) ==
          "|The model refused: I'm sorry.");
    CHECK(shown(innermost_cause("Error code: 500 - {'type': 'error', 'error': {'type': 'server_error', 'message': 'The "
                                "server had an error.'}}")) == "|The server had an error.");
    CHECK(shown(innermost_cause("Error in agent run: {\"error\":\"RefusalError: no \\\"help\\\" with that\"}")) ==
          R"(RefusalError|no \"help\" with that"})");
    // Nothing that can be read, and nothing that ends.
    CHECK(shown(innermost_cause("failed: {\"message\"")) == "|failed: {\"message\"");
    CHECK(shown(innermost_cause("failed: {\"message\": \"cut off")) == "|cut off");
    CHECK(shown(innermost_cause("failed: {\"message\": \"\\")) == "|\\");
    CHECK(shown(innermost_cause("failed: {\"message\": 3, \"error\": null}")) ==
          "|failed: {\"message\": 3, \"error\": null}");
}

TEST_CASE("causes that differ in quoted code, arguments and numbers have one template") {
    const auto templated = [](std::string_view message) { return cause_template(innermost_cause(message)); };
    CHECK(templated("failed at line 'a = f(1)' due to: TypeError: f() got an unexpected keyword argument 'x'") ==
          templated("failed at line 'b = f(2, z=3)' due to: TypeError: f() got an unexpected keyword argument 'z'"));
    CHECK(templated("UnicodeError: UTF-16 stream has no mark") == "UnicodeError: # stream has no mark");
    CHECK(templated("TypeError: f() got an unexpected keyword argument 'x'") !=
          templated("TypeError: f() takes 2 positional arguments"));
}

TEST_CASE("limits of a provider are distinguished from failures of the call") {
    CHECK(is_provider_limit("openai.RateLimitError", ""));
    CHECK(is_provider_limit("", "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}"));
    CHECK(is_provider_limit("HTTPError", "429 Too Many Requests"));
    CHECK_FALSE(is_provider_limit("ValueError", "the rate must be a number"));
    CHECK(is_context_limit("This model's maximum context length is 8192 tokens"));
    CHECK_FALSE(is_context_limit("no context"));
}

TEST_CASE("structured results report failures by their fields") {
    CHECK(reported(R"({"error": {"code": 404, "message": "no such order"}})") == "|no such order");
    CHECK(reported(R"({"error": true, "message": "no such order"})") == "|no such order");
    CHECK(reported(R"({"status": "failed", "message": "out of stock"})") == "|out of stock");
    CHECK(reported(R"({"status_code": 503})") == "HTTP status 503|");
    CHECK(reported(R"({"isError": true})") == "|the result is marked as an error");
    CHECK(reported(R"({"error": null, "result": 3})") == "nothing");
    CHECK(reported(R"({"error": false})") == "nothing");
    CHECK(reported(R"({"errors": []})") == "nothing");
    CHECK(reported(R"({"status": "ok", "code": 200})") == "nothing");
    CHECK(reported(R"({"code": 45})") == "nothing");
}

TEST_CASE("texts report failures where they begin") {
    CHECK(reported("Error: connection refused") == "|connection refused");
    CHECK(reported("Call id: call_3\nError:\nfailed at line 'f()' due to: NameError: f is not defined\nNow retry") ==
          "NameError|f is not defined");
    CHECK(reported("Traceback (most recent call last):\n  File \"x\"\nKeyError: 'a'") == "KeyError|'a'");
    CHECK(reported("requests.exceptions.ConnectionError: refused") == "ConnectionError|refused");
    CHECK(reported("HTTP 503 Service Unavailable") == "|HTTP 503 Service Unavailable");
    CHECK(reported("404 Client Error: Not Found") != "nothing");
    CHECK(reported("Failed to open the file") == "|Failed to open the file");
}

TEST_CASE("texts that only mention errors report none") {
    CHECK(reported("") == "nothing");
    CHECK(reported("The page explains how a 404 error is shown.") == "nothing");
    CHECK(reported("No errors were found.") == "nothing");
    CHECK(reported("Error: none") == "nothing");
    CHECK(reported("Errors: 0, warnings: 2") == "nothing");
    CHECK(reported("Error handling in Rust\nUse Result.") == "nothing");
    CHECK(reported("10:02 INFO start\n10:03 ERROR: disk full") == "nothing");
    CHECK(reported("def f():\n    raise ValueError('x')") == "nothing");
    CHECK(reported("4044 results") == "nothing");
    CHECK(reported("{\"documents\": [\"Error: quoted\"]}") == "nothing");
}
