# weft_module(NAME [COLD] [FOLDERS folder...] [DEPENDS module...] [LIBRARIES target...])
#
# Makes library weft_NAME from the sources of the folder, and of FOLDERS in it; test weft_NAME_test
# from their *_test.cc, one fuzzer from each *_fuzz.cc (with WEFT_FUZZ) and one program from each
# *_bench.cc. Files are found by name, so that adding one needs no edit here. Tests and benchmarks
# are left out where their library is not installed: `./dev run` needs neither. COLD: sanitized
# builds do not optimise the library, which must link fmt::fmt (weft_compile_cold).
#
# Files are compiled some at a time (WeftCompile.cmake): a name at namespace scope must be no other
# file's of the module. What several tests need stands in a header, the module's test kit.
#
# Targets over all modules: weft_libraries, weft_unit_tests, weft_fuzzers.
foreach(package GTest benchmark)
  if(NOT WEFT_DEVELOP)
    set(${package}_FOUND FALSE)  # here; the project around this one may have it
    continue()
  endif()
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(STATUS "${package} is not installed: built without (tools/setup test installs it)")
  endif()
endforeach()
# With so little inlined g++ 12 sees uninitialized memory in std::function, wrongly, and bytes
# copied past the ends of strings where their headers are precompiled.
set(_weft_less_optimised -O1 "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-array-bounds>"
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-stringop-overread>")
# What is tested is optimised in its library. Compiling the tests themselves is most of the time of
# a build, and of a sanitized one nearly all.
set(WEFT_TEST_FLAGS ${_weft_less_optimised})
# What a fuzzer learns from a run. A call for each comparison makes a library's tests slower by a
# fourth, so only libraries that fuzzers feed have it. Calls of memcmp stay calls, which the
# fuzzer sees. -fsanitize=fuzzer-no-link does much the same, and precompiled headers would need it
# as well.
set(WEFT_REACH_FLAGS
    $<$<BOOL:${WEFT_FUZZ}>:-fsanitize-coverage=inline-8bit-counters,pc-table>)
set(WEFT_COMPARE_FLAGS -fsanitize-coverage=indirect-calls,trace-cmp -fno-builtin-memcmp
    -fno-builtin-bcmp)
# What starts, reads command lines and prints tables takes long to compile and no time to run.
set(WEFT_COLD_FLAGS ${_weft_less_optimised})
if(WEFT_SANITIZE)
  set(WEFT_TEST_FLAGS -O0)
  set(WEFT_COLD_FLAGS -O0)
endif()
include(WeftCompile)
add_custom_target(weft_libraries)
add_custom_target(weft_unit_tests)
add_custom_target(weft_fuzzers)

# A busy machine, a sanitizer and an emulator each take ten times as long and more.
set(_weft_test_timeout_s 1800)

# Those that take longest begin first: the last ones leave processors idle.
set(_weft_long_tests
    lsm planner sim_run cache compaction sim_generator server tool pipeline bench_pipeline
    processor table sim_command bench_drive)

# Makes a program of GoogleTest cases one of the unit tests.
function(weft_unit_test target)
  target_link_libraries(${target} PRIVATE GTest::gmock GTest::gtest_main)
  weft_compile_test(${target})
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES TIMEOUT ${_weft_test_timeout_s} LABELS unit)
  string(REGEX REPLACE "^weft_(.*)_test$" "\\1" name ${target})
  if(name IN_LIST _weft_long_tests)
    set_tests_properties(${target} PROPERTIES COST 100)
  endif()
  add_dependencies(weft_unit_tests ${target})
endfunction()

# Fuzzers follow what is reached in the library, and what it compares.
function(weft_follow library)
  if(WEFT_FUZZ)
    target_compile_options(${library} PRIVATE ${WEFT_REACH_FLAGS} ${WEFT_COMPARE_FLAGS})
  endif()
endfunction()

# Makes a fuzzer of each of the *_fuzz.cc (with WEFT_FUZZ), which feed `library`. It lies in the
# build as its file does in the source.
function(weft_fuzz library)
  if(NOT WEFT_FUZZ OR NOT ARGN)
    return()
  endif()
  weft_follow(${library})
  foreach(file ${ARGN})
    get_filename_component(target ${file} NAME_WE)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${file})
    get_filename_component(folder ${folder} DIRECTORY)
    add_executable(${target} ${file})
    set_target_properties(${target} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
    target_link_libraries(${target} PRIVATE ${library})
    weft_follow(${target})  # what headers alone have
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_dependencies(weft_fuzzers ${target})
  endforeach()
endfunction()

function(weft_module name)
  cmake_parse_arguments(ARG "COLD" "" "FOLDERS;DEPENDS;LIBRARIES" ${ARGN})
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(folder ${ARG_FOLDERS})
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  set(fuzzers ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|_bench|/main)\\.cc$")

  set(needs weft_flags ${ARG_LIBRARIES})
  foreach(dep ${ARG_DEPENDS})
    list(APPEND needs weft_${dep})
  endforeach()
  if(sources)
    add_library(weft_${name} STATIC ${sources})
    target_link_libraries(weft_${name} PUBLIC ${needs})
    if(ARG_COLD AND WEFT_SANITIZE)
      weft_compile_cold(weft_${name})
    else()
      weft_compile(weft_${name})
    endif()
    target_compile_options(weft_${name} PRIVATE ${WEFT_REACH_FLAGS})
    add_dependencies(weft_libraries weft_${name})
  else()
    add_library(weft_${name} INTERFACE)
    target_link_libraries(weft_${name} INTERFACE ${needs})
  endif()

  if(tests AND GTest_FOUND)
    add_executable(weft_${name}_test ${tests})
    target_link_libraries(weft_${name}_test PRIVATE weft_${name})
    target_compile_definitions(weft_${name}_test PRIVATE WEFT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    weft_unit_test(weft_${name}_test)
  endif()
  weft_fuzz(weft_${name} ${fuzzers})
  if(benchmark_FOUND AND NOT WEFT_SANITIZE)
    foreach(file ${benches})
      get_filename_component(target ${file} NAME_WE)
      add_executable(${target} ${file})
      target_link_libraries(${target} PRIVATE weft_${name} benchmark::benchmark)
    endforeach()
  endif()
endfunction()
