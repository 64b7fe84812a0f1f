# How a target is compiled: some files at a time, as one, with the headers of libraries in a
# precompiled form:
#
#   weft_compile(TARGET)         with the standard library's, where WEFT_PRECOMPILE says so
#   weft_compile_report(TARGET)  with those, fmt's and nlohmann's
#   weft_compile_cold(TARGET)    with those and CLI11's; by WEFT_COLD_FLAGS, for what seldom runs
#   weft_compile_main(TARGET)    by itself; where it is sanitized, by WEFT_COLD_FLAGS
#   weft_compile_test(TARGET)    with the standard library's and GoogleTest's; by WEFT_TEST_FLAGS
#
# Parsing headers and expanding their templates is most of the time that a file takes: together
# files take a third of what they take by themselves. So a name at namespace scope, an anonymous one
# too, must be no other file's of the target. tools/tidy proves that each file compiles alone.
#
# A target that reports must link fmt::fmt, whose macros are part of the precompiled form. Tests are
# programs and the others libraries: the two are compiled differently.
set(WEFT_FILES_AT_ONCE 8 CACHE STRING
    "files that are compiled as one: more cost less in all, and more after an edit of one of them")
set(_weft_headers <algorithm> <array> <atomic> <bit> <chrono> <cstdint> <cstring> <functional>
    <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread>
    <unordered_map> <utility> <vector>)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompile/empty.cc
     CONTENT "int main() { return 0; }\n")

# So compiled, clang and g++ let a cache of compilations work with precompiled headers.
set(_weft_precompile_flags $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

# Precompiles headers for targets (programs, where PROGRAMS) that are compiled with these flags and
# link these libraries.
function(_weft_precompiled name)
  cmake_parse_arguments(ARG "PROGRAMS" "" "FLAGS;LIBRARIES;HEADERS" ${ARGN})
  if(ARG_PROGRAMS)
    add_executable(${name} EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompile/empty.cc)
  else()
    add_library(${name} STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompile/empty.cc)
  endif()
  target_link_libraries(${name} PRIVATE weft_flags ${ARG_LIBRARIES})
  target_compile_options(${name} PRIVATE ${_weft_precompile_flags} ${ARG_FLAGS})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  target_precompile_headers(${name} PRIVATE ${_weft_headers} ${ARG_HEADERS})
endfunction()

if(WEFT_PRECOMPILE)
  _weft_precompiled(weft_headers)
endif()
if(GTest_FOUND)
  _weft_precompiled(weft_test_headers PROGRAMS FLAGS ${WEFT_TEST_FLAGS} LIBRARIES GTest::gmock
                    HEADERS <gmock/gmock.h> <gtest/gtest.h>)
endif()
find_package(fmt QUIET)
find_package(nlohmann_json QUIET)
find_package(CLI11 QUIET)
if(fmt_FOUND AND nlohmann_json_FOUND)
  set(_weft_report_libraries fmt::fmt nlohmann_json::nlohmann_json)
  set(_weft_report_headers <fmt/format.h> <nlohmann/json.hpp>)
  _weft_precompiled(weft_report_headers LIBRARIES ${_weft_report_libraries}
                    HEADERS ${_weft_report_headers})
  if(CLI11_FOUND)
    _weft_precompiled(weft_cold_headers FLAGS ${WEFT_COLD_FLAGS}
                      LIBRARIES ${_weft_report_libraries} CLI11::CLI11
                      HEADERS ${_weft_report_headers} <CLI/CLI.hpp>)
  endif()
endif()

function(_weft_compile target headers)
  target_compile_options(${target} PRIVATE ${ARGN})
  if(TARGET ${headers})
    target_compile_options(${target} PRIVATE ${_weft_precompile_flags})
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
  if(WEFT_FILES_AT_ONCE GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON
                          UNITY_BUILD_BATCH_SIZE ${WEFT_FILES_AT_ONCE})
  endif()
endfunction()

function(weft_compile target)
  _weft_compile(${target} weft_headers)
endfunction()

function(weft_compile_report target)
  _weft_compile(${target} weft_report_headers)
endfunction()

function(weft_compile_cold target)
  _weft_compile(${target} weft_cold_headers ${WEFT_COLD_FLAGS})
endfunction()

# A program's main file, which starts what libraries do. It has inline functions of theirs, whose
# optimised form is kept where that is measured.
function(weft_compile_main target)
  if(WEFT_SANITIZE)
    target_compile_options(${target} PRIVATE ${WEFT_COLD_FLAGS})
  endif()
endfunction()

function(weft_compile_test target)
  _weft_compile(${target} weft_test_headers ${WEFT_TEST_FLAGS})
endfunction()
