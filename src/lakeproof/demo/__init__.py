"""An embedded lakehouse with planted errors, and the suites that find them."""

from lakeproof.demo.suites import PRODUCTS_CHECKS, SALES_CHECKS

__all__ = ["PRODUCTS_CHECKS", "SALES_CHECKS"]
