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

" Brackets that a line opens (positive) or closes (negative) more than the other.
function! s:balance(number) abort
  let sum = 0
  for sign in split(s:bare(a:number), '\zs')
    let sum += sign =~# '[{(\[]' ? 1 : sign =~# '[})\]]' ? -1 : 0
  endfor
  return sum
endfunction

" The line where the expression goes on that holds line `number`: lines that begin with an operator are passed over.
function! s:expression(number) abort
  let first = a:number
  while s:above(first) > 0 && s:goesOn(s:above(first), first)
    let first = s:above(first)
  endwhile
  return first
endfunction

" The first line of the statement that line `number` belongs to, behind brackets that are closed in between.
function! s:statement(number) abort
  let first = s:expression(a:number)
  while s:bare(first) =~# '^\s*[})\]]'
    let sum = s:balance(first)
    while sum < 0 && s:above(first) > 0
      let first = s:above(first)
      let sum += s:balance(first)
    endwhile
    let opening = s:expression(first)
    if opening == first
      break
    endif
    let first = opening
  endwhile
  return first
endfunction

function! KftIndent(number) abort
  if a:number > 1 && s:inText(a:number)
    return -1
  endif
  let before = s:above(a:number)
  if before == 0
    return 0
  endif
  let first = s:expression(before)
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
  if open > 0
    let indent = indent(before) + shiftwidth()
  elseif s:goesOn(before, a:number)
    let indent = indent(first) + shiftwidth()
  else
    let indent = indent(s:statement(before))
  endif
  if s:bare(a:number) =~# '^\s*[})\]]'
    let indent -= shiftwidth()
  endif
  return indent < 0 ? 0 : indent
endfunction
