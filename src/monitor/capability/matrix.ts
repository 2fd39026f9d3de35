/**
 * The capability matrix: one row per collector and per sub-request, with the scopes it needs and
 * the outcome of its calls.
 */
import type { Collector } from "../collectors/collector.ts";
import type { NetworkOptions } from "../options.ts";
import type { Provider } from "../providers/provider.ts";
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

const firstActionable = apiStates.indexOf("transient_failure");

/** Rows of collectors, then of their sub-requests. */
export function capabilityMatrix(input: MatrixInput): CapabilityRow[] {
  const shown = input.collectors.filter(
    ({ name, countsAs, isFeed }) =>
      countsAs === undefined && (!isFeed || input.registered.has(name)),
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
    ({ needs, isFeed }) => !isFeed && (needs === undefined || provider.supports(needs)),
  );
  return [...new Set(offered.map(featureOf))].toSorted();
}

/** A feature of the control plane has the name of the section that configures it. */
function featureOf({ name, needs, section }: Collector): string {
  return needs === undefined ? name : section.name;
}

function collectorRow(
  collector: Collector,
  { collectors, registered, options, provider, tracker }: MatrixInput,
): CapabilityRow {
  const names = [
    collector.name,
    ...collectors.flatMap(({ name, countsAs }) => (countsAs === collector.name ? [name] : [])),
  ];
  const operations = names.flatMap((name) => tracker.operations(name));
  const section = collector.section.of(options);
  return {
    ...scopeColumns(provider, collector.scopes(options)),
    ...standing({
      configEnabled: section !== undefined,
      providerSupported: collector.needs === undefined || provider.supports(collector.needs),
      registered: names.some((name) => registered.has(name)),
    }),
    ...stateOf(operations),
    collector: collector.name,
    subrequest: undefined,
    operations,
    capability: collector.isFeed ? "objectstore" : featureOf(collector),
    source: section !== undefined && "source" in section ? String(section.source) : undefined,
  };
}

function subrequestRow(
  collector: Collector,
  { capability, needs, operation, scopes, isWanted }: Collector["subrequests"][number],
  { registered, options, provider, tracker }: MatrixInput,
): CapabilityRow {
  const configEnabled = isWanted(options);
  return {
    ...scopeColumns(provider, scopes),
    ...standing({
      configEnabled,
      providerSupported: provider.supports(needs),
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

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
