# What is compiled for GPUs, where a CUDA compiler was found.
#
# weft_cuda_flags: of all libraries with kernels. Target weft_gpu_tests: all tests that need a GPU.
#
# weft_gpu_test(NAME SOURCE...)
#
# A test that needs a GPU: label gpu. It carries all it needs, to be run on another machine.
if(NOT CMAKE_CUDA_COMPILER)
  return()
endif()

add_library(weft_cuda_flags INTERFACE)
# Everything a kernel of ours touches lies in its device's memory (task/portable.h).
target_compile_definitions(weft_cuda_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:WEFT_DEVICE_HOME>)
target_compile_options(weft_cuda_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler=-Wall,-Wextra -Werror=all-warnings>")

add_custom_target(weft_gpu_tests)
function(weft_gpu_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${WEFT_TEST_FLAGS})
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS gpu)
  add_dependencies(weft_gpu_tests ${name})
endfunction()
