" Colours for .campaign files, for Vim and Neovim: what the grammar alone tells.
if exists("b:current_syntax")
  finish
endif

syntax match campaignName "\<\h\w*\%(\.\h\w*\)*\>"
syntax match campaignBlock "\<\h\w*\ze\%(\s\+\h\w*\|\s*\"[^\"]*\"\)\?\s*{"
syntax match campaignLabel "\%(\<\h\w*\s\+\)\@<=\h\w*\ze\s*{"
syntax match campaignAttribute "\<\h\w*\ze\s*=\%($\|[^=]\)"
syntax match campaignUse "\%(^\|[;{]\)\s*\zsuse\ze\s*\""
syntax match campaignLet "\%(^\|[;{]\)\s*\zslet\ze\s\+\h\w*\s*="
syntax keyword campaignOperator and or not is
syntax keyword campaignBoolean true false
syntax match campaignNumber "\<\d[0-9_]*\%(\.\d\+\)\?\%([eE][+-]\?\d\+\)\?"
syntax match campaignNumber "\<\d[0-9_]*\%(\.\d\+\)\?\s*\%([A-Z]\{3}\s\+\)\?per\s\+\d*\s*\%(min\|[shdw]\)\>"
syntax match campaignNumber "\<\d[0-9_]*\%(\.\d\+\)\?\s*\%([A-Z]\{3}\|\%([kKMGTP]i\?\)\?B\%(\/\%(min\|[shdw]\)\)\?\|steps\?\)\>"
syntax match campaignNumber "\<\d[0-9_]*\%(\.\d\+\)\?\s\?\%(min\|[shdw]\)\%(\d\+\%(min\|[shdw]\)\)*\>"
syntax match campaignNumber "\<\d[0-9_]*\%(\.\d\+\)\?%"
syntax match campaignDate "\<\d\{4}-\d\d-\d\d\%(\%(T\|\s\+\)\d\d:\d\d\%(:\d\d\)\?\%(Z\|[+-]\d\d:\d\d\)\?\)\?"
syntax match campaignEscape contained "\\\%(u{\x\+}\|.\)"
syntax region campaignString start=+"+ skip=+\\.+ end=+"\|$+ contains=campaignEscape keepend oneline
syntax region campaignString start=+"""+ skip=+\\.+ end=+"""+ contains=campaignEscape
syntax match campaignDirective contained "campc:\s*allow\s\+C\d\{3}"
syntax match campaignComment "#.*$" contains=campaignDirective,@Spell

highlight default link campaignBlock Type
highlight default link campaignLabel Function
highlight default link campaignAttribute Identifier
highlight default link campaignUse Include
highlight default link campaignLet Keyword
highlight default link campaignOperator Operator
highlight default link campaignBoolean Boolean
highlight default link campaignNumber Number
highlight default link campaignDate Number
highlight default link campaignString String
highlight default link campaignEscape SpecialChar
highlight default link campaignComment Comment
highlight default link campaignDirective Special

let b:current_syntax = "campaign"
