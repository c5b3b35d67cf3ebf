" Indentation of kft files: two columns for a bracket that the lines above left open, or for a line that goes on with the
" statement above it. Brackets in comments and strings do not count.
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

" The text of a line without comments and with `x` for each string; a bracket in them is no bracket.
function! s:bare(number) abort
  let text = getline(a:number)
  let text = substitute(text, 'r"[^"]*"\|"\%(\\.\|[^"\\]\)*"', 'x', 'g')
  return substitute(text, '#.*$', '', '')
endfunction

function! s:inText(number) abort
  let names = map(synstack(a:number, 1), 'synIDattr(v:val, "name")')
  return !empty(filter(names, 'v:val =~# "^kft\\%(Triple\\|RawTriple\\)"'))
endfunction

" Whether a line goes on with the statement of the line `before` it.
function! s:goesOn(before, number) abort
  return s:bare(a:before) =~# '\%([-+*/%=:.<]\|->\|??\|\<\%(then\|else\|and\|or\|not\|in\|with\|where\|extends\)\)\s*$'
        \ || s:bare(a:number) =~# '^\s*\%([-+*/%<>.]\|[=!]=\|??\|\%(then\|else\|and\|or\|with\|where\)\>\)'
endfunction

" The line with text above this one that does not begin inside of a long text.
function! s:above(number) abort
  let before = prevnonblank(a:number - 1)
  while before > 1 && s:inText(before)
    let before = prevnonblank(before - 1)
  endwhile
  return before
endfunction

function! KftIndent(number) abort
  if a:number > 1 && s:inText(a:number)
    return -1
  endif
  let before = s:above(a:number)
  if before == 0
    return 0
  endif
  " Where the statement of the line above begins: its indentation is what counts.
  let first = before
  while s:above(first) > 0 && s:goesOn(s:above(first), first)
    let first = s:above(first)
  endwhile
  let open = 0
  let line = first
  while line <= before
    for sign in split(s:bare(line), '\zs')
      if sign =~# '[{(\[]'
        let open += 1
      elseif sign =~# '[})\]]' && open > 0
        " A bracket that closes an earlier line has moved its own line already.
        let open -= 1
      endif
    endfor
    let line += 1
  endwhile
  let more = open > 0 || s:goesOn(before, a:number)
  " Inside the brackets of a line that goes on, that line is where the next column is.
  let indent = (open > 0 ? indent(before) : indent(first)) + (more ? shiftwidth() : 0)
  if s:bare(a:number) =~# '^\s*[})\]]'
    let indent -= shiftwidth()
  endif
  return indent < 0 ? 0 : indent
endfunction
