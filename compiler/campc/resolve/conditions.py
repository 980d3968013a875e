"""From an expression to a condition: names looked up, units checked, constants computed."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from campc.records import define, field
from campc.resolve.evaluate import Lets
from campc.resolve.faults import Fault, Unclear, did_you_mean
from campc.resolve.limits import NO_METRICS
from campc.resolve.units import Value, combine, kind_of, magnitude
from campc.schema.conditions import BUILTINS_FILE, BUILTINS_RUN, FUNCTIONS, Condition, Expression, MetricUse
from campc.source import Span
from campc.syntax import tree
from campc.syntax.format import one_line
from campc.values.money import Money, round_amount
from campc.values.quantities import Duration, Share, Size, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_TYPES = {
    "number": "a number", "duration": "a duration", "size": "a size", "money": "an amount of money", "truth": "true or false", "text": "text",
}  # fmt: skip
_BUILTIN_TYPES = {"checkpoint_age": "duration", "disk_free": "size", "spend": "money"}
_BUILTIN_EXAMPLES = {
    "checkpoint_age": "checkpoint_age > 1h",
    "disk_free": "disk_free < 20GB",
    "spend": "spend > 40 USD",
}


@define
class Reader:
    """Reads the conditions of one spec. ``runs`` are the names that ``RUN.METRIC`` may start with."""

    lets: Lets
    runs: Collection[str]
    unclear: Unclear = field(factory=Unclear)
    _metrics: list[MetricUse] = field(factory=list)
    _builtins: set[str] = field(factory=set)

    def read(self, expr: tree.Expr, scope: str) -> Condition:
        """The condition that an expression is. Raises Fault."""
        self._metrics, self._builtins = [], set()
        kind, expression = self._expression(expr, scope)
        if kind != "truth":
            raise Fault(
                "C204", expr.at, f"this is {_TYPES[kind]}, and a condition is true or false", _compare_with(kind, expr)
            )
        if expression[0] == "bool" and not self._metrics and not self._builtins:
            raise Fault(
                "C204",
                expr.at,
                f"this is always {str(expression[1]).lower()}",
                "name a metric, as in loss is not finite",
            )
        return Condition(one_line(expr.at.text), expression, expr.at, tuple(self._metrics), frozenset(self._builtins))

    def _expression(self, expr: tree.Expr, scope: str) -> tuple[str, Expression]:
        match expr:
            case tree.Literal(value=value, at=at):
                return _constant(value, at)
            case tree.Name():
                return self._name(expr, scope)
            case tree.Unary(operator="not", operand=operand):
                return "truth", ("not", self._truth(operand, scope, "not"))
            case tree.Unary(operand=operand, at=at):
                kind, inner = self._expression(operand, scope)
                if kind in ("truth", "text"):
                    raise Fault("C204", at, f"there is no minus for {_TYPES[kind]}")
                return kind, _folded_minus(inner)
            case tree.Binary(operator="and" | "or" as operator, left=left, right=right):
                return "truth", (operator, self._truth(left, scope, operator), self._truth(right, scope, operator))
            case tree.Binary():
                return self._binary(expr, scope)
            case tree.Is(operand=operand, what=what, negated=negated, at=at):
                kind, inner = self._expression(operand, scope)
                if kind in ("truth", "text"):
                    raise Fault("C204", at, f"`is {what}` asks about a metric, and this is {_TYPES[kind]}")
                test: Expression = (what, inner)
                return "truth", ("not", test) if negated else test
            case tree.Call():
                return self._call(expr, scope)
            case tree.Broken(at=at):
                raise Fault(None, at)
            case _:
                raise Fault(
                    "C204", expr.at, "this has no place in a condition", "a condition compares metrics, as in loss > 3"
                )

    def _truth(self, expr: tree.Expr, scope: str, operator: str) -> Expression:
        kind, inner = self._expression(expr, scope)
        if kind != "truth":
            raise Fault(
                "C204",
                expr.at,
                f"`{operator}` takes true or false, and this is {_TYPES[kind]}",
                _compare_with(kind, expr),
            )
        return inner

    def _binary(self, expr: tree.Binary, scope: str) -> tuple[str, Expression]:
        left_kind, left = self._expression(expr.left, scope)
        right_kind, right = self._expression(expr.right, scope)
        operator = expr.operator
        comparison = operator in ("==", "!=", "<", "<=", ">", ">=")
        if _is_constant(left) and _is_constant(right):
            return _constant(
                combine(operator, _value_of(left_kind, left), _value_of(right_kind, right), expr.at), expr.at
            )
        if comparison:
            equality_only = left_kind in ("truth", "text")
            if scope == "file":
                # Of a deliverable everything is a count: a size means its bytes.
                left_kind, right_kind = ("number" if kind == "size" else kind for kind in (left_kind, right_kind))
            if left_kind != right_kind and not (
                operator in ("==", "!=") and {left_kind, right_kind} == {"number", "truth"}
            ):
                raise Fault("C204", expr.at, self._mismatch(expr, left_kind, right_kind), _unit_example(left, right))
            if equality_only and operator not in ("==", "!="):
                raise Fault("C204", expr.at, f"{_TYPES[left_kind]} has no order; only == and != apply")
            return "truth", (operator, left, right)
        if operator in ("+", "-") and left_kind == right_kind and left_kind not in ("truth", "text"):
            return left_kind, (operator, left, right)
        if (
            operator == "*"
            and "number" in (left_kind, right_kind)
            and {left_kind, right_kind}.isdisjoint(("truth", "text"))
        ):
            return (right_kind if left_kind == "number" else left_kind), (operator, left, right)
        if operator == "/" and {left_kind, right_kind}.isdisjoint(("truth", "text")):
            if right_kind == "number":
                return left_kind, (operator, left, right)
            if left_kind == right_kind:
                return "number", (operator, left, right)
        raise Fault("C204", expr.at, self._mismatch(expr, left_kind, right_kind))

    def _mismatch(self, expr: tree.Binary, left_kind: str, right_kind: str) -> str:
        left, right = _one_line(expr.left.at.text), _one_line(expr.right.at.text)
        return f"{left} is {_TYPES[left_kind]} and {right} is {_TYPES[right_kind]}: `{expr.operator}` needs the same on both sides"

    def _name(self, name: tree.Name, scope: str) -> tuple[str, Expression]:
        if len(name.parts) == 1 and name.parts[0] in self.lets.declared:
            return _constant(self.lets.value(name), name.at)
        builtins = BUILTINS_RUN if scope == "run" else BUILTINS_FILE if scope == "file" else {}
        if name.text in builtins:
            self._builtins.add(name.text)
            return _BUILTIN_TYPES.get(name.text, "number"), ("builtin", name.text)
        if name.text.lower() in NO_METRICS:
            raise Fault("C205", name.at, f"{name.text} is no metric", NO_METRICS[name.text.lower()])
        if scope == "results":
            return self._result(name)
        if scope == "run" and name.parts[0] == "best" and len(name.parts) > 1:
            metric = ".".join(name.parts[1:])
            self._metrics.append(MetricUse(metric, None, name.at, best=True))
            return "number", ("best", metric)
        self._metrics.append(MetricUse(name.text, None, name.at))
        return "number", ("metric", name.text)

    def _result(self, name: tree.Name) -> tuple[str, Expression]:
        run, metric = name.parts[0], ".".join(name.parts[1:])
        if run not in self.runs:
            if self.unclear.may_declare("run", run):
                raise Fault(None, name.at)
            guess, fix = did_you_mean(run, self.runs, name.at.source.span(name.at.start, name.at.start + len(run)))
            raise Fault(
                "C205",
                name.at,
                f"no run is named {run}",
                guess or "name the run and its metric, as in control.eval.accuracy",
                fix,
            )
        if not metric:
            raise Fault(
                "C204",
                name.at,
                f"{run} is a run, and a result is one of its metrics",
                f"write {run}.METRIC, as in {run}.eval.accuracy",
            )
        self._metrics.append(MetricUse(metric, run, name.at))
        return "number", ("metric", metric, run)

    def _call(self, call: tree.Call, scope: str) -> tuple[str, Expression]:
        if call.function not in FUNCTIONS:
            guess, fix = did_you_mean(call.function, FUNCTIONS, call.function_at)
            raise Fault("C205", call.function_at, f"there is no function {call.function}", guess, fix)
        if scope != "results":
            raise Fault(
                "C204",
                call.at,
                f"{call.function}(…) is over a run's seeds, and here one running run is watched",
                "name the metric alone",
            )
        if len(call.arguments) != 1:
            raise Fault("C204", call.at, f"{call.function}(…) takes one metric, and {len(call.arguments)} stand here")
        kind, inner = self._expression(call.arguments[0], scope)
        if inner[0] != "metric":
            raise Fault(
                "C204",
                call.arguments[0].at,
                f"{call.function}(…) takes RUN.METRIC",
                f"write {call.function}(control.eval.accuracy)",
            )
        return kind, (call.function, inner)


def _constant(value: Value, at: Span) -> tuple[str, Expression]:
    match value:
        case bool():
            return "truth", ("bool", value)
        case str():
            return "text", ("text", value)
        case Fraction() | Share() | Steps():
            return "number", ("number", magnitude(value))
        case Duration():
            return "duration", ("number", value.seconds)
        case Size():
            return "size", ("number", value.bytes)
        case Money():
            return "money", ("money", _plain_amount(value.amount), value.currency)
    raise Fault("C204", at, f"a condition can't hold {kind_of(value)}")


def _plain_amount(amount: Fraction) -> str:
    text = round_amount(amount, 9)
    return text.rstrip("0").rstrip(".")


def _is_constant(part: Expression) -> bool:
    return part[0] in ("number", "money", "bool", "text")


def _value_of(kind: str, part: Expression) -> Any:
    match kind:
        case "duration":
            return Duration(part[1])
        case "size":
            return Size(part[1])
        case "money":
            return Money(Fraction(part[1]), part[2])
    return part[1]


def _folded_minus(part: Expression) -> Expression:
    if part[0] == "number":
        return ("number", -part[1])
    if part[0] == "money":
        return ("money", part[1].removeprefix("-") if part[1].startswith("-") else f"-{part[1]}", part[2])
    return ("neg", part)


def _compare_with(kind: str, expr: tree.Expr) -> str | None:
    if kind == "number" and isinstance(expr, tree.Literal):
        return f"compare a metric with it, as in loss > {_one_line(expr.at.text)}"
    if kind == "number":
        text = _one_line(expr.at.text)
        return f"compare it with something, as in {text} > 0.5, or ask {text} is not finite"
    return None


def _unit_example(left: Expression, right: Expression) -> str | None:
    for part in (left, right):
        if part[0] == "builtin" and part[1] in _BUILTIN_EXAMPLES:
            return f"write a unit, as in {_BUILTIN_EXAMPLES[part[1]]}"
        if part[0] == "metric":
            return "a metric is a plain number"
    return None


def _one_line(text: str) -> str:
    return " ".join(text.split())
