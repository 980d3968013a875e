"""A real server over a real pipe, with a client that keeps what it is sent."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
COMMAND = [sys.executable, "-m", "campc", "lsp"]


@pytest_lsp.fixture(config=ClientServerConfig(server_command=COMMAND, server_env=ENVIRONMENT))
async def client(lsp_client: LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    @lsp_client.feature(lsp.CLIENT_REGISTER_CAPABILITY)
    def register(params: lsp.RegistrationParams) -> None:
        assert [r.method for r in params.registrations] == [lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES]

    capabilities = client_capabilities("visual-studio-code")
    assert capabilities.text_document is not None
    capabilities.text_document.diagnostic = None
    await lsp_client.initialize_session(lsp.InitializeParams(capabilities=capabilities, root_uri=tmp_path.as_uri()))
    yield
    await lsp_client.shutdown_session()
