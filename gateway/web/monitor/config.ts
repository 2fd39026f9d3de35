/** The configuration panel: values, their sources and warnings. */
import { formatAuth, formatCount } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { keyValues, listView } from "../pieces/key-values.ts";
import { empty, part } from "../pieces/section.ts";
import { onOff, stateText } from "../pieces/state.ts";
import { table } from "../pieces/table.ts";
import { certificates, components, deliveryTable, metricsServing, profiling } from "./export.ts";
import type { ConfigSummary, ConfigValue, StatusJson } from "../../../src/gen/status-json.ts";

export function configPanel(status: StatusJson, state: PageState): Child {
  const { config, receivers, advisories, telemetry } = status;
  return [
    part(
      "Advisories",
      advisories.length === 0
        ? empty("The configuration has no warnings.")
        : html`<ul class="advisories">${advisories.map(
            ({ key, message }) =>
              html`<li>${stateText("notice", html`<span>${key === undefined || message.startsWith(key) ? undefined : html`<code>${key}</code> `}${message}</span>`)}</li>`,
          )}</ul>`,
    ),
    html`<div class="columns">
      ${part(
        "Effective settings",
        keyValues([
          ["Log level", config.log_level],
          ["Authentication", formatAuth(status.networks.length === 0 ? "" : config.auth_method)],
          [
            "Checkpoints",
            html`<span>${config.checkpoint_store}${config.checkpoint_path === undefined ? undefined : html` <code>${config.checkpoint_path}</code>`}${config.checkpoint_reason === undefined ? undefined : html`<small class="error">${config.checkpoint_reason}</small>`}</span>`,
          ],
          ["Collectors", listView(config.enabled_collectors)],
          ["Streaming receiver", onOff(receivers.streaming_enabled)],
          ["Webhook receiver", onOff(receivers.webhook_enabled)],
          ["Export headers", listView(config.otlp_header_keys)],
          [
            "Export",
            `${telemetry.protocol}${telemetry.insecure ? ", not encrypted" : ""}, at most ${formatCount(telemetry.metric_export_batch_size)} points at once`,
          ],
          ["Schema", config.schema_version],
        ]),
      )}
      ${part("Secrets", secrets(config), "Shows whether each is set, never its value.")}
    </div>`,
    part("Delivery", deliveryTable(status, state)),
    part("Components", components(status)),
    html`<div class="columns">${metricsServing(status.metrics_serving, state)}${profiling(status.profiling, state)}</div>`,
    certificates(status, state),
    part(
      "Every key",
      keyTable(config, state),
      html`<span>The same as a file: <a href="/api/config.json" download>steward-config.json</a>. To share with support: <a href="/api/support-bundle.zip" download>a support bundle</a>, without secrets and devices.</span>`,
    ),
  ];
}

function secrets(config: ConfigSummary): View {
  const rows: readonly (readonly [string, boolean])[] = [
    ["API key", config.api_key_set],
    ["OAuth secret", config.oauth_secret_set],
    ["Hosted backend token", config.backend_cloud_token_set],
    ["Streaming token", config.stream_token_set],
    ["Webhook secret", config.webhook_secret_set],
    ["Profiler password", config.profiler_auth_set],
  ];
  return keyValues(
    rows.map(
      ([name, set]) =>
        [name, set ? stateText("good", "set") : stateText("unknown", "not set")] as const,
    ),
  );
}

function keyTable({ full }: ConfigSummary, state: PageState): View {
  return table(
    {
      id: "keys",
      what: "keys",
      rows: Object.entries(full),
      keyOf: ([key]) => key,
      empty: "No key is known.",
      columns: [
        {
          key: "key",
          title: "Key",
          text: ([key]) => key,
          order: ([key]) => key,
          cell: ([key]) => html`<code>${key}</code>`,
        },
        {
          key: "value",
          title: "Value",
          text: ([, value]) => valueText(value),
          cell: ([, value]) => html`<code>${valueText(value)}</code>`,
        },
      ],
    },
    state,
  );
}

function valueText({ secret, set, source, value }: ConfigValue): string {
  if (secret === true)
    return set === true ? `secret, set by ${source ?? "value"}` : `secret, ${source ?? "unset"}`;
  if (value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
