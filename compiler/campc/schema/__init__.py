"""The language, said once: every block and attribute as a documented class."""

from campc.schema.campaign import Campaign, Corpus, Outcome, Unknown
from campc.schema.conditions import Condition, MetricUse
from campc.schema.market import Lot, Package
from campc.schema.node import BLOCKS, CLASSES, Node
from campc.schema.operation import Cleanup, Notify, Preflight, Shutdown
from campc.schema.results import Budget, Deliverable, Expense, Ratio
from campc.schema.rules import Drops, Gate, Stop, Watch
from campc.schema.types import AttributeInfo, BlockInfo
from campc.schema.work import TIERS, Checkpoint, GpuSet, Run, Tier, Window

__all__ = [
    "BLOCKS", "CLASSES", "TIERS", "AttributeInfo", "BlockInfo", "Budget", "Campaign", "Checkpoint", "Cleanup", "Condition", "Corpus", "Deliverable",
    "Drops", "Expense", "Gate", "GpuSet", "Lot", "MetricUse", "Node", "Notify", "Outcome", "Package", "Preflight", "Ratio", "Run", "Shutdown", "Stop",
    "Tier", "Unknown", "Watch", "Window",
]  # fmt: skip
