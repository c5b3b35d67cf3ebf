// The grammar of kft, edition 1. The tokens come from compiler/parse/lexer.cpp, which has settled everything about lines,
// commas and words before the parser sees them: SEP stands exactly between two statements (or two members of a record
// type), no comma stands before a closing bracket, and a word that is a plain name where it stands is a NAME.
//
// Every decision needs one token: the generated parser contains no call of adaptivePredict (a test looks for it).
// Expressions are flat; precedence is resolved while the tree is built.
parser grammar KftParser;

tokens {
  SEP, NAME, INT, FLOAT, AMOUNT, DURATION,
  STRING, STRING_BEGIN, STRING_MIDDLE, STRING_END,
  IF, THEN, ELSE, FOR, IN, NOT, NOT_IN, AND, OR, WITH, TRUE_WORD, FALSE_WORD, NULL_WORD, SELF,
  IMPORT, AS, PARAM, LET, FN, TYPE, ASSERT, WHERE, EXTENDS,
  LBRACE, RBRACE, LPAREN, RPAREN, LBRACK, RBRACK,
  ASSIGN, PLUS_ASSIGN, COLON, COMMA, DOT, ARROW, AT, QUESTION, PIPE,
  EQ, NE, LT, LE, GT, GE, RANGE, COALESCE, PLUS, MINUS, STAR, SLASH, PERCENT,
  BAD
}

module    : (statement (SEP statement)*)? EOF ;
// One statement at a time, so that what ANTLR keeps of it can go before the next one.
oneStatement  : statement (SEP | EOF) ;
oneExpression : expr EOF ;

block     : LBRACE (statement (SEP statement)*)? RBRACE ;

// Ends where a separator, a brace or the text does; what else stands there is the statement's own mistake, so that one bad
// statement never takes its neighbours with it.
statement
  : ( target statementTail
    | importStmt
    | paramStmt
    | letStmt
    | fnStmt
    | typeStmt
    | assertStmt
    | ifStmt
    | forStmt
    | annotation
    ) { size_t next = _input->LA(1); if (next != SEP && next != RBRACE && next != antlr4::Token::EOF) throw InputMismatchException(this); }
  ;

statementTail
  : ASSIGN expr
  | PLUS_ASSIGN expr
  | declTail
  | block
  ;
declTail   : declName (EXTENDS path)? block ;
declName   : NAME | string ;

importStmt : IMPORT (dotted | STRING) (AS NAME)? ;
dotted     : NAME (DOT name)* ;
paramStmt  : PARAM NAME COLON type (ASSIGN expr)? (WHERE expr)? ;
letStmt    : LET NAME (COLON type)? ASSIGN expr ;
fnStmt     : FN NAME LPAREN (fnParam (COMMA fnParam)*)? RPAREN ARROW type ASSIGN expr ;
fnParam    : NAME COLON type (ASSIGN expr)? (WHERE expr)? ;
typeStmt   : TYPE NAME ASSIGN type (WHERE expr)? ;
assertStmt : ASSERT expr (ELSE expr)? ;
ifStmt     : IF expr block (ELSE (ifStmt | block))? ;
forStmt    : FOR binding block ;
annotation : AT NAME (LPAREN args? RPAREN)? statement? ;

binding    : NAME (COMMA NAME)? IN expr ;
target     : key (DOT key)* ;
key        : NAME | string ;
path       : name (DOT name)* ;
name       : NAME | STRING ;

expr
  : IF expr THEN expr ELSE expr
  | unary (op unary)*
  ;
op
  : OR | AND | NOT_IN | EQ | NE | LT | LE | GT | GE | IN | RANGE | COALESCE
  | PLUS | MINUS | STAR | SLASH | PERCENT
  ;
unary      : (NOT | MINUS)* primary postfix* ;
postfix
  : DOT name
  | LPAREN args? RPAREN
  | LBRACK expr RBRACK
  | WITH block
  ;
args       : arg (COMMA arg)* ;
arg        : expr (ASSIGN expr)? ;
primary
  : INT | FLOAT | AMOUNT | DURATION | TRUE_WORD | FALSE_WORD | NULL_WORD | NAME | SELF
  | string
  | LPAREN expr RPAREN
  | block
  | list
  ;
list       : LBRACK (expr ((FOR binding)+ (IF expr)? | (COMMA expr)*))? RBRACK ;
string
  : STRING
  | STRING_BEGIN expr (STRING_MIDDLE expr)* STRING_END
  ;

type       : typeSuffix (PIPE typeSuffix)* ;
typeSuffix : typeAtom QUESTION* ;
typeAtom
  : path (LT type GT)?
  | LBRACE (recordField (SEP recordField)*)? RBRACE
  ;
recordField : NAME COLON type (ASSIGN expr)? ;
