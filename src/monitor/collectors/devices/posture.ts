/**
 * Posture attributes of devices: gauges for allowed namespaces, and a log record when they change.
 */
import { createHash } from "node:crypto";
import {
  deviceAttribute,
  deviceAttributeExpiry,
  deviceAttributeInfo,
  devicePosture,
} from "../../catalogue/devices.ts";
import { deviceAttributeExpiringRecord, devicePostureRecord } from "../../catalogue/records.ts";
import type { Device, PostureAttributes } from "../../providers/model.ts";
import type { CollectorDeps, Tick } from "../collector.ts";
import { getDevicePosture, type DeviceOptions } from "./section.ts";
import { unixSeconds } from "../units.ts";
import { forEachYielding } from "../yielding.ts";
import { CallRounds } from "./call-rounds.ts";
import { daysUntilExpiry } from "./expiry.ts";
import { identityOf } from "./part.ts";
import type { Identity } from "./part.ts";

type Posture = (tick: Tick, devices: readonly Device[]) => Promise<void>;

/** Fetches posture per device. Keeps the last posture of each, and a digest of what was logged. */
export function createPosture(
  deps: CollectorDeps,
  options: DeviceOptions,
  shareMs: number,
): Posture {
  const allowed = allowing(options.attributeNamespaces);
  const logged = new Map<string, string>();
  const rounds = new CallRounds<PostureAttributes>({ ...deps, shareMs });
  return async (tick, devices) => {
    const ids = new Set(devices.map(({ id }) => id));
    for (const id of logged.keys()) if (!ids.has(id)) logged.delete(id);
    await rounds.call(tick, devices, {
      operation: getDevicePosture,
      call: ({ id }) => deps.provider.devicePosture(id, tick.signal),
      learn(device, posture) {
        const identity = identityOf(device);
        logExpiries({ tick, deps }, identity, posture, allowed);
        if (options.postureLogMode !== "off")
          logPosture(
            { deps, logged, always: options.postureLogMode === "always" },
            identity,
            posture,
          );
      },
    });
    await forEachYielding(devices, tick.signal, (device) => {
      const posture = rounds.answerOf(device);
      if (posture !== undefined) recordPosture(tick, identityOf(device), posture, allowed);
    });
  };
}

/** Whether an attribute's namespace is allowed. */
function allowing(namespaces: readonly string[]): (name: string) => boolean {
  const wanted = new Set(namespaces);
  return (name) =>
    wanted.has("*") || (name.includes(":") && wanted.has(name.slice(0, name.indexOf(":"))));
}

function recordPosture(
  tick: Tick,
  identity: Identity,
  posture: PostureAttributes,
  allowed: (name: string) => boolean,
): void {
  recordInfo(tick, identity, posture);
  recordAttributes(tick, identity, posture, allowed);
  for (const [attribute, atMs] of posture.expiresMs)
    if (allowed(attribute))
      tick.sweep.gauge(deviceAttributeExpiry, unixSeconds(atMs), { ...identity, attribute });
}

function recordInfo({ sweep }: Tick, identity: Identity, { attributes }: PostureAttributes): void {
  const text = (name: string): string | undefined => attributes.get(`node:${name}`)?.toString();
  const labels = {
    os: text("os"),
    os_version: text("osVersion"),
    ts_version: text("tsVersion"),
    auto_update: text("tsAutoUpdate"),
    encrypted: text("tsStateEncrypted"),
    track: text("tsReleaseTrack"),
  };
  if (Object.values(labels).some((value) => value !== undefined))
    sweep.gauge(devicePosture, 1, { ...identity, ...labels });
}

function recordAttributes(
  { sweep }: Tick,
  identity: Identity,
  { attributes }: PostureAttributes,
  allowed: (name: string) => boolean,
): void {
  for (const [attribute, value] of attributes) {
    if (!allowed(attribute)) continue;
    if (typeof value === "string")
      sweep.gauge(deviceAttributeInfo, 1, { ...identity, attribute, value });
    else sweep.gauge(deviceAttribute, Number(value), { ...identity, attribute });
  }
}

function logExpiries(
  { tick, deps }: { readonly tick: Tick; readonly deps: CollectorDeps },
  identity: Identity,
  { expiresMs }: PostureAttributes,
  allowed: (name: string) => boolean,
): void {
  for (const [attribute, atMs] of expiresMs) {
    if (!allowed(attribute)) continue;
    const days = daysUntilExpiry(atMs, tick.nowMs);
    if (days !== undefined)
      deps.scope.log(
        deviceAttributeExpiringRecord,
        `the posture attribute ${attribute} of device ${identity["host.name"]} expires in ${days} days`,
        { ...identity, attribute, "vpn.device.attribute_expires_in_days": days },
      );
  }
}

interface PostureLog {
  readonly deps: CollectorDeps;
  readonly logged: Map<string, string>;
  readonly always: boolean;
}

function logPosture(
  { deps, logged, always }: PostureLog,
  identity: Identity,
  { attributes }: PostureAttributes,
): void {
  const sorted = [...attributes].toSorted(([left], [right]) => (left < right ? -1 : 1));
  const details = JSON.stringify(Object.fromEntries(sorted));
  const digest = createHash("sha256").update(details).digest("base64");
  if (!always && logged.get(identity["host.id"]) === digest) return;
  logged.set(identity["host.id"], digest);
  deps.scope.log(
    devicePostureRecord,
    `posture attributes of device ${identity["host.name"]}: ${attributes.size}`,
    { ...identity, "vpn.device.posture.details": details },
  );
}
