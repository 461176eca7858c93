// `hone print`: the documents that are made from the program itself.
#include "api/core/documents.h"
#include "config/config.h"
#include "server/commands/commands.h"
#include "server/server.h"

#include <cstdio>

namespace hone::server {

int print_main(int argc, char** argv) {
    const std::string what = argc == 2 ? argv[1] : "";
    if (what == "openapi")
        std::fputs(json::print_pretty(api::openapi(version)).c_str(), stdout);
    else if (what == "types")
        std::fputs(api::typescript_types().c_str(), stdout);
    else if (what == "config")
        std::fputs(config::print_markdown().c_str(), stdout);
    else if (what == "permissions")
        std::fputs(api::permissions_markdown().c_str(), stdout);
    else {
        std::fprintf(stderr, "Usage: hone print openapi|types|config|permissions\n\nPrints a document that is made "
                             "from the program itself.\n");
        return what == "--help" ? 0 : 2;
    }
    return 0;
}

} // namespace hone::server
