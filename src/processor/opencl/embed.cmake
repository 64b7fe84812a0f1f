# cmake -DROOT=src -DFILE=processor/opencl/kernel.cl -DOUTPUT=FILE.cc -P embed.cmake
#
# Writes a C++ file with the text of FILE as the string kKernelSource, every #include "..." replaced
# by the text of that file (a path from ROOT), each file once: an OpenCL driver is handed one text
# and there is no file to find at run time. #line directives keep its error messages readable.
cmake_minimum_required(VERSION 3.22)

set(flat "")
set(seen "")

# Appends the text of `path`. A macro, so that files within files append to the same text.
macro(flatten path)
  if(NOT ";${seen};" MATCHES ";${path};")
    string(APPEND seen ";${path}")
    flatten_text("${path}")
  endif()
endmacro()

function(flatten_text path)
  file(READ ${ROOT}/${path} text)
  string(REGEX REPLACE "#pragma once\n" "\n" text "${text}")
  set(line 1)
  string(APPEND flat "#line 1 \"${path}\"\n")
  while(text MATCHES "#include \"([^\"]+)\"\n")
    set(included ${CMAKE_MATCH_1})
    string(FIND "${text}" "${CMAKE_MATCH_0}" at)
    string(LENGTH "${CMAKE_MATCH_0}" length)
    string(SUBSTRING "${text}" 0 ${at} before)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${text}" ${at} -1 text)
    string(REGEX MATCHALL "\n" breaks "${before}")
    list(LENGTH breaks count)
    math(EXPR line "${line} + ${count} + 1")
    string(APPEND flat "${before}")
    flatten(${included})
    string(APPEND flat "#line ${line} \"${path}\"\n")
  endwhile()
  set(flat "${flat}${text}" PARENT_SCOPE)
  set(seen "${seen}" PARENT_SCOPE)
endfunction()

flatten(${FILE})
file(WRITE ${OUTPUT} "#include \"processor/opencl/program.h\"

namespace weft::processor::opencl {
const char kKernelSource[] = R\"kernel(${flat})kernel\";
}  // namespace weft::processor::opencl
")
