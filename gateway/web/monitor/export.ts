/**
 * What leaves the process and through what: delivery, components, the pull endpoint, profiles,
 * certificates.
 */
import { formatCount, formatMilliseconds, formatNumber, formatWord, UNKNOWN } from "../format.ts";
import { html, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { keyValues, listView, type KeyValue } from "../pieces/key-values.ts";
import { part } from "../pieces/section.ts";
import { onOff, stateText, type State } from "../pieces/state.ts";
import { table } from "../pieces/table.ts";
import { moment } from "../pieces/time.ts";
import type {
  StatusJson,
  Delivery,
  MetricsServing,
  Profiling,
} from "../../../src/gen/status-json.ts";

/** The state of a signal with its words: a signal that never left is not one that arrives. */
export function deliveryState(each: Delivery): readonly [state: State, word: string] {
  if (each.failing) return ["bad", `failing, ${formatCount(each.consecutive_failures)} in a row`];
  if (each.consecutive_failures > 0)
    return ["notice", `${formatCount(each.consecutive_failures)} failed in a row`];
  return each.exports === 0 ? ["unknown", "nothing sent yet"] : ["good", "arriving"];
}

/** A row for each signal. */
export function deliveryTable({ delivery }: StatusJson, state: PageState): View {
  return table(
    {
      id: "delivery",
      what: "signals",
      rows: delivery,
      keyOf: ({ signal }) => signal,
      empty: "Nothing is exported.",
      columns: [
        {
          key: "signal",
          title: "Signal",
          text: ({ signal }) => signal,
          cell: ({ signal }) => html`<strong>${signal}</strong>`,
        },
        {
          key: "state",
          title: "State",
          text: (each) => `${deliveryState(each)[1]} ${each.last_error_class ?? ""}`,
          cell: (each) =>
            html`<span>${stateText(...deliveryState(each))}${each.last_error_class === undefined ? undefined : html`<small class=${each.consecutive_failures > 0 ? "error" : undefined}>last error: ${formatWord(each.last_error_class)}</small>`}</span>`,
        },
        {
          key: "ok",
          title: "Last success",
          order: ({ last_success_at }) => last_success_at ?? "",
          cell: ({ last_success_at }) => moment(last_success_at, state),
        },
        {
          key: "failed",
          title: "Last failure",
          order: ({ last_failure_at }) => last_failure_at ?? "",
          cell: ({ last_failure_at }) => moment(last_failure_at, state),
        },
        {
          key: "exports",
          title: "Exports",
          figure: true,
          order: ({ exports }) => exports,
          cell: ({ exports }) => formatCount(exports),
        },
        {
          key: "failures",
          title: "Failures",
          figure: true,
          order: ({ failures }) => failures,
          cell: ({ failures }) => formatCount(failures),
        },
        {
          key: "took",
          title: "Duration",
          figure: true,
          order: ({ last_duration_ms }) => last_duration_ms,
          cell: ({ exports, last_duration_ms }) =>
            exports === 0 ? UNKNOWN : formatMilliseconds(last_duration_ms),
        },
      ],
    },
    state,
  );
}

/** The parts of the process and the services, each with its state. */
export function components({ components: rows, services }: StatusJson): View {
  return html`<div class="columns">
    <ul class="plain states">${rows.map((each) => html`<li>${stateText(each.failed ? "bad" : each.enabled ? "good" : "unknown", html`<span><strong>${each.name}</strong> ${each.enabled ? "" : "off"}${each.failed ? " failed" : ""}${each.reason === undefined ? "" : `: ${each.reason}`}</span>`)}</li>`)}</ul>
    <ul class="plain states">${Object.entries(services).map(([name, word]) => html`<li>${stateText(serviceState(word), html`<span>service <strong>${name}</strong> ${formatWord(word)}</span>`)}</li>`)}</ul>
  </div>`;
}

/** What a service's word means. */
function serviceState(word: string): State {
  if (/^(running|ready|ok|healthy|open)$/.test(word)) return "good";
  if (/^(degraded|failed|refusing|broken|error|sealed)$/.test(word)) return "bad";
  return /^(draining|stopping)$/.test(word) ? "notice" : "unknown";
}

/** The pull endpoint. */
export function metricsServing(serving: MetricsServing, state: PageState): View {
  const { config } = serving;
  return part(
    "Pull endpoint",
    keyValues([
      ["Endpoint", onOff(serving.enabled)],
      ...(config === undefined
        ? []
        : [
            ["Address", config.listen === "" ? "–" : html`<code>${config.listen}</code>`] as const,
            ["TLS", onOff(config.tls_enabled)] as const,
            [
              "Token",
              `${config.auth_token_set ? "set" : "not set"}${config.allow_unauthenticated ? ", open to everyone" : ""}`,
            ] as const,
            [
              "Client certificates",
              `${config.client_auth_mode === undefined ? "by default" : formatWord(config.client_auth_mode)}, CA ${config.client_ca_configured ? "set" : "not set"}`,
            ] as const,
            [
              "Concurrent scrapes",
              `${config.max_requests_in_flight === 0 ? "any number" : formatCount(config.max_requests_in_flight)}, ${config.coalesce_gather ? "sharing one gathering" : "each with its own gathering"}`,
            ] as const,
            [
              "Time limit",
              config.timeout_ms === 0 ? "none" : formatMilliseconds(config.timeout_ms),
            ] as const,
          ]),
      ...(serving.enabled ? pulls(serving, state) : []),
    ]),
  );
}

function pulls(serving: MetricsServing, state: PageState): readonly KeyValue[] {
  return [
    [
      "Scrapes",
      `${formatCount(serving.scrapes_total)}, ${formatCount(serving.scrapes_shed)} shed, ${formatCount(serving.scrapes_failed)} failed`,
    ],
    ["Now", formatCount(serving.in_flight)],
    [
      "Last scrape",
      html`<span>${moment(serving.last_scrape_at, state)}${serving.last_scrape_at === undefined ? undefined : `, took ${formatMilliseconds(serving.last_scrape_duration_ms)}`}</span>`,
    ],
    ["Refused", formatCount(serving.auth_rejected)],
    [
      "Gathering errors",
      html`<span>${formatCount(serving.gather_errors)}${serving.last_gather_error === undefined ? undefined : html`<small class="error">${formatWord(serving.last_gather_error)}</small>`}${serving.last_gather_error_at === undefined ? undefined : html`<small>${moment(serving.last_gather_error_at, state)}</small>`}</span>`,
    ],
  ];
}

/** Profiles. */
export function profiling(each: Profiling, state: PageState): View {
  return part(
    "Profiles",
    keyValues([
      ["Endpoint", onOff(each.profile_endpoint_enabled)],
      ["Push", onOff(each.profiler_enabled)],
      ...(each.profiler_enabled ? pushes(each, state) : []),
    ]),
  );
}

function pushes(each: Profiling, state: PageState): readonly KeyValue[] {
  const { profiler_upload: upload } = each;
  return [
    ["Server", each.profiler_server],
    ["Headers", listView(each.profiler_header_names)],
    [
      "TLS",
      [
        each.profiler_tls_custom_ca ? "own CA" : "the system's CAs",
        ...(each.profiler_tls_client_cert ? ["client certificate"] : []),
        ...(each.profiler_tls_insecure_skip_verify ? ["certificate not checked"] : []),
      ].join(", "),
    ],
    ...(upload === undefined || upload === null
      ? []
      : [
          [
            "Uploads",
            stateText(
              upload.attempts === 0 ? "unknown" : upload.healthy ? "good" : "bad",
              `${formatCount(upload.attempts)}, ${formatCount(upload.failures)} failed, ${formatCount(upload.consecutive_failures)} in a row`,
            ),
          ] as const,
          [
            "Last upload duration",
            upload.attempts === 0 ? UNKNOWN : `${formatNumber(upload.last_duration_seconds)} s`,
          ] as const,
          ["Last success", moment(upload.last_success_at, state)] as const,
          [
            "Last failure",
            html`<span>${moment(upload.last_failure_at, state)}${upload.last_error_class === undefined || upload.last_error_class === "" ? undefined : html`<small class="error">${formatWord(upload.last_error_class)}</small>`}</span>`,
          ] as const,
        ]),
  ];
}

/** Certificates of the listeners; nothing where none has one. */
export function certificates(
  { tls_certificates: rows }: StatusJson,
  state: PageState,
): View | undefined {
  if (rows === undefined || rows.length === 0) return undefined;
  return part(
    "Certificates",
    table(
      {
        id: "certificates",
        what: "certificates",
        rows,
        keyOf: ({ name }) => name,
        empty: "",
        columns: [
          {
            key: "name",
            title: "Listener",
            text: ({ name }) => name,
            cell: ({ name }) => html`<strong>${name}</strong>`,
          },
          {
            key: "valid",
            title: "Valid",
            order: ({ not_after }) => not_after ?? "",
            cell: ({ not_before, not_after }) =>
              html`<span>until ${moment(not_after, state)}<small>since ${moment(not_before, state)}</small></span>`,
          },
          {
            key: "print",
            title: "SHA-256",
            text: ({ fingerprint }) => fingerprint,
            cell: ({ fingerprint }) => html`<code class="long">${fingerprint}</code>`,
          },
          {
            key: "reload",
            title: "Reloaded",
            order: ({ last_reload_at }) => last_reload_at ?? "",
            cell: (each) =>
              html`<span>${moment(each.last_reload_at, state)}${each.last_reload_failure_at === undefined ? undefined : html`<small class="error">failed ${moment(each.last_reload_failure_at, state)}</small>`}${each.last_reload_failure_reason === undefined || each.last_reload_failure_reason === "" ? undefined : html`<small class="error">${each.last_reload_failure_reason}</small>`}</span>`,
          },
        ],
      },
      state,
    ),
  );
}
