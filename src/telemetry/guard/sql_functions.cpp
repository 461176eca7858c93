#include "telemetry/guard/sql_functions.h"

#include "base/text.h"

#include <set>
#include <string>

namespace hone::telemetry {

namespace {

// Functions that compute from their arguments. Anything else is refused by name: no files, networks, dictionaries,
// other tables, settings, sleeping or server internals.
constexpr std::string_view functions_text = R"(
count sum avg min max any anyLast argMin argMax uniq uniqExact uniqCombined uniqHLL12 quantile quantiles quantileExact quantilesExact
quantileTDigest quantilesTDigest median medianExact stddevPop stddevSamp varPop varSamp corr covarPop covarSamp skewPop kurtPop groupArray
groupUniqArray groupArraySample groupBitAnd groupBitOr topK topKWeighted sumMap minMap maxMap simpleLinearRegression entropy first_value last_value
row_number rank dense_rank denseRank percentRank grouping lag lead lagInFrame leadInFrame nth_value ntile percent_rank exponentialMovingAverage histogram retention sequenceCount
sequenceMatch windowFunnel
plus minus multiply divide intDiv intDivOrZero modulo moduloOrZero negate abs gcd lcm floor ceil ceiling round roundBankers trunc truncate exp log ln
log2 log10 log1p sqrt cbrt pow power sin cos tan asin acos atan sign least greatest bitAnd bitOr bitXor bitNot bitShiftLeft bitShiftRight isNaN
isFinite isInfinite
equals notEquals less lessOrEquals greater greaterOrEquals and or not xor in notIn globalIn globalNotIn if multiIf ifNull nullIf coalesce isNull
isNotNull isDistinctFrom isNotDistinctFrom assumeNotNull toNullable isZeroOrNull caseWithExpression caseWithoutExpression between
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

} // namespace

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

} // namespace hone::telemetry
