# The OpenCL processor: a part of weft_processor, where OpenCL's headers and its loader are there
# (tools/setup installs both; drivers are found by the loader when the program runs).
find_package(OpenCL QUIET)
if(OpenCL_FOUND)
  include(CheckLibraryExists)
  check_library_exists(${OpenCL_LIBRARY} clSetKernelExecInfo "" WEFT_OPENCL_HAS_SHARED_MEMORY)
  include(CheckIncludeFile)
  set(CMAKE_REQUIRED_INCLUDES ${OpenCL_INCLUDE_DIR})
  check_include_file(CL/cl_version.h WEFT_OPENCL_HEADERS_ARE_NEW)  # of 3.0
endif()
if(NOT WEFT_OPENCL_HAS_SHARED_MEMORY OR NOT WEFT_OPENCL_HEADERS_ARE_NEW)
  message(STATUS "OpenCL 3.0 headers and loader are not installed: built without OpenCL devices")
  return()
endif()

set(folder ${CMAKE_CURRENT_LIST_DIR})
set(kernel_source ${CMAKE_CURRENT_BINARY_DIR}/kernel_source.cc)
file(GLOB tasks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/task/*.h)
add_custom_command(OUTPUT ${kernel_source}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}/src -DFILE=processor/opencl/kernel.cl
          -DOUTPUT=${kernel_source} -P ${folder}/embed.cmake
  DEPENDS ${tasks} ${folder}/kernel.cl ${folder}/job_layout.h ${folder}/embed.cmake
  COMMENT "Embedding the tasks for OpenCL")

file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
set(tests ${sources})
list(FILTER tests INCLUDE REGEX "_test\\.cc$")
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
target_sources(weft_processor PRIVATE ${sources} ${kernel_source})
target_include_directories(weft_processor SYSTEM PRIVATE ${OpenCL_INCLUDE_DIRS})
target_compile_definitions(weft_processor PRIVATE WEFT_OPENCL=1)
target_link_libraries(weft_processor PUBLIC ${OpenCL_LIBRARIES})
if(TARGET weft_processor_test)
  target_sources(weft_processor_test PRIVATE ${tests})
  target_include_directories(weft_processor_test SYSTEM PRIVATE ${OpenCL_INCLUDE_DIRS})
endif()
