# weft_embed(TARGET HEADER SYMBOL FILE)
#
# Adds the bytes of a text file to a library of this folder, as the std::string_view SYMBOL of the
# namespace weft, which HEADER declares; as server::kLivePage. The file must not
# hold `)weft"`, which would end it. It is read again when it changes.
function(weft_embed target header symbol file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  get_filename_component(name ${file} NAME_WE)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
       "#include \"@header@\"\n\nconst std::string_view weft::@symbol@ = R\"weft(@text@)weft\";\n")
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
