/** The engine's own metric families in the text format, under the names of the original plugin. */
import type { Clock } from "../../../kernel/base/clock.ts";
import type { BuildInfo } from "../types.ts";
import { createSummary, type Summary } from "./summary.ts";

/**
 * Pairs of installation and organisation with labels of their own; callers choose organisations
 * freely.
 */
const MAX_PAIRS = 100;
const OTHERS = "__other__";

const QUANTILES = [0.5, 0.9, 0.99] as const;

const REQUESTS = "vault_github_token_request_duration_seconds";
const REVOCATIONS = "vault_github_token_revocation_request_duration_seconds";
const BUILD = "vault_github_token_build_info";

/** A mint that reached the platform. */
interface MintObservation {
  readonly success: boolean;
  /** Empty when not found. */
  readonly installationId: string;
  readonly orgName: string;
  /** Whether the request was restricted by each. */
  readonly permissions: boolean;
  readonly repositories: boolean;
  readonly repositoryIds: boolean;
  readonly seconds: number;
}

/** Metrics of one mount. */
export interface EngineMetrics {
  minted(observation: MintObservation): void;
  revoked(success: boolean, seconds: number): void;
  /** Text format, version 0.0.4. */
  render(): string;
}

export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Family = Map<string, Summary>;

export function createEngineMetrics(clock: Clock, build: BuildInfo): EngineMetrics {
  const requests: Family = new Map();
  const revocations: Family = new Map();
  const pairs = new Set<string>();

  function observe(family: Family, labels: string, seconds: number): void {
    let series = family.get(labels);
    if (series === undefined) family.set(labels, (series = createSummary(clock)));
    series.observe(seconds);
  }

  /** Labels of a pair, or of all pairs beyond the limit. */
  function pairLabels(installationId: string, orgName: string): string {
    const labels = `installation_id="${escaped(installationId)}",org_name="${escaped(orgName)}"`;
    if (pairs.has(labels)) return labels;
    if (pairs.size >= MAX_PAIRS) return `installation_id="${OTHERS}",org_name="${OTHERS}"`;
    pairs.add(labels);
    return labels;
  }

  return {
    minted({
      success,
      installationId,
      orgName,
      permissions,
      repositories,
      repositoryIds,
      seconds,
    }) {
      observe(
        requests,
        `${pairLabels(installationId, orgName)},permissions="${permissions}",repositories="${repositories}",repository_ids="${repositoryIds}",success="${success}"`,
        seconds,
      );
    },
    revoked: (success, seconds) => observe(revocations, `success="${success}"`, seconds),
    render: () =>
      [
        header(
          BUILD,
          "gauge",
          "A metric with a constant '1' value labeled by version, revision, branch, goversion from which vault_github_token was built, and the goos and goarch for the build.",
        ),
        `${BUILD}{${buildLabels(build)}} 1\n`,
        summaries(REQUESTS, "Total duration of Vault GitHub token requests in seconds.", requests),
        summaries(
          REVOCATIONS,
          "Total duration of Vault GitHub token revocation requests in seconds.",
          revocations,
        ),
      ].join(""),
  };
}

function buildLabels(build: BuildInfo): string {
  const arch: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };
  const labels = {
    branch: build.branch,
    goarch: arch[process.arch] ?? process.arch,
    goos: process.platform === "win32" ? "windows" : process.platform,
    goversion: `node${process.versions.node}`,
    revision: build.revision,
    tags: "unknown",
    version: build.version,
  };
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",");
}

function header(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function summaries(name: string, help: string, family: Family): string {
  if (family.size === 0) return "";
  const rows = [...family]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([labels, series]) =>
      [
        ...QUANTILES.map(
          (share) =>
            `${name}{${labels},quantile="${share}"} ${formatted(series.quantile(share))}\n`,
        ),
        `${name}_sum{${labels}} ${formatted(series.sum)}\n`,
        `${name}_count{${labels}} ${series.count}\n`,
      ].join(""),
    );
  return header(name, "summary", help) + rows.join("");
}

function formatted(value: number): string {
  return Number.isNaN(value) ? "NaN" : String(value);
}

function escaped(text: string): string {
  return text.slice(0, 200).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
