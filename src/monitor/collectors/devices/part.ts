/**
 * Interface of the parts of the device collector. Each part sees every device once per run, then
 * writes totals.
 */
import type { Device } from "../../providers/model.ts";
import { known } from "../units.ts";
import type { CollectorDeps, Tick } from "../collector.ts";
import type { DeviceOptions } from "./section.ts";

/** Attributes that identify a device; every per-device series has the first two. */
export interface Identity {
  readonly "host.name": string;
  readonly "host.id": string;
  readonly "os.type": string | undefined;
  readonly "os.version": string | undefined;
  readonly "vpn.user": string | undefined;
  /** Comma-separated. */
  readonly "vpn.tags": string | undefined;
}

export type IdentityName = keyof Identity;

export interface PartContext {
  readonly deps: CollectorDeps;
  readonly options: DeviceOptions;
  readonly nowMs: number;
  readonly sweep: Tick["sweep"];
}

/** One aspect of devices, created anew for each run. */
export interface Part {
  see(device: Device, identity: Identity): void;
  /** Called after the last device. */
  finish?(): void;
}

export function identityOf({ hostname, id, os, distro, user, tags }: Device): Identity {
  return {
    "host.name": hostname,
    "host.id": id,
    "os.type": known(os),
    "os.version": known(distro?.version ?? ""),
    "vpn.user": known(user),
    "vpn.tags": known(tags.join(",")),
  };
}
