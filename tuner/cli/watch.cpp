// SPDX-License-Identifier: Apache-2.0
// autotune watch: the report in a browser, while the database grows.
#include "tuner/cli/watch.hpp"

#include "tuner/cli/plugins.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/cli/verb.hpp"

namespace autotune::cli {

extern const Verb kWatch;
const Verb kWatch{
    .name = "watch",
    .synopsis = "[--target T] [--size S] [--db FILE] [--port N]",
    .summary = "Show the report in a browser, while the database grows",
    .details =
        R"(Prints a URL of this machine, and answers there until Ctrl-C or SIGTERM. The page is that of
`autotune report`. It looks for new trials every two seconds, and keeps what the reader has chosen.

The URL has a token; without it the page is refused. From another machine, make a tunnel, such as
`ssh -L 8000:127.0.0.1:8000 HOST` with `--port 8000`, and open the URL there.

It waits for a database that does not exist yet. If the database cannot be read, the page says so and
shows the last state that could be read. Reading takes at most a tenth of one core's time, and
nothing while no browser shows the page.)",
    .options = {{"target", "T", "A target's name or the path of a manifest"},
                {"size", "S", "A problem, as for tune: 512, 1037x1031x1055, 128..1024"},
                {"device", "NAME", "Only this device"},
                {"set", "NAME=VALUE", "Only problems with this setting, such as dtype=f64", "",
                 true},
                kContextOption,
                kPluginOption,
                {"db", "FILE", "The database"},
                {"port", "N", "The port on 127.0.0.1; 0: a free one", "0"}},
    .positional = {},
    .run = run_watch};

}  // namespace autotune::cli
