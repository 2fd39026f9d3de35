/**
 * Advisories of the status: configuration warnings in the order of `-validate`, then settings that
 * this start leaves unused.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AdvisorySchema } from "../../gen/steward/monitor/v1/status_pb.ts";
import type { Config } from "../../kernel/config/config.ts";
import { findingText, type Finding } from "../../kernel/config/findings.ts";
import { otlpSignals } from "../../kernel/telemetry/config/otlp-keys.ts";
import { exporterOptions, stdoutOptions } from "../../kernel/telemetry/config/otlp-options.ts";
import { scrapeEnabled } from "../../kernel/telemetry/config/scrape-keys.ts";

type Advisory = MessageInitShape<typeof AdvisorySchema>;

/** `idle`: the monitor has nothing to collect. */
export function advisoriesOf(
  config: Config,
  { warnings, idle }: { readonly warnings: readonly Finding[]; readonly idle: boolean },
): Advisory[] {
  return [
    ...warnings.map(textOf),
    ...(leaves(config)
      ? []
      : [
          "otlp.endpoint: is empty, and no metrics are exported — set the address of a receiver, or set scrape.enabled to true.",
        ]),
    ...(idle
      ? [
          "vpn.auth: contains no credential of a control plane, and nothing is collected — set vpn.auth.oauth.client_id and client_secret, or provider headscale with headscale.url and headscale.api_key.",
        ]
      : []),
  ].map(advisory);
}

/** Splits off the leading key, when the first word looks like one. */
export function advisory(message: string): Advisory {
  const [first = ""] = message.split(/\s/, 1);
  const key = (first.split("=", 1)[0] ?? "").replace(/[:,.]+$/, "");
  return { message, ...(key.includes(".") && /^[\w.[\]-]+$/.test(key) ? { key } : {}) };
}

function textOf(finding: Finding): string {
  const { message, remediation } = findingText(finding);
  return `${finding.path === "" ? "" : `${finding.path}: `}${message}${remediation === undefined ? "" : ` — ${remediation}`}`;
}

/** Whether metrics are pushed or can be scraped. */
function leaves(config: Config): boolean {
  return (
    config.get(scrapeEnabled) ||
    otlpSignals.some(
      (signal) =>
        exporterOptions(config, signal) !== undefined ||
        stdoutOptions(config, signal) !== undefined,
    )
  );
}
