/**
 * The parameters that stored groups were made with, and whether those in effect now may give other
 * groups.
 */
import type { Env } from "../../kernel/state/types.ts";
import { jaccardFloor } from "../../../workers/score/confidence.ts";
import { ALGORITHM_VERSION } from "../groups/row.ts";
import { metaNumber, metaText } from "../meta.ts";
import { createBreath } from "./breath.ts";
import type { AnalysisParameters } from "./parameters.ts";
import type { SketchStore } from "./sketch-store.ts";
import { mayDiffer } from "./verdicts.ts";

/** Everything but `autoAnalyze`: what groups and scores depend on. */
type GroupingParameters = Omit<AnalysisParameters, "autoAnalyze">;

/** The parameters of the weights, which change scores, and which pairs pass. */
type Weights = Pick<
  AnalysisParameters,
  "confidenceWeightJaccard" | "confidenceWeightFuzzy" | "discriminativePenaltyStrength"
>;

const STALE_KEYS = [
  "numPermutations",
  "numBands",
  "ngramSize",
  "minWords",
  "similarityThreshold",
  "fuzzySampleSize",
] as const;

const WEIGHT_KEYS = [
  "confidenceWeightJaccard",
  "confidenceWeightFuzzy",
  "discriminativePenaltyStrength",
] as const;

/** The text that is stored with the groups of an analysis. */
export function analysisFingerprint(parameters: AnalysisParameters): string {
  return JSON.stringify({
    ALGORITHM_VERSION,
    ...Object.fromEntries([...STALE_KEYS, ...WEIGHT_KEYS].map((key) => [key, parameters[key]])),
  });
}

/** The text that is stored with scores. */
export function weightsFingerprint(parameters: Weights): string {
  return JSON.stringify(Object.fromEntries(WEIGHT_KEYS.map((key) => [key, parameters[key]])));
}

/** What a fingerprint says about the groups under the parameters in effect now. */
type Staleness =
  | { readonly kind: "fresh" }
  /** Another analysis may give other groups. */
  | { readonly kind: "stale" }
  /** Only if a pair that was verified passes now and failed then, or the other way round. */
  | { readonly kind: "verdicts"; readonly before: GroupingParameters };

/**
 * Compares a stored fingerprint with the parameters in effect. Which pairs meet depends on the
 * Jaccard floor, so weights that move it may give another cover. With the penalty alone the same
 * pairs meet, and a cover is a function of the verdicts on them.
 */
function stalenessOf(fingerprint: string, now: GroupingParameters): Staleness {
  const before = parametersOf(fingerprint);
  if (before === undefined || STALE_KEYS.some((key) => before[key] !== now[key]))
    return { kind: "stale" };
  if (jaccardFloor(before) !== jaccardFloor(now)) return { kind: "stale" };
  if (WEIGHT_KEYS.every((key) => before[key] === now[key])) return { kind: "fresh" };
  return { kind: "verdicts", before };
}

/** Undefined for the fingerprint of another version. */
function parametersOf(fingerprint: string): GroupingParameters | undefined {
  const stored = JSON.parse(fingerprint) as Partial<GroupingParameters> & {
    ALGORITHM_VERSION?: string;
  };
  const whole = [...STALE_KEYS, ...WEIGHT_KEYS].every((key) => typeof stored[key] === "number");
  return whole && stored.ALGORITHM_VERSION === ALGORITHM_VERSION
    ? (stored as GroupingParameters)
    : undefined;
}

export interface StaleCheckDeps {
  /** Holds the meta table. */
  readonly env: Env;
  readonly verdicts: Pick<SketchStore, "peek">;
  /** The parameters as they are set now. */
  readonly parameters: () => AnalysisParameters;
  /** Whether an analysis is running, which changes the verdicts. */
  readonly analysing: () => boolean;
  readonly signal: AbortSignal;
}

/** `parameters` are those in effect now if not given. */
export type StaleCheck = (parameters?: AnalysisParameters) => Promise<boolean>;

/**
 * Whether an analysis with these parameters may give other groups than the stored ones; false
 * before the first analysis. Reads verdicts only when nothing but the penalty has changed, and
 * once for the same question.
 */
export function createStaleCheck(deps: StaleCheckDeps): StaleCheck {
  let last: { readonly key: string; readonly stale: boolean } | undefined;
  return async (parameters = deps.parameters()) => {
    const { fingerprint, atMs } = deps.env.read((snapshot) => ({
      fingerprint: metaText(snapshot, "analysisFingerprint"),
      atMs: metaNumber(snapshot, "lastAnalysisAtMs"),
    }));
    if (fingerprint === undefined) return false;
    const staleness = stalenessOf(fingerprint, parameters);
    if (staleness.kind !== "verdicts") return staleness.kind === "stale";
    if (deps.analysing()) return true;
    const key = `${atMs} ${fingerprint} ${weightsFingerprint(parameters)}`;
    if (last?.key !== key) {
      const breath = createBreath(deps.signal);
      const stale = await mayDiffer(deps.verdicts, staleness.before, parameters, breath);
      last = { key, stale };
    }
    return last.stale;
  };
}
