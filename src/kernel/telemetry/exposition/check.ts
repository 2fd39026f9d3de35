/**
 * Validates an exposition as a scraper would: whatever Prometheus rejects, drops or merges is an
 * error. It works on the rendered text, so that it also finds errors of the renderer.
 */
import type { GatherErrorClass } from "../status.ts";
import { FamilyCheck } from "./family-check.ts";
import { readSampleLine } from "./sample-line.ts";
import type { ExpositionFormat } from "./text.ts";

/** A violation. Contains no label values. */
export interface ExpositionError {
  readonly class: GatherErrorClass;
  /** The family or sample; undefined when it concerns the whole text. */
  readonly metric: string | undefined;
  readonly message: string;
}

export interface ExpositionReport {
  readonly families: number;
  /** Number of samples; each is one series for a scraper. */
  readonly series: number;
  readonly bytes: number;
  /** The first 100. */
  readonly errors: readonly ExpositionError[];
}

const MAX_ERRORS = 100;
/** Longer than any line we render; bounds the memory for text without line breaks. */
const MAX_LINE_LENGTH = 16 * 2 ** 20;
/** OpenMetrics 1.0, Exemplars. */
const MAX_EXEMPLAR_CHARACTERS = 128;
const METADATA = /^# (HELP|TYPE|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*)(?: ([\s\S]*))?$/;
const EOF_LINE = "# EOF";

/** Checks a text chunk by chunk. Keeps the identity of each series until the end. */
export class ExpositionCheck {
  readonly #format: ExpositionFormat;
  readonly #decoder: TextDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #errors: ExpositionError[] = [];
  readonly #families = new Set<string>();
  readonly #series = new Set<string>();
  #family: FamilyCheck | undefined;
  #rest = "";
  #bytes = 0;
  #samples = 0;
  #ended = false;
  #unreadable = false;

  constructor(format: ExpositionFormat) {
    this.#format = format;
  }

  /** A chunk may end anywhere, also within a character. */
  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#decode(piece, true);
  }

  /** Call once. */
  end(): ExpositionReport {
    this.#decode(new Uint8Array(), false);
    this.#family?.end();
    if (!this.#unreadable) {
      if (this.#rest !== "") this.#report("other", undefined, "the last line has no line feed");
      if (this.#format === "openmetrics" && !this.#ended)
        this.#report("other", undefined, "there is no # EOF at the end");
    }
    return {
      families: this.#families.size,
      series: this.#samples,
      bytes: this.#bytes,
      errors: this.#errors,
    };
  }

  #decode(piece: Uint8Array, more: boolean): void {
    if (this.#unreadable) return;
    try {
      this.#rest += this.#decoder.decode(piece, { stream: more });
    } catch {
      this.#unreadable = true;
      this.#report("other", undefined, "the text is not UTF-8");
      return;
    }
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    if (this.#rest.length <= MAX_LINE_LENGTH) return;
    this.#unreadable = true;
    this.#report("other", undefined, `a line is longer than ${MAX_LINE_LENGTH} characters`);
  }

  #line(line: string): void {
    if (this.#ended) this.#report("other", undefined, "something follows # EOF");
    else if (line === EOF_LINE) this.#ended = this.#format === "openmetrics";
    else if (line.startsWith("#")) this.#comment(line);
    else if (line !== "") this.#sample(line);
    else if (this.#format === "openmetrics")
      this.#report("other", undefined, "there is an empty line");
  }

  #comment(line: string): void {
    const [, what, name = "", text] = METADATA.exec(line) ?? [];
    if (what !== undefined) this.#begin(name).metadata(what, text ?? "");
    else if (this.#format === "openmetrics" || /^# (?:HELP|TYPE)\b/.test(line))
      this.#report("other", undefined, "a line with # is not HELP, TYPE or UNIT of a metric");
  }

  #sample(line: string): void {
    const sample = readSampleLine(line);
    if (sample === undefined)
      return this.#report(
        "other",
        /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0],
        "a line is not a sample: name, labels, quotes or value are invalid",
      );
    this.#samples += 1;
    const { name, labels, exemplarCharacters } = sample;
    if (!this.#family?.holds(name)) this.#begin(name);
    this.#family?.sample(sample);
    if (exemplarCharacters !== undefined) this.#exemplar(name, exemplarCharacters);
    const names = labels.map(([label]) => label);
    if (new Set(names).size < names.length)
      return this.#report("label_inconsistent", name, "a label occurs twice in one sample");
    if (names.some((label) => label.startsWith("__")))
      this.#report("label_inconsistent", name, "a label begins with __, which is reserved");
    const identity = `${name}{${labels
      .map(([label, value]) => `${label}="${value}"`)
      .toSorted()
      .join(",")}}`;
    if (this.#series.has(identity))
      this.#report(
        "duplicate_series",
        name,
        `two samples have the same labels (${names.length === 0 ? "none" : names.toSorted().join(", ")})`,
      );
    this.#series.add(identity);
  }

  #exemplar(name: string, characters: number): void {
    if (this.#format === "text")
      this.#report("other", name, "there is an exemplar, which the text format does not support");
    else if (!/_(?:bucket|total)$/.test(name))
      this.#report(
        "other",
        name,
        "there is an exemplar on a sample that is neither a bucket nor a counter",
      );
    if (characters > MAX_EXEMPLAR_CHARACTERS)
      this.#report(
        "other",
        name,
        `the labels of an exemplar are longer than ${MAX_EXEMPLAR_CHARACTERS} characters`,
      );
  }

  /** The family of this name: the current one, or a new one. */
  #begin(name: string): FamilyCheck {
    if (this.#family?.name === name) return this.#family;
    this.#family?.end();
    if (this.#families.has(name))
      this.#report("other", name, "the lines of a family are not together");
    this.#families.add(name);
    this.#family = new FamilyCheck(name, this.#format, (kind, message) =>
      this.#report(kind, name, message),
    );
    return this.#family;
  }

  #report(kind: GatherErrorClass, metric: string | undefined, message: string): void {
    if (this.#errors.length < MAX_ERRORS) this.#errors.push({ class: kind, metric, message });
  }
}
