# Fails when PROGRAM is linked to a library whose name matches FORBIDDEN.
execute_process(COMMAND ldd ${PROGRAM} OUTPUT_VARIABLE libraries RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "ldd ${PROGRAM} failed")
endif()
if(libraries MATCHES "(${FORBIDDEN})")
  message(FATAL_ERROR "${PROGRAM} is linked to ${CMAKE_MATCH_1}:\n${libraries}")
endif()
