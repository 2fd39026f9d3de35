/**
 * All settings of the document service as text by their names, as `GET /api/v1/config` shows them:
 * those that Steward knows, by section, and others that a client stored.
 */
import { create } from "@bufbuild/protobuf";
import { MetaRowSchema } from "../gen/steward/state/v1/dedup_pb.ts";
import { boundedBatches } from "../kernel/base/batches.ts";
import { StewardError, type Detail } from "../kernel/base/errors.ts";
import type { Env } from "../kernel/state/types.ts";
import { invalidRequest } from "../kernel/wire/issues.ts";
import { appConfig } from "./tables.ts";

const MAX_KEYS = 1_000;
const MAX_KEY_BYTES = 256;
const MAX_VALUE_BYTES = 64 * 1024;
/** Of the settings stored in one transaction, and of a row beside its name and value. */
const BATCH_BYTES = 512 * 1024;
const ROW_BYTES = 64;

/** Settings that Steward knows, below one name. */
export interface ConfigSection {
  /** What their names begin with, e.g. `dedup.`. */
  readonly prefix: string;
  /** Names below the prefix, with their values. */
  read(): Readonly<Record<string, string>>;
  /** Throws what `change` would throw, and changes nothing. */
  check(values: Readonly<Record<string, string>>): void;
  /**
   * Changes some of them, all or none; the names are among those of `read`. Throws `invalid` with
   * details whose paths begin with the name.
   */
  change(values: Readonly<Record<string, string>>): Promise<void>;
}

export interface AppConfig {
  /** Sorted by name. */
  read(): Record<string, string>;
  /**
   * Names of credentials and of what the environment sets are ignored; resolves with the number of
   * the others. Throws `invalid`, and then changes nothing.
   */
  change(values: Readonly<Record<string, string>>): Promise<number>;
}

export function createAppConfig(env: Env, sections: readonly ConfigSection[]): AppConfig {
  const known = (): Map<string, string> =>
    new Map(
      sections.flatMap((section) =>
        Object.entries(section.read()).map(
          ([name, value]) => [`${section.prefix}${name}`, value] as const,
        ),
      ),
    );
  const stored = (): (readonly [string, string])[] =>
    env.read((snapshot) =>
      [...snapshot.range(appConfig)].map(([name, { text }]) => [name, text] as const),
    );
  return {
    read: () =>
      Object.fromEntries(
        [...new Map([...stored(), ...known()])].sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
    async change(values) {
      const taken = Object.entries(values).filter(([name]) => !isOwnedElsewhere(name));
      const names = known();
      const others = taken.filter(([name]) => !names.has(name));
      checkOthers(others, new Set(stored().map(([name]) => name)));
      const changes = sections.flatMap((section) => {
        const { prefix } = section;
        const own = taken.filter(([name]) => name.startsWith(prefix) && names.has(name));
        const patch = Object.fromEntries(
          own.map(([name, value]) => [name.slice(prefix.length), value]),
        );
        return own.length > 0 ? [{ section, patch }] : [];
      });
      for (const { section, patch } of changes) section.check(patch);
      for (const batch of boundedBatches(others, [BATCH_BYTES], (setting) => [bytesOf(setting)]))
        await env.write((tx) => {
          for (const [name, value] of batch)
            tx.put(appConfig, name, create(MetaRowSchema, { text: value }));
        });
      for (const { section, patch } of changes) await section.change(patch);
      return taken.length;
    },
  };
}

function bytesOf([name, value]: readonly [string, string]): number {
  return ROW_BYTES + Buffer.byteLength(name) + Buffer.byteLength(value);
}

function checkOthers(
  values: readonly (readonly [string, string])[],
  stored: ReadonlySet<string>,
): void {
  const findings = values.flatMap(([name, value]): Detail[] => {
    const problem = problemOf(name, value);
    return problem === undefined
      ? []
      : [{ path: [name.slice(0, 100)], message: problem, code: "custom" }];
  });
  if (findings.length > 0) throw invalidRequest(findings);
  const all = new Set([...stored, ...values.map(([name]) => name)]);
  if (all.size > MAX_KEYS)
    throw new StewardError(
      "invalid",
      `settings: at most ${MAX_KEYS} settings of other programs are stored; there would be ${all.size}`,
      { field: "settings" },
    );
}

function problemOf(name: string, value: string): string | undefined {
  const shown = JSON.stringify(name.slice(0, 60));
  if (name === "") return "the name of a setting must not be empty";
  if (Buffer.byteLength(name) > MAX_KEY_BYTES)
    return `${shown}: the name of a setting has at most ${MAX_KEY_BYTES} bytes`;
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
    return `${shown}: the value of a setting has at most ${MAX_VALUE_BYTES} bytes`;
  return undefined;
}

const CREDENTIALS =
  /(apikey|apitoken|accesstoken|clientsecret|clientsecretkey|databasepassword|privatekey|secretkey|password|secret|token|username)$/;
const CONNECTIONS = /^(paperless(url|apitoken|username|password)|database(url|path|dir))$/;

/** Whether a name is that of a credential, or of a connection that configuration file or environment set. */
function isOwnedElsewhere(name: string): boolean {
  const plain = name.replaceAll(/[._-]/g, "").toLowerCase();
  return CREDENTIALS.test(plain) || CONNECTIONS.test(plain);
}
