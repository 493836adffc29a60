#!/usr/bin/env python3
"""Writes the dashboards of an index of `urlspool load`, to be imported: opensearch.ndjson and kibana.ndjson beside this file.

    packaging/dashboards/make.py [--index NAME] [--out FOLDER] [--check]

NAME is the index of the target (default: urls). --check writes nothing: it fails if the files are others, or if an object refers to one
that is not in its file.
"""

import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# Title, field, search words, number of rows.
TABLES = [
    ("Top domains", "domain", "", 25),
    ("Top hosts", "host", "", 25),
    ("Links cited most", "key", "", 25),
    ("Lists", "message.list_id", "", 25),
    ("Newsgroups", "message.newsgroups", "", 25),
    ("Senders", "message.from.keyword", "", 25),
    ("Domains of links whose text names another host", "domain", "mismatch:true", 25),
    ("Hazards", "hazards", "hazards:*", 25),
    ("Schemes", "scheme", "", 15),
    ("Repairs", "repairs", "", 15),
]
# The grid of a dashboard has 48 columns.
WIDTH, HEIGHT = 24, 15


def source(words):
    return json.dumps({
        "query": {"query": words, "language": "lucene"}, "filter": [],
        "indexRefName": "kibanaSavedObjectMeta.searchSourceJSON.index",
    })


def visualization(number, title, kind, segment, words, index):
    state = {
        "title": title, "type": kind,
        "aggs": [{"id": "1", "enabled": True, "type": "count", "params": {"customLabel": "URLs"}, "schema": "metric"}, segment],
        "params": {"perPage": 25, "showPartialRows": False, "showMetricsAtAllLevels": False, "showTotal": False} if kind == "table" else HISTOGRAM,
    }
    return {
        "id": f"urlspool-{index}-{number}", "type": "visualization", "migrationVersion": {"visualization": "7.10.0"},
        "attributes": {
            "title": f"urlspool: {title}", "description": "", "version": 1, "uiStateJSON": "{}", "visState": json.dumps(state),
            "kibanaSavedObjectMeta": {"searchSourceJSON": source(words)},
        },
        "references": [{"name": "kibanaSavedObjectMeta.searchSourceJSON.index", "type": "index-pattern", "id": f"urlspool-{index}"}],
    }


HISTOGRAM = {
    "type": "histogram", "addTooltip": True, "addLegend": False, "addTimeMarker": False, "times": [], "grid": {"categoryLines": False},
    "categoryAxes": [{"id": "CategoryAxis-1", "type": "category", "position": "bottom", "show": True, "scale": {"type": "linear"},
                      "labels": {"show": True, "filter": True, "truncate": 100}, "title": {}}],
    "valueAxes": [{"id": "ValueAxis-1", "name": "LeftAxis-1", "type": "value", "position": "left", "show": True,
                   "scale": {"type": "linear", "mode": "normal"}, "labels": {"show": True, "rotate": 0, "filter": False, "truncate": 100},
                   "title": {"text": "URLs"}}],
    "seriesParams": [{"show": True, "type": "histogram", "mode": "stacked", "data": {"label": "URLs", "id": "1"},
                      "valueAxis": "ValueAxis-1", "drawLinesBetweenPoints": True, "showCircles": True}],
}


def objects(program, index):
    """The saved objects: the pattern of the index, the visualizations, and the dashboard that shows them."""
    normalized = "useNormalizedEsInterval" if program == "kibana" else "useNormalizedOpenSearchInterval"
    days = {"id": "2", "enabled": True, "type": "date_histogram", "schema": "segment", "params": {
        "field": "message.date", "interval": "d", normalized: True, "scaleMetricValues": False, "drop_partials": False,
        "min_doc_count": 1, "extended_bounds": {}}}
    made = [visualization(0, "URLs a day", "histogram", days, "", index)]
    for number, (title, field, words, size) in enumerate(TABLES, 1):
        terms = {"id": "2", "enabled": True, "type": "terms", "schema": "bucket", "params": {
            "field": field, "orderBy": "1", "order": "desc", "size": size, "otherBucket": False, "missingBucket": False}}
        made.append(visualization(number, title, "table", terms, words, index))
    panels, references = [], []
    for number, found in enumerate(made):
        place = {"x": 0, "y": 0, "w": 48, "h": HEIGHT}
        if number > 0:
            row, column = divmod(number - 1, 2)
            place = {"x": column * WIDTH, "y": HEIGHT * (row + 1), "w": WIDTH, "h": HEIGHT}
        panels.append({"version": "7.10.0", "gridData": {**place, "i": str(number)}, "panelIndex": str(number), "embeddableConfig": {},
                       "panelRefName": f"panel_{number}"})
        references.append({"name": f"panel_{number}", "type": "visualization", "id": found["id"]})
    pattern = {
        "id": f"urlspool-{index}", "type": "index-pattern", "migrationVersion": {"index-pattern": "7.6.0"},
        "attributes": {"title": index, "timeFieldName": "message.date"}, "references": [],
    }
    dashboard = {
        "id": f"urlspool-{index}-dashboard", "type": "dashboard", "migrationVersion": {"dashboard": "7.9.3"},
        "attributes": {
            "title": f"urlspool: {index}", "description": "URLs in mail and news, by the date of their messages", "version": 1,
            "hits": 0, "panelsJSON": json.dumps(panels), "optionsJSON": json.dumps({"hidePanelTitles": False, "useMargins": True}),
            "timeRestore": True, "timeFrom": "1985-01-01T00:00:00.000Z", "timeTo": "now",
            "refreshInterval": {"pause": True, "value": 0},
            "kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps({"query": {"query": "", "language": "lucene"}, "filter": []})},
        },
        "references": references,
    }
    return [pattern, *made, dashboard]


def text(found):
    return "".join(json.dumps(one, sort_keys=True) + "\n" for one in found)


def faults(found):
    """Objects that are missing or there twice, and panels without one."""
    ids = [(one["type"], one["id"]) for one in found]
    wrong = [f"twice: {one}" for one in set(ids) if ids.count(one) > 1]
    for one in found:
        names = {reference["name"] for reference in one["references"]}
        wrong += [f"missing: {reference}" for reference in one["references"] if (reference["type"], reference["id"]) not in ids]
        for panel in json.loads(one["attributes"].get("panelsJSON", "[]")):
            wrong += [] if panel["panelRefName"] in names else [f"no reference: {panel['panelRefName']}"]
        meta = json.loads(one["attributes"].get("kibanaSavedObjectMeta", {}).get("searchSourceJSON", "{}"))
        wrong += [] if meta.get("indexRefName") in (None, *names) else [f"no reference: {meta['indexRefName']}"]
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--index", default="urls")
    parser.add_argument("--out", default=HERE)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    failed = 0
    for program in ("opensearch", "kibana"):
        path, found = os.path.join(args.out, f"{program}.ndjson"), objects(program, args.index)
        if not args.check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text(found))
            continue
        with open(path, encoding="utf-8") as file:
            kept = file.read()
        wrong = faults([json.loads(line) for line in kept.splitlines()])
        if kept != text(found):
            wrong.append("it is not what make.py writes")
        for fault in wrong:
            print(f"{path}: {fault}")
        failed += len(wrong)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
