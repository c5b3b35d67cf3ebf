" Settings of kft files: comments, indentation, matching, and :make through kftc.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

let s:saved = &cpoptions
set cpoptions&vim

setlocal comments=:##,:#
setlocal commentstring=#\ %s
setlocal formatoptions-=t formatoptions+=croql
setlocal expandtab shiftwidth=2 softtabstop=2 tabstop=2
setlocal iskeyword=@,48-57,_
setlocal suffixesadd=.kft
setlocal include=^\\s*import\\s\\+\\zs\"[^\"]\\+\"

" `:make` checks the file; the messages go to the quickfix list. Source lines between them are skipped.
setlocal makeprg=kftc\ check\ %:S
setlocal errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%f:%l:%c:\ %tote:\ %m,%-G%.%#

let b:undo_ftplugin = 'setlocal comments< commentstring< formatoptions< expandtab< shiftwidth< softtabstop< tabstop<'
      \ . ' iskeyword< suffixesadd< include< makeprg< errorformat<'

let &cpoptions = s:saved
unlet s:saved
