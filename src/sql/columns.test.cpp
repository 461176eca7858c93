#include "sql/columns.h"

#include "sql/testing.h"

#include <doctest/doctest.h>

namespace hone::sql {
namespace {

enum class Mood { calm, loud, unknown };
constexpr auto enum_names(Mood) {
    return std::array{EnumName{Mood::calm, "calm"}, EnumName{Mood::loud, "loud"}};
}

struct Inner {
    int64_t count = 0;
};
struct PetTag {
    static constexpr std::string_view kind = "pet";
};
struct Pet {
    Id<PetTag> id;
    std::string name;
    std::optional<Time> born;
    bool tame = false;
    double weight = 0;
    Mood mood = Mood::calm;
    std::optional<Mood> mood_before;
    Inner inner;
    std::vector<std::string> tags;
};

constexpr Pack pet_columns{
    Column{"id", &Pet::id},
    Column{"name", &Pet::name},
    Column{"born", &Pet::born},
    Column{"tame", &Pet::tame},
    Column{"weight", &Pet::weight},
    Column{"mood", &Pet::mood, Mood::unknown},
    Column{"mood_before", &Pet::mood_before},
    Column{"count", in(&Pet::inner, &Inner::count)},
    Column{"tags", Converted{[](Pet& pet, const Row& row, size_t at) -> Result<> {
                                 if (row.text(at).empty()) return corrupt("no tags");
                                 pet.tags = {row.text(at)};
                                 return {};
                             },
                             [](const Pet& pet) { return pet.tags.front(); }}},
};

TEST_CASE("a record that is written by its columns is read back the same") {
    for (const Engine engine : testing::all_engines) {
        testing::FreshDatabase fresh(engine, testing::Schema::empty);
        Database& database = fresh.database();
        const std::vector<Migration> pets = {
            {1, "pets",
             "CREATE TABLE pets (id TEXT, name TEXT, born BIGINT, tame BIGINT, weight DOUBLE, mood TEXT, mood_before "
             "TEXT, count BIGINT, tags TEXT);"}};
        REQUIRE(migrate(database, SystemClock(), pets).ok());
        const Pet pet{Id<PetTag>("pet_1"), "Rex", from_ns(7), true, 2.5, Mood::loud, Mood::calm, {3}, {"red"}};
        REQUIRE(width(pet_columns) == 9);
        REQUIRE(
            database
                .run_execute("INSERT INTO pets (" + names(pet_columns) + ") VALUES (" + marks(width(pet_columns)) + ")",
                             values(pet_columns, pet))
                .ok());
        auto rows = database.query("SELECT 'before', " + names(pet_columns, "p.") + " FROM pets p");
        REQUIRE(rows.ok());
        const Rows kept = std::move(rows).value();
        auto read_back = read<Pet>(pet_columns, kept.front(), 1);
        REQUIRE(read_back.ok());
        const Pet& same = read_back.value();
        CHECK(same.id == pet.id);
        CHECK(same.name == "Rex");
        CHECK(same.born == from_ns(7));
        CHECK(same.tame);
        CHECK(same.weight == 2.5);
        CHECK(same.mood == Mood::loud);
        CHECK(same.mood_before == Mood::calm);
        CHECK(same.inner.count == 3);
        CHECK(same.tags == pet.tags);
    }
}

TEST_CASE("an unknown name of an enum becomes the fallback, and a column that cannot be read is an error") {
    const std::vector<Value> values{"pet_1", "Rex", Null{}, int64_t{0}, 1.0, "furious", "furious", int64_t{1}, ""};
    const Rows rows(values.size(), values);
    const auto failed = read<Pet>(pet_columns, rows.front());
    REQUIRE(!failed.ok());
    CHECK(failed.error().message == "no tags");

    constexpr Pack few{Column{"mood", &Pet::mood, Mood::unknown}, Column{"mood_before", &Pet::mood_before}};
    const Pet pet = read<Pet>(few, rows.front(), 5);
    CHECK(pet.mood == Mood::unknown);
    CHECK(!pet.mood_before);
}

TEST_CASE("names carry their table and marks count") {
    constexpr Pack two{Column{"id", &Pet::id}, Column{"name", &Pet::name}};
    CHECK(names(two) == "id, name");
    CHECK(names(two, "a.") == "a.id, a.name");
    CHECK(marks(0).empty());
    CHECK(marks(3) == "?, ?, ?");
}

} // namespace
} // namespace hone::sql
