# SPDX-License-Identifier: GPL-2.0-or-later
"""What all dashboards have in common: the model of Grafana 10 to 12, variables,
sizes and ids. In an expression "@" stands for the choice of instances, and "@P" for
that and the choice of partitions."""
import zlib

SOURCE = {"type": "prometheus", "uid": "$datasource"}
INSTANCE = 'instance=~"$instance"'
PARTITION = INSTANCE + ', partition=~"$partition"'
WIDTH = 24  # of a page, in Grafana's columns
TAG = "slurm-k8s-bridge"

# Steps of colours.
GREEN = ((None, "green"),)
BAD = ((None, "green"), (1, "red"))  # anything but 0
FULL = ((None, "green"), (0.8, "yellow"), (0.95, "orange"))
ALIVE = ((None, "red"), (1, "green"))
OLD = ((None, "green"), (120, "yellow"), (300, "red"))


def selected(expression):
    return expression.replace("@P", PARTITION).replace("@", INSTANCE)


def stable_id(title):
    """The same for a panel wherever it is moved."""
    return zlib.crc32(title.encode()) % 1000000 + 1


def query(name, what):
    """A variable of all values of a label."""
    return {"name": name, "label": name, "type": "query", "datasource": SOURCE,
            "query": {"query": what, "refId": f"variable-{name}"},
            "definition": what, "refresh": 2, "sort": 1, "multi": True,
            "includeAll": True, "allValue": ".*", "hide": 0, "regex": "",
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
            "options": []}


DATASOURCE = {"name": "datasource", "label": "datasource", "type": "datasource",
              "query": "prometheus", "refresh": 1, "hide": 0, "multi": False,
              "includeAll": False, "regex": "", "options": [],
              "current": {"selected": False, "text": "default", "value": "default"}}
INSTANCES = query("instance", "label_values(slurmk8sd_problems, instance)")
PARTITIONS = query("partition",
                   f"label_values(slurm_partition_nodes{{{INSTANCE}}}, partition)")


def thresholds(steps):
    return {"mode": "absolute",
            "steps": [{"value": value, "color": color} for value, color in steps]}


def column(name, properties):
    """What is different for one column of a table."""
    return {"matcher": {"id": "byName", "options": name},
            "properties": [{"id": key, "value": value}
                           for key, value in properties.items()]}


class Dashboard:
    """Panels flow from left to right and from top to bottom."""

    def __init__(self, name, title, description, partitions=False):
        self.name, self.title, self.description = name, title, description
        self.variables = [DATASOURCE, INSTANCES] + [PARTITIONS] * partitions
        self.panels = []
        self.x = self.y = self.height = 0

    def _place(self, width, height):
        if self.x + width > WIDTH:
            self.x, self.y, self.height = 0, self.y + self.height, 0
        where = {"x": self.x, "y": self.y, "w": width, "h": height}
        self.x += width
        self.height = max(self.height, height)
        return where

    def _add(self, kind, title, size, **more):
        self.panels.append({"id": stable_id(title), "type": kind, "title": title,
                            "gridPos": self._place(*size), **more})

    def _ask(self, queries, instant, min_step):
        """queries: pairs of an expression and a legend."""
        for at, (expression, legend) in enumerate(queries):
            target = {"refId": chr(ord("A") + at), "datasource": SOURCE,
                      "expr": selected(expression), "legendFormat": legend,
                      "editorMode": "code", "instant": bool(instant),
                      "range": not instant,
                      "format": "table" if instant == "table" else "time_series"}
            if min_step:
                target["interval"] = min_step
            yield target

    def row(self, title):
        self.x, self.y, self.height = 0, self.y + self.height, 0
        self._add("row", title, (WIDTH, 1), collapsed=False, panels=[])

    def text(self, title, description, words, size=(24, 3)):
        self._add("text", title, size, description=description,
                  options={"mode": "markdown", "content": words})

    def stat(self, title, unit, description, expression, steps=GREEN, size=(4, 4),
             words=None):
        """One number. words: what is shown in place of a value."""
        mappings = [{"type": "value", "options": {
            str(value): {"text": text, "index": at}
            for at, (value, text) in enumerate((words or {}).items())}}]
        self._add(
            "stat", title, size, description=description, datasource=SOURCE,
            targets=list(self._ask([(expression, "")], True, None)),
            fieldConfig={"defaults": {
                "unit": unit, "thresholds": thresholds(steps),
                "color": {"mode": "thresholds"},
                "mappings": mappings if words else [], "noValue": "none"},
                "overrides": []},
            options={"reduceOptions": {"calcs": ["lastNotNull"], "fields": "",
                                       "values": False},
                     "colorMode": "value", "graphMode": "none",
                     "textMode": "value", "justifyMode": "auto",
                     "orientation": "auto", "wideLayout": True,
                     "showPercentChange": False,
                     "percentChangeColorMode": "standard"})

    def graph(self, title, unit, description, queries, size=(12, 8), stack=False,
              min_step=None, most=None):
        """Lines over time. min_step: the shortest time that a point stands for;
        most: the upper end of the axis."""
        defaults = {
            "unit": unit, "min": 0, "color": {"mode": "palette-classic"},
            "custom": {"drawStyle": "line", "lineWidth": 1, "showPoints": "never",
                       "fillOpacity": 40 if stack else 8, "spanNulls": False,
                       "stacking": {"mode": "normal" if stack else "none",
                                    "group": "A"}}}
        if most is not None:
            defaults["max"] = most
        self._add("timeseries", title, size, description=description,
                  datasource=SOURCE,
                  targets=list(self._ask(queries, False, min_step)),
                  fieldConfig={"defaults": defaults, "overrides": []},
                  options={"legend": {"displayMode": "table", "placement": "right",
                                      "showLegend": True,
                                      "calcs": ["lastNotNull", "max"]},
                           "tooltip": {"mode": "multi", "sort": "desc"}})

    def table(self, title, unit, description, queries, by=None, size=(24, 9),
              units=None, first=None):
        """Rows of one moment. queries: pairs of an expression and the title of its
        column, or "" for one that is not shown. by: the label by which they are
        joined; None where they have the same labels. units: of columns that differ;
        first: the column by which rows are sorted, the largest first."""
        asked = [(expression, "") for expression, _ in queries]
        hidden = {f"Time{more}": True
                  for more in ("", *(f" {at + 1}" for at in range(len(queries))))}
        names = {}
        for at, (_, heading) in enumerate(queries):
            value = "Value" if len(queries) == 1 else f"Value #{chr(65 + at)}"
            if heading:
                names[value] = heading
            else:
                hidden[value] = True
        join = ({"id": "joinByField", "options": {"byField": by, "mode": "outer"}}
                if by else {"id": "merge", "options": {}})
        self._add(
            "table", title, size, description=description, datasource=SOURCE,
            targets=list(self._ask(asked, "table", None)),
            transformations=[join] * (len(queries) > 1) + [
                {"id": "organize", "options": {
                    "excludeByName": hidden, "renameByName": names,
                    "indexByName": {}}}],
            fieldConfig={"defaults": {"unit": unit, "custom": {
                "align": "auto", "filterable": True, "inspect": False}},
                "overrides": [column(name, {"unit": its})
                              for name, its in (units or {}).items()]},
            options={"showHeader": True, "frameIndex": 0, "cellHeight": "sm",
                     "sortBy": [
                {"displayName": first, "desc": True}] if first else []})

    def model(self):
        """What Grafana imports."""
        return {
            "uid": f"slurmk8s-{self.name}", "title": self.title,
            "description": self.description, "tags": [TAG], "editable": True,
            "schemaVersion": 39, "version": 1, "graphTooltip": 1,
            "timezone": "browser", "refresh": "1m", "fiscalYearStartMonth": 0,
            "time": {"from": "now-6h", "to": "now"},
            "templating": {"list": self.variables},
            "annotations": {"list": []},
            "links": [{"type": "dashboards", "title": "Slurm", "tags": [TAG],
                       "asDropdown": True, "includeVars": True, "keepTime": True,
                       "targetBlank": False, "icon": "external link",
                       "tooltip": "", "url": ""}],
            "panels": self.panels}
