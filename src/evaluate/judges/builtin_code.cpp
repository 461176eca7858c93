#include "evaluate/judges/builtin_code.h"

#include <fmt/format.h>

namespace hone::evaluate {

namespace {

struct CodeBuiltin {
    std::string_view name;
    std::string_view target;
    std::string_view description;
    std::string_view output; // JSON of OutputConfig
    std::string_view source; // Python, after the shared functions
    std::string_view document;
    std::string_view label; // or the score
};

// What most of them need: texts of JSON values.
constexpr std::string_view shared_source = R"py(import json, re

def text_of(value):
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and len(value) == 1:
        return text_of(next(iter(value.values())))
    return json.dumps(value, ensure_ascii=False, sort_keys=True)

def words_of(value):
    return re.findall(r"\w+", text_of(value).lower())

def metadata_of(document, name, default):
    return (document.get("metadata") or {}).get(name, default)

)py";

constexpr std::string_view passes =
    R"({"type":"categorical","values":[{"label":"pass","score":1},{"label":"fail","score":0}]})";
constexpr std::string_view ratio = R"({"type":"numeric","minimum":0,"maximum":1})";

constexpr CodeBuiltin all_code[] = {
    {"exact_match", "experiment_run", "The output is the reference, apart from blanks at both ends.", passes,
     R"py(def evaluate(document):
    return "pass" if text_of(document["output"]).strip() == text_of(document["reference"]).strip() else "fail"
)py",
     R"({"output":"366 ","reference":{"text":"366"}})", "pass"},
    {"contains", "experiment_run", "The output contains metadata.contains: a text, or all texts of a list.", passes,
     R"py(def evaluate(document):
    wanted = metadata_of(document, "contains", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    output = text_of(document["output"]).lower()
    missing = [text for text in wanted if text.lower() not in output]
    if missing:
        return {"label": "fail", "explanation": "missing: " + ", ".join(missing)}
    return "pass"
)py",
     R"({"output":"It left yesterday.","metadata":{"contains":["today"]}})", "fail"},
    {"contains_any", "experiment_run", "The output contains at least one text of the list metadata.contains.", passes,
     R"py(def evaluate(document):
    output = text_of(document["output"]).lower()
    return "pass" if any(text.lower() in output for text in metadata_of(document, "contains", [])) else "fail"
)py",
     R"({"output":"It left yesterday.","metadata":{"contains":["today","yesterday"]}})", "pass"},
    {"regex", "experiment_run", "The output matches the regular expression metadata.pattern.", passes,
     R"py(def evaluate(document):
    pattern = metadata_of(document, "pattern", None)
    if pattern is None:
        return "cannot_judge"
    return "pass" if re.search(pattern, text_of(document["output"])) else "fail"
)py",
     R"({"output":"Order 17","metadata":{"pattern":"^Order [0-9]+$"}})", "pass"},
    {"json_valid", "experiment_run", "The output is a JSON value, or a text of one.", passes,
     R"py(def evaluate(document):
    output = document["output"]
    if not isinstance(output, str):
        return "pass"
    try:
        json.loads(output)
        return "pass"
    except ValueError as error:
        return {"label": "fail", "explanation": str(error)}
)py",
     R"({"output":"{\"a\":1"})", "fail"},
    {"json_schema", "experiment_run",
     "The output has the keys and types of metadata.schema (type, required, properties, items, enum).", passes,
     R"py(types = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int}

def problem_of(value, schema, place):
    kind = schema.get("type")
    if kind == "null":
        return None if value is None else place + " is not null"
    if kind and (not isinstance(value, types[kind]) or (isinstance(value, bool) and kind in ("number", "integer"))):
        return f"{place} is not of type {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{place} is not one of {schema['enum']}"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                return f"{place}.{name} is missing"
        for name, part in schema.get("properties", {}).items():
            if name in value and (found := problem_of(value[name], part, f"{place}.{name}")):
                return found
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            if found := problem_of(item, schema["items"], f"{place}[{index}]"):
                return found
    return None

def evaluate(document):
    output = document["output"]
    try:
        value = json.loads(output) if isinstance(output, str) else output
    except ValueError as error:
        return {"label": "fail", "explanation": str(error)}
    found = problem_of(value, metadata_of(document, "schema", {}), "output")
    return {"label": "fail", "explanation": found} if found else "pass"
)py",
     R"({"output":{"total":"3"},"metadata":{"schema":{"type":"object","required":["total"],"properties":{"total":{"type":"number"}}}}})",
     "fail"},
    {"json_distance", "experiment_run", "Share of the leaves of the reference that the output has with the same value.",
     ratio,
     R"py(def leaves_of(value, place=""):
    if isinstance(value, dict):
        return {k: v for name, part in value.items() for k, v in leaves_of(part, place + "." + name).items()}
    if isinstance(value, list):
        return {k: v for index, part in enumerate(value) for k, v in leaves_of(part, f"{place}[{index}]").items()}
    return {place: value}

def evaluate(document):
    output = document["output"]
    if isinstance(output, str):
        try:
            output = json.loads(output)
        except ValueError:
            pass
    wanted, found = leaves_of(document["reference"]), leaves_of(output)
    keys = set(wanted) | set(found)
    return sum(k in wanted and k in found and wanted[k] == found[k] for k in keys) / len(keys) if keys else 1.0
)py",
     R"({"output":{"a":1,"b":2},"reference":{"a":1,"b":3}})", "0.5"},
    {"numeric_tolerance", "experiment_run",
     "The number in the output differs from the reference by at most metadata.tolerance (default 0.01, relative).",
     passes,
     R"py(def number_in(value):
    found = re.findall(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", text_of(value).replace(",", ""))
    return float(found[-1]) if found else None

def evaluate(document):
    wanted, found = number_in(document["reference"]), number_in(document["output"])
    if wanted is None:
        return "cannot_judge"
    tolerance = float(metadata_of(document, "tolerance", 0.01))
    return "pass" if found is not None and abs(found - wanted) <= tolerance * max(1.0, abs(wanted)) else "fail"
)py",
     R"({"output":"about 3.14","reference":{"value":3.1416}})", "pass"},
    {"levenshtein_ratio", "experiment_run", "1 minus the edit distance to the reference, divided by the longer length.",
     ratio,
     R"py(def evaluate(document):
    a, b = text_of(document["output"])[:4000], text_of(document["reference"])[:4000]
    if not a and not b:
        return 1.0
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return 1 - row[-1] / max(len(a), len(b))
)py",
     R"({"output":"abcd","reference":{"text":"abcf"}})", "0.75"},
    {"token_f1", "experiment_run", "F1 of the words of the output against those of the reference.", ratio,
     R"py(from collections import Counter

def evaluate(document):
    output, wanted = Counter(words_of(document["output"])), Counter(words_of(document["reference"]))
    common = sum((output & wanted).values())
    if not common:
        return 1.0 if not output and not wanted else 0.0
    precision, recall = common / sum(output.values()), common / sum(wanted.values())
    return 2 * precision * recall / (precision + recall)
)py",
     R"({"output":"a b","reference":{"text":"a c"}})", "0.5"},
    {"rouge_l", "experiment_run", "ROUGE-L: F1 of the longest common subsequence of words with the reference.", ratio,
     R"py(def evaluate(document):
    a, b = words_of(document["output"])[:2000], words_of(document["reference"])[:2000]
    if not a or not b:
        return 1.0 if a == b else 0.0
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], before + 1 if x == y else max(row[j], row[j - 1])
    if not row[-1]:
        return 0.0
    precision, recall = row[-1] / len(a), row[-1] / len(b)
    return 2 * precision * recall / (precision + recall)
)py",
     R"({"output":"a x b","reference":{"text":"a b c"}})", "0.6666666666666666"},
    {"bleu", "experiment_run", "Sentence BLEU with up to four words in a row, smoothed, against the reference.", ratio,
     R"py(import math
from collections import Counter

def evaluate(document):
    a, b = words_of(document["output"]), words_of(document["reference"])
    if not a or not b:
        return 1.0 if a == b else 0.0
    logs = 0.0
    longest = min(4, len(a), len(b))
    for n in range(1, longest + 1):
        found = Counter(tuple(a[i:i + n]) for i in range(len(a) - n + 1))
        wanted = Counter(tuple(b[i:i + n]) for i in range(len(b) - n + 1))
        common = sum((found & wanted).values())
        if n == 1 and not common:
            return 0.0
        logs += math.log((common + (n > 1)) / (sum(found.values()) + (n > 1)))
    brief = min(0.0, 1 - len(b) / len(a))
    return min(1.0, math.exp(logs / longest + brief))
)py",
     R"({"output":"the cat sat on the mat","reference":{"text":"the cat sat on the mat"}})", "1"},
    {"latency", "span", "latency_ms is at most metadata.most_ms (default 5000).", passes,
     R"py(def evaluate(document):
    return "pass" if document["latency_ms"] <= float(metadata_of(document, "most_ms", 5000)) else "fail"
)py",
     R"({"latency_ms":7000})", "fail"},
    {"cost", "trace", "usage.cost_micro_usd is at most metadata.most_micro_usd (default 10000: one cent).", passes,
     R"py(def evaluate(document):
    cost = (document.get("usage") or {}).get("cost_micro_usd")
    if cost is None:
        return "cannot_judge"
    return "pass" if cost <= float(metadata_of(document, "most_micro_usd", 10000)) else "fail"
)py",
     R"({"usage":{"cost_micro_usd":200000}})", "fail"},
    {"tokens", "span", "Input and output tokens are at most metadata.most_tokens (default 8000).", passes,
     R"py(def evaluate(document):
    usage = document.get("usage") or {}
    used = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
    return "pass" if used <= float(metadata_of(document, "most_tokens", 8000)) else "fail"
)py",
     R"({"usage":{"input_tokens":9000,"output_tokens":1}})", "fail"},
    {"tools_used", "trace", "Every tool of the list metadata.tools was called.", passes,
     R"py(def evaluate(document):
    called = {call["name"] for call in document.get("tool_calls", [])}
    missing = [name for name in metadata_of(document, "tools", []) if name not in called]
    return {"label": "fail", "explanation": "not called: " + ", ".join(missing)} if missing else "pass"
)py",
     R"({"tool_calls":[{"name":"search"}],"metadata":{"tools":["search","order"]}})", "fail"},
    {"tool_order", "trace",
     "The tools of the list metadata.tools were called in this order; others may be between them.", passes,
     R"py(def evaluate(document):
    called = iter(call["name"] for call in document.get("tool_calls", []))
    return "pass" if all(name in called for name in metadata_of(document, "tools", [])) else "fail"
)py",
     R"({"tool_calls":[{"name":"order"},{"name":"search"}],"metadata":{"tools":["search","order"]}})", "fail"},
    {"tool_arguments_match", "trace", "The call metadata.tool has the arguments metadata.arguments.", passes,
     R"py(def evaluate(document):
    tool, wanted = metadata_of(document, "tool", None), metadata_of(document, "arguments", {})
    for call in document.get("tool_calls", []):
        found = call.get("arguments")
        if call["name"] == tool and isinstance(found, dict) and all(found.get(k) == v for k, v in wanted.items()):
            return "pass"
    return "fail"
)py",
     R"({"tool_calls":[{"name":"stock","arguments":{"item":7}}],"metadata":{"tool":"stock","arguments":{"item":7}}})",
     "pass"},
    {"call_count", "trace", "At most metadata.most_calls tool calls (default 20), none repeated more than 3 times.",
     passes,
     R"py(from collections import Counter

def evaluate(document):
    calls = Counter(json.dumps([call["name"], call.get("arguments")], sort_keys=True) for call in document.get("tool_calls", []))
    if sum(calls.values()) > int(metadata_of(document, "most_calls", 20)):
        return {"label": "fail", "explanation": f"{sum(calls.values())} calls"}
    return "fail" if any(count > 3 for count in calls.values()) else "pass"
)py",
     R"({"tool_calls":[{"name":"a"},{"name":"a"},{"name":"a"},{"name":"a"}]})", "fail"},
    {"error_spans", "trace", "No span of the trace failed.", passes,
     R"py(def evaluate(document):
    failed = [span["name"] for span in document.get("spans", []) if span.get("status") == "error"]
    return {"label": "fail", "explanation": "failed: " + ", ".join(failed[:10])} if failed else "pass"
)py",
     R"({"spans":[{"name":"stock","status":"error"}]})", "fail"},
    {"language", "span",
     "The output is in the language metadata.language (default en), by its most frequent short words.", passes,
     R"py(common = {
    "en": "the and of to is in that it you for with not are this have",
    "de": "der die und das ist nicht ich sie mit auf ein eine den zu wir",
    "fr": "le la les et des est pas vous dans pour une que sur avec nous",
    "es": "el los las una es que con para por no se del su como esta",
    "it": "il che non di per una sono con gli della nel si come anche",
    "nl": "de het een van en is niet dat voor met zijn op aan ook wij",
    "pt": "o os as uma que com para por não se do da em mais como",
}

def evaluate(document):
    words = words_of(document["output"])
    if len(words) < 5:
        return "cannot_judge"
    scores = {name: sum(word in set(text.split()) for word in words) for name, text in common.items()}
    best = max(scores, key=scores.get)
    if not scores[best]:
        return "cannot_judge"
    return {"label": "pass" if best == metadata_of(document, "language", "en") else "fail", "explanation": "most like " + best}
)py",
     R"({"output":"Das ist nicht die Bestellung, und wir sind mit der Antwort nicht fertig."})", "fail"},
    {"url_allowlist", "span", "Every address in the output is at a host of metadata.hosts, or below one.", passes,
     R"py(def evaluate(document):
    hosts = [host.lower() for host in metadata_of(document, "hosts", [])]
    found = re.findall(r"https?://([^/\s:?#\"'<>)\]]+)", text_of(document["output"]), re.I)
    foreign = [host for host in found if not any(host.lower() == own or host.lower().endswith("." + own) for own in hosts)]
    return {"label": "fail", "explanation": "other hosts: " + ", ".join(foreign[:10])} if foreign else "pass"
)py",
     R"({"output":"See https://evil.example/x","metadata":{"hosts":["shop.example"]}})", "fail"},
    {"sql_parses", "experiment_run",
     "The output is one SQL statement that SQLite parses; unknown tables are not an error.", passes,
     R"py(import sqlite3

def evaluate(document):
    statement = re.sub(r"^```(?:sql)?|```$", "", text_of(document["output"]).strip()).strip()
    try:
        sqlite3.connect(":memory:").execute("EXPLAIN " + statement)
    except sqlite3.Error as error:
        if not re.match(r"no such (table|column|function)", str(error)):
            return {"label": "fail", "explanation": str(error)}
    return "pass"
)py",
     R"({"output":"SELEC 1"})", "fail"},
};

struct RuleBuiltin {
    std::string_view name, description, definition;
};

constexpr RuleBuiltin all_rules[] = {
    {"failed_spans", "Spans that failed.",
     R"json({"condition":"status = error","label":"fail","score":0,"other_label":"pass","other_score":1})json"},
    {"slow_spans", "Spans of tools and models that take longer than 10 seconds.",
     R"json({"filter":"kind in (llm, tool)","condition":"latency > 10s","label":"slow","score":0,"other_label":"ok","other_score":1})json"},
    {"empty_output", "Model calls without an output.",
     R"json({"filter":"kind = llm","condition":"output = \"\"","label":"empty","score":0,"other_label":"ok","other_score":1})json"},
};

} // namespace

std::vector<Builtin> code_builtins() {
    std::vector<Builtin> made;
    for (const CodeBuiltin& one : all_code) {
        auto output = json::parse(one.output);
        auto document = json::parse(one.document);
        json::Object definition{{"language", "python"},
                                {"source", std::string(shared_source) + std::string(one.source)}};
        if (output.ok()) definition["output"] = std::move(output).value();
        made.push_back(
            {std::string(one.name), EvaluatorKind::code, std::string(one.target), std::string(one.description),
             std::move(definition),
             BuiltinExample{document.ok() ? std::move(document).value() : json::Value(), std::string(one.label)}});
    }
    for (const RuleBuiltin& one : all_rules) {
        auto definition = json::parse(one.definition);
        made.push_back({std::string(one.name), EvaluatorKind::rule, "span", std::string(one.description),
                        definition.ok() ? std::move(definition).value() : json::Value(), std::nullopt});
    }
    return made;
}

} // namespace hone::evaluate
