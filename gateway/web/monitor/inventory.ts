/** The inventory panel: devices, stores, and the catalogues of metrics and log records. */
import { formatCount, formatKnown, formatUnit } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { keyValues, listView } from "../pieces/key-values.ts";
import { part } from "../pieces/section.ts";
import { table } from "../pieces/table.ts";
import { deviceTable } from "./devices.ts";
import { deviceCount, devicesRead } from "./overview.ts";
import type { Scope } from "./scope.ts";
import type { LogEvent, Metric, StatusJson } from "../../../src/gen/status-json.ts";
import { eventStore, flowStore, geoip, reverseDns } from "./stores.ts";

export function inventoryPanel(status: StatusJson, scope: Scope, state: PageState): Child {
  const { device_cache: cache } = scope;
  return [
    part(
      "Devices",
      deviceTable(scope.devices, state),
      scope.devices.length === 0
        ? undefined
        : html`<span>${deviceCount(cache)} remembered, ${devicesRead(cache, status, state)}.</span>`,
    ),
    html`<div class="columns">${flowStore(status.flow_store)}${eventStore(status.event_store)}${reverseDns(status.reverse_dns, state)}${geoip(status.geoip, state)}
      ${status.dedup_sets.length === 0 ? undefined : part("Deduplication", keyValues(status.dedup_sets.map(({ name, len, capacity }) => [name, `${formatCount(len)} of ${formatCount(capacity)}`] as const)), "Records remembered, so that duplicates are dropped.")}</div>`,
    part(
      "Metrics",
      metrics(status.metrics, scope.cardinality.available, state),
      "Everything that can be exported.",
    ),
    part("Log records", logEvents(status.log_events, state)),
  ];
}

function metrics(rows: readonly Metric[], counted: boolean, state: PageState): View {
  return table(
    {
      id: "metrics",
      what: "metrics",
      rows,
      keyOf: ({ name }) => name,
      empty: "The catalogue is empty.",
      columns: [
        {
          key: "name",
          title: "Metric",
          text: ({ name, exposition_name, description }) =>
            `${name} ${exposition_name} ${description}`,
          order: ({ name }) => name,
          cell: ({ name, exposition_name, description }) =>
            html`<span><code>${name}</code><small><code>${exposition_name}</code></small><small>${description}</small></span>`,
        },
        {
          key: "kind",
          title: "Kind",
          text: ({ instrument }) => instrument,
          order: ({ instrument }) => instrument,
          cell: ({ instrument, unit }) =>
            html`<span>${instrument}<small title=${unit}>${formatUnit(unit)}</small></span>`,
        },
        {
          key: "group",
          title: "Group",
          text: ({ group }) => group,
          order: ({ group }) => group,
          cell: ({ group }) => group,
        },
        {
          key: "series",
          title: "Series",
          figure: true,
          order: ({ series }) => series ?? 0,
          cell: ({ series }) => formatKnown(counted ? (series ?? 0) : series),
        },
        {
          key: "attributes",
          title: "Attributes",
          text: ({ attributes }) => attributes.join(" "),
          cell: ({ attributes }) => listView(attributes, "–"),
        },
      ],
    },
    state,
  );
}

function logEvents(rows: readonly LogEvent[], state: PageState): View {
  return table(
    {
      id: "logs",
      what: "log records",
      rows,
      keyOf: ({ name }) => name,
      empty: "The catalogue is empty.",
      columns: [
        {
          key: "name",
          title: "Record",
          text: ({ name, description }) => `${name} ${description}`,
          order: ({ name }) => name,
          cell: ({ name, description }) =>
            html`<span><code>${name}</code><small>${description}</small></span>`,
        },
        {
          key: "severity",
          title: "Severity",
          text: ({ severity }) => severity,
          order: ({ severity }) => severity,
          cell: ({ severity }) => severity,
        },
        {
          key: "group",
          title: "Group",
          text: ({ group }) => group,
          order: ({ group }) => group,
          cell: ({ group }) => group,
        },
        {
          key: "attributes",
          title: "Attributes",
          text: ({ attributes }) => attributes.join(" "),
          cell: ({ attributes }) => listView(attributes, "–"),
        },
      ],
    },
    state,
  );
}
