"""Going about in texts: where names are declared and used, renaming them, links to files."""

from __future__ import annotations

import re
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from campc.lsp.documents import path_of
from campc.lsp.links import links_in
from campc.lsp.offers import goes_on
from campc.lsp.session import Server
from campc.pipeline import Compiled
from campc.resolve.index import Occurrence

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_RESERVED = frozenset(("use", "let", "and", "or", "not", "is", "true", "false"))


def _at(server: Server, params: Any) -> tuple[Compiled, Occurrence] | None:
    uri = params.text_document.uri
    compiled = server.compiled(uri)
    if compiled is None:
        return None
    found = server.documents.occurrence_at(uri, server.convert.offset(compiled.source, params.position))
    return (compiled, found) if found is not None else None


def _path_name(uri: str) -> str:
    path = path_of(uri)
    return path.name if path is not None else uri


def navigate(server: Server) -> None:
    """Definitions, uses, renaming, links."""

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        here = _at(server, params)
        if here is None:
            return []
        uri = params.text_document.uri
        return [server.located(o.at, here[0], uri) for o in server.documents.same_name(uri, here[1]) if o.declares]

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        here = _at(server, params)
        if here is None:
            return []
        uri = params.text_document.uri
        found = server.documents.same_name(uri, here[1])
        return [
            server.located(o.at, here[0], uri) for o in found if params.context.include_declaration or not o.declares
        ]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        here = _at(server, params)
        if here is None or not any(o.declares for o in server.documents.same_name(params.text_document.uri, here[1])):
            return None
        return lsp.PrepareRenamePlaceholder(server.convert.range(here[1].at), here[1].name)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        here = _at(server, params)
        if here is None:
            return None
        if _NAME.fullmatch(params.new_name) is None or params.new_name in _RESERVED:
            raise JsonRpcInvalidParams(
                f"{params.new_name} can't be a name: a name has letters, digits and _, doesn't begin with a digit, and is no word "
                "of expressions"
            )
        uri = params.text_document.uri
        kind, old = here[1].kind, here[1].name
        places = list(server.documents.same_name(uri, here[1]))
        if not any(o.declares for o in places):
            raise JsonRpcInvalidParams(f"{old} isn't declared here, and only what is declared can be renamed")
        if params.new_name != old and server.documents.is_taken(uri, here[1], params.new_name):
            what = "a value" if kind == "let" else f"a {kind}"
            raise JsonRpcInvalidParams(f"{what} named {params.new_name} is there already")
        changes: dict[str, list[lsp.TextEdit]] = {}
        for occurrence in places:
            place = server.located(occurrence.at, here[0], uri)
            quoted = occurrence.at.text.startswith('"')
            text = f'"{params.new_name}"' if quoted else params.new_name
            changes.setdefault(place.uri, []).append(lsp.TextEdit(place.range, text))
        return lsp.WorkspaceEdit(changes) if changes else None

    @server.feature(lsp.WORKSPACE_SYMBOL)
    def workspace_symbols(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        wanted = params.query.lower()
        found = []
        for uri in list(server.documents.open):
            compiled = server.compiled(uri)
            for node in compiled.plan.spec.blocks() if compiled is not None else ():
                if goes_on(node.name.lower(), wanted) and node.at.source.path is not None and compiled is not None:
                    location = server.located(node.name_at, compiled, uri)
                    found.append(
                        lsp.WorkspaceSymbol(
                            location, node.name, lsp.SymbolKind.Object, container_name=_path_name(location.uri)
                        )
                    )
        return found

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_LINK)
    def links(params: lsp.DocumentLinkParams) -> list[lsp.DocumentLink]:
        compiled = server.compiled(params.text_document.uri)
        return (
            list(links_in(compiled, server.convert))
            if compiled is not None and compiled.source.path is not None
            else []
        )
