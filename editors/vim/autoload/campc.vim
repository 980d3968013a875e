" How ALE has a campaign formatted: by `campc fmt`, from standard input. Undone as any other change.
function! campc#format(buffer) abort
  let l:words = ale#Var(a:buffer, 'campaign_campc_command')
  let l:words = l:words[-1] is# 'lsp' ? l:words[:-2] : l:words
  return {'command': join(map(l:words + ['fmt', '-'], 'ale#Escape(v:val)'), ' ')}
endfunction
