/** Why two documents are duplicates, or why not, for people and as JSON. */
import type { Difference, Stretch } from "../../../gateway/web/difference.ts";
import type { AnalysisParameters } from "../../dedup/analysis/parameters.ts";
import type { DocumentComparison, WeightedTokens } from "../../dedup/compare-documents.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import { encodeJson } from "./json.ts";
import type { Style } from "./style.ts";
import { counted, formatCount } from "./text.ts";

/** One of the two. */
export interface ExplainedDocument {
  readonly id: string;
  readonly title: string;
  readonly words: number;
  /** Only the beginning of its text is compared. */
  readonly truncated: boolean;
  /** False for a text with fewer words than are analysed. */
  readonly analysed: boolean;
}

/** A pair with everything that its confidence is made of. */
export interface Explanation {
  readonly documents: readonly [ExplainedDocument, ExplainedDocument];
  readonly parameters: AnalysisParameters;
  readonly compared: DocumentComparison;
  readonly difference: Difference;
}

/** Differences and tokens shown; the others are counted. */
const MAX_DIFFERENCES = 20;
const MAX_TOKENS = 20;
/** Words shown of one side of a difference. */
const MAX_WORDS = 12;

const SIGNIFICANT = 4;

/** One JSON object. */
export function formatExplanationJson(explanation: Explanation): string {
  const { documents, parameters, compared } = explanation;
  return `${encodeJson({ documents, ...compared, parameters })}\n`;
}

/** Verdict, scores, tokens, words that differ. */
export function formatExplanation(explanation: Explanation, style: Style): string {
  const { documents } = explanation;
  return [
    ...documents.map((document, at) => describe(document, at === 0 ? "first: " : "second:")),
    "",
    style.strong(verdict(explanation)),
    "",
    ...scores(explanation),
    ...tokens(explanation, style),
    ...differences(explanation.difference, style),
    "",
  ].join("\n");
}

function describe({ id, words, truncated }: ExplainedDocument, place: string): string {
  return `${place} ${printable(id)} (${counted(words, "word")}${truncated ? ", truncated" : ""})`;
}

function verdict({ documents, compared, parameters }: Explanation): string {
  const short = documents.findIndex(({ analysed }) => !analysed);
  if (short >= 0)
    return `Not compared: the ${short === 0 ? "first" : "second"} has ${counted(documents[short]?.words ?? 0, "word")}, and texts of fewer than ${Math.max(parameters.minWords, parameters.ngramSize)} are not analysed.`;
  if (compared.sameText) return "Duplicates: the texts are the same, word for word.";
  const { confidence, duplicates } = compared;
  return duplicates
    ? `Duplicates: the confidence ${shown(confidence)} reaches the threshold ${parameters.similarityThreshold}.`
    : `Not duplicates: the confidence ${shown(confidence)} is below the threshold ${parameters.similarityThreshold}.`;
}

function scores({ compared, parameters }: Explanation): string[] {
  const { jaccard, fuzzy, discriminative, confidence } = compared;
  const { confidenceWeightJaccard, confidenceWeightFuzzy, discriminativePenaltyStrength } =
    parameters;
  const base = (confidenceWeightJaccard * jaccard + confidenceWeightFuzzy * fuzzy) / 100;
  const penalty = discriminativePenaltyStrength / 100;
  const phrase = parameters.ngramSize === 1 ? "words" : `phrases of ${parameters.ngramSize} words`;
  return [
    `  ${shown(jaccard)}  Jaccard similarity: share of ${phrase} that are in both texts`,
    `  ${shown(fuzzy)}  fuzzy ratio: letters alike once the words are sorted`,
    `  ${shown(base)}  base: ${confidenceWeightJaccard} % Jaccard similarity, ${confidenceWeightFuzzy} % fuzzy ratio`,
    `  ${shown(discriminative)}  discriminative score: ${describeTokens(compared)}`,
    `  ${shown(confidence)}  confidence: base × (1 − ${penalty} × (1 − ${shown(discriminative)}))`,
  ];
}

function describeTokens({ tokens, discriminative }: DocumentComparison): string {
  if (tokens.length === 0) return "neither text has dates, amounts or numbers";
  return discriminative === 1
    ? "dates, amounts and numbers are the same"
    : "agreement of dates, amounts and numbers";
}

/** Rounded down, so that a score below the threshold never reads as one that reaches it. */
function shown(score: number): string {
  const factor = 10 ** SIGNIFICANT;
  return (Math.floor(score * factor + 1e-9) / factor).toFixed(SIGNIFICANT);
}

function tokens({ compared }: Explanation, style: Style): string[] {
  if (compared.tokens.length === 0) return [];
  return [
    "",
    "Dates, amounts and numbers:",
    ...compared.tokens.flatMap((each) => category(each, style)),
  ];
}

function category(
  { category: name, weight, shared, onlyA, onlyB }: WeightedTokens,
  style: Style,
): string[] {
  const line = (label: string, list: readonly string[], paint: (text: string) => string) =>
    list.length === 0 ? [] : [`    ${label} ${paint(listTokens(list))}`];
  return [
    `  ${name} (weight ${weight})`,
    ...line("in both:        ", shared, style.good),
    ...line("only the first: ", onlyA, style.bad),
    ...line("only the second:", onlyB, style.bad),
  ];
}

function listTokens(all: readonly string[]): string {
  const listed = all.slice(0, MAX_TOKENS).map((token) => printable(token.replace(">", " to ")));
  const more = all.length - listed.length;
  return `${listed.join(", ")}${more > 0 ? ` and ${formatCount(more)} more` : ""}`;
}

function differences({ stretches, truncated }: Difference, style: Style): string[] {
  const changed = stretches.filter(({ same }) => !same);
  const rest = changed.length - MAX_DIFFERENCES;
  return [
    "",
    changed.length === 0
      ? "No word differs."
      : `Words that differ, in ${counted(changed.length, "place")}:`,
    ...changed.slice(0, MAX_DIFFERENCES).flatMap((stretch) => difference(stretch, style)),
    ...(rest > 0 ? [`  and in ${counted(rest, "more place")}`] : []),
    ...(truncated
      ? ["  Only the first 20,000 words of each text were compared for this list."]
      : []),
  ];
}

function difference({ left, right }: Stretch, style: Style): string[] {
  return [
    ...(left.length === 0 ? [] : [style.bad(`  - ${words(left)}`)]),
    ...(right.length === 0 ? [] : [style.good(`  + ${words(right)}`)]),
  ];
}

function words(list: readonly string[]): string {
  const more = list.length - MAX_WORDS;
  const text = printable(list.slice(0, MAX_WORDS).join(" "));
  return more > 0 ? `${text} … (${counted(more, "more word")})` : text;
}
