/**
 * Hosts the tokens service: its configuration, its component, the demo's code host, and the signal
 * that reopens audit files.
 */
import { systemClock } from "../../kernel/base/clock.ts";
import { toStewardError, type StewardError } from "../../kernel/base/errors.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Environment } from "../../kernel/config/key.ts";
import type { Service } from "../../kernel/service.ts";
import type { StateFactory } from "../../kernel/state/types.ts";
import { STORE_START_MS, type Component } from "../../kernel/supervisor/component.ts";
import { refusing, startOrRefuse } from "../../kernel/supervisor/refusal.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  tokensAllowLinkLocalBaseUrl,
  tokensAudit,
  tokensMounts,
  tokensSealKeyFile,
  tokensSealType,
} from "../../tokens/config.ts";
import { proxyOf } from "../../tokens/engine/platform/proxy.ts";
import { refuseTokens } from "../../tokens/refusing.ts";
import {
  declaredMount,
  openTokens,
  type Tokens,
  type TokensOptions,
} from "../../tokens/service.ts";
import { watchMints, type LastMints } from "../../tokens/telemetry/last-mints.ts";
import { createTokensReport, reportTokens } from "../../tokens/telemetry/report.ts";
import type { DaemonConfiguration } from "../configuration.ts";
import { startDemoTokens, type DemoTokens } from "../demo/tokens.ts";
import { releaseInfo, stewardVersion } from "../version.ts";

export interface HostedTokens {
  readonly component: Component;
  /** Undefined until the service has started, and while it refuses requests. */
  current(): Tokens | undefined;
  /** Since the process started; reads memory only. */
  readonly lastMints: () => LastMints;
  /** The started service, or its stand-in that refuses requests while the store cannot be used. */
  service(): Service | undefined;
  /** Present in a running demo. */
  demo(): DemoTokens | undefined;
  /**
   * Creates and prints the first root token, unless one exists or nobody can see it; logs a failure
   * to store it.
   */
  showRoot(): Promise<void>;
}

export interface HostTokensDeps {
  readonly configuration: DaemonConfiguration;
  readonly state: () => StateFactory;
  /** The process's own scope. */
  readonly scope: Scope;
  readonly log: Log;
  readonly needs: readonly string[];
  /** Prints a line for the person who started the daemon, to no log and no exporter. */
  readonly print: (line: string) => void;
  /** Whether standard error is systemd's journal. */
  readonly journalled: boolean;
}

/**
 * Creates the service's component. A sealed store is reported and does not stop the other services.
 */
export function hostTokens(deps: HostTokensDeps): HostedTokens {
  const { configuration, state, scope, log, needs } = deps;
  let tokens: Tokens | undefined;
  let refusal: StewardError | undefined;
  let demo: DemoTokens | undefined;
  let report: Disposable | undefined;
  const mints = watchMints(systemClock, createTokensReport(scope));
  const reopen = (): void => {
    tokens?.reopenAudit().then(
      // The rotated file may be removed from now on.
      () => log.info("reopened the audit files", { signal: "SIGHUP" }),
      (thrown: unknown) =>
        log.error("reopening the audit files failed", { error: toStewardError(thrown) }),
    );
  };
  const component: Component = {
    name: "tokens",
    needs,
    readiness: "reported",
    startTimeoutMs: STORE_START_MS,
    async start(signal) {
      const options = tokensOptionsOf(configuration, process.env);
      const deps = {
        state: state(),
        clock: systemClock,
        ids: systemIds,
        log,
        observe: mints.observe,
      };
      const started = await startOrRefuse("tokens", {
        start: () => openTokens(deps, options, signal),
        signal,
        log,
      });
      refusal = started.refusal;
      if (started.service === undefined) return;
      const opened = started.service;
      tokens = opened;
      report = reportTokens(scope, () => opened.levels());
      if (configuration.demo.demo)
        demo = await startDemoTokens(
          { clock: systemClock, ids: systemIds, log: log.child("demo") },
          tokens,
          process.env["STEWARD_DEMO_ROOT_TOKEN"] || undefined,
        );
      process.on("SIGHUP", reopen);
    },
    async stop(deadlineMs) {
      process.off("SIGHUP", reopen);
      report?.[Symbol.dispose]();
      await demo?.end();
      await tokens?.close(deadlineMs);
      await demo?.stop();
    },
    health: () => (refusal === undefined ? (tokens?.health() ?? { ok: true }) : refusing(refusal)),
  };
  const service = (): Service | undefined =>
    tokens?.service ?? (refusal === undefined ? undefined : refuseTokens(refusal));
  return {
    component,
    current: () => tokens,
    lastMints: mints.last,
    service,
    demo: () => demo,
    async showRoot() {
      if (tokens !== undefined) await showRoot(deps, tokens);
    },
  };
}

/**
 * The service's options. `environment` names proxies and systemd credentials; a demo uses no proxy,
 * since its code host is local.
 */
export function tokensOptionsOf(
  { config, demo, stateDirectory }: DaemonConfiguration,
  environment: Environment,
): TokensOptions {
  return {
    directory: stateDirectory,
    version: stewardVersion(),
    build: releaseInfo(),
    mounts: mountsOf(config),
    audit: auditOf(config),
    proxy: demo.demo ? proxyOf({}) : proxyOf(environment),
    allowLinkLocal: config.get(tokensAllowLinkLocalBaseUrl),
    seal: {
      type: demo.demo ? "file" : config.get(tokensSealType),
      keyFile: config.get(tokensSealKeyFile) || undefined,
      credentials: environment["CREDENTIALS_DIRECTORY"] || undefined,
      invented: demo.demo,
    },
  };
}

/**
 * The demo creates its own root token at each start. A journal would store what is printed, so none
 * is created there.
 */
async function showRoot(
  { configuration: { demo }, log, print, journalled }: HostTokensDeps,
  tokens: Tokens,
): Promise<void> {
  if (demo.demo) return;
  const show = (token: string): boolean => {
    if (journalled)
      log.warn(
        "there is no root token of the Vault API yet; none is printed because the journal would store it",
        { remedy: "stop Steward, run `steward root-token` as its user, and start it again" },
      );
    else print(`root token of the Vault API, shown only once and not stored: ${token}\n`);
    return !journalled;
  };
  await tokens.showRoot(show).catch((thrown: unknown) => {
    log.error(
      "storing the first root token of the Vault API failed; a token already printed is not valid",
      {
        error: toStewardError(thrown),
        remedy: "fix the cause and restart Steward, which prints another",
      },
    );
  });
}

/**
 * Whether standard error is systemd's journal (systemd.exec(5), $JOURNAL_STREAM: device and inode).
 */
export function isJournalled(
  environment: Environment,
  stream: { readonly dev: number | bigint; readonly ino: number | bigint },
): boolean {
  return environment["JOURNAL_STREAM"] === `${stream.dev}:${stream.ino}`;
}

function mountsOf(config: Config): TokensOptions["mounts"] {
  return config.get(tokensMounts).map((row) =>
    declaredMount({
      path: row.path,
      description: row.description,
      defaultLeaseTtlMs: row.default_lease_ttl,
      maxLeaseTtlMs: row.max_lease_ttl,
    }),
  );
}

function auditOf(config: Config): TokensOptions["audit"] {
  return config.get(tokensAudit).map((device) => ({
    filePath: device.file_path,
    hmacAccessor: device.hmac_accessor,
    elideListResponses: device.elide_list_responses,
  }));
}
