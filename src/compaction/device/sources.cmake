# The devices' way of compacting: a part of weft_compaction, tested on the host.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cc)
set(tests ${sources})
list(FILTER tests INCLUDE REGEX "_test\\.cc$")
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
target_sources(weft_compaction PRIVATE ${sources})
if(TARGET weft_compaction_test)
  target_sources(weft_compaction_test PRIVATE ${tests})
endif()
