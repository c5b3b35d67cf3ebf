// Stands before ANTLR's header of the same name: the parts of the runtime that a generated parser needs. The whole of it
// takes seconds to compile, and holds a struct (InterpreterData) that clang refuses.
#pragma once

#include "antlr4-common.h"

#include "ANTLRErrorStrategy.h"
#include "FailedPredicateException.h"
#include "InputMismatchException.h"
#include "NoViableAltException.h"
#include "Parser.h"
#include "ParserRuleContext.h"
#include "RecognitionException.h"
#include "Token.h"
#include "TokenSource.h"
#include "TokenStream.h"
#include "Vocabulary.h"
#include "atn/ATN.h"
#include "atn/ATNDeserializer.h"
#include "atn/ParserATNSimulator.h"
#include "atn/PredictionContext.h"
#include "dfa/DFA.h"
#include "misc/Interval.h"
#include "misc/IntervalSet.h"
#include "support/CPPUtils.h"
#include "tree/ParseTree.h"
#include "tree/TerminalNode.h"
