" Tests of the vim files, run as:  vim -es -u NONE -i NONE -N --cmd 'set rtp^=editors/vim' -S editors/vim/test/run.vim
" A failure is written to v:errors by the assert functions; the script prints them and ends with 1.
set nomore
filetype plugin indent on
syntax on

let s:root = expand('<sfile>:p:h:h:h:h')
let s:checks = 0

function! s:group(line, column) abort
  return synIDattr(synID(a:line, a:column, 1), 'name')
endfunction

" Wants `group` on every character of `text` in line `line`.
function! s:want(line, text, group) abort
  let begin = stridx(getline(a:line), a:text)
  call assert_true(begin >= 0, 'line ' . a:line . ' has no ' . a:text)
  for column in range(begin + 1, begin + len(a:text))
    let s:checks += 1
    call assert_equal(a:group, s:group(a:line, column), 'line ' . a:line . ' column ' . column . ' of ' . a:text)
  endfor
endfunction

function! s:open(lines) abort
  enew!
  call setline(1, a:lines)
  setlocal filetype=kft
  syntax sync fromstart
endfunction

" The file type is found by the ending, by the name and by the first line.
execute 'edit ' . fnameescape(s:root . '/examples/digits/digits.kft')
call assert_equal('kft', &filetype)
call assert_equal('# %s', &commentstring)
call assert_equal(2, &shiftwidth)
call assert_equal(1, &expandtab)
call assert_true(&makeprg =~# '^kftc check')
let s:script = tempname()
call writefile(['#!/usr/bin/env -S kftc run', 'edition = 1'], s:script)
execute 'edit ' . fnameescape(s:script)
call assert_equal('kft', &filetype, 'by the first line')
call delete(s:script)

call s:open([
      \ '#!/usr/bin/env -S kftc run',
      \ '## Documentation.',
      \ '# Comment.',
      \ 'import std.runtimes as r',
      \ 'param nodes: int = 2 where it in 1..64',
      \ 'let width = 0x1f',
      \ 'fn image(name: string) -> string = "r/\(upper(name)):\n"',
      \ '@abstract',
      \ 'trainer ddp extends trainers.command {',
      \ '  args += ["--lr=\(lr)"]',
      \ '  type = r"\d"',
      \ '  "example.com/x" = true',
      \ '  made_up = job.base',
      \ '}',
      \ 'job "fine-tune" {',
      \ '  resources { cpu = 500m, memory = 1.5Gi, gpu = null }',
      \ '  deadline = 1h30min',
      \ '  patch node { nodeSelector { "a" = "b" } }',
      \ '  nodes = if self.queue == "x" then len(xs) else 3e-4',
      \ '}',
      \ 'let wrong = 012 + 1g',
      \ 'let text = """',
      \ '  # no comment \(x)',
      \ '  """',
      \ 'let after = 1',
      \ ])
call s:want(1, '#!/usr/bin/env', 'kftShebang')
call s:want(2, '## Documentation.', 'kftDocComment')
call s:want(3, '# Comment.', 'kftComment')
call s:want(4, 'import', 'kftImport')
call s:want(5, 'param', 'kftStatement')
call s:want(5, 'nodes', 'kftDefined')
call s:want(5, 'int', 'kftTypeName')
call s:want(5, 'where', 'kftStatement')
call s:want(5, 'it', 'kftSelf')
call s:want(5, '64', 'kftNumber')
call s:want(6, 'let', 'kftStatement')
call s:want(6, '0x1f', 'kftNumber')
call s:want(7, 'image', 'kftDefinedFunction')
call s:want(7, 'r/', 'kftString')
call s:want(7, '\(', 'kftInterpolationMark')
call s:want(7, 'upper', 'kftFunction')
call s:want(7, '\n', 'kftEscape')
call s:want(8, '@abstract', 'kftAnnotation')
call s:want(9, 'trainer', 'kftKind')
call s:want(9, 'ddp', 'kftName')
call s:want(9, 'extends', 'kftStatement')
call s:want(10, 'args', 'kftKnownField')
call s:want(10, '--lr=', 'kftString')
call s:want(11, 'type', 'kftPlainWord')
call s:want(11, 'r"\d"', 'kftRaw')
call s:want(12, 'example.com/x', 'kftKey')
call s:want(12, 'true', 'kftBoolean')
call s:want(13, 'made_up', 'kftField')
call s:want(13, 'job', 'kftKindRef')
call s:want(15, 'job', 'kftKind')
call s:want(15, '"fine-tune"', 'kftName')
call s:want(16, 'resources', 'kftKnownField')
call s:want(16, 'cpu', 'kftKnownField')
call s:want(16, '500m', 'kftAmount')
call s:want(16, '1.5Gi', 'kftAmount')
call s:want(16, 'null', 'kftConstant')
call s:want(17, '1h30min', 'kftDuration')
call s:want(18, 'patch', 'kftNamedBlock')
call s:want(18, 'node', 'kftName')
call s:want(18, 'nodeSelector', 'kftField')
call s:want(19, 'if', 'kftConditional')
call s:want(19, 'self', 'kftSelf')
call s:want(19, 'queue', 'kftMember')
call s:want(19, 'len', 'kftFunction')
call s:want(19, '3e-4', 'kftFloat')
call s:want(21, '012', 'kftBadNumber')
call s:want(21, '1g', 'kftBadNumber')
call s:want(22, '"""', 'kftTriple')
call s:want(23, '# no comment', 'kftTriple')
call s:want(23, '\(', 'kftInterpolationMark')
call s:want(25, 'let', 'kftStatement')

" No example may hold what the highlighter takes for a mistake, and each must keep its indentation when it is indented anew.
let s:files = 0
for s:file in glob(s:root . '/examples/**/*.kft', 1, 1) + glob(s:root . '/stdlib/**/*.kft', 1, 1)
  execute 'edit! ' . fnameescape(s:file)
  call assert_equal('kft', &filetype, s:file)
  syntax sync fromstart
  for s:line in range(1, line('$'))
    for s:column in range(1, col([s:line, '$']) - 1)
      if s:group(s:line, s:column) =~# '^kftBad'
        call add(v:errors, s:file . ':' . s:line . ':' . s:column . ': marked as a mistake')
        break
      endif
    endfor
  endfor
  let s:before = getline(1, '$')
  silent normal! gg=G
  let s:after = getline(1, '$')
  for s:line in range(len(s:before))
    if s:before[s:line] !=# s:after[s:line]
      call add(v:errors, s:file . ':' . (s:line + 1) . ': indented as "' . s:after[s:line] . '"')
      break
    endif
  endfor
  let s:checks += 1
  let s:files += 1
  edit!
endfor

call assert_true(s:files >= 8, 'only ' . s:files . ' files were found')

" What kftc prints becomes entries of the quickfix list.
execute 'edit! ' . fnameescape(s:root . '/examples/digits/digits.kft')
" :cgetexpr reads with the global value; :make with the local one.
let &g:errorformat = &l:errorformat
cgetexpr ['a.kft:3:5: error: unknown field `x` in `job` [KFT2203]', '   3 |   x = 1', '     |   ^', 'a.kft:1:2: note: given here']
let s:found = filter(getqflist(), 'v:val.valid')
call assert_equal(2, len(s:found))
call assert_equal([3, 5, 'e'], [s:found[0].lnum, s:found[0].col, s:found[0].type])
call assert_equal('unknown field `x` in `job` [KFT2203]', s:found[0].text)
call assert_equal('n', s:found[1].type)

let s:output = v:errors + [(s:checks - len(v:errors)) . ' passed, ' . len(v:errors) . ' failed']
call writefile(s:output, $KFT_VIM_REPORT)
if !empty(v:errors)
  cquit
endif
qall!
