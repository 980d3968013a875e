" What Vim should know of .campaign files; the colours are shared with Neovim.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=#\ %s comments=:# shiftwidth=2 expandtab
let b:undo_ftplugin = 'setlocal commentstring< comments< shiftwidth< expandtab<'

" With ALE, :ALEFix formats: let g:ale_fixers = {'campaign': ['campc']}
if exists('g:loaded_ale_dont_use_this_in_other_plugins_please')
  call ale#Set('campaign_campc_command', ['campc', 'lsp'])
  call ale#fix#registry#Add('campc', 'campc#format', ['campaign'], 'Format with campc fmt.')
endif
