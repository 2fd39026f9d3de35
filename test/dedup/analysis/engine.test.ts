import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createCorpus, mulberry32 } from "../../../bench/corpus.ts";
import { planBands } from "../../../src/dedup/analysis/band-plan.ts";
import { analyse } from "../../../src/dedup/analysis/engine.ts";
import type {
  AnalysisInput,
  AnalysisOutcome,
  AnalysisStats,
} from "../../../src/dedup/analysis/engine.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import type { AnalysisParameters } from "../../../src/dedup/analysis/parameters.ts";
import {
  SKETCH_SCHEMA,
  createEnvSketchStore,
  createMemorySketchStore,
  sketchTables,
} from "../../../src/dedup/analysis/sketch-store.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createPool } from "../../../src/kernel/pool/pool.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import { readBlock, signatureAt, writeBlock } from "../../../workers/block.ts";
import { confidence } from "../../../workers/score/confidence.ts";
import { discriminativeScore } from "../../../workers/score/discriminative.ts";
import { fuzzyRatio, wordSorted } from "../../../workers/score/fuzzy.ts";
import { jaccardAtLeast } from "../../../workers/score/jaccard.ts";
import { tokensOf } from "../../../workers/score/tokens.ts";
import { compressText } from "../../../workers/text/compress.ts";
import { normalise, sampleOf } from "../../../workers/text/normalise.ts";
import { countWords, textHash, shingleSet } from "../../workers/text/identity.ts";
import { fastest } from "../../support/fastest.ts";

/** A verified pair of texts, by their places in the input. */
interface Edge {
  readonly low: number;
  readonly high: number;
  readonly jaccard: number;
  readonly fuzzy: number;
  readonly discriminative: number;
  readonly confidence: number;
}

const log = createLog({ level: "error", format: "json", write: () => undefined, now: () => 0 });
const pools = [1, 2].map((threads) =>
  createPool({ threads, heapMb: 256, clock: systemClock, log }),
);
const [one, two] = pools as [(typeof pools)[0], (typeof pools)[0]];
const folder = mkdtempSync(join(tmpdir(), "steward-engine-"));

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  rmSync(folder, { recursive: true });
});

/**
 * Distinct normalised texts: edits of 1 to 10 per cent and siblings with other numbers among them.
 */
function corpus(documents: number, seed = 7): string[] {
  return [...new Set(createCorpus({ documents, words: 70, seed, copies: 0.5 }).map(normalise))];
}

function inputOf(texts: readonly string[], change: Partial<AnalysisInput> = {}): AnalysisInput {
  return {
    classes: texts.map((text, place) => ({
      hash: textHash(text),
      wordCount: countWords(text),
      documents: [place],
    })),
    text: (indexes) => indexes.map((i) => compressText(texts[i] ?? "", 1)),
    sketches: createMemorySketchStore(),
    parameters: defaultParameters,
    pool: two,
    signal: new AbortController().signal,
    progress: () => undefined,
    ...change,
  };
}

/** The edges of all groups, by the places of their texts in the input. */
function edgesOf({ texts, vertices, stars }: AnalysisOutcome): Edge[] {
  const place = (vertex: number): number => texts[vertices.textOf[vertex] ?? 0]?.documents[0] ?? -1;
  return stars
    .flatMap(({ centre, members }) =>
      members.map(({ vertex, scores }): Edge => {
        const [low = 0, high = 0] = [place(centre), place(vertex)].sort((a, b) => a - b);
        return { low, high, ...scores };
      }),
    )
    .sort((a, b) => a.low - b.low || a.high - b.high);
}

/** The groups by the texts in them, centre first, so that orders can be compared. */
function groupsOf({ texts, vertices, stars }: AnalysisOutcome, input: readonly string[]): string[] {
  const text = (vertex: number): string =>
    input[texts[vertices.textOf[vertex] ?? 0]?.documents[0] ?? -1] ?? "";
  return stars
    .map(({ centre, members }) =>
      JSON.stringify([
        text(centre),
        ...members.map(({ vertex, scores }) => ({ ...scores, text: text(vertex) })),
      ]),
    )
    .sort();
}

/** Of the pairs in `truth` those whose texts share no group. */
function lost(outcome: AnalysisOutcome, truth: readonly Edge[]): Edge[] {
  const groupsOfText = new Map<number, Set<number>>();
  for (const [group, { centre, members }] of outcome.stars.entries())
    for (const vertex of [centre, ...members.map((member) => member.vertex)]) {
      const place = outcome.texts[outcome.vertices.textOf[vertex] ?? 0]?.documents[0] ?? -1;
      groupsOfText.set(place, (groupsOfText.get(place) ?? new Set()).add(group));
    }
  return truth.filter(
    ({ low, high }) =>
      ![...(groupsOfText.get(low) ?? [])].some((group) => groupsOfText.get(high)?.has(group)),
  );
}

/**
 * What is promised: each edge is true with the scores of a plain comparison, and of the true pairs
 * no more than one in a thousand shares no group.
 */
function expectExact(outcome: AnalysisOutcome, truth: readonly Edge[]): void {
  const byPlaces = new Map(truth.map((edge) => [`${edge.low} ${edge.high}`, edge]));
  for (const edge of edgesOf(outcome))
    expect(edge).toEqual(byPlaces.get(`${edge.low} ${edge.high}`));
  expect(lost(outcome, truth).length).toBeLessThanOrEqual(truth.length / 1_000);
}

/**
 * Texts at the edge of every bound: pieces of a text in another order (the sorted words stay the
 * same, so the fuzzy ratio is 1 and the Jaccard similarity decides alone), some with one of many
 * numbers changed.
 */
function borderline(bases: number): string[] {
  const random = mulberry32(11);
  const pick = (most: number): number => Math.floor(random() * most);
  const texts = createCorpus({ documents: bases, words: 80, seed: 12, copies: 0 })
    .map(normalise)
    .flatMap((text) => {
      const numbers = Array.from({ length: 12 }, () => String(1_000_000 + pick(9_000_000)));
      const words = text.split(" ").slice(9, 80);
      return Array.from({ length: 12 }, (_, variant) => {
        const cuts = Array.from({ length: variant }, () => 1 + pick(words.length - 1)).sort(
          (a, b) => a - b,
        );
        const pieces = [0, ...cuts]
          .map((from, i) => words.slice(from, cuts[i] ?? words.length).join(" "))
          .filter((piece) => piece !== "");
        const order = pieces
          .map((piece) => ({ piece, key: random() }))
          .sort((a, b) => a.key - b.key)
          .map(({ piece }) => piece);
        return `${order.join(" ")} ${numbers.map((number, i) => (i === 0 && variant % 3 === 1 ? String(pick(1e6) + 1e6) : number)).join(" ")}`;
      });
    });
  return [...new Set(texts)];
}

/** Every pair scored with no sketch, no band and no bound. */
function exhaustive(texts: readonly string[], parameters: AnalysisParameters): Edge[] {
  const parts = texts.map((text) => {
    const sample = sampleOf(text, parameters.fuzzySampleSize);
    return {
      set: shingleSet(text, parameters.ngramSize),
      sorted: wordSorted(sample),
      tokens: tokensOf(sample),
    };
  });
  const edges: Edge[] = [];
  for (const [low, a] of parts.entries())
    for (const [high, b] of parts.entries()) {
      if (high <= low) continue;
      const jaccard = jaccardAtLeast(a.set, b.set, 0);
      const discriminative = parameters.discriminativePenaltyStrength
        ? discriminativeScore(a.tokens, b.tokens)
        : Number.NaN;
      const d = Number.isNaN(discriminative) ? 1 : discriminative;
      if (confidence(jaccard, 1, d, parameters) < parameters.similarityThreshold) continue;
      const fuzzy = parameters.confidenceWeightFuzzy ? fuzzyRatio(a.sorted, b.sorted) : Number.NaN;
      const total = confidence(jaccard, fuzzy || 0, d, parameters);
      if (total >= parameters.similarityThreshold)
        edges.push({ low, high, jaccard, fuzzy, discriminative, confidence: total });
    }
  return edges;
}

/** Texts that are alike but for three words. */
function nearIdentical(count: number): string[] {
  const random = mulberry32(5);
  const [base = ""] = createCorpus({ documents: 1, words: 200, seed: 6 }).map(normalise);
  // Without the head, whose numbers tell texts apart.
  const words = base.split(" ").slice(12);
  return Array.from({ length: count }, (_, i) =>
    [1, 2, 3]
      .reduce((own, edit) => own.with(Math.floor(random() * own.length), `edit${i}x${edit}`), words)
      .join(" "),
  );
}

describe("the analysis", () => {
  const texts = corpus(500);
  const truth = exhaustive(texts, defaultParameters);

  it("finds only true pairs, with the scores of comparing all, and shares a group for each", async () => {
    const outcome = await analyse(inputOf(texts));
    expect(truth.length).toBeGreaterThan(100);
    expectExact(outcome, truth);
    expect(outcome.stats).toMatchObject({
      classes: texts.length,
      signed: texts.length,
      reused: 0,
      missing: 0,
      edges: edgesOf(outcome).length,
      limitedClasses: 0,
    });
    expect(outcome.stats.verified).toBeLessThanOrEqual(outcome.stats.candidates);
  });

  // At the floor the bands meet 99.96 % of the pairs by design; no other bound may lose any.
  it("loses fewer than one pair in a thousand at the edge of its bounds, and alters none", async () => {
    const close = borderline(60);
    const edges = exhaustive(close, defaultParameters);
    expect(
      edges.filter((edge) => edge.jaccard < 0.62 && edge.discriminative === 1).length,
    ).toBeGreaterThan(20);
    expect(
      edges.filter((edge) => edge.confidence < 0.77 && edge.discriminative < 1).length,
    ).toBeGreaterThan(20);
    expectExact(await analyse(inputOf(close)), edges);
  });

  for (const change of [
    { discriminativePenaltyStrength: 0 },
    { discriminativePenaltyStrength: 100 },
    { similarityThreshold: 0.3 },
    { similarityThreshold: 0.5 },
    { similarityThreshold: 0.9 },
    { similarityThreshold: 1 },
    { confidenceWeightJaccard: 0, confidenceWeightFuzzy: 100 },
    { confidenceWeightJaccard: 100, confidenceWeightFuzzy: 0 },
    { confidenceWeightJaccard: 100, confidenceWeightFuzzy: 0, discriminativePenaltyStrength: 0 },
    { numPermutations: 130, numBands: 65, ngramSize: 2 },
    { fuzzySampleSize: 100, confidenceWeightJaccard: 70, confidenceWeightFuzzy: 30 },
  ]) {
    it(`does so with ${JSON.stringify(change)}`, async () => {
      const given: AnalysisParameters = { ...defaultParameters, ...change };
      const parameters = "numBands" in change ? given : { ...given, numBands: planBands(given) };
      expectExact(await analyse(inputOf(texts, { parameters })), exhaustive(texts, parameters));
    });
  }

  it("gives the same with one thread, with the texts in another order and with other batches", async () => {
    const expected = groupsOf(await analyse(inputOf(texts)), texts);
    expect(groupsOf(await analyse(inputOf(texts, { pool: one })), texts)).toEqual(expected);
    for (const seed of [3, 4]) {
      const random = mulberry32(seed);
      const shuffled = texts
        .map((text) => ({ text, key: random() }))
        .sort((a, b) => a.key - b.key)
        .map(({ text }) => text);
      expect(groupsOf(await analyse(inputOf(shuffled)), shuffled)).toEqual(expected);
    }
  });

  it("covers a component that is too large for one task as it covers a small one", async () => {
    const alike = nearIdentical(700);
    const outcome = await analyse(inputOf(alike));
    expectExact(outcome, exhaustive(alike, defaultParameters));
    // About one verification for each text, of 244,650 pairs.
    expect(outcome.stats.verified).toBeLessThan(2 * alike.length);
    const reversed = alike.toReversed();
    expect(groupsOf(await analyse(inputOf(reversed, { pool: one })), reversed)).toEqual(
      groupsOf(outcome, alike),
    );
  });

  it("breaks a chain of near-misses into small groups", async () => {
    const words = Array.from({ length: 60 }, (_, i) => `link${i}`);
    const chain = Array.from({ length: 30 }, (_, step) =>
      words.map((word, i) => (i < step * 2 ? `${word}x` : word)).join(" "),
    );
    const outcome = await analyse(inputOf(chain));
    expectExact(outcome, exhaustive(chain, defaultParameters));
    expect(outcome.stars.length).toBeGreaterThan(3);
    for (const { members } of outcome.stars) expect(members.length).toBeLessThan(15);
  });

  it("keeps bills of one layout apart, and puts a bill scanned twice together", async () => {
    const [layout = ""] = createCorpus({ documents: 1, words: 120, seed: 21 }).map(normalise);
    const bill = (number: number): string =>
      `${layout} invoice no. ${410_000 + number * 37} date 2024-${String(1 + (number % 12)).padStart(2, "0")}-${String(1 + (number % 28)).padStart(2, "0")} total $${4_000 + number},388.46 due`;
    const bills = Array.from({ length: 40 }, (_, number) => bill(number));
    const scanned = `${bill(7)} copy`;
    const outcome = await analyse(inputOf([...bills, scanned]));
    expect(edgesOf(outcome).map(({ low, high }) => [low, high])).toEqual([[7, 40]]);
  });

  it("reports each phase up to its end", async () => {
    const last = new Map<string, [number, number]>();
    await analyse(
      inputOf(texts, {
        progress: (phase, done, total) => {
          expect(done).toBeGreaterThanOrEqual(last.get(phase)?.[0] ?? 0);
          last.set(phase, [done, total]);
        },
      }),
    );
    expect([...last.keys()]).toEqual(["sign", "join", "cover"]);
    for (const [done, total] of last.values()) expect(done).toBe(total);
  });

  it("has nothing to say about no text and one text", async () => {
    expect((await analyse(inputOf([]))).stats.edges).toBe(0);
    expect((await analyse(inputOf(["only one text here"]))).stats.edges).toBe(0);
  });

  it("leaves out a text that is gone, be it before it is signed or before it is compared", async () => {
    const [first] = edgesOf(await analyse(inputOf(texts))).map((edge) => edge.low);
    const rest = texts.filter((_, i) => i !== first);
    const expected = groupsOf(await analyse(inputOf(rest)), rest);
    const without =
      (from: number): AnalysisInput["text"] =>
      (indexes) =>
        indexes.map((i) =>
          i === first && (reads += 1) > from ? undefined : compressText(texts[i] ?? "", 1),
        );
    let reads = 0;
    const unsigned = await analyse(inputOf(texts, { text: without(0) }));
    expect(unsigned.stats.missing).toBe(1);
    expect(groupsOf(unsigned, texts)).toEqual(expected);
    reads = 0;
    const uncompared = await analyse(inputOf(texts, { text: without(1) }));
    expect(reads).toBe(2);
    const left = truth.filter(({ low, high }) => low !== first && high !== first);
    expectExact(uncompared, left);
  });

  it("compares a long run of texts that agree in a band piece by piece", async () => {
    const alike = Array.from(
      { length: 1_100 },
      (_, i) => `${Array.from({ length: 40 }, (_, w) => `word${w}`).join(" ")} end${i}`,
    );
    const { stats } = await analyse(inputOf(alike));
    expect(stats).toMatchObject({ candidates: (1_100 * 1_099) / 2, limitedClasses: 1_100 });
    expect(stats.verified).toBeLessThan(3 * 1_100);
  });

  it("refuses parameters out of range", async () => {
    await expect(
      analyse(inputOf(texts, { parameters: { ...defaultParameters, numBands: 0 } })),
    ).rejects.toMatchObject({ code: "invalid", field: "numBands" });
  });
});

describe("signatures kept from before", () => {
  const texts = corpus(300);

  it("are all reused over an environment after a restart, with the same result", async () => {
    const spec = {
      name: "dedup-sketch",
      tables: sketchTables,
      schema: SKETCH_SCHEMA,
      derived: true,
      maxBytes: 2 ** 30,
    };
    const open = () =>
      createStateFactory({ directory: folder, clock: systemClock, log }).open(spec);
    const first = await open();
    const before = await analyse(inputOf(texts, { sketches: createEnvSketchStore(first) }));
    await first.close();
    const second = await open();
    const after = await analyse(inputOf(texts, { sketches: createEnvSketchStore(second) }));
    await second.close();
    expect(edgesOf(after)).toEqual(edgesOf(before));
    expect(after.stats).toEqual({
      ...before.stats,
      signed: 0,
      reused: texts.length,
    } satisfies AnalysisStats);
  });

  it("of a run that was cut off are found again", async () => {
    const sketches = createMemorySketchStore();
    const stop = new AbortController();
    const many = corpus(1_500);
    const cut = analyse(
      inputOf(many, {
        sketches,
        signal: stop.signal,
        progress: (_, done) => (done > 0 ? stop.abort(new Error("cut")) : undefined),
      }),
    );
    await expect(cut).rejects.toThrow("cut");
    const outcome = await analyse(inputOf(many, { sketches }));
    expect(outcome.stats.reused).toBeGreaterThan(0);
    expect(outcome.stats.signed).toBeGreaterThan(0);
    expect(edgesOf(outcome)).toEqual(edgesOf(await analyse(inputOf(many))));
  });

  it("of one text each are put together once there are hundreds, so that an analysis a day stays cheap", async () => {
    const [whole, single] = [createMemorySketchStore(), createMemorySketchStore()];
    const many = corpus(600);
    await analyse(inputOf(many, { sketches: whole }));
    for await (const buffer of whole.peek()) {
      const block = readBlock(buffer);
      const layout = { sketchSize: block.sketchSize, numBands: block.numBands };
      for (let slot = 0; slot < block.classes; slot += 1)
        await single.save(writeBlock(block.fingerprint, layout, [signatureAt(block, slot)]));
    }
    expect((await ids(single)).length).toBe(many.length);
    const outcome = await analyse(inputOf(many, { sketches: single }));
    expect(outcome.stats).toMatchObject({ reused: many.length, signed: 0 });
    expect((await ids(single)).length).toBeLessThan(10);
    expect(edgesOf(outcome)).toEqual(edgesOf(await analyse(inputOf(many, { sketches: single }))));
  });

  it("take turns with other work while they are loaded", async () => {
    const sketches = createMemorySketchStore();
    const many = corpus(3_000);
    await analyse(inputOf(many, { sketches }));
    let turns = 0;
    const stop = new AbortController();
    const count = (): void => {
      turns += 1;
      if (!stop.signal.aborted) setImmediate(count);
    };
    const progress = (_phase: string, done: number): void => {
      if (turns === 0) setImmediate(count);
      if (done === many.length) stop.abort(new Error("loaded"));
    };
    await expect(
      analyse(inputOf(many, { sketches, signal: stop.signal, progress })),
    ).rejects.toThrow("loaded");
    expect(turns).toBeGreaterThan(1);
  });

  it("serve any selection of the texts, and are written anew when most of them are of no use", async () => {
    const sketches = createMemorySketchStore();
    const many = corpus(1_200);
    await analyse(inputOf(many, { sketches }));
    const few = many.filter((_, i) => i % 5 === 0);
    const size = async (): Promise<number> => {
      let bytes = 0;
      for (const { id } of await ids(sketches)) bytes += (await sketches.read(id)).byteLength;
      return bytes;
    };
    const before = await size();
    const outcome = await analyse(inputOf(few, { sketches }));
    expect(outcome.stats).toMatchObject({ reused: few.length, signed: 0 });
    expect(await size()).toBeLessThan(before / 3);
    const again = await analyse(inputOf(few, { sketches }));
    expectExact(again, exhaustive(few, defaultParameters));
  });

  it("made with other parameters are made again", async () => {
    const sketches = createMemorySketchStore();
    await analyse(inputOf(texts, { sketches }));
    const outcome = await analyse(
      inputOf(texts, { sketches, parameters: { ...defaultParameters, ngramSize: 2 } }),
    );
    expect(outcome.stats).toMatchObject({ reused: 0, signed: texts.length });
  });
});

async function ids(store: ReturnType<typeof createMemorySketchStore>): Promise<{ id: number }[]> {
  const { parametersFingerprint } = await import("../../../src/dedup/analysis/parameters.ts");
  const found: { id: number }[] = [];
  for await (const { id } of store.load(parametersFingerprint(defaultParameters)))
    found.push({ id });
  return found;
}

describe("cancelling", () => {
  const texts = corpus(3_000);

  for (const phase of ["sign", "join", "cover"] as const) {
    it(`is felt within 250 ms while it is in phase ${phase}, with the signal's reason`, async () => {
      expect(
        await fastest(250, async () => {
          const stop = new AbortController();
          const reason = new Error(`stop in ${phase}`);
          let firedAtMs = 0;
          const running = analyse(
            inputOf(texts, {
              signal: stop.signal,
              progress: (now) => {
                if (now !== phase || firedAtMs > 0) return;
                firedAtMs = performance.now();
                stop.abort(reason);
              },
            }),
          );
          await expect(running).rejects.toBe(reason);
          return performance.now() - firedAtMs;
        }),
      ).toBeLessThan(250);
    });
  }

  it("before it began starts nothing", async () => {
    await expect(
      analyse(inputOf(texts, { signal: AbortSignal.abort(new Error("no")) })),
    ).rejects.toThrow("no");
  });
});
