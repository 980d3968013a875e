"""Money: an exact amount of one currency, and sums that keep currencies apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

from campc.records import frozen
from campc.values.currencies import DECIMALS
from campc.values.quantities import Duration, format_duration


@frozen
class Money:
    """An amount, exact as written or computed; rounded only where it is shown."""

    amount: Fraction
    currency: str

    @property
    def rounded(self) -> str:
        """The amount half-even to the currency's own number of decimals, as JSON has it: ``47.14``."""
        return round_amount(self.amount, DECIMALS.get(self.currency, 2))

    def __str__(self) -> str:
        whole, _, decimals = self.rounded.partition(".")
        grouped = f"{int(whole):,}" if whole.lstrip("-") != "0" else whole
        return f"{grouped}{'.' if decimals else ''}{decimals} {self.currency}"

    def __mul__(self, factor: Fraction | int) -> Money:
        return Money(self.amount * factor, self.currency)

    def to_json(self) -> dict[str, str]:
        """``{"amount": "47.14", "currency": "USD"}``."""
        return {"amount": self.rounded, "currency": self.currency}


@frozen
class MoneyRate:
    """Money over time: ``2.49 USD per h``."""

    money: Money
    per: Duration

    def __str__(self) -> str:
        amount = format(Decimal(self.money.amount.numerator) / Decimal(self.money.amount.denominator), "f")
        unit = {3600: "h", 86_400: "d", 60: "min", 1: "s"}.get(int(self.per.seconds), format_duration(self.per.seconds))
        return f"{amount} {self.money.currency} per {unit}"


def round_amount(amount: Fraction, decimals: int) -> str:
    """An amount half-even to so many decimals, as plain digits."""
    with localcontext() as context:
        context.prec = max(60, len(str(amount.numerator)) + decimals + 5)
        scaled = amount * 10**decimals
        whole = scaled.numerator // scaled.denominator
        rest = scaled - whole
        if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2):
            whole += 1
        return format(Decimal(whole).scaleb(-decimals).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN), "f")


def total(
    amounts: Iterable[Money], rates: Mapping[str, Money] | None = None, into: str | None = None
) -> tuple[Money, ...]:
    """The sum, one amount a currency, sorted by currency.

    ``rates`` says what one unit of a currency is worth; where they reach ``into`` for every currency, there is one amount.
    """
    sums: dict[str, Fraction] = {}
    for money in amounts:
        sums[money.currency] = sums.get(money.currency, Fraction(0)) + money.amount
    if into is not None and len(sums) > (into in sums):
        converted = Fraction(0)
        for currency, amount in sums.items():
            factor = Fraction(1) if currency == into else _rate(currency, into, rates or {})
            if factor is None:
                break
            converted += amount * factor
        else:
            return (Money(converted, into),)
    return tuple(Money(sums[currency], currency) for currency in sorted(sums))


def _rate(currency: str, into: str, rates: Mapping[str, Money]) -> Fraction | None:
    direct = rates.get(currency)
    if direct is not None and direct.currency == into:
        return direct.amount
    inverse = rates.get(into)
    if inverse is not None and inverse.currency == currency and inverse.amount:
        return 1 / inverse.amount
    return None
