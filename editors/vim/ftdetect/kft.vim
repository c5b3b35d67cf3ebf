" A .kft file, or any file whose first line hands it to kftc.
autocmd BufNewFile,BufRead *.kft,kft.project setfiletype kft
autocmd BufNewFile,BufRead * if !did_filetype() && getline(1) =~# '^#!.*\<kftc\>' | setfiletype kft | endif
