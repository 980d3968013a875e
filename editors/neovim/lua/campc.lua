-- The language server of campc for Neovim, from 0.7 on. Newer editors have more of it built in; what an older one lacks is said below.
-- How the server is started: vim.g.campc_command, for example { vim.fn.getcwd() .. "/.venv/bin/python", "-m", "campc", "lsp" }.
local M = {}
local namespace = vim.api.nvim_create_namespace("campc.hints")
local id

local function command()
  return vim.g.campc_command or { "campc", "lsp" }
end

--- Inlay hints at the end of each line, for editors before 0.10, which have none of their own.
function M.hints(buffer)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    range = { start = { line = 0, character = 0 }, ["end"] = { line = vim.api.nvim_buf_line_count(buffer), character = 0 } },
  }
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  vim.lsp.buf_request(buffer, "textDocument/inlayHint", params, function(failed, found)
    if failed or not vim.api.nvim_buf_is_loaded(buffer) or vim.api.nvim_buf_get_changedtick(buffer) ~= tick then
      return
    end
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
    for _, hint in ipairs(found or {}) do
      vim.api.nvim_buf_set_extmark(buffer, namespace, hint.position.line, 0, {
        virt_text = { { vim.trim(hint.label), "Comment" } },
        virt_text_pos = "eol",
        hl_mode = "combine",
      })
    end
  end)
end

local function attached(_, buffer)
  vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
  if vim.lsp.inlay_hint and vim.lsp.inlay_hint.enable then
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
    return
  end
  M.hints(buffer)
  vim.api.nvim_create_autocmd({ "TextChanged", "InsertLeave", "BufEnter" }, {
    buffer = buffer,
    callback = function()
      M.hints(buffer)
    end,
  })
end

--- Starts the server for a buffer, or attaches the one that runs.
function M.start(buffer)
  local words = command()
  if vim.fn.executable(words[1]) ~= 1 then
    vim.notify_once(words[1] .. " is not there: pip install 'campc[lsp]', or set vim.g.campc_command", vim.log.levels.WARN)
    return
  end
  local config = {
    name = "campc",
    cmd = words,
    root_dir = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ":p:h"),
    on_attach = attached,
  }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer, reuse_client = function(client) return client.name == "campc" end })
    return
  end
  if not id or not vim.lsp.get_client_by_id(id) then
    id = vim.lsp.start_client(config)
  end
  vim.lsp.buf_attach_client(buffer, id)
end

return M
