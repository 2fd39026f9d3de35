/**
 * The data of a record, hashed value by value while it is small. Of larger data the members that
 * name a token come first, then the plain members in their order, then whole lists and objects,
 * smallest first; the one that does not fit is written as far as there is room and ends in a
 * marker, and what is left of the data is one more marker:
 *
 *     {"token":"hmac-sha256:…","repositories":["hmac-sha256:…",…,{"too_many_values":{"count":5120,"hash":"hmac-sha256:…"}}],"org_name":"hmac-sha256:…"}
 *
 * A marker's hash is over the JSON text that it replaces, `count` is the number of its
 * strings, numbers, truth values and nulls.
 */
import type { Data } from "../../logical/types.ts";
import { hashedJson, hashedName, type Hasher } from "./hash.ts";
import { isScalar, measure, nameBytes, type Size } from "./measure.ts";
import { hashOfJson, hashOfText, holdsLong, isLong } from "./pieces.ts";

/** Members that identify a token are always written, within a budget of their own. */
const TOKEN_NAMES: ReadonlySet<string> = new Set([
  "token",
  "hashed_token",
  "client_token",
  "secret_id",
]);
const TOKEN_ROOM: Size = { values: 16, bytes: 3 * 1024 };
/**
 * Lists and objects of the data that are looked at one by one; further ones are left to the last
 * marker.
 */
const MAX_CONTAINERS = 64;
/** Levels inside a member that does not fit. */
const MAX_LEVELS = 4;
/** Bytes of a marker. */
const MARKER_BYTES = 140;
const MARKER = "too_many_values";

/**
 * The data as JSON text of about `room.bytes` bytes plus at most 3 KiB. Returns a promise only when
 * there is much to hash.
 */
export function hashedData(data: Data, hasher: Hasher, room: Size): string | Promise<string> {
  return measure(data, room) !== undefined && !holdsLong(data)
    ? hashedJson(data, hasher.hash)
    : collapsed(data, hasher, room);
}

/** Room that is used up. */
interface Left {
  values: number;
  bytes: number;
}

async function collapsed(data: Data, hasher: Hasher, room: Size): Promise<string> {
  const names = Object.keys(data).filter((name) => data[name] !== undefined);
  const left: Left = { ...room };
  const plan = new Map<string, "whole" | "part">();
  const take = (name: string, from: Left): void => {
    if (plan.has(name) || !reserve(data[name], name, from)) return;
    plan.set(name, "whole");
  };
  const tokens: Left = { ...TOKEN_ROOM };
  for (const wanted of [isTokenName, isAccessorName])
    for (const name of names) if (wanted(name) && isScalar(data[name])) take(name, tokens);
  for (const name of names) if (isScalar(data[name])) take(name, left);
  for (const name of bySize(data, names, left)) {
    take(name, left);
    if (plan.has(name) || left.bytes < nameBytes(name) + MARKER_BYTES) continue;
    left.bytes -= nameBytes(name) + MARKER_BYTES;
    plan.set(name, "part");
  }
  const members: string[] = [];
  for (const name of names) {
    const how = plan.get(name);
    if (how === undefined) continue;
    const text =
      how === "whole"
        ? await written(data[name], hasher)
        : await partOf(data[name], hasher, { left, levels: MAX_LEVELS });
    members.push(`${hashedName(name, hasher.hash)}:${text}`);
  }
  const rest = names.filter((name) => !plan.has(name));
  if (rest.length > 0)
    members.push(
      `"${MARKER}":${await marker(Object.fromEntries(rest.map((name) => [name, data[name]])), hasher)}`,
    );
  return `{${members.join(",")}}`;
}

function isTokenName(name: string): boolean {
  return TOKEN_NAMES.has(name);
}

function isAccessorName(name: string): boolean {
  return name.endsWith("accessor");
}

/** Reserves space for a whole member, if available. */
function reserve(value: unknown, name: string, left: Left): boolean {
  const size = left.values <= 0 && isScalar(value) ? undefined : measure(value, left);
  const bytes = size === undefined ? 0 : size.bytes + nameBytes(name);
  if (size === undefined || bytes > left.bytes) return false;
  left.values -= size.values;
  left.bytes -= bytes;
  return true;
}

/** The first lists and objects, the smallest first. */
function bySize(data: Data, names: readonly string[], most: Size): readonly string[] {
  const containers = names.filter((name) => !isScalar(data[name])).slice(0, MAX_CONTAINERS);
  const sizes = new Map(
    containers.map((name) => [name, measure(data[name], most)?.values ?? Number.POSITIVE_INFINITY]),
  );
  return containers.toSorted((one, other) => (sizes.get(one) ?? 0) - (sizes.get(other) ?? 0));
}

/** A value that fits, all of it. */
async function written(value: unknown, hasher: Hasher): Promise<string> {
  if (!holdsLong(value)) return hashedJson(value, hasher.hash);
  if (isLong(value)) return `"${(await hashOfText(value, hasher.begin())).hash}"`;
  if (isScalar(value)) return `"${(await hashOfJson(value, hasher.begin())).hash}"`;
  const { isList, keys, at, named, closed } = parts(value, hasher);
  const texts: string[] = [];
  for (const key of keys)
    if (isList || at(key) !== undefined) texts.push(named(key, await written(at(key), hasher)));
  return closed(texts);
}

/** As much of a list or an object as fits, then a marker for the rest. */
async function partOf(
  value: unknown,
  hasher: Hasher,
  { left, levels }: { readonly left: Left; readonly levels: number },
): Promise<string> {
  const { isList, keys, at, named, closed } = parts(value, hasher);
  const texts: string[] = [];
  let next = 0;
  for (; next < keys.length; next++) {
    const key = keys[next] ?? "";
    if (!isList && at(key) === undefined) continue;
    if (!reserve(at(key), String(key), left)) break;
    texts.push(named(key, await written(at(key), hasher)));
  }
  const key = keys[next];
  if (
    key !== undefined &&
    levels > 1 &&
    !isScalar(at(key)) &&
    left.values > 0 &&
    left.bytes > nameBytes(String(key)) + 2 * MARKER_BYTES
  ) {
    left.bytes -= nameBytes(String(key)) + MARKER_BYTES;
    texts.push(named(key, await partOf(at(key), hasher, { left, levels: levels - 1 })));
    next += 1;
  }
  const rest = keys.slice(next);
  if (rest.length > 0)
    texts.push(
      isList
        ? `{"${MARKER}":${await marker(rest.map(at), hasher)}}`
        : `"${MARKER}":${await marker(Object.fromEntries(rest.map((one) => [one, at(one)])), hasher)}`,
    );
  return closed(texts);
}

interface Parts {
  readonly isList: boolean;
  /** Places of a list, names of an object. */
  readonly keys: readonly (string | number)[];
  readonly at: (key: string | number) => unknown;
  /** The text of a part with its name, if it has one. */
  readonly named: (key: string | number, text: string) => string;
  readonly closed: (texts: readonly string[]) => string;
}

function parts(value: unknown, { hash }: Hasher): Parts {
  if (!Array.isArray(value)) {
    const members = value as Data;
    return {
      isList: false,
      keys: Object.keys(members),
      at: (key) => members[key],
      named: (key, text) => `${hashedName(String(key), hash)}:${text}`,
      closed: (texts) => `{${texts.join(",")}}`,
    };
  }
  const list = value as readonly unknown[];
  return {
    isList: true,
    keys: [...list.keys()],
    at: (key) => list[Number(key)],
    named: (_key, text) => text,
    closed: (texts) => `[${texts.join(",")}]`,
  };
}

async function marker(value: unknown, hasher: Hasher): Promise<string> {
  const { hash, count } = await hashOfJson(value, hasher.begin());
  return `{"count":${count},"hash":"${hash}"}`;
}
