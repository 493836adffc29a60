"""Registers the data source `urlspool`: Spark 4 looks for it in modules named `pyspark_*`."""

from urlspool._data_source import UrlspoolDataSource as DefaultSource

__all__ = ["DefaultSource"]
