"""Money is exact: whole trillionths of a dollar, as the service reads them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from keymeter_client.amounts import pico_dollars, usd_text


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        ("0.02", "0.02"),
        ("20", "20"),
        (" 1.50 ", "1.5"),
        ("2.5e-7", "0.00000025"),
        (Decimal("0.000000000001"), "0.000000000001"),
        (3, "3"),
        (0, "0"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.3"),
        (1e-9, "0.000000001"),
        (123456789.123456789, "123456789.12345679"),
        # Half to even, as the service does.
        ("0.0000000000005", "0"),
        ("0.0000000000015", "0.000000000002"),
        ("0.0000000000025", "0.000000000002"),
        ("-0", "0"),
    ],
)
def test_an_amount_is_sent_as_its_decimal_text(usd: str | int | float | Decimal, text: str) -> None:
    assert usd_text(pico_dollars(usd)) == text


@pytest.mark.parametrize(
    "usd",
    [-1, "-0.01", "", "one", "1,5", "nan", "inf", float("nan"), float("inf"), Decimal("sNaN"), "1e99", True, None, b"1", []],
)
def test_what_is_no_amount_is_refused(usd: object) -> None:
    with pytest.raises(ValueError, match=r"^usd must be"):
        pico_dollars(usd)  # type: ignore[arg-type]


def test_a_float_of_another_library_is_read_by_its_value() -> None:
    class Float64(float):
        def __repr__(self) -> str:
            return f"np.float64({float(self)})"

    assert usd_text(pico_dollars(Float64(0.25))) == "0.25"
