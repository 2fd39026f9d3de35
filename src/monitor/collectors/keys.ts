/** Collector of keys: credentials of the control plane, their expiry and their permissions. */
import { keyField } from "../../kernel/config/key-group.ts";
import { duration } from "../../kernel/config/values/types.ts";
import { defineOperation } from "../capability/operation.ts";
import {
  keyAllowedTags,
  keyExpiry,
  keyPreauthorized,
  keysAge,
  keysByOwner,
  keyScopeClass,
  keyScopes,
  keysCount,
  keysMetrics,
  keyTagScope,
} from "../catalogue/keys.ts";
import { keyExpiringRecord, keyScopesRecord } from "../catalogue/records.ts";
import type { Key } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { Collect, CollectorDeps, Tick } from "./collector.ts";
import { defineSection } from "./section.ts";
import { forEachYielding } from "./yielding.ts";
import { ownKeyOf } from "./own-key.ts";
import { scopeClass, scopeClasses } from "./scope-class.ts";
import { Tally } from "./tally.ts";
import { dayOf, known, secondsSince, unixSeconds } from "./units.ts";

const listKeys = defineOperation("listTailnetKeys");

const section = defineSection("keys", {
  collects: "keys and tokens",
  intervalSeconds: 300,
  fields: {
    expiryWarnMs: keyField({
      type: duration,
      default: 604_800_000,
      help: "Keys that expire sooner than this are reported.",
    }),
  },
});

export const keys = defineCollector({
  section,
  description: "Keys, tokens and OAuth clients: expiry, owners and how much they may do.",
  needs: "keys",
  scopes: [["auth_keys:read", "api_access_tokens:read", "oauth_keys:read", "federated_keys:read"]],
  operations: [listKeys],
  emits: keysMetrics,
  records: [keyExpiringRecord, keyScopesRecord],
  open: openKeys,
});

function openKeys(
  deps: CollectorDeps,
  { expiryWarnMs }: { readonly expiryWarnMs: number },
): Collect {
  const { provider, scope, options } = deps;
  const isOwn = ownKeyOf(options.provider);
  return async (tick) => {
    const list = await tick.call(listKeys, () => provider.keys(tick.signal));
    const ownExpiresMs = list.find(isOwn)?.expiresMs;
    deps.report?.({
      credential:
        ownExpiresMs === undefined ? undefined : { expiresMs: ownExpiresMs, warnMs: expiryWarnMs },
    });
    const counts = new Tally<{
      readonly "vpn.key.type": string;
      readonly "vpn.key.auth_kind": string;
      readonly "vpn.key.revoked": boolean;
      readonly "vpn.key.invalid": boolean;
    }>();
    const owners = new Tally<{
      readonly "vpn.key.owner": string;
      readonly "vpn.key.type": string;
    }>();
    await forEachYielding(list, tick.signal, (key) => {
      counts.add({
        "vpn.key.type": key.type,
        "vpn.key.auth_kind": key.authKind,
        "vpn.key.revoked": key.revokedMs !== undefined,
        "vpn.key.invalid": key.invalid,
      });
      if (key.owner !== "") owners.add({ "vpn.key.owner": key.owner, "vpn.key.type": key.type });
      if (key.createdMs !== undefined)
        scope.record(keysAge, secondsSince(key.createdMs, tick.nowMs), {});
      if (options.cardinality.perEntity.key) recordKey(deps, tick, key);
      warnOfExpiry(deps, { nowMs: tick.nowMs, expiryWarnMs }, key);
    });
    for (const { values, count } of counts.entries()) tick.sweep.gauge(keysCount, count, values);
    for (const { values, count } of owners.entries()) tick.sweep.gauge(keysByOwner, count, values);
  };
}

interface KeyIdentity {
  readonly "vpn.key.id": string;
  readonly "vpn.key.type": string;
  readonly "vpn.key.auth_kind": string;
  readonly "vpn.key.description": string;
  readonly "vpn.key.owner": string | undefined;
  /** Tags of devices that join with the key. */
  readonly "vpn.key.tags": string | undefined;
}

function identityOf({ id, type, authKind, description, owner, deviceTags }: Key): KeyIdentity {
  return {
    "vpn.key.id": id,
    "vpn.key.type": type,
    "vpn.key.auth_kind": authKind,
    "vpn.key.description": description,
    "vpn.key.owner": known(owner),
    "vpn.key.tags": known(deviceTags.toSorted().join(",")),
  };
}

/** Expiry of a usable key; undefined for a revoked, invalid or non-expiring one. */
function expiryOf({ expiresMs, invalid, revokedMs }: Key): number | undefined {
  return invalid || revokedMs !== undefined ? undefined : expiresMs;
}

function recordKey(deps: CollectorDeps, { sweep }: Tick, key: Key): void {
  const identity = identityOf(key);
  const expiresMs = expiryOf(key);
  if (expiresMs !== undefined) sweep.gauge(keyExpiry, unixSeconds(expiresMs), identity);
  if (key.scopes.length > 0) recordScopes(deps, sweep, key, identity);
  if (key.type === "auth" && key.preauthorized !== undefined)
    sweep.gauge(keyPreauthorized, Number(key.preauthorized), identity);
  if (key.type !== "client") return;
  const restricted = key.tags.length > 0;
  sweep.gauge(keyAllowedTags, key.tags.length, identity);
  sweep.gauge(keyTagScope, Number(!restricted), { ...identity, "vpn.key.tag_scope": "none" });
  sweep.gauge(keyTagScope, Number(restricted), { ...identity, "vpn.key.tag_scope": "restricted" });
}

function recordScopes(
  { scope }: CollectorDeps,
  sweep: Tick["sweep"],
  key: Key,
  identity: KeyIdentity,
): void {
  const { scopes } = key;
  const highest = scopeClass(scopes);
  sweep.gauge(keyScopes, scopes.length, identity);
  for (const each of scopeClasses)
    sweep.gauge(keyScopeClass, Number(each === highest), {
      ...identity,
      "vpn.key.scope_class": each,
    });
  scope.log(keyScopesRecord, `scopes of ${titleOf(key)}: ${scopes.join(",")}`, {
    ...identity,
    "vpn.key.scope_values": scopes.join(","),
  });
}

/**
 * The key in a record's body, e.g. `the auth key k1 (ci)`. Repeats attribute values verbatim, so
 * that the privacy filter can mask them.
 */
function titleOf({ type, id, description }: Key): string {
  return `the ${type} key ${id}${description === "" ? "" : ` (${description})`}`;
}

function warnOfExpiry(
  { scope, annotations, network }: CollectorDeps,
  { nowMs, expiryWarnMs }: { readonly nowMs: number; readonly expiryWarnMs: number },
  key: Key,
): void {
  const expiresMs = expiryOf(key);
  const leftMs = (expiresMs ?? 0) - nowMs;
  if (expiresMs === undefined || leftMs <= 0 || leftMs > expiryWarnMs) return;
  const seconds = String(Math.floor(leftMs / 1_000));
  scope.log(
    keyExpiringRecord,
    `${titleOf(key)}${key.owner === "" ? "" : ` of ${key.owner}`} expires in ${seconds} s`,
    { ...identityOf(key), "vpn.key.expires_in_seconds": seconds },
  );
  // In Headscale, keys of two types may share an id.
  annotations.publish({
    category: "expiry",
    timeMs: nowMs,
    tags: ["key", key.type],
    identity: `${network}/key/${key.type}/${key.id}/${expiresMs}`,
    text: `Key ${key.id} of type ${key.type} expires on ${dayOf(expiresMs)}.`,
  });
}
