" Indentation of kft files: two columns for each bracket that the lines above left open. Brackets in comments and strings do
" not count.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=KftIndent(v:lnum)
setlocal indentkeys=0},0],0),!^F,o,O
setlocal autoindent
let b:undo_indent = 'setlocal indentexpr< indentkeys< autoindent<'

if exists('*KftIndent')
  finish
endif

" The text of a line without strings and comments; a bracket in them is no bracket.
function! s:bare(number) abort
  let text = getline(a:number)
  let text = substitute(text, 'r"[^"]*"\|"\%(\\.\|[^"\\]\)*"', '', 'g')
  return substitute(text, '#.*$', '', '')
endfunction

function! s:inText(number) abort
  let names = map(synstack(a:number, 1), 'synIDattr(v:val, "name")')
  return !empty(filter(names, 'v:val =~# "^kft\\%(Triple\\|RawTriple\\)"'))
endfunction

function! KftIndent(number) abort
  if a:number > 1 && s:inText(a:number)
    return -1
  endif
  let before = prevnonblank(a:number - 1)
  while before > 1 && s:inText(before)
    let before = prevnonblank(before - 1)
  endwhile
  if before == 0
    return 0
  endif
  let text = s:bare(before)
  let open = 0
  for sign in split(text, '\zs')
    if sign =~# '[{(\[]'
      let open += 1
    elseif sign =~# '[})\]]' && open > 0
      " A bracket that closes an earlier line has moved its own line already.
      let open -= 1
    endif
  endfor
  let indent = indent(before) + (open > 0 ? shiftwidth() : 0)
  if s:bare(a:number) =~# '^\s*[})\]]'
    let indent -= shiftwidth()
  endif
  return indent < 0 ? 0 : indent
endfunction
