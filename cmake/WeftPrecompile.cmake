# weft_precompile(TARGET): lets a target of this folder take the standard library's headers from a
# precompiled form, where WEFT_PRECOMPILE says so; weft_precompile_test(TARGET) those and
# GoogleTest's, always; weft_precompile_cold(TARGET) those, fmt's and nlohmann's, always, and
# compiles with WEFT_COLD_FLAGS what seldom runs. Parsing them is half of the time that a file takes
# to compile, and nlohmann's alone takes longer than most files. The release build parses what every
# library file of src/ includes, so that a missing include is an error somewhere.
#
# The targets must be compiled like the holders made here: weft_flags and WEFT_LIBRARY_FLAGS,
# WEFT_TEST_FLAGS or WEFT_COLD_FLAGS.
set(_weft_headers <algorithm> <array> <atomic> <bit> <chrono> <cstdint> <cstring> <functional>
    <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread>
    <unordered_map> <utility> <vector>)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompile/empty.cc CONTENT "int main() { return 0; }\n")

# So compiled, clang and g++ let a cache of compilations work with precompiled headers.
set(_weft_precompile_flags $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)

function(_weft_holder name)
  target_link_libraries(${name} PRIVATE weft_flags)
  target_compile_options(${name} PRIVATE ${_weft_precompile_flags})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

if(WEFT_PRECOMPILE)
  add_library(weft_headers STATIC ${CMAKE_BINARY_DIR}/precompile/empty.cc)
  _weft_holder(weft_headers)
  target_compile_options(weft_headers PRIVATE ${WEFT_LIBRARY_FLAGS})
  target_precompile_headers(weft_headers PRIVATE ${_weft_headers})
endif()
if(GTest_FOUND)
  add_executable(weft_test_headers EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompile/empty.cc)
  _weft_holder(weft_test_headers)
  target_link_libraries(weft_test_headers PRIVATE GTest::gmock)
  target_compile_options(weft_test_headers PRIVATE ${WEFT_TEST_FLAGS})
  target_precompile_headers(weft_test_headers PRIVATE ${_weft_headers} <gmock/gmock.h>
                            <gtest/gtest.h>)
endif()

find_package(fmt QUIET)
find_package(nlohmann_json QUIET)
if(fmt_FOUND AND nlohmann_json_FOUND)
  add_library(weft_cold_headers STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompile/empty.cc)
  _weft_holder(weft_cold_headers)
  target_link_libraries(weft_cold_headers PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  target_compile_options(weft_cold_headers PRIVATE ${WEFT_COLD_FLAGS})
  target_precompile_headers(weft_cold_headers PRIVATE ${_weft_headers} <fmt/format.h>
                            <nlohmann/json.hpp>)
endif()

function(weft_precompile target)
  if(WEFT_PRECOMPILE)
    target_compile_options(${target} PRIVATE ${_weft_precompile_flags})
    target_precompile_headers(${target} REUSE_FROM weft_headers)
  endif()
endfunction()

function(weft_precompile_test target)
  target_compile_options(${target} PRIVATE ${_weft_precompile_flags})
  target_precompile_headers(${target} REUSE_FROM weft_test_headers)
endfunction()

# The target must link fmt::fmt, whose macros are part of the precompiled form.
function(weft_precompile_cold target)
  target_compile_options(${target} PRIVATE ${_weft_precompile_flags} ${WEFT_COLD_FLAGS})
  if(TARGET weft_cold_headers)
    target_precompile_headers(${target} REUSE_FROM weft_cold_headers)
  endif()
endfunction()
