/**
 * The daemon's configuration: one schema of every service's keys, and whether this start is the
 * demo.
 */
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { checkAnalysis } from "../dedup/analysis/settings.ts";
import { aiEnabled } from "../dedup/ai/keys.ts";
import { dedupKeys, paperlessComplete } from "../dedup/config.ts";
import { StewardError } from "../kernel/base/errors.ts";
import { adminKeys, adminListen, checkAdmin, adminTls } from "./config/admin-keys.ts";
import { clearTextOffLoopback } from "./config/clear-text.ts";
import type { Config } from "../kernel/config/config.ts";
import {
  assertDemoOnLoopback,
  decideDemo,
  demoVariables,
  type DemoDecision,
} from "../kernel/config/demo.ts";
import { formatFinding, orderFindings, type Finding } from "../kernel/config/findings.ts";
import { gatewayKeys, gatewayListen, gatewayTls, tokenOffLoopback } from "../../gateway/config.ts";
import { processKeys } from "./config/process-keys.ts";
import { stateFolder, stateKeys } from "../kernel/state/backups/state-keys.ts";
import { defineSchema, type Environment } from "../kernel/config/key.ts";
import { readUtf8File } from "../kernel/config/sources/utf8-file.ts";
import { loadConfig, type Check, type LoadResult } from "../kernel/config/load.ts";
import { listenersApart } from "./config/listeners.ts";
import { otlpChecks } from "../kernel/telemetry/config/otlp-checks.ts";
import { otlpKeys, otlpMetricInterval } from "../kernel/telemetry/config/otlp-keys.ts";
import { profilingKeys } from "./config/profiling-keys.ts";
import { checkProfileEndpoint, checkProfiler, profilesUsed } from "./config/profiling-options.ts";
import { resourceKeys } from "../kernel/telemetry/config/resource-keys.ts";
import {
  scrapeClientCertificates,
  scrapeEnabled,
  scrapeKeys,
  scrapeListen,
  checkScrape,
  scrapeTls,
} from "../kernel/telemetry/config/scrape-keys.ts";
import { samplerUsed, tracingKeys } from "../kernel/telemetry/config/tracing-keys.ts";
import { updateKeys } from "./config/update-keys.ts";
import { monitorChecks, monitorKeys } from "../monitor/config/keys.ts";
import { streaming } from "../monitor/receivers/config/stream-keys.ts";
import { webhook } from "../monitor/receivers/config/webhook-keys.ts";
import { tokensKeys } from "../tokens/config.ts";
import { checkNetworkLabel } from "./telemetry/profiler-network.ts";

export interface DaemonArguments {
  readonly config: string | undefined;
  readonly demo: boolean;
}

/** Schema of all keys. */
export const daemonSchema = defineSchema(
  gatewayKeys,
  stateKeys,
  processKeys,
  otlpKeys,
  tracingKeys,
  scrapeKeys,
  resourceKeys,
  adminKeys,
  profilingKeys,
  updateKeys,
  monitorKeys,
  dedupKeys,
  tokensKeys,
);

/** Rules that span several keys. */
const daemonChecks: readonly Check[] = [
  tokenOffLoopback,
  clearTextOffLoopback,
  gatewayTls.check,
  ...otlpChecks,
  samplerUsed,
  scrapeTls.check,
  checkScrape,
  scrapeClientCertificates,
  adminTls.check,
  checkAdmin,
  listenersApart,
  checkProfileEndpoint,
  checkProfiler,
  profilesUsed,
  checkNetworkLabel,
  ...monitorChecks,
  checkAnalysis,
  paperlessComplete,
];

/**
 * Defaults of the demo: metrics are served on a free port, the status page counts series even while
 * nothing scrapes, and a simulated model makes suggestions.
 */
const demoSettings: ReadonlyMap<string, string> = new Map([
  [scrapeEnabled.path, "true"],
  [scrapeListen.path, "127.0.0.1:0"],
  [otlpMetricInterval.path, "10s"],
  [aiEnabled.path, "true"],
]);

/** A valid configuration with values derived from it. */
export interface DaemonConfiguration {
  readonly config: Config;
  /** No finding here is an error. */
  readonly warnings: readonly Finding[];
  readonly demo: DemoDecision;
  /** Path of the configuration file, if there was one. */
  readonly file: string | undefined;
  /** Absolute `state.directory`. */
  readonly stateRoot: string;
  /** Directory of the LMDB environments: `stateRoot`, or `demo` inside it. */
  readonly stateDirectory: string;
}

/**
 * Reads the file and the environment. Never throws. The result assumes no demo, so that findings
 * about the demo's variables equal those of a start.
 */
export function loadDaemonConfig(
  file: string | undefined,
  environment: Environment,
  demo?: DemoDecision,
): LoadResult {
  const { config, findings } = loadConfig({
    ...(file === undefined ? {} : { file }),
    environment,
    schema: daemonSchema,
    checks: daemonChecks,
    // A PEM file may have a comment in another encoding, which does not matter.
    readFile: (path) => (path === file ? readUtf8File(path) : readFileSync(path, "utf8")),
    modeOf: (path) => statSync(path, { throwIfNoEntry: false })?.mode,
    ...(demo?.demo === true ? { demo: demoSettings } : {}),
  });
  const all = orderFindings([
    ...findings,
    ...demoVariables({ flag: false, file, environment }, demo),
  ]);
  return {
    findings: all,
    ...(config === undefined || all.some(({ severity }) => severity === "error") ? {} : { config }),
  };
}

/** The configuration to run with. Throws `invalid` with all findings, one per line. */
export function configureDaemon(
  options: DaemonArguments,
  environment: Environment,
): DaemonConfiguration {
  const demo = decideDemo({ flag: options.demo, file: options.config, environment });
  const { config, findings } = loadDaemonConfig(options.config, environment, demo);
  if (config === undefined) {
    throw new StewardError(
      "invalid",
      `the configuration is not valid:\n${findings.map((finding) => `  ${formatFinding(finding)}`).join("\n")}`,
    );
  }
  if (demo.demo) {
    assertDemoOnLoopback(gatewayListen.path, config.get(gatewayListen));
    assertDemoOnLoopback(adminListen.path, config.get(adminListen));
    if (config.get(scrapeEnabled))
      assertDemoOnLoopback(scrapeListen.path, config.get(scrapeListen));
    if (config.get(streaming.enabled))
      assertDemoOnLoopback(streaming.listen.path, config.get(streaming.listen));
    if (config.get(webhook.enabled))
      assertDemoOnLoopback(webhook.listen.path, config.get(webhook.listen));
  }
  const stateRoot = resolve(config.get(stateFolder));
  return {
    config,
    warnings: findings,
    demo,
    file: options.config,
    stateRoot,
    stateDirectory: demo.demo ? resolve(stateRoot, "demo") : stateRoot,
  };
}
