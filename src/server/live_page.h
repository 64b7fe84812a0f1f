// server/live_page.h: the page that the metrics port shows to browsers, as page/live.html has it.
//
// CMake makes a source file of it (weft_embed in cmake/WeftEmbed.cmake).
//
// Threads: a constant.
#pragma once

#include <string_view>

namespace weft::server {

extern const std::string_view kLivePage;

}  // namespace weft::server
