" Highlighting of kft files, for vim and neovim. The region between the markers is written by scripts/generate from the
" compiler's table of kinds and fields; everything else is by hand.
if exists('b:current_syntax')
  finish
endif
let s:saved = &cpoptions
set cpoptions&vim

syn case match

" Names before `=`, `+=` and `{`: fields and keys. Those of the table stand out from the rest.
syn match kftField "\<[A-Za-z_][A-Za-z0-9_]*\>\ze\s*\%(+\?=\%([^=]\|$\)\|{\)" contains=kftKnownField
syn match kftMember "\.\@1<=[A-Za-z_][A-Za-z0-9_]*"
syn match kftCall "\<[A-Za-z_][A-Za-z0-9_]*\ze("
syn match kftName contained "\%([A-Za-z_][A-Za-z0-9_]*\|\"[^\"]*\"\)"
syn match kftTypeAnnotation ":\s*\zs[A-Za-z][^=#]\{-}\ze\s*\%(=\|,\|)\|}\|\<where\>\|#\|$\)" contains=kftTypeName,kftString
syn match kftTypeAnnotation "->\s*\zs[A-Za-z][^=#]\{-}\ze\s*=" contains=kftTypeName,kftString

" generated: vim
syn keyword kftKind contained dataset model trainer runtime job profile test
syn match kftDeclaration "^\s*\%(dataset\|model\|trainer\|runtime\|job\|profile\|test\)\>\ze\%(\s\+[A-Za-z_\"]\|\s*{\|\.\)" contains=kftKind nextgroup=kftName skipwhite
syn match kftKindRef "\%(\.\)\@1<!\<\%(dataset\|model\|trainer\|runtime\|job\|profile\|test\)\ze\.[A-Za-z_\"]"
syn match kftNamedBlock "\%(^\|[{,]\)\@1<=\s*\%(group\|patch\)\>\ze\%(\s\+[A-Za-z_\"].*\)\?{" nextgroup=kftName skipwhite
syn keyword kftKnownField contained alpha annotations args auth backoff batch checkpoint clip columns
syn keyword kftKnownField contained command coscheduling count cpu dataset deadline dependsOn
syn keyword kftKnownField contained deprecated dora dropout dtype early_stop engine env epochs eval
syn keyword kftKnownField contained every features files flux format framework gang gpu group
syn keyword kftKnownField contained groupName image init input installed jax job keep label labels
syn keyword kftKnownField contained layers limits lora loss managed_by memory metadata metric metrics
syn keyword kftKnownField contained micro_batch min_delta mlp model modules mpi name namespace nodes
syn keyword kftKnownField contained normalize on optimizer output patch patch_manager patience plain
syn keyword kftKnownField contained policy precision preprocess priority procs_per_node python
syn keyword kftKnownField contained quantize queue rank replicas requests resources retries runtime
syn keyword kftKnownField contained scale schedule scope seed set shard_optimizer shuffle source
syn keyword kftKnownField contained split step steps suspend system_prompt template test torch
syn keyword kftKnownField contained train_on_input trainer use volcano workdir xgboost
syn keyword kftTypeName contained int float bool string amount duration any path list map
syn keyword kftTypeName contained dataset model trainer runtime job profile test
syn match kftFunction "\%(\.\)\@1<!\<\%(abs\|base64\|ceil\|config\|contains\|ends_with\|field\|flatten\|float\|floor\|format\|get\|int\|join\|json\|keys\|len\|log2\|lower\|manifests\|max\|merge\|min\|pad\|parse_json\|parse_yaml\|pow\|range\|read\|replace\|resource\|round\|secret\|sha256\|sort\|split\|starts_with\|sum\|trim\|unique\|upper\|values\|yaml\|zip\)\ze("
" end generated

" Words: matches, because a keyword of vim could not be a plain name again below.
syn match kftConditional "\<\%(if\|then\|else\)\>"
syn match kftRepeat "\<\%(for\|in\)\>"
syn match kftOperatorWord "\<\%(and\|or\|not\|with\)\>"
syn match kftStatement "\<\%(param\|let\|fn\|type\|assert\|where\|extends\)\>"
syn match kftImport "\<\%(import\|as\)\>"
syn match kftBoolean "\<\%(true\|false\)\>"
syn match kftConstant "\<null\>"
syn match kftSelf "\<\%(self\|it\)\>"
" Any of them is a plain name in front of `=` and behind a dot.
syn match kftPlainWord "\<\%(if\|then\|else\|for\|in\|not\|and\|or\|with\|true\|false\|null\|self\|it\|import\|as\|param\|let\|fn\|type\|assert\|where\|extends\)\ze\s*+\?=\%([^=]\|$\)"
syn match kftPlainWord "\.\@1<=\%(if\|then\|else\|for\|in\|not\|and\|or\|with\|true\|false\|null\|self\|it\|import\|as\|param\|let\|fn\|type\|assert\|where\|extends\)\>"
syn match kftDefined "\%(^\s*\%(let\|param\)\s\+\)\@20<=[A-Za-z_][A-Za-z0-9_]*"
syn match kftDefinedFunction "\%(^\s*fn\s\+\)\@20<=[A-Za-z_][A-Za-z0-9_]*"

syn match kftOperator "[-+*/%]\|[=!<>]=\|[<>]\|??\|\.\.\|->\|+\?=\ze\%([^=]\|$\)"
syn match kftAnnotation "@[A-Za-z_][A-Za-z0-9_]*"

" Numbers: what is none of these and starts with a digit is a mistake.
syn match kftBadNumber "\<\d[0-9A-Za-z_]*"
syn match kftNumber "\<\%(0\|[1-9][0-9_]*\)\>"
syn match kftNumber "\<0x[0-9A-Fa-f_]\+\>"
syn match kftFloat "\<\d[0-9_]*\%(\.\d[0-9_]*\%([eE][-+]\?\d\+\)\?\|[eE][-+]\?\d\+\)\>"
syn match kftAmount "\<\d[0-9_]*\%(\.\d\+\)\?\%([KMGTPE]i\|[numkMGTPE]\)\>"
syn match kftDuration "\<\%(\d\+\%(ms\|min\|s\|h\|d\)\)\+\>"

" Text. Raw strings know no escapes; interpolations hold expressions, and those may hold text again.
syn match kftBadEscape contained "\\."
syn match kftEscape contained "\\\%([nrt0\"\\]\|u{\x\{1,6}}\)"
syn region kftInterpolation contained matchgroup=kftInterpolationMark start="\\(" end=")" contains=@kftInside
syn region kftParens contained transparent start="(" end=")" contains=@kftInside
syn cluster kftInside contains=kftParens,kftString,kftNumber,kftFloat,kftAmount,kftDuration,kftOperator,kftOperatorWord,kftConditional,kftRepeat,kftBoolean,kftConstant,kftSelf,kftMember,kftCall,kftFunction,kftKindRef
syn region kftString start="\"" skip="\\[^(]" end="\"\|$" contains=kftEscape,kftBadEscape,kftInterpolation oneline
syn region kftKey start="\%(^\|[{,]\)\@1<=\s*\"" end="\"\ze\s*\%(+\?=\%([^=]\|$\)\|{\)" oneline
syn region kftRaw start="\<r\"" end="\"\|$" oneline
syn region kftTriple start="\"\"\"" end="\"\"\"" contains=kftEscape,kftBadEscape,kftInterpolation
syn region kftRawTriple start="\<r\"\"\"" end="\"\"\""

syn match kftComment "#.*$" contains=kftTodo,@Spell
syn match kftDocComment "##.*$" contains=kftTodo,@Spell
syn match kftShebang "\%^#!.*$"
syn keyword kftTodo contained TODO FIXME XXX NOTE

" Long texts decide where highlighting must start over.
syn sync minlines=200

hi def link kftField Identifier
hi def link kftKnownField Keyword
hi def link kftKey Identifier
hi def link kftPlainWord Identifier
hi def link kftMember Identifier
hi def link kftCall Function
hi def link kftFunction Function
hi def link kftDefined Identifier
hi def link kftDefinedFunction Function
hi def link kftDeclaration Structure
hi def link kftKind Structure
hi def link kftKindRef Structure
hi def link kftNamedBlock Structure
hi def link kftName Title
hi def link kftTypeName Type
hi def link kftTypeAnnotation Type
hi def link kftConditional Conditional
hi def link kftRepeat Repeat
hi def link kftOperatorWord Operator
hi def link kftOperator Operator
hi def link kftStatement Statement
hi def link kftImport Include
hi def link kftBoolean Boolean
hi def link kftConstant Constant
hi def link kftSelf Special
hi def link kftAnnotation PreProc
hi def link kftNumber Number
hi def link kftFloat Float
hi def link kftAmount Number
hi def link kftDuration Number
hi def link kftBadNumber Error
hi def link kftString String
hi def link kftRaw String
hi def link kftTriple String
hi def link kftRawTriple String
hi def link kftEscape SpecialChar
hi def link kftBadEscape Error
hi def link kftInterpolationMark Delimiter
hi def link kftComment Comment
hi def link kftDocComment SpecialComment
hi def link kftShebang PreProc
hi def link kftTodo Todo

let b:current_syntax = 'kft'
let &cpoptions = s:saved
unlet s:saved
