# Compiler settings shared by every module, and the switches a preset may turn.
find_package(Threads REQUIRED)

set(WEFT_MARCH "" CACHE STRING "value for -march; empty picks x86-64-v3 where this machine runs it")
set(WEFT_SANITIZE "" CACHE STRING "sanitizers, comma separated: address,undefined or thread")
option(WEFT_FUZZ "build the libFuzzer targets (needs clang; with WEFT_SANITIZE they find more)" OFF)
option(WEFT_PRECOMPILE "parse the standard library once a build; hides a missing include" OFF)
option(WEFT_THREAD_SAFETY "clang -Wthread-safety as errors" OFF)
option(WEFT_WERROR "warnings are errors" ${WEFT_DEVELOP})
option(WEFT_LTO "link-time optimisation" OFF)
option(WEFT_CUDA "build the CUDA processor where a CUDA compiler is found" OFF)

# Unchanged files cost nothing when a build folder is made anew. Optional: a fresh machine has none.
# One that is installed later is for new folders: in this one it would compile everything again.
if(NOT DEFINED CACHE{WEFT_CCACHE})
  find_program(WEFT_CCACHE ccache)
endif()
if(WEFT_CCACHE)
  foreach(language C CXX)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      # What it must overlook to keep what was compiled with precompiled headers.
      set(CMAKE_${language}_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros
          ${WEFT_CCACHE})
    endif()
  endforeach()
endif()

if(NOT WEFT_MARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  file(READ /proc/cpuinfo _cpuinfo LIMIT 8192)
  if(_cpuinfo MATCHES " avx2 " AND _cpuinfo MATCHES " bmi2 ")
    set(WEFT_MARCH x86-64-v3)
  else()
    set(WEFT_MARCH x86-64-v2)
  endif()
endif()

add_library(weft_flags INTERFACE)
target_include_directories(weft_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)
# Another project that links Weft's libraries may have a folder base/ or cache/ of its own: neither
# gets the other's.
if(WEFT_DEVELOP)
  target_include_directories(weft_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
else()
  include_directories(BEFORE ${PROJECT_SOURCE_DIR}/src)
endif()
target_compile_features(weft_flags INTERFACE cxx_std_20)
# nvcc knows none of these: src/processor/cuda has its own. They are Weft's alone: another project
# that links its libraries compiles as it likes.
macro(weft_add_flags)
  if(WEFT_DEVELOP)
    target_compile_options(weft_flags INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${ARGN}>")
  else()
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${ARGN}>")
  endif()
endmacro()
weft_add_flags(-Wall -Wextra -Wshadow -Wpointer-arith -Wcast-qual -fno-rtti
               -fno-omit-frame-pointer $<$<BOOL:${WEFT_WERROR}>:-Werror>)
# g++ 12 warns of overlapping copies in std::string's own operator+, wrongly (GCC bug 105651).
weft_add_flags($<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(WEFT_MARCH)
  weft_add_flags(-march=${WEFT_MARCH})
endif()
# g++ clears records of some hundred bytes, as each request is, by "rep stos". That takes four
# times as long as vector stores do (docs/design/0016). Longer ones are memset's.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  weft_add_flags(
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign>)
endif()
target_link_libraries(weft_flags INTERFACE Threads::Threads)

if(WEFT_LTO)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT _lto OUTPUT _lto_reason LANGUAGES CXX)
  if(_lto)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  else()
    message(STATUS "WEFT_LTO: not with this compiler: ${_lto_reason}")
  endif()
endif()

# Modules are loaded from here, from beside the program and, once installed, from ../lib.
set(WEFT_MODULE_DIR ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_BUILD_RPATH "$ORIGIN;${WEFT_MODULE_DIR}")
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib")

# Configures cleanly without nvcc: a GPU adds speed, never a requirement.
if(WEFT_CUDA)
  find_program(WEFT_NVCC nvcc HINTS /usr/local/cuda/bin)
  if(WEFT_NVCC)
    set(CMAKE_CUDA_COMPILER ${WEFT_NVCC})
    set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "machine code and PTX of these are built")
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has it
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
  else()
    message(STATUS "WEFT_CUDA: no CUDA compiler here, so this build runs on the CPU only")
  endif()
endif()

# Sanitized builds look for our bugs, so WEFT_DCHECK stays on in them.
# Code that must know (a test that allots less there) asks for WEFT_SANITIZED, never the compiler.
if(WEFT_SANITIZE)
  target_compile_definitions(weft_flags INTERFACE WEFT_SANITIZED=1)
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
  target_compile_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(weft_flags INTERFACE -fsanitize=${WEFT_SANITIZE})
  # Their programs are large, and take binutils' linker seconds each.
  find_program(WEFT_LLD ld.lld)
  if(WEFT_LLD AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_link_options(weft_flags INTERFACE -fuse-ld=lld)
  endif()
endif()
if(WEFT_THREAD_SAFETY)
  target_compile_options(weft_flags INTERFACE -Wthread-safety -Werror=thread-safety)
endif()
