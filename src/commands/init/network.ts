/** Questions about the private network, tried by what `steward -preflight` does. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import { failureOf } from "../../kernel/client/failure.ts";
import type { Complaint } from "../../kernel/config/findings.ts";
import type { Environment } from "../../kernel/config/key.ts";
import { baseUrl } from "../../kernel/config/checks/rules.ts";
import { parseAddress } from "../../kernel/config/values/address.ts";
import type { CollectorResult } from "../../monitor/runner/cycle.ts";
import { isAuthFailure, textOfError } from "../cycle/outcome.ts";
import { runTrial } from "../cycle/trial.ts";
import { ask, until } from "./answers.ts";
import {
  scalar,
  secretFileFree,
  secretLine,
  type InitDeps,
  type Part,
  type SecretFile,
} from "./part.ts";

const TAILSCALE_URL = "https://api.tailscale.com";
const SECRET_FILES = { tailscale: "tailscale-client-secret", headscale: "headscale-api-key" };
const PROMETHEUS = "127.0.0.1:2112";
/** For all collectors of the network. */
const TRIAL_MS = 60_000;

/** Undefined when no network is to be monitored. */
export async function askNetwork(deps: InitDeps): Promise<Part | undefined> {
  const kind = await ask(deps.answers, {
    id: "network",
    text: "Monitor a private network?",
    choices: ["none", "tailscale", "headscale"],
    usual: "none",
    rule: secretFileFree(deps, SECRET_FILES),
  });
  if (kind === "none") return undefined;
  const network = await until(deps.answers, () =>
    kind === "tailscale" ? askTailscale(deps) : askHeadscale(deps),
  );
  const listen = await ask(deps.answers, {
    id: "prometheus",
    text: "Address at which Prometheus gets metrics, or none",
    usual: PROMETHEUS,
    rule: listenAddress,
  });
  return {
    secrets: network.secrets,
    lines: [
      ...network.lines,
      "",
      ...(listen === "none"
        ? []
        : [
            "# Prometheus gets metrics at http://LISTEN/metrics. An OpenTelemetry receiver: otlp.endpoint.",
            "scrape:",
            "  enabled: true",
            `  listen: ${scalar(listen)}`,
            "",
          ]),
    ],
  };
}

async function askTailscale(deps: InitDeps): Promise<Part> {
  const { answers } = deps;
  const url = await ask(answers, {
    id: "tailscale.url",
    text: "Address of Tailscale's API",
    usual: TAILSCALE_URL,
    rule: baseUrl,
  });
  const clientId = await answers.read({
    id: "tailscale.client_id",
    text: "Id of an OAuth client with the scope all:read",
  });
  const secret = await answers.readSecret({
    id: "tailscale.client_secret",
    text: "Secret of the OAuth client",
  });
  await tryNetwork(deps, {
    STEWARD_VPN__URL: url,
    STEWARD_VPN__AUTH__OAUTH__CLIENT_ID: clientId,
    STEWARD_VPN__AUTH__OAUTH__CLIENT_SECRET: plain(secret),
  });
  const file: SecretFile = { name: SECRET_FILES.tailscale, secret };
  return {
    secrets: [file],
    lines: [
      "# The network: Tailscale, read through an OAuth client with the scope all:read, which does not expire.",
      "provider: tailscale",
      "vpn:",
      ...(url === TAILSCALE_URL ? [] : [`  url: ${scalar(url)}`]),
      "  auth:",
      "    oauth:",
      `      client_id: ${scalar(clientId)}`,
      `      ${secretLine("client_secret", file)}`,
    ],
  };
}

async function askHeadscale(deps: InitDeps): Promise<Part> {
  const { answers } = deps;
  const url = await ask(answers, {
    id: "headscale.url",
    text: "Address of Headscale, e.g. https://headscale.example.org",
    rule: baseUrl,
  });
  const secret = await answers.readSecret({
    id: "headscale.api_key",
    text: "API key (headscale apikeys create)",
  });
  await tryNetwork(deps, {
    STEWARD_PROVIDER: "headscale",
    STEWARD_HEADSCALE__URL: url,
    STEWARD_HEADSCALE__API_KEY: plain(secret),
  });
  const file: SecretFile = { name: SECRET_FILES.headscale, secret };
  return {
    secrets: [file],
    lines: [
      "# The network: Headscale. Its API keys expire, by default after 90 days: headscale apikeys create --expiration 1y",
      "provider: headscale",
      "headscale:",
      `  url: ${scalar(url)}`,
      `  ${secretLine("api_key", file)}`,
    ],
  };
}

/**
 * Runs every collector once. Throws the failure when the credential is refused or nothing could be
 * read; names what else is missing, since the daemon works without it.
 */
async function tryNetwork(deps: InitDeps, variables: Environment): Promise<void> {
  const { environment, signal, say } = deps;
  say("Reading the network once; nothing is changed.");
  const { results, refused } = await runTrial(
    {
      config: undefined,
      demo: false,
      mode: "preflight",
      json: false,
      exports: false,
      timeoutMs: TRIAL_MS,
    },
    {
      environment: { ...environment, ...variables },
      // What a trial finds is in its outcome.
      output: { stdout: () => undefined, stderr: () => undefined },
      signal,
    },
  );
  signal.throwIfAborted();
  const failed = results.filter(({ error }) => error !== undefined);
  const fatal =
    failed.find(({ error }) => isAuthFailure(error)) ??
    (failed.length === results.length ? failed[0] : undefined);
  if (refused !== undefined || fatal !== undefined)
    throw new StewardError("upstream", refused ?? failureText(fatal), remedyFor(fatal?.error));
  for (const result of failed) say(`  ${result.collector}: ${failureText(result)}`);
  say(`  ${results.length - failed.length} of ${results.length} collectors succeeded.`);
}

function failureText(result: CollectorResult | undefined): string {
  return result?.error === undefined ? "nothing was collected" : textOfError(result.error);
}

/** The client is right and lacks a scope, which the message alone hides. */
function remedyFor(error: StewardError | undefined): { readonly remedy?: string } {
  for (let cause: unknown = error; cause instanceof StewardError; cause = cause.cause)
    if (failureOf(cause)?.reason === "oauth_invalid_scope")
      return { remedy: "give the OAuth client the scope all:read in Tailscale's admin console" };
  return {};
}

/** For the variables of a trial in this process. */
function plain(secret: Secret): string {
  return secret.use((value) => value);
}

function listenAddress(text: string): Complaint | undefined {
  return text === "none" || (parseAddress(text)?.port ?? 0) > 0
    ? undefined
    : { rule: "must be host:port or none", remedy: `write e.g. ${PROMETHEUS}` };
}
