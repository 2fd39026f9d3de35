/** Checks one family of an exposition: its type, sample names and histogram buckets. */
import type { GatherErrorClass } from "../status.ts";
import type { SampleLine } from "./sample-line.ts";
import type { ExpositionFormat } from "./text.ts";

/** Allowed suffixes of sample names, by type. */
const SUFFIXES: Readonly<Record<ExpositionFormat, Readonly<Record<string, readonly string[]>>>> = {
  text: {
    counter: [""],
    gauge: [""],
    untyped: [""],
    histogram: ["_bucket", "_sum", "_count"],
    summary: ["", "_sum", "_count"],
  },
  openmetrics: {
    counter: ["_total", "_created"],
    gauge: [""],
    unknown: [""],
    info: ["_info"],
    stateset: [""],
    histogram: ["_bucket", "_sum", "_count", "_created"],
    gaugehistogram: ["_bucket", "_gsum", "_gcount"],
    summary: ["", "_sum", "_count", "_created"],
  },
};

interface Buckets {
  readonly identity: string;
  bound: number;
  count: number;
}

/** Called for each violation. */
export type ReportBreach = (kind: GatherErrorClass, message: string) => void;

export class FamilyCheck {
  readonly name: string;
  readonly #format: ExpositionFormat;
  readonly #report: ReportBreach;
  readonly #seen = new Set<string>();
  #type: string | undefined;
  #hasSamples = false;
  /** Of the series whose buckets are being read. */
  #buckets: Buckets | undefined;

  constructor(name: string, format: ExpositionFormat, report: ReportBreach) {
    this.name = name;
    this.#format = format;
    this.#report = report;
  }

  metadata(what: string, text: string): void {
    if (this.#seen.has(what))
      this.#report(what === "TYPE" ? "type_mismatch" : "other", `${what} comes twice`);
    if (this.#hasSamples)
      this.#report(what === "TYPE" ? "type_mismatch" : "other", `${what} comes after samples`);
    this.#seen.add(what);
    if (what !== "TYPE") return;
    this.#type = text;
    if (!Object.hasOwn(SUFFIXES[this.#format], text))
      this.#report("type_mismatch", "the type is unknown");
  }

  /** Whether a sample of this name belongs to the family. */
  holds(name: string): boolean {
    return (
      name === this.name ||
      (this.#type !== undefined &&
        (SUFFIXES[this.#format][this.#type] ?? []).some((suffix) => name === this.name + suffix))
    );
  }

  sample(sample: SampleLine): void {
    this.#hasSamples = true;
    const suffix = sample.name.slice(this.name.length);
    if (this.#type === undefined)
      return this.#seen.has("TYPE")
        ? undefined
        : this.#once("untyped", "type_mismatch", "the family has no TYPE");
    if (!(SUFFIXES[this.#format][this.#type] ?? [""]).includes(suffix))
      return this.#report("type_mismatch", `a sample of a ${this.#type} cannot have this name`);
    if (this.#type === "counter" && !(sample.value >= 0))
      this.#report("other", "a counter is negative or not a number");
    if (this.#type === "info" && sample.value !== 1) this.#report("other", "an info is not 1");
    if (this.#type === "histogram") this.#histogram(sample, suffix);
  }

  /** Call after the last line of the family. */
  end(): void {
    this.#closeBuckets();
  }

  #histogram({ labels, value }: SampleLine, suffix: string): void {
    const bound = labels.find(([label]) => label === "le")?.[1];
    const identity = labels
      .filter(([label]) => label !== "le")
      .map(([label, text]) => `${label}="${text}"`)
      .toSorted()
      .join(",");
    if (suffix === "_bucket") {
      if (bound === undefined) return this.#report("label_inconsistent", "a bucket has no le");
      return this.#bucket(
        identity,
        bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound),
        value,
      );
    }
    if (bound !== undefined) this.#report("label_inconsistent", "le is allowed only on buckets");
    if (
      suffix === "_count" &&
      this.#buckets?.identity === identity &&
      value !== this.#buckets.count
    )
      this.#report("other", "the count of a histogram differs from its last bucket");
  }

  #bucket(identity: string, bound: number, count: number): void {
    if (Number.isNaN(bound)) return this.#report("label_inconsistent", "le is not a number");
    if (this.#buckets?.identity !== identity) {
      this.#closeBuckets();
      this.#buckets = { identity, bound, count };
      return;
    }
    if (bound <= this.#buckets.bound)
      this.#report("other", "the buckets of a histogram do not ascend");
    if (count < this.#buckets.count)
      this.#report("other", "the buckets of a histogram are not cumulative");
    this.#buckets.bound = bound;
    this.#buckets.count = count;
  }

  #closeBuckets(): void {
    if (this.#buckets !== undefined && this.#buckets.bound !== Number.POSITIVE_INFINITY)
      this.#report("other", "a histogram has no bucket +Inf");
    this.#buckets = undefined;
  }

  #once(key: string, kind: GatherErrorClass, message: string): void {
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#report(kind, message);
  }
}
