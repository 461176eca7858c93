#include "telemetry/sql_guard.h"

#include "telemetry/sql_text.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace hone::telemetry {

namespace {

constexpr std::string_view tables[] = {"spans", "evals", "traces", "chat_sessions"};

// Functions that compute from their arguments. Anything else is refused by name: no files, networks, dictionaries,
// other tables, settings, sleeping or server internals.
constexpr std::string_view functions_text = R"(
count sum avg min max any anyLast argMin argMax uniq uniqExact uniqCombined uniqHLL12 quantile quantiles quantileExact quantilesExact
quantileTDigest quantilesTDigest median medianExact stddevPop stddevSamp varPop varSamp corr covarPop covarSamp skewPop kurtPop groupArray
groupUniqArray groupArraySample groupBitAnd groupBitOr topK topKWeighted sumMap minMap maxMap simpleLinearRegression entropy first_value last_value
row_number rank dense_rank lag lead lagInFrame leadInFrame nth_value ntile percent_rank exponentialMovingAverage histogram retention sequenceCount
sequenceMatch windowFunnel
plus minus multiply divide intDiv intDivOrZero modulo moduloOrZero negate abs gcd lcm floor ceil ceiling round roundBankers trunc truncate exp log ln
log2 log10 log1p sqrt cbrt pow power sin cos tan asin acos atan sign least greatest bitAnd bitOr bitXor bitNot bitShiftLeft bitShiftRight isNaN
isFinite isInfinite
equals notEquals less lessOrEquals greater greaterOrEquals and or not xor in notIn globalIn globalNotIn if multiIf ifNull nullIf coalesce isNull
isNotNull assumeNotNull toNullable isZeroOrNull caseWithExpression caseWithoutExpression between
toInt8 toInt16 toInt32 toInt64 toInt128 toUInt8 toUInt16 toUInt32 toUInt64 toFloat32 toFloat64 toDecimal32 toDecimal64 toDecimal128 toString
toFixedString toBool toInt32OrNull toInt64OrNull toInt64OrZero toInt32OrZero toUInt32OrNull toUInt64OrNull toUInt64OrZero toFloat64OrNull toFloat64OrZero toUUID
toTypeName CAST _CAST accurateCastOrNull toDate toDate32 toDateTime toDateTime64 parseDateTimeBestEffort parseDateTimeBestEffortOrNull
parseDateTime64BestEffort
now now64 today yesterday toYear toQuarter toMonth toWeek toDayOfMonth toDayOfWeek toDayOfYear toHour toMinute toSecond toUnixTimestamp
fromUnixTimestamp fromUnixTimestamp64Nano fromUnixTimestamp64Milli toUnixTimestamp64Nano toUnixTimestamp64Milli toStartOfYear toStartOfMonth
toStartOfWeek toStartOfDay toStartOfHour toStartOfMinute toStartOfFiveMinutes toStartOfFiveMinute toStartOfTenMinutes toStartOfFifteenMinutes
toStartOfInterval toStartOfSecond toMonday timeSlot dateDiff date_diff dateAdd dateSub addSeconds addMinutes addHours addDays addWeeks addMonths
addYears subtractSeconds subtractMinutes subtractHours subtractDays subtractWeeks subtractMonths subtractYears formatDateTime dateTrunc date_trunc
toIntervalSecond toIntervalMinute toIntervalHour toIntervalDay toIntervalWeek toIntervalMonth toIntervalYear toIntervalMillisecond toIntervalNanosecond toYYYYMM toYYYYMMDD
length lengthUTF8 empty notEmpty lower upper lowerUTF8 upperUTF8 reverse reverseUTF8 concat concatWithSeparator concat_ws substring substr
substringUTF8 left right leftUTF8 rightUTF8 trim trimLeft trimRight trimBoth ltrim rtrim repeat leftPad rightPad startsWith endsWith position positionUTF8
positionCaseInsensitive positionCaseInsensitiveUTF8 locate like notLike ilike notILike match multiSearchAny multiSearchFirstIndex extract extractAll
extractGroups replace replaceOne replaceAll replaceRegexpOne replaceRegexpAll splitByChar splitByString splitByWhitespace splitByNonAlpha
arrayStringConcat tokens ngrams countSubstrings countSubstringsCaseInsensitive format hex unhex base64Encode base64Decode tryBase64Decode
hasToken hasTokenCaseInsensitive hasAnyTokens hasAllTokens ngramDistance ngramSearch levenshteinDistance editDistance damerauLevenshteinDistance
jaroWinklerSimilarity soundex initcap ascii char
array range arrayConcat arrayElement has hasAll hasAny indexOf countEqual arrayCount arrayExists arrayAll arrayMap arrayFilter arrayFirst arrayLast
arraySum arrayAvg arrayMin arrayMax arraySort arrayReverseSort arrayReverse arrayUniq arrayDistinct arraySlice arrayJoin arrayFlatten arrayZip
arrayCompact arrayEnumerate arrayIntersect arrayPushBack arrayPushFront arrayReduce arrayCumSum arrayDifference arrayProduct
map mapKeys mapValues mapContains mapContainsKey mapFilter mapApply mapAdd mapFromArrays tuple tupleElement untuple lambda
JSONHas JSONLength JSONType JSONExtract JSONExtractString JSONExtractInt JSONExtractUInt JSONExtractFloat JSONExtractBool JSONExtractRaw
JSONExtractArrayRaw JSONExtractKeys JSONExtractKeysAndValues JSONExtractKeysAndValuesRaw JSON_VALUE JSON_QUERY JSON_EXISTS isValidJSON simpleJSONExtractString
simpleJSONExtractInt simpleJSONHas visitParamExtractString toJSONString
cityHash64 sipHash64 xxHash64 murmurHash3_64 MD5 SHA256 halfMD5
exists singleValueOrNull identity materialize ignore bar formatReadableSize formatReadableQuantity formatReadableTimeDelta transform
runningDifference neighbor widthBucket
)";

const std::set<std::string, std::less<>>& functions() {
    static const auto made = [] {
        std::set<std::string, std::less<>> names;
        for (const std::string_view line : split(functions_text, '\n'))
            for (const std::string_view name : split(line, ' '))
                if (!name.empty()) names.insert(lowercase_ascii(name));
        return names;
    }();
    return made;
}

// Aggregates take suffixes: countIf, sumArrayIf, avgOrNull.
bool is_known_function(std::string_view name) {
    std::string plain = lowercase_ascii(name);
    for (int i = 0; i < 4; ++i) {
        if (functions().contains(plain)) return true;
        bool cut = false;
        for (const std::string_view suffix : {"if", "ornull", "ordefault", "array", "distinct", "map"})
            if (plain.size() > suffix.size() && plain.ends_with(suffix)) {
                plain.resize(plain.size() - suffix.size());
                cut = true;
                break;
            }
        if (!cut) return false;
    }
    return false;
}

Error at(size_t offset, const std::string& why) {
    return invalid("character " + std::to_string(offset + 1) + ": " + why);
}

// Steps over a quoted text or name; backslash escapes and doubled quotes stay inside.
Result<size_t> skip_quoted(std::string_view sql, size_t begin) {
    const char quote = sql[begin];
    for (size_t i = begin + 1; i < sql.size(); ++i) {
        if (sql[i] == '\\')
            ++i;
        else if (sql[i] == quote) {
            if (i + 1 < sql.size() && sql[i + 1] == quote)
                ++i;
            else
                return i + 1;
        }
    }
    return at(begin, "a quote is not closed");
}

// One line of EXPLAIN AST: "  Function in (alias x) (children 1)".
struct TreeLine {
    size_t indent = 0;
    std::string_view kind, name, alias;
};

TreeLine tree_line(std::string_view line) {
    TreeLine read;
    read.indent = std::min(line.find_first_not_of(' '), line.size());
    line = trim(line);
    if (const size_t end = line.find(" (children"); end != std::string_view::npos) line = line.substr(0, end);
    const size_t space = line.find(' ');
    read.kind = line.substr(0, space);
    if (space != std::string_view::npos) read.name = line.substr(space + 1);
    if (const size_t at = read.name.find("(alias "); at != std::string_view::npos) {
        read.alias = read.name.substr(at + 7);
        if (read.alias.ends_with(')')) read.alias.remove_suffix(1);
        read.name = trim(read.name.substr(0, at));
    }
    return read;
}

bool is_our_table(std::string_view name) {
    return std::find(std::begin(tables), std::end(tables), name) != std::end(tables);
}

using Names = std::set<std::string, std::less<>>;

bool is_in_function(std::string_view name) {
    const std::string plain = lowercase_ascii(name);
    return plain == "in" || plain == "notin" || plain == "globalin" || plain == "globalnotin";
}

// `x IN name` reads the table `name`, which the tree calls a mere identifier: it must be a table of ours, or a name
// that the query gave to something else than another name.
Result<> check_right_of_in(const std::vector<TreeLine>& lines, size_t function, const Names& own_names) {
    const size_t inside = lines[function].indent + 2;
    int argument = 0;
    for (size_t i = function + 1; i < lines.size() && lines[i].indent > lines[function].indent; ++i) {
        if (lines[i].indent != inside || ++argument != 2 || lines[i].kind != "Identifier") continue;
        const std::string_view name = lines[i].name;
        bool is_given = own_names.contains(name) || is_our_table(name), is_other_name = false;
        for (const TreeLine& line : lines) {
            if (line.alias != name || name.empty()) continue;
            (line.kind == "Identifier" ? is_other_name : is_given) = true;
        }
        if (!is_given || is_other_name)
            return invalid("IN takes a list or a subquery, not the name \"" + std::string(name) + "\"");
    }
    return {};
}

bool is_of_the_engine(std::string_view name) {
    const std::string plain = lowercase_ascii(name);
    return plain.starts_with("system.") || plain.starts_with("information_schema.");
}

std::string wrapped(const std::string& sql) {
    return "SELECT * FROM (\n" + sql + "\n)";
}

} // namespace

std::string plain_sql(std::string_view sql) {
    std::string plain(sql);
    const auto blank = [&](size_t begin, size_t end) {
        for (size_t i = begin; i < std::min(end, plain.size()); ++i)
            if (plain[i] != '\n') plain[i] = ' ';
        return end;
    };
    for (size_t i = 0; i < plain.size();) {
        const std::string_view rest = std::string_view(plain).substr(i);
        if (plain[i] == '\'' || plain[i] == '"' || plain[i] == '`') {
            const auto end = skip_quoted(plain, i);
            if (!end.ok()) break; // check_sql_text says so
            i = end.value();
        } else if (rest.starts_with("--")) {
            i = blank(i, std::min(plain.find('\n', i), plain.size()));
        } else if (rest.starts_with("/*")) {
            const size_t end = plain.find("*/", i + 2);
            if (end == std::string::npos) break;
            i = blank(i, end + 2);
        } else {
            ++i;
        }
    }
    const size_t last = plain.find_last_not_of(" \t\r\n");
    if (last != std::string::npos && plain[last] == ';') plain[last] = ' ';
    return plain;
}

Result<> check_sql_text(std::string_view sql) {
    if (sql.size() > 64 << 10) return too_large("the query is longer than 64 KB");
    if (!is_valid_utf8(sql) || sql.find('\0') != std::string_view::npos) return invalid("the query is not text");
    std::string brackets;
    for (size_t i = 0; i < sql.size();) {
        const std::string_view rest = sql.substr(i);
        const char letter = sql[i];
        if (letter == '\'' || letter == '"' || letter == '`') {
            i = TRY(skip_quoted(sql, i));
            continue;
        }
        if (rest.starts_with("--") || letter == '#') return at(i, "this comment is not supported");
        if (rest.starts_with("/*") || rest.starts_with("*/")) return at(i, "a comment is not closed");
        if (letter == ';') return at(i, "only one statement is allowed");
        if (letter == '$') return at(i, "'$' is not supported");
        if (static_cast<unsigned char>(letter) >= 0x80)
            return at(i, "letters outside quotes must be ASCII"); // also typographic quotes
        if (letter == '(' || letter == '[' || letter == '{') brackets += letter;
        if (letter == ')' || letter == ']' || letter == '}') {
            const char opening = letter == ')' ? '(' : letter == ']' ? '[' : '{';
            if (brackets.empty() || brackets.back() != opening) return at(i, "a bracket does not match");
            brackets.pop_back();
        }
        ++i;
    }
    if (!brackets.empty()) return invalid("a bracket is not closed");
    const std::string first = lowercase_ascii(trim(sql).substr(0, 6));
    if (!first.starts_with("select") && !first.starts_with("with")) return invalid("only SELECT is allowed");
    return {};
}

std::set<std::string, std::less<>> names_in_sql(std::string_view sql) {
    std::set<std::string, std::less<>> names;
    const auto word_before = [&](size_t& end) {
        while (end > 0 && std::string_view(" \t\r\n").find(sql[end - 1]) != std::string_view::npos) --end;
        size_t begin = end;
        while (begin > 0 && (std::isalnum(static_cast<unsigned char>(sql[begin - 1])) || sql[begin - 1] == '_'))
            --begin;
        const std::string_view word = sql.substr(begin, end - begin);
        end = begin;
        return word;
    };
    for (size_t i = 0; i < sql.size(); ++i) {
        if (sql[i] != '(') continue;
        size_t end = i;
        if (!equals_ignoring_case(word_before(end), "as")) continue;
        if (const std::string_view name = word_before(end); !name.empty()) names.insert(std::string(name));
    }
    return names;
}

Result<> check_sql_tree(std::string_view tree, const std::set<std::string, std::less<>>& own_names) {
    std::vector<TreeLine> lines;
    for (const std::string_view line : split(tree, '\n')) lines.push_back(tree_line(line));
    for (size_t i = 0; i < lines.size(); ++i) {
        const std::string_view kind = lines[i].kind;
        std::string_view name = lines[i].name;
        if (kind == "Function" && !is_known_function(name))
            return invalid("the function \"" + std::string(name) + "\" is not available");
        if (kind == "Function" && is_in_function(name)) TRY(check_right_of_in(lines, i, own_names));
        if (kind == "Identifier" && is_of_the_engine(name))
            return invalid("there is no column \"" + std::string(name) + "\"");
        if (kind == "TableIdentifier") {
            if (name.starts_with("hone.")) name.remove_prefix(5);
            if (!is_our_table(name) && !own_names.contains(name))
                return invalid("there is no table \"" + std::string(name) +
                               "\"; there are spans, evals, traces and chat_sessions");
        }
        if (kind == "Set") return forbidden("SETTINGS are not available");
        for (const std::string_view refused :
             {"InsertQuery", "CreateQuery", "AlterQuery", "DropQuery", "SystemQuery", "SetQuery", "KillQueryQuery",
              "ExplainQuery", "ShowTables", "DescribeQuery", "ShowColumns", "BackupQuery", "OptimizeQuery"})
            if (kind == refused) return forbidden("only SELECT is allowed");
    }
    return {};
}

std::vector<std::string> sql_tables() {
    return {std::begin(tables), std::end(tables)};
}

Result<std::string> SqlGuard::run(const SqlRequest& request) {
    static const std::set<std::string> formats{"JSON",  "JSONCompact", "JSONEachRow", "CSVWithNames",
                                               "Arrow", "ArrowStream", "Parquet",     "TSVWithNames"};
    if (!formats.contains(request.format))
        return invalid("unknown format; use JSON, JSONEachRow, CSVWithNames, Arrow or Parquet");
    if (request.project.empty() || request.project == "*") return internal("a query needs a project");
    const std::string sql = plain_sql(request.sql);
    TRY(check_sql_text(sql));
    const auto prepare = [&](std::string statement) {
        ClickHouseQuery query(std::move(statement));
        query.project = request.project;
        query.deadline = request.deadline + std::chrono::seconds(2); // the engine's own limit speaks first
        query.most_bytes = request.most_bytes + (1 << 20);
        query.cancel = request.cancel.get();
        const auto seconds =
            std::max<int64_t>(1, std::chrono::duration_cast<std::chrono::seconds>(request.deadline).count());
        query.set("database", "hone").set("max_execution_time", std::to_string(seconds));
        query.set("max_memory_usage", std::to_string(request.most_memory))
            .set("max_bytes_before_external_group_by", "0");
        // No max_result_rows and max_result_bytes: the engine holds subqueries to them too, and the whole query is one
        // here. The rows are cut by the LIMIT below, the bytes are counted while they arrive.
        query.set("max_threads", "2").set("max_ast_depth", "200").set("max_ast_elements", "5000");
        query.set("max_expanded_ast_elements", "50000").set("allow_ddl", "0").set("readonly", "1");
        return query;
    };
    const std::string tree = TRY(m_engine.query(prepare("EXPLAIN AST " + wrapped(sql) + " FORMAT TSVRaw")));
    TRY(check_sql_tree(tree, names_in_sql(sql)));
    return m_engine.query(
        prepare(wrapped(sql) + " LIMIT " + std::to_string(request.most_rows) + " FORMAT " + request.format));
}

} // namespace hone::telemetry
