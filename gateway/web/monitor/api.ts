/** The panel of the control API: credentials and calls. */
import { formatAuth, formatCount, formatMilliseconds } from "../format.ts";
import { html, type Child } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { sparkline } from "../pieces/chart.ts";
import { keyValues } from "../pieces/key-values.ts";
import { part } from "../pieces/section.ts";
import { stateText } from "../pieces/state.ts";
import { table } from "../pieces/table.ts";
import { moment } from "../pieces/time.ts";
import type { Scope } from "./scope.ts";
import type { ApiEndpoint } from "../../../src/gen/status-json.ts";

export function apiPanel({ api }: Scope, state: PageState): Child {
  const { auth, rate_limit: limit, endpoints } = api;
  return [
    part(
      "Credential",
      keyValues([
        ["Method", formatAuth(auth.method)],
        ["Calls", formatCount(auth.total_calls)],
        ["Answered 429", formatCount(auth.total_429)],
        auth.method === ""
          ? undefined
          : ["Key expires", moment(auth.key_expires_at, state, "not known")],
        auth.warning === undefined ? undefined : ["Warning", stateText("notice", auth.warning)],
        limit === undefined || limit === null
          ? undefined
          : [
              "Rate limited",
              html`<span>${formatCount(limit.count)} times, last ${moment(limit.last_seen, state)}</span>`,
            ],
      ]),
    ),
    part(
      "Endpoints",
      table(
        {
          id: "endpoints",
          what: "endpoints",
          rows: endpoints,
          keyOf: ({ endpoint }) => endpoint,
          empty:
            auth.method === ""
              ? "Nothing is called: no network has credentials. Set vpn.auth, or headscale."
              : "No call was made yet.",
          columns: [
            {
              key: "endpoint",
              title: "Endpoint",
              text: ({ endpoint, last_error }) => `${endpoint} ${last_error ?? ""}`,
              order: ({ endpoint }) => endpoint,
              cell: ({ endpoint, last_error }) =>
                html`<span><code>${endpoint}</code>${last_error === undefined ? undefined : html`<small class="error">${last_error}</small>`}</span>`,
            },
            {
              key: "status",
              title: "Last answer",
              order: ({ last_status }) => last_status,
              cell: (each) =>
                html`<span>${lastAnswer(each)}<small>${moment(each.last_at, state)}</small></span>`,
            },
            {
              key: "requests",
              title: "Calls",
              figure: true,
              order: ({ requests }) => requests,
              cell: ({ requests }) => formatCount(requests),
            },
            {
              key: "errors",
              title: "Errors",
              figure: true,
              order: ({ errors }) => errors,
              cell: ({ errors }) => formatCount(errors),
            },
            {
              key: "retries",
              title: "Retries",
              figure: true,
              order: ({ retries }) => retries,
              cell: ({ retries }) => formatCount(retries),
            },
            {
              key: "limited",
              title: "Rate limited",
              figure: true,
              order: ({ rate_limited }) => rate_limited,
              cell: (each) =>
                html`<span>${formatCount(each.rate_limited)}${each.last_429_at === undefined ? undefined : html`<small>${moment(each.last_429_at, state)}</small>`}</span>`,
            },
            {
              key: "time",
              title: "Time",
              figure: true,
              order: ({ duration_ms_series }) => duration_ms_series?.at(-1) ?? -1,
              cell: ({ endpoint, duration_ms_series: times }) =>
                html`<span>${times === undefined || times.length === 0 ? "–" : formatMilliseconds(times.at(-1) ?? 0)}${sparkline(times, `time of ${endpoint}`, formatMilliseconds)}</span>`,
            },
          ],
        },
        state,
      ),
    ),
  ];
}

function lastAnswer({ last_status: code, last_at }: ApiEndpoint): Child {
  if (last_at === undefined && code === 0) return stateText("unknown", "none yet");
  if (code === 0) return stateText("bad", "no connection");
  // Features that are not set up return 404; where that stops a collector, the collector reports
  // it.
  if (code === 404) return stateText("unknown", "404, nothing there");
  return stateText(
    code < 400 ? "good" : code === 429 || code >= 500 ? "notice" : "bad",
    String(code),
  );
}
