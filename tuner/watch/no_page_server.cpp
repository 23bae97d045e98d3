// SPDX-License-Identifier: Apache-2.0
// Replaces the page server if cpp-httplib was missing at build time.
#include "tuner/core/error.hpp"
#include "tuner/watch/page_server.hpp"

namespace httplib {
class Server {};
}  // namespace httplib

namespace autotune::watch {

PageServer::PageServer(int /*port*/, Pages /*pages*/) {
  throw Error(
      "this build of autotune has no web server: install libcpp-httplib-dev and build again; "
      "`autotune report` writes the same page to a file");
}

PageServer::~PageServer() = default;

std::string PageServer::url() const { return {}; }

}  // namespace autotune::watch
