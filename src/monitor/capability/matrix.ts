/**
 * The capability matrix: one row per collector and per sub-request, with the scopes it needs and
 * the outcome of its calls.
 */
import type { Collector } from "../collectors/collector.ts";
import type { CollectorOptions, NetworkOptions } from "../options.ts";
import type { Capability, Provider } from "../providers/provider.ts";
import { apiStates, type ApiState } from "./operation.ts";
import { compareScopes, type RequiredScopes, type ScopeStatus } from "./scopes.ts";
import { worstState, type CapabilityTracker, type OperationState } from "./tracker.ts";

export interface CapabilityRow {
  readonly collector: string;
  readonly subrequest: string | undefined;
  readonly capability: string;
  /** Alternatives are listed side by side. */
  readonly requiredScopes: readonly string[];
  readonly missingScopes: readonly string[];
  readonly scopeStatus: ScopeStatus;
  readonly configEnabled: boolean;
  readonly providerSupported: boolean;
  readonly active: boolean;
  readonly reason: "provider_unsupported" | "config_disabled" | "not_registered" | undefined;
  readonly state: ApiState;
  readonly actionable: boolean;
  readonly lastProbeMs: number | undefined;
  readonly source: string | undefined;
  /** Empty for a sub-request. */
  readonly operations: readonly OperationState[];
}

export interface MatrixInput {
  readonly collectors: readonly Collector[];
  /** Names of running collectors. */
  readonly registered: ReadonlySet<string>;
  readonly options: NetworkOptions;
  readonly provider: Pick<Provider, "supports" | "granted">;
  readonly tracker: Pick<CapabilityTracker, "operations">;
}

/** Probes that count under the collector they replace. */
const standIns: ReadonlyMap<string, string> = new Map([["flowlogs-feature", "flowlogs"]]);
/** Object-store collectors, which have a row only while they run. */
const feeds: ReadonlySet<string> = new Set([
  "objectstore",
  "objectstore-audit",
  "objectstore-k8s_audit",
]);
const firstActionable = apiStates.indexOf("transient_failure");

/** Rows of collectors, then of their sub-requests. */
export function capabilityMatrix(input: MatrixInput): CapabilityRow[] {
  const shown = input.collectors.filter(
    ({ name }) => !standIns.has(name) && (!feeds.has(name) || input.registered.has(name)),
  );
  const rows = shown.flatMap((collector) => [
    collectorRow(collector, input),
    ...collector.subrequests.map((subrequest) => subrequestRow(collector, subrequest, input)),
  ]);
  return rows.toSorted(
    (left, right) =>
      compare(left.collector, right.collector) ||
      compare(left.subrequest ?? "", right.subrequest ?? ""),
  );
}

/**
 * Features of the control plane that collectors need, sorted. Node agents are not part of the
 * control plane.
 */
export function offeredFeatures(
  collectors: readonly Collector[],
  provider: Pick<Provider, "supports">,
): string[] {
  const offered = collectors.filter(
    ({ name, capability }) =>
      !feeds.has(name) && (capability === undefined || provider.supports(capability)),
  );
  return [...new Set(offered.map(({ name, capability }) => capability ?? name))].toSorted();
}

/** Names of the collectors that count under this one, itself first. */
function countedUnder(name: string): string[] {
  return [name, ...[...standIns].flatMap(([standIn, owner]) => (owner === name ? [standIn] : []))];
}

function collectorRow(
  collector: Collector,
  { registered, options, provider, tracker }: MatrixInput,
): CapabilityRow {
  const names = countedUnder(collector.name);
  const operations = names.flatMap((name) => tracker.operations(name));
  const section = sectionOf(options.collectors, collector.key);
  return {
    ...scopeColumns(provider, collector.scopes(options)),
    ...standing({
      configEnabled: section !== undefined,
      providerSupported:
        collector.capability === undefined || provider.supports(collector.capability),
      registered: names.some((name) => registered.has(name)),
    }),
    ...stateOf(operations),
    collector: collector.name,
    subrequest: undefined,
    operations,
    capability: feeds.has(collector.name)
      ? "objectstore"
      : (collector.capability ?? collector.name),
    source: section !== undefined && "source" in section ? String(section.source) : undefined,
  };
}

function subrequestRow(
  collector: Collector,
  { capability, operation, scopes }: Collector["subrequests"][number],
  { registered, options, provider, tracker }: MatrixInput,
): CapabilityRow {
  const configEnabled =
    sectionOf(options.collectors, collector.key) !== undefined &&
    isWanted(options.collectors, capability);
  return {
    ...scopeColumns(provider, scopes),
    ...standing({
      configEnabled,
      providerSupported: provider.supports(capability),
      registered: registered.has(collector.name) && configEnabled,
    }),
    ...stateOf(
      tracker.operations(collector.name).filter((each) => each.operation === operation.name),
    ),
    collector: collector.name,
    subrequest: capability,
    capability,
    source: undefined,
    operations: [],
  };
}

function scopeColumns(
  { granted }: MatrixInput["provider"],
  scopes: RequiredScopes,
): Pick<CapabilityRow, "requiredScopes" | "missingScopes" | "scopeStatus"> {
  const { status, missing } = compareScopes(granted.scopes, scopes);
  return { requiredScopes: scopes?.flat() ?? [], missingScopes: missing, scopeStatus: status };
}

function standing({
  configEnabled,
  providerSupported,
  registered,
}: {
  readonly configEnabled: boolean;
  readonly providerSupported: boolean;
  readonly registered: boolean;
}): Pick<CapabilityRow, "configEnabled" | "providerSupported" | "active" | "reason"> {
  const active = registered && providerSupported;
  return {
    configEnabled,
    providerSupported,
    active,
    reason: active
      ? undefined
      : !providerSupported
        ? "provider_unsupported"
        : configEnabled
          ? "not_registered"
          : "config_disabled",
  };
}

function stateOf(
  operations: readonly OperationState[],
): Pick<CapabilityRow, "state" | "actionable" | "lastProbeMs"> {
  const state = worstState(operations.map((each) => each.state));
  return {
    state,
    actionable: apiStates.indexOf(state) >= firstActionable,
    lastProbeMs:
      operations.length === 0 ? undefined : Math.max(...operations.map((each) => each.lastProbeMs)),
  };
}

/**
 * Maps a configuration section to its options, e.g. `posture_integrations` to
 * `postureIntegrations`; of a nested section the first part counts.
 */
function sectionOf(options: CollectorOptions, key: string): object | undefined {
  const name = (key.split(".")[0] ?? key).replaceAll(/_([a-z0-9])/g, (_, letter: string) =>
    letter.toUpperCase(),
  );
  return (options as unknown as Readonly<Record<string, object | undefined>>)[name];
}

function isWanted({ devices }: CollectorOptions, capability: Capability): boolean {
  if (capability === "device_posture") return devices?.collectPosture === true;
  if (capability === "device_invites") return devices?.collectDeviceInvites === true;
  return true;
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
