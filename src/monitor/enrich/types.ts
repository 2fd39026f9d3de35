/** Lookup of devices and services by address or id. */
import type { Device, VirtualService } from "../providers/model.ts";

/** The fields of a device that naming needs. */
export type KnownDevice = Pick<
  Device,
  "nodeId" | "id" | "hostname" | "name" | "user" | "tags" | "os" | "addresses"
> &
  Partial<Pick<Device, "external">>;

/** Devices of a network as last reported by the control plane. */
export interface DeviceCache {
  /** Replaces all devices and the unverified tier in one step, once indexed. */
  replaceDevices(devices: readonly Device[]): Promise<void>;
  replaceServices(services: readonly Pick<VirtualService, "name" | "addresses">[]): void;
  /** In the control plane's order. */
  devices(): readonly Device[];
  byAddress(address: string): KnownDevice | undefined;
  /** By node id or legacy id. */
  byId(id: string): KnownDevice | undefined;
  serviceAt(address: string): string | undefined;
  /** Adds an unverified suggestion; it never overrides the control plane. */
  suggest(node: {
    readonly nodeId: string;
    readonly name: string;
    readonly addresses: readonly string[];
  }): void;
  suggestedAt(address: string): string | undefined;
  readonly size: number;
  /** Whether devices have been reported since the start. */
  readonly isKnown: boolean;
  /** Resolves once devices have been reported; perhaps never. */
  readonly known: Promise<void>;
  /** Milliseconds since the last report of devices, or since the start. */
  ageMs(): number;
}
