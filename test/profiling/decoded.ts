/** A profile in the format of pprof, taken apart by its library for tests. */
import { gunzipSync } from "node:zlib";
import { Profile } from "pprof-format";

interface DecodedSample {
  /** The callee first. */
  readonly stack: readonly {
    readonly name: string;
    readonly file: string;
    readonly line: number;
  }[];
  readonly values: readonly number[];
  readonly thread: string;
}

export interface Decoded {
  readonly types: readonly string[];
  readonly period: string;
  readonly timeMs: number;
  readonly durationMs: number;
  readonly samples: readonly DecodedSample[];
}

export function decode(bytes: Uint8Array): Decoded {
  const profile = Profile.decode(bytes);
  const text = (index: number | bigint): string => profile.stringTable.strings[Number(index)] ?? "";
  const functions = new Map(profile.function.map((each) => [Number(each.id), each]));
  const locations = new Map(profile.location.map((each) => [Number(each.id), each]));
  return {
    types: profile.sampleType.map(({ type, unit }) => `${text(type)}/${text(unit)}`),
    period: `${text(profile.periodType?.type ?? 0)}/${text(profile.periodType?.unit ?? 0)} ${profile.period}`,
    timeMs: Number(profile.timeNanos) / 1e6,
    durationMs: Number(profile.durationNanos) / 1e6,
    samples: profile.sample.map((sample) => ({
      stack: sample.locationId.map((id) => {
        const line = locations.get(Number(id))?.line[0];
        const called = functions.get(Number(line?.functionId));
        return {
          name: text(called?.name ?? 0),
          file: text(called?.filename ?? 0),
          line: Number(line?.line),
        };
      }),
      values: sample.value.map(Number),
      thread: sample.label
        .filter(({ key }) => text(key) === "thread")
        .map(({ str }) => text(str))
        .join(),
    })),
  };
}

export function decodeCompressed(bytes: Uint8Array): Decoded {
  return decode(gunzipSync(bytes));
}

/** The sum of one value over samples whose stack has a function of this name. */
export function totalOf({ samples }: Decoded, name: string, value: number): number {
  return samples
    .filter(({ stack }) => stack.some((frame) => frame.name === name))
    .reduce((sum, { values }) => sum + (values[value] ?? 0), 0);
}
