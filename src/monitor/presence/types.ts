/** Presence of devices as plain data. Times are milliseconds since 1970. */
import type { Device } from "../providers/model.ts";

/** How long state changes and counts are kept. */
export const RETENTION_DAYS = 30;

/** `gone`: no longer in the network. */
export type PresenceState = "online" | "offline" | "gone";

export interface PresenceChange {
  readonly atMs: number;
  readonly state: PresenceState;
}

/** Begins and ends with an observation; its gaps are short enough to be none. */
export interface ObservedSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface DevicePresence {
  readonly id: string;
  readonly name: string;
  /**
   * Oldest first, never empty, no two of one state in a row. Before the first the state is unknown.
   */
  readonly changes: readonly PresenceChange[];
}

/** Counts at the last observation of a period. */
export interface PresenceCount {
  /** Beginning of the period. */
  readonly atMs: number;
  readonly devices: number;
  readonly online: number;
}

/** Counts of the services beside the monitor at the last observation of a period. */
export interface ServiceCountFacts {
  /** Beginning of the period. */
  readonly atMs: number;
  readonly documents: number | undefined;
  readonly groups: number | undefined;
  readonly leases: number | undefined;
}

/** Oldest first. */
export interface ServiceCountsView {
  readonly hours: readonly ServiceCountFacts[];
  readonly days: readonly ServiceCountFacts[];
}

/** What is known of a network within a window. */
export interface PresenceView {
  readonly observed: readonly ObservedSpan[];
  /** By name. */
  readonly devices: readonly DevicePresence[];
  /** There were more devices than are remembered. */
  readonly truncated: boolean;
  readonly hours: readonly PresenceCount[];
  readonly days: readonly PresenceCount[];
}

/** Presence of one network's devices. */
export interface PresenceLog {
  /** Takes a whole list of the network's devices. Never waits and never throws. */
  observe(devices: readonly PresentDevice[]): void;
  /** `device` is a name or an id; empty for all of them. */
  view(window: {
    readonly startMs: number;
    readonly endMs: number;
    readonly device: string;
  }): PresenceView;
  /** Stores what is not stored yet. Never rejects. */
  flush(): Promise<void>;
}

export type PresentDevice = Pick<Device, "id" | "nodeId" | "name" | "online">;
