"""Finds, repairs and parses the URLs in mail and USENET archives.

A text, with offsets that count characters:

>>> import urlspool
>>> text = "see <URL:http://a.example/x\\n  y> now"
>>> for url in urlspool.urls(text):
...     print(url["url"], text[url["start"]:url["end"]].split())
http://a.example/xy ['http://a.example/x', 'y']

A message, with its header fields and every text part decoded:

>>> mail = b"Subject: a note\\n\\nIt is under <URL:ftp://ds.in\\n   ternic.net/rfc>.\\n"
>>> [record["url"] for record in urlspool.extract(mail)]
['ftp://ds.internic.net/rfc']

Files and folders, on all cores: see `scan`. Byte ranges of any seekable file object: see
`scan_stream`.
"""

from ._api import explain, extract, parse, scan, scan_stream, schema, urls
from ._urlspool import Records, ScanError, ScanWarning, __version__

__all__ = [
    "Records",
    "ScanError",
    "ScanWarning",
    "__version__",
    "explain",
    "extract",
    "parse",
    "scan",
    "scan_stream",
    "schema",
    "urls",
]
