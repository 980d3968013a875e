" One sitting in Vim with ALE and the real server; what was seen goes as JSON to $SEEN.
let s:seen = {}

function! s:text(...) abort
  return join(getbufline(a:0 ? a:1 : s:buffer, 1, '$'), "\n") . "\n"
endfunction

function! s:finish() abort
  call writefile([json_encode(s:seen)], $SEEN)
  qall!
endfunction

function! s:wait(what, question) abort
  for l:turn in range(600)
    if a:question()
      return
    endif
    sleep 50m
  endfor
  let s:seen.failed = 'waited in vain for ' . a:what
  let s:seen.text = s:text()
  call s:finish()
endfunction

function! s:faults() abort
  return map(copy(get(get(g:ale_buffer_info, s:buffer, {}), 'loclist', [])),
  \ '{"line": v:val.lnum, "column": v:val.col, "code": get(v:val, "code", ""), "text": v:val.text, "type": v:val.type}')
endfunction

function! s:has(words) abort
  return !empty(filter(s:faults(), 'v:val.text =~# a:words'))
endfunction

let s:buffer = bufnr('%')
let s:seen.filetype = &filetype
let s:seen.syntax = synIDattr(synID(search('^lot'), 1, 1), 'name')
call s:wait('the fault', {-> s:has('decison')})
let s:seen.before = s:faults()

" What is answered when the editor asks.
runtime autoload/ale/util.vim
function! ale#util#Input(message, value, ...) abort
  let s:seen.asked = get(s:seen, 'asked', []) + [a:message]
  return s:answer
endfunction

" What is said of a name.
call search('package = \zslot_3d')
ALEHover
call s:wait('the hover', {-> !empty(filter(range(1, bufnr('$')), 's:text(v:val) =~# "RTX 4090, 72 h, 47.14 USD"'))})
pclose

" The fix, chosen from the menu as a person would.
let s:answer = '1'
call search('decison')
ALECodeAction
call s:wait('the fix', {-> s:text() =~# 'decision'})
doautocmd TextChanged " which Vim itself does where there is a screen
call s:wait('the fault to go', {-> !s:has('decison')})
let s:seen.fixed = s:text()

" Where a name is declared, and a new name for it, in both files.
call search('package = \zslot_3d')
ALEGoToDefinition
call s:wait('the definition', {-> expand('%:t') ==# 'catalog.campaign'})
execute 'buffer' s:buffer
call search('package = \zslot_3d')
let s:answer = 'three_days'
ALERename
call s:wait('the new name', {-> s:text() =~# 'package = three_days'})
let s:seen.renamed = s:text()
let s:seen.catalog = s:text(bufnr('catalog.campaign'))

ALEFix
call s:wait('the format', {-> s:text() =~# 'currency = USD'})
let s:seen.formatted = s:text()

" What is offered on a new line of the campaign.
call search('^campaign c {')
execute "normal! o  ti"
call cursor(line('.'), col('$'))
function! ale#util#Mode(...) abort
  return 'i'
endfunction
call ale#completion#OmniFunc(1, '')
call s:wait('offers', {-> has_key(b:, 'ale_completion_result')})
let s:seen.offers = map(copy(b:ale_completion_result), 'v:val.word')
delete _
doautocmd TextChanged
call s:wait('no error', {-> empty(filter(s:faults(), 'v:val.type ==# "E"'))})
let s:seen.after = s:faults()
call s:finish()
