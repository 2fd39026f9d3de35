import { describe, expect, it } from "vitest";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { pairSteps, planSteps } from "../../../src/dedup/plan/rule.ts";
import type {
  PlanDocument,
  PlanGroup,
  PlanInput,
  PlannedDocuments,
} from "../../../src/dedup/plan/rule.ts";
import { runAtOnce } from "../groups/run-at-once.ts";

/** Numbers from 0 to 1, the same for each seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function scores(confidence: number): PairScores {
  return { confidence, jaccard: confidence, fuzzy: confidence, discriminative: 1 };
}

interface World extends PlanInput {
  readonly documents: readonly PlanDocument[];
}

/** Groups over few documents, so that most documents are in several groups. */
function world(seed: number): World {
  const next = random(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  const size = 3 + below(25);
  const documents = Array.from({ length: size }, (): PlanDocument => {
    const held = next() < 0.1 ? "is held" : undefined;
    const unfit = next() < 0.1 ? "is unfit" : undefined;
    const id = below(4);
    const file = next() < 0.3 ? { id: `${id}`, names: 1 + id } : undefined;
    return { held, unfit, file };
  });
  const verified = new Map<string, number>();
  for (let a = 0; a < size; a += 1)
    for (let b = a + 1; b < size; b += 1)
      if (next() < 0.6) verified.set(`${a} ${b}`, 0.75 + next() / 4);
  const groups = Array.from({ length: 1 + below(12) }, (_, index): PlanGroup => {
    const members = [...documents.keys()].filter(() => next() < 0.3);
    if (members.length < 2) members.push(...[0, 1].filter((one) => !members.includes(one)));
    return {
      id: `g${index}`,
      members,
      primary: members[below(members.length)] ?? 0,
      changed: new Set(members.filter(() => next() < 0.05)),
    };
  });
  const stays = new Set([...documents.keys()].filter(() => next() < 0.1));
  return {
    documents,
    groups,
    stays,
    document: (number) => documents[number] ?? {},
    scores: (a, b) => {
      const known = verified.get(`${Math.min(a, b)} ${Math.max(a, b)}`);
      return known === undefined ? undefined : scores(known);
    },
  };
}

const planDocuments = (input: PlanInput): PlannedDocuments => runAtOnce(planSteps(input));

describe("the rule of delete plans", () => {
  it("lets nothing go that has no verified pair with a document that stays, in 3,000 random graphs", () => {
    let went = 0;
    for (let seed = 1; seed <= 3_000; seed += 1) {
      const input = world(seed);
      const { go, retained } = planDocuments(input);
      const gone = new Set(go.map(({ document }) => document));
      expect(gone.size, `seed ${seed}`).toBe(go.length);
      for (const { document, keep, group, scores: shown } of go) {
        const why = `seed ${seed}, document ${document}`;
        expect(gone.has(keep), why).toBe(false);
        expect(input.scores(document, keep), why).toEqual(shown);
        const own = input.groups.find(({ id }) => id === group);
        expect(own?.members, why).toContain(document);
        expect(own?.primary, why).toBe(keep);
        expect(own?.changed?.has(document) || own?.changed?.has(keep), why).toBe(false);
        expect(input.stays?.has(document), why).toBe(false);
        expect(input.documents[document]?.held, why).toBeUndefined();
        expect(input.documents[keep]?.unfit, why).toBeUndefined();
      }
      for (const { primary } of input.groups) expect(gone.has(primary)).toBe(false);
      for (const document of gone) {
        const file = input.documents[document]?.file;
        const names = go.filter((other) => input.documents[other.document]?.file?.id === file?.id);
        if (file) expect(names.length).toBeGreaterThanOrEqual(file.names);
      }
      // Every member is a primary, goes, or stays with a reason; never two of these.
      const primaries = new Set(input.groups.map(({ primary }) => primary));
      const kept = retained.map(({ document }) => document);
      expect(new Set(kept).size).toBe(kept.length);
      for (const document of new Set(input.groups.flatMap(({ members }) => members))) {
        const places = Number(gone.has(document)) + Number(kept.includes(document));
        expect(primaries.has(document) ? Math.min(places, 1) : places, `seed ${seed}`).toBe(
          primaries.has(document) ? Math.min(places, 1) : 1,
        );
      }
      went += go.length;
    }
    expect(went).toBeGreaterThan(5_000);
  });

  it("does not leave out a document that could go", () => {
    for (let seed = 1; seed <= 1_000; seed += 1) {
      const input = world(seed);
      const { go, retained } = planDocuments(input);
      const staying = new Set([...(input.stays ?? []), ...input.groups.map((one) => one.primary)]);
      const gone = new Set(go.map(({ document }) => document));
      for (const { document, reason } of retained) {
        if (staying.has(document) || reason.includes("hard link")) continue;
        const could = input.groups.some(
          ({ members, primary, changed }) =>
            members.includes(document) &&
            input.documents[document]?.held === undefined &&
            input.documents[primary]?.unfit === undefined &&
            !changed?.has(document) &&
            !changed?.has(primary) &&
            input.scores(document, primary) !== undefined,
        );
        expect(could, `seed ${seed}, document ${document}`).toBe(false);
        expect(gone.has(document)).toBe(false);
      }
    }
  });

  it("asks for the scores of every pair that it uses", () => {
    for (let seed = 1; seed <= 500; seed += 1) {
      const input = world(seed);
      const asked = new Set(runAtOnce(pairSteps(input, () => true)).map((pair) => pair.join()));
      const used: string[] = [];
      planDocuments({
        ...input,
        scores: (a, b) => {
          used.push([a, b].join());
          return input.scores(a, b);
        },
      });
      expect(used.filter((pair) => !asked.has(pair))).toEqual([]);
    }
  });

  it("keeps every other document of a drifting chain for which one stays", () => {
    // Each is like its neighbours only; groups of three overlap, the primary is not the centre.
    const size = 200;
    const groups = Array.from({ length: size - 2 }, (_, at): PlanGroup => ({
      id: `g${at}`,
      primary: at,
      members: [at, at + 1, at + 2],
    }));
    const { go } = planDocuments({
      groups: groups.filter((_, at) => at % 3 === 0),
      document: () => ({}),
      scores: (a, b) => (Math.abs(a - b) <= 1 ? scores(0.8) : undefined),
    });
    expect(go.length).toBe(66);
    for (const { document, keep } of go) expect(document - keep).toBe(1);
  });

  it("takes the best pair of several groups, the earlier group among equals", () => {
    const { go } = planDocuments({
      groups: [
        { id: "a", primary: 1, members: [1, 5] },
        { id: "b", primary: 2, members: [2, 5] },
        { id: "c", primary: 3, members: [3, 5] },
      ],
      document: () => ({}),
      scores: (_, primary) => scores(primary === 1 ? 0.8 : 0.9),
    });
    expect(go).toEqual([{ document: 5, keep: 2, group: "b", scores: scores(0.9) }]);
  });

  it.each<[string, Readonly<Record<number, PlanDocument>>, string]>([
    ["a held document", { 2: { held: "was cut" } }, "was cut"],
    ["a primary that is unfit", { 1: { unfit: "was cut" } }, "has a primary that was cut"],
    ["a file with a name elsewhere", { 2: { file: { id: "f", names: 2 } } }, "hard link"],
  ])("says why %s stays", (_, documents, reason) => {
    const { go, retained } = planDocuments({
      groups: [{ id: "a", primary: 1, members: [1, 2] }],
      document: (number) => documents[number] ?? {},
      scores: () => scores(0.9),
    });
    expect(go).toEqual([]);
    expect(retained).toEqual([
      { document: 2, group: "a", reason: expect.stringContaining(reason) as string },
    ]);
  });

  it("lets a file with several names go when all of them go", () => {
    const file = { id: "f", names: 2 };
    const { go } = planDocuments({
      groups: [{ id: "a", primary: 1, members: [1, 2, 3] }],
      document: (number) => (number === 1 ? {} : { file }),
      scores: () => scores(1),
    });
    expect(go.map(({ document }) => document)).toEqual([2, 3]);
  });
});
