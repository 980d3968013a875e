autocmd BufRead,BufNewFile *.campaign setfiletype campaign
