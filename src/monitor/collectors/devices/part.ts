/**
 * What the parts of the device collector have in common: each sees every device of a run once and
 * then says what they make together.
 */
import type { Device } from "../../providers/model.ts";
import { known } from "../units.ts";
import type { CollectorDeps, Tick } from "../collector.ts";
import type { CollectorOptions } from "../../options.ts";

/** Attributes that tell a device; every per-device series has the first two. */
export interface Identity {
  readonly "host.name": string;
  readonly "host.id": string;
  readonly "os.type": string | undefined;
  readonly "os.version": string | undefined;
  readonly "vpn.user": string | undefined;
  /** Joined by commas. */
  readonly "vpn.tags": string | undefined;
}

/** Names of those attributes. */
export type IdentityName = keyof Identity;

/** What a part lives with in one run. */
export interface PartContext {
  readonly deps: CollectorDeps;
  readonly options: NonNullable<CollectorOptions["devices"]>;
  readonly nowMs: number;
  readonly sweep: Tick["sweep"];
}

/** One aspect of devices, made anew for each run. */
export interface Part {
  see(device: Device, identity: Identity): void;
  /** After the last device. */
  finish?(): void;
}

/** The attributes of a device. */
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
