/** Answers `GetPresence` from the logs of all networks. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  PresenceService,
  type GetPresenceRequest,
} from "../../gen/steward/monitor/v1/presence_service_pb.ts";
import {
  PresenceReportSchema,
  PresenceState as State,
  type NetworkPresenceSchema,
  type PresenceCountSchema,
  type ServiceCountsSchema,
} from "../../gen/steward/monitor/v1/presence_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { parseDuration } from "../../kernel/config/values/units.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import { schemaVersion } from "../../kernel/wire/style.ts";
import {
  RETENTION_DAYS,
  type PresenceCount,
  type PresenceView,
  type ServiceCountFacts,
  type ServiceCountsView,
} from "./types.ts";

const MIN_WINDOW_MS = 60_000;
const DEFAULT_WINDOW_MS = 86_400_000;
const MAX_WINDOW_MS = RETENTION_DAYS * 86_400_000;
/** Longer texts are no duration. */
const MAX_DURATION_LENGTH = 64;
/** Networks in an error. */
const MAX_NAMED = 20;

const STATES = { online: State.ONLINE, offline: State.OFFLINE, gone: State.GONE } as const;

/** A network whose devices are listed. */
export interface PresenceSource {
  readonly name: string;
  view(window: {
    readonly startMs: number;
    readonly endMs: number;
    readonly device: string;
  }): PresenceView | undefined;
}

export function createPresenceApi(
  clock: Pick<Clock, "now">,
  networks: () => readonly PresenceSource[],
  services: () => Promise<ServiceCountsView>,
): BoundService {
  return bindService(PresenceService, {
    async getPresence(request) {
      const nowMs = clock.now();
      const startMs = nowMs - windowOf(request);
      const report: MessageInitShape<typeof PresenceReportSchema> = {
        schemaVersion: schemaVersion(PresenceReportSchema),
        generatedAt: timestampFromMs(nowMs),
        start: timestampFromMs(startMs),
        retentionDays: RETENTION_DAYS,
        networks: wanted(networks(), request.network).flatMap((network) => {
          const view = network.view({ startMs, endMs: nowMs, device: request.device });
          return view === undefined ? [] : [rowOf(network.name, view)];
        }),
        services: countsOf(await services()),
      };
      return { presence: create(PresenceReportSchema, report) };
    },
  });
}

function windowOf({ window }: Pick<GetPresenceRequest, "window">): number {
  const text = window.length > MAX_DURATION_LENGTH ? "" : window;
  const wantedMs = parseDuration(text) || DEFAULT_WINDOW_MS;
  return Math.max(MIN_WINDOW_MS, Math.min(wantedMs, MAX_WINDOW_MS));
}

function wanted(networks: readonly PresenceSource[], network: string): readonly PresenceSource[] {
  if (network === "") return networks;
  const found = networks.filter(({ name }) => name === network);
  if (found.length > 0) return found;
  const names = networks.slice(0, MAX_NAMED).map(({ name }) => name);
  throw new StewardError(
    "not_found",
    `network: none has this name; ${names.length === 0 ? "none is monitored" : `the networks are ${names.join(", ")}`}`,
  );
}

function rowOf(
  name: string,
  { observed, devices, truncated, hours, days }: PresenceView,
): MessageInitShape<typeof NetworkPresenceSchema> {
  return {
    name,
    truncated,
    observed: observed.map(({ fromMs, toMs }) => ({
      from: timestampFromMs(fromMs),
      to: timestampFromMs(toMs),
    })),
    devices: devices.map((device) => ({
      id: device.id,
      name: device.name,
      state: STATES[device.changes.at(-1)?.state ?? "gone"],
      changes: device.changes.map(({ atMs, state }) => ({
        at: timestampFromMs(atMs),
        state: STATES[state],
      })),
    })),
    hours: hours.map(countOf),
    days: days.map(countOf),
  };
}

function countsOf({
  hours,
  days,
}: ServiceCountsView): MessageInitShape<typeof ServiceCountsSchema> {
  const row = ({ atMs, ...counts }: ServiceCountFacts) => ({
    at: timestampFromMs(atMs),
    ...counts,
  });
  return { hours: hours.map(row), days: days.map(row) };
}

function countOf({
  atMs,
  devices,
  online,
}: PresenceCount): MessageInitShape<typeof PresenceCountSchema> {
  return { at: timestampFromMs(atMs), devices, online };
}
