/**
 * The section of the configuration below `collectors` that a collector declares: its keys, the
 * options read from them, and how another reader finds these options again.
 */
import type { Config } from "../../kernel/config/config.ts";
import {
  defineKeyGroup,
  keysOf,
  readKeyGroup,
  type KeyField,
  type KeyGroup,
} from "../../kernel/config/key-group.ts";
import type { Key, Schema } from "../../kernel/config/key.ts";
import { timer } from "../../kernel/config/checks/rules.ts";
import { boolean, duration } from "../../kernel/config/values/types.ts";
import type { NetworkFeeds } from "../config/network-keys.ts";
import type { NetworkOptions, ScheduledOptions } from "../options.ts";

/** A section's options with its `enabled` flag, as the keys have them. */
export type Switched<T> = T & { readonly enabled: boolean };

/** Settings that differ between networks. */
export interface NetworkShare {
  readonly feeds: NetworkFeeds;
  /** Whether this network scrapes the static targets: only the first one does. */
  readonly hasTargets: boolean;
}

/** `O` is what a collector gets: plain data, all defaults filled in. */
export interface CollectorSection<O extends object = object> {
  /** Below `collectors` in the file. */
  readonly name: string;
  readonly enabled: Key<boolean>;
  readonly schema: Schema;
  /** Undefined while it is switched off. */
  read(config: Config, share: NetworkShare): O | undefined;
  /** The options as a network has them; undefined while it is switched off. */
  of(network: Pick<NetworkOptions, "collectors">): O | undefined;
  /** The options for `-preflight`, which stores, publishes and sends nothing and soon ends. */
  forPreflight(options: O): O;
}

type SectionFields = Readonly<Record<string, KeyField<unknown>>>;
type FieldValues<F extends SectionFields> = {
  readonly [K in keyof F]: F[K] extends KeyField<infer T> ? T : never;
};

/** The section of a collector that runs at an interval: `enabled`, `interval` and its own fields. */
export function defineSection<
  // oxlint-disable-next-line typescript/no-generated-empty-object-type -- no fields of its own
  F extends SectionFields = Record<never, never>,
>(
  name: string,
  {
    collects,
    intervalSeconds,
    fields,
    forPreflight,
  }: {
    /** Completes "Collects ...". */
    readonly collects: string;
    readonly intervalSeconds: number;
    readonly fields?: F;
    readonly forPreflight?: (
      options: ScheduledOptions & FieldValues<F>,
    ) => ScheduledOptions & FieldValues<F>;
  },
): CollectorSection<ScheduledOptions & FieldValues<F>> & {
  readonly keys: KeyGroup<Switched<ScheduledOptions & FieldValues<F>>>;
} {
  type Options = ScheduledOptions & FieldValues<F>;
  const keys = defineKeyGroup<Switched<ScheduledOptions>>(`collectors.${name}`, {
    ...scheduleFields(collects, intervalSeconds),
    ...fields,
  }) as KeyGroup<Switched<Options>>;
  return {
    keys,
    ...sectionOver<Options>({
      name,
      enabled: keys.enabled,
      schema: keysOf(keys),
      read: (config) => readWhileOn(config, keys),
      ...(forPreflight && { forPreflight }),
    }),
  };
}

/** A section whose options follow from more than one group of keys. */
export function sectionOver<O extends object>(
  declared: Omit<CollectorSection<O>, "of" | "forPreflight"> &
    Partial<Pick<CollectorSection<O>, "forPreflight">>,
): CollectorSection<O> {
  return {
    forPreflight: (options) => options,
    ...declared,
    // Only `read` of the same section fills this entry.
    of: ({ collectors }) => collectors[declared.name] as O | undefined,
  };
}

/** `enabled` and `interval` of a collector. */
export function scheduleFields(
  collects: string,
  intervalSeconds: number,
  enabled = true,
): { readonly enabled: KeyField<boolean>; readonly intervalMs: KeyField<number> } {
  return {
    enabled: flag(enabled, `Collects ${collects}.`),
    intervalMs: {
      type: duration,
      default: intervalSeconds * 1000,
      rule: timer,
      help: "Time between runs.",
    },
  };
}

/** A switch of a section. */
export function flag(value: boolean, help: string): KeyField<boolean> {
  return { type: boolean, default: value, help };
}

/** The group without its `enabled` flag; undefined while it is off. */
export function readWhileOn<T extends object>(
  config: Config,
  keys: KeyGroup<Switched<T>>,
): T | undefined {
  const { enabled, ...options } = readKeyGroup<Switched<T>>(config, keys);
  return enabled ? (options as unknown as T) : undefined;
}
