/** Answers `GetPresence` from the logs of all networks. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  PresenceService,
  type GetPresenceRequest,
} from "../../gen/steward/monitor/v1/presence_service_pb.ts";
import {
  DevicePresenceSchema,
  PresenceReportSchema,
  PresenceState as State,
  type NetworkPresenceSchema,
  type PresenceCountSchema,
  type ServiceCountsSchema,
} from "../../gen/steward/monitor/v1/presence_pb.ts";
import { mapInTurns, Turns } from "../../kernel/async/turns.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { parseDuration } from "../../kernel/config/values/units.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import { schemaVersion } from "../../kernel/wire/style.ts";
import {
  RETENTION_DAYS,
  type DevicePresence,
  type PresenceCount,
  type PresenceView,
  type ServiceCountFacts,
  type ServiceCountsView,
} from "./types.ts";

const MIN_WINDOW_MS = 60_000;
const DEFAULT_WINDOW_MS = 86_400_000;
const MAX_WINDOW_MS = RETENTION_DAYS * 86_400_000;
/**
 * State changes in an answer that selects no device; if there are more, each device has the same
 * share, the newest ones.
 */
const MAX_CHANGES = 100_000;
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
    async getPresence(request, { signal }) {
      const nowMs = clock.now();
      const startMs = nowMs - windowOf(request);
      const turns = new Turns();
      const views: NamedView[] = [];
      for (const network of wanted(networks(), request.network)) {
        if (turns.over) await turns.give(signal);
        const view = network.view({ startMs, endMs: nowMs, device: request.device });
        if (view !== undefined) views.push({ name: network.name, view });
      }
      const maxChanges = request.device === "" ? changesPerDevice(views) : Infinity;
      const rows: MessageInitShape<typeof NetworkPresenceSchema>[] = [];
      for (const named of views) rows.push(await rowOf(named, maxChanges, turns));
      const report: MessageInitShape<typeof PresenceReportSchema> = {
        schemaVersion: schemaVersion(PresenceReportSchema),
        generatedAt: timestampFromMs(nowMs),
        start: timestampFromMs(startMs),
        retentionDays: RETENTION_DAYS,
        networks: rows,
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

interface NamedView {
  readonly name: string;
  readonly view: PresenceView;
}

function changesPerDevice(views: readonly NamedView[]): number {
  const devices = views.flatMap(({ view }) => view.devices);
  const changes = devices.reduce((all, device) => all + device.changes.length, 0);
  return changes <= MAX_CHANGES ? Infinity : Math.max(1, Math.floor(MAX_CHANGES / devices.length));
}

async function rowOf(
  { name, view: { observed, devices, truncated, hours, days } }: NamedView,
  maxChanges: number,
  turns: Turns,
): Promise<MessageInitShape<typeof NetworkPresenceSchema>> {
  return {
    name,
    truncated: truncated || devices.some(({ changes }) => changes.length > maxChanges),
    observed: observed.map(({ fromMs, toMs }) => ({
      from: timestampFromMs(fromMs),
      to: timestampFromMs(toMs),
    })),
    devices: await mapInTurns(devices, turns, (device) =>
      create(DevicePresenceSchema, deviceOf(device, maxChanges)),
    ),
    hours: hours.map(countOf),
    days: days.map(countOf),
  };
}

function deviceOf(
  { id, name, changes }: DevicePresence,
  maxChanges: number,
): MessageInitShape<typeof DevicePresenceSchema> {
  return {
    id,
    name,
    state: STATES[changes.at(-1)?.state ?? "gone"],
    changes: changes.slice(-maxChanges).map(({ atMs, state }) => ({
      at: timestampFromMs(atMs),
      state: STATES[state],
    })),
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
