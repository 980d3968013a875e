"""What happened: the ledger and the package, held against the plan that was built."""

from campc.closeout.as_json import to_json
from campc.closeout.bundle import Refused
from campc.closeout.closing import RELOAD_TIMEOUT_S, close
from campc.closeout.summary import summary

__all__ = ["RELOAD_TIMEOUT_S", "Refused", "close", "summary", "to_json"]
