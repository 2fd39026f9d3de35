/**
 * What the network is known to consist of, for whoever has an address or an id and wants a name.
 */
import type { Device, VirtualService } from "../providers/model.ts";

/** A device as far as names need it. */
export type KnownDevice = Pick<
  Device,
  "nodeId" | "id" | "hostname" | "name" | "user" | "tags" | "os" | "addresses"
>;

/** The devices of a network as the control plane last told them. */
export interface DeviceCache {
  /**
   * Takes the place of everything known before, the unverified tier included, in one step once it
   * is all looked at.
   */
  replaceDevices(devices: readonly Device[]): Promise<void>;
  /** Addresses of services. */
  replaceServices(services: readonly Pick<VirtualService, "name" | "addresses">[]): void;
  /** All devices, in the order they were told. */
  devices(): readonly Device[];
  byAddress(address: string): KnownDevice | undefined;
  /** By node id, or by the older id. */
  byId(id: string): KnownDevice | undefined;
  serviceAt(address: string): string | undefined;
  /**
   * What a flow record says of a node: kept apart for a while, and never believed over the control
   * plane.
   */
  suggest(node: {
    readonly nodeId: string;
    readonly name: string;
    readonly addresses: readonly string[];
  }): void;
  /** Host name of an unverified suggestion. */
  suggestedAt(address: string): string | undefined;
  readonly size: number;
  /** Whether the control plane told its devices since the start. */
  readonly isKnown: boolean;
  /** Since the devices were told last; since the start before that. */
  ageMs(): number;
}
