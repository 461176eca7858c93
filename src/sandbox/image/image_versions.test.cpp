// Images that are built again: versions, variables, images in use, and those that nobody uses any more.
#include "sandbox/image/image.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <doctest/doctest.h>

namespace hone::sandbox {

TEST_CASE("an image that is replaced has the next version, and one in use stays") {
    const Folder folder;
    const auto provider = open_provider(folder);
    const Store store = Store::open(folder.path).value();
    const std::string source = folder.path + "/source";
    REQUIRE(make_directories(source + "/etc", 0755).ok());
    REQUIRE(write_file(source + "/etc/mark", "one").ok());
    ImageOptions options;
    options.program = hone_program();
    options.replace = true;
    options.environment = {{"MODE", "fast"}};
    const auto add = [&] { return add_image(*provider, store, "tools", source, options); };
    const auto first = add();
    REQUIRE_MESSAGE(first.ok(), first.error().message);
    CHECK(*first.value().version == 1);
    CHECK(image_environment(store, "tools").at("MODE") == "fast");
    CHECK(image_environment(store, "host").empty());
    CHECK(image_environment(store, "../tools").empty());
    REQUIRE(write_file(source + "/etc/mark", "two").ok());
    const auto second = add();
    REQUIRE_MESSAGE(second.ok(), second.error().message);
    CHECK(*second.value().version == 2);
    CHECK(second.value().digest != first.value().digest);
    CHECK(read_file(store.images() + "/tools/root/etc/mark").value() == "two");
    {
        const auto held = store.hold(store.images() + "/tools"); // as a sandbox does
        REQUIRE(held.ok());
        CHECK(add().error().code == Code::busy);
        CHECK(prune_images(store, SystemClock().now() + std::chrono::hours(1)).value().empty());
    }
    ImageOptions plain = options;
    plain.replace = false;
    CHECK(add_image(*provider, store, "tools", source, plain).error().code == Code::conflict);
    CHECK(prune_images(store, SystemClock().now() - std::chrono::hours(1)).value().empty());
    CHECK(prune_images(store, SystemClock().now() + std::chrono::hours(1)).value() ==
          std::vector<std::string>{"tools"});
    CHECK(list_images(store).value().empty());
}

} // namespace hone::sandbox
