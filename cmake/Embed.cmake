# Text files compiled into the program.
#
# kft_embed(target mode output FILES...): before `target` is built, writes generated/<output>, the rows of a table with one
# row a file (see embed.cpp for the two modes, id and name). Include it inside an initializer list.
add_executable(kft_embed_tool ${PROJECT_SOURCE_DIR}/cmake/embed.cpp)
target_compile_features(kft_embed_tool PRIVATE cxx_std_17)
target_link_libraries(kft_embed_tool PRIVATE kft_instrumentation)

function(kft_embed target mode output)
  set(path ${PROJECT_BINARY_DIR}/generated/${output})
  get_filename_component(folder ${path} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${path} COMMAND kft_embed_tool ${mode} ${path} ${ARGN} DEPENDS kft_embed_tool ${ARGN}
                     COMMENT "Embedding ${output}" VERBATIM)
  target_sources(${target} PRIVATE ${path})
endfunction()
