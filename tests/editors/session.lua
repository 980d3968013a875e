-- One sitting in Neovim with the real server; what was seen goes as JSON to $SEEN.
local seen = {}
local buffer = vim.api.nvim_get_current_buf()

local function text(of)
  return table.concat(vim.api.nvim_buf_get_lines(of or buffer, 0, -1, false), "\n") .. "\n"
end

local function wait(what, condition)
  if not vim.wait(30000, condition, 20) then
    seen.failed = "waited in vain for " .. what
    seen.text = text()
    vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.SEEN)
    vim.cmd("cquit")
  end
end

local function codes()
  local found = {}
  for _, d in ipairs(vim.diagnostic.get(buffer)) do
    local code = d.code or (d.user_data and d.user_data.lsp and d.user_data.lsp.code)
    found[#found + 1] = { code = code, line = d.lnum, column = d.col, message = d.message, severity = d.severity }
  end
  table.sort(found, function(a, b)
    return a.line < b.line or a.line == b.line and a.code < b.code
  end)
  return found
end

local function has(code)
  for _, d in ipairs(codes()) do
    if d.code == code then
      return d
    end
  end
end

seen.filetype = vim.bo.filetype
wait("the fault", function()
  return has("C202")
end)
seen.before = codes()

-- The fix, chosen from the menu as a person would.
local fault = has("C202")
vim.api.nvim_win_set_cursor(0, { fault.line + 1, 0 })
vim.ui.select = function(items, options, choose)
  seen.menu = vim.tbl_map(options.format_item, items)
  choose(items[1], 1)
end
vim.lsp.buf.code_action()
wait("the fix", function()
  return not has("C202")
end)
seen.fixed = text()

-- Where the name at the cursor is declared, in another file.
vim.fn.search("package = \\zslot_3d")
vim.lsp.buf.rename("three_days")
wait("the new name", function()
  return text():find("package = three_days", 1, true)
end)
seen.renamed = text()
seen.catalog = text(vim.fn.bufnr("catalog.campaign"))

if vim.lsp.buf.format then
  vim.lsp.buf.format({ timeout_ms = 10000 })
else
  vim.lsp.buf.formatting_sync({}, 10000)
end
seen.formatted = text()

-- Inlay hints: the editor's own, or those that the plugin writes at the line's end.
local function hints()
  local found = {}
  if vim.lsp.inlay_hint and vim.lsp.inlay_hint.get then
    for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = buffer })) do
      found[#found + 1] = vim.trim(hint.inlay_hint.label)
    end
  else
    local space = vim.api.nvim_get_namespaces()["campc.hints"]
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, { details = true })) do
      found[#found + 1] = mark[4].virt_text[1][1]
    end
  end
  return found
end
if not (vim.lsp.inlay_hint and vim.lsp.inlay_hint.get) then
  require("campc").hints(buffer)
end
wait("hints", function()
  return #hints() >= 2
end)
seen.hints = hints()
seen.syntax = vim.fn.synIDattr(vim.fn.synID(vim.fn.search("^lot"), 1, 1), "name")
wait("no error, in this file and the one it uses", function()
  return #vim.diagnostic.get(buffer, { severity = vim.diagnostic.severity.ERROR }) == 0
end)
seen.after = codes()
vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.SEEN)
vim.cmd("qall!")
