/**
 * Devices and services of a network by address and id, replaced as a whole, over a tier of
 * unverified suggestions.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Device, VirtualService } from "../providers/model.ts";
import { createEndpointReader } from "./addresses.ts";
import type { EndpointReader } from "./addresses.ts";
import { Suggestions } from "./suggestions.ts";
import type { SuggestedNode } from "./suggestions.ts";
import type { DeviceCache, KnownDevice } from "./types.ts";
import { nextTurn } from "../../kernel/async/turns.ts";

const STRETCH = 500;
const DOTTED = /^[\d.]+$/;

export interface DeviceCacheDeps {
  readonly clock: Pick<Clock, "monotonic">;
  /** Called with each report of devices. */
  readonly reported?: (devices: readonly Device[]) => void;
}

/** An empty cache. */
export function createDeviceCache(deps: DeviceCacheDeps): DeviceCache {
  return new NetworkCache(deps);
}

class NetworkCache implements DeviceCache {
  readonly #deps: DeviceCacheDeps;
  readonly #reader: EndpointReader = createEndpointReader();
  readonly #suggestions: Suggestions;
  #devices: readonly Device[] = [];
  #byAddress = new Map<string, KnownDevice>();
  #byId = new Map<string, KnownDevice>();
  #services = new Map<string, string>();
  #reportedMs: number;
  #isKnown = false;
  readonly #firstReport = Promise.withResolvers<void>();

  constructor(deps: DeviceCacheDeps) {
    this.#deps = deps;
    this.#suggestions = new Suggestions(deps.clock);
    this.#reportedMs = deps.clock.monotonic();
  }

  get size(): number {
    return this.#devices.length;
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  get known(): Promise<void> {
    return this.#firstReport.promise;
  }

  async replaceDevices(devices: readonly Device[]): Promise<void> {
    const [byAddress, byId] = [new Map<string, KnownDevice>(), new Map<string, KnownDevice>()];
    // Small lists take less than one time slice.
    for (const _ of this.#index(devices, byAddress, byId)) await nextTurn();
    this.#devices = devices;
    this.#byAddress = byAddress;
    this.#byId = byId;
    this.#suggestions.clear();
    this.#isKnown = true;
    this.#firstReport.resolve();
    this.#reportedMs = this.#deps.clock.monotonic();
    this.#deps.reported?.(devices);
  }

  replaceServices(services: readonly Pick<VirtualService, "name" | "addresses">[]): void {
    this.#services = new Map();
    for (const { name, addresses } of services)
      for (const address of addresses) addFirst(this.#services, this.#spelling(address), name);
  }

  devices(): readonly Device[] {
    return this.#devices;
  }

  byAddress(address: string): KnownDevice | undefined {
    const known = this.#byAddress.get(address);
    if (known !== undefined || DOTTED.test(address)) return known;
    return this.#byAddress.get(this.#spelling(address));
  }

  byId(id: string): KnownDevice | undefined {
    return this.#byId.get(id);
  }

  serviceAt(address: string): string | undefined {
    const known = this.#services.get(address);
    if (known !== undefined || DOTTED.test(address)) return known;
    return this.#services.get(this.#spelling(address));
  }

  suggest(node: SuggestedNode): void {
    this.#suggestions.add(node);
  }

  suggestedAt(address: string): string | undefined {
    return this.#suggestions.hostnameAt(address);
  }

  ageMs(): number {
    return this.#deps.clock.monotonic() - this.#reportedMs;
  }

  /** Fills both tables; yields after each time slice. */
  *#index(
    devices: readonly Device[],
    byAddress: Map<string, KnownDevice>,
    byId: Map<string, KnownDevice>,
  ): Generator<void, void, undefined> {
    for (const [at, device] of devices.entries()) {
      if (at % STRETCH === STRETCH - 1) yield;
      for (const address of device.addresses) addFirst(byAddress, this.#spelling(address), device);
    }
    yield* this.#ids(devices, byId);
  }

  /** Node ids first: one device's id must not hide another's legacy id. */
  *#ids(
    devices: readonly Device[],
    byId: Map<string, KnownDevice>,
  ): Generator<void, void, undefined> {
    for (const idOf of [(device: Device) => device.nodeId, (device: Device) => device.id]) {
      for (const [at, device] of devices.entries()) {
        if (at % STRETCH === STRETCH - 1) yield;
        addFirst(byId, idOf(device), device);
      }
    }
  }

  /** Skips parsing for IPv4 addresses, which have one spelling. */
  #spelling(address: string): string {
    return DOTTED.test(address) ? address : (this.#reader.host(address)?.address ?? address);
  }
}

/** On a conflict the first one wins. Empty keys are ignored. */
function addFirst<V>(map: Map<string, V>, key: string, value: V): void {
  if (key !== "" && !map.has(key)) map.set(key, value);
}
