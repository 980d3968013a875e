" The language server of campc, for Vim with ALE. How it is started: let g:ale_campaign_campc_command = ['campc', 'lsp']
call ale#Set('campaign_campc_command', ['campc', 'lsp'])

function! ale_linters#campaign#campc#GetExecutable(buffer) abort
    return ale#Var(a:buffer, 'campaign_campc_command')[0]
endfunction

function! ale_linters#campaign#campc#GetCommand(buffer) abort
    return '%e' . join(map(copy(ale#Var(a:buffer, 'campaign_campc_command')[1:]), '" " . ale#Escape(v:val)'), '')
endfunction

call ale#linter#Define('campaign', {
\   'name': 'campc',
\   'lsp': 'stdio',
\   'executable': function('ale_linters#campaign#campc#GetExecutable'),
\   'command': function('ale_linters#campaign#campc#GetCommand'),
\   'project_root': {buffer -> fnamemodify(bufname(buffer), ':p:h')},
\   'language': 'campaign',
\})
