/** The first lines of what `steward sign` and `steward verify` write: format, version, parameters. */
import { SIGNATURE_VERSION } from "../../../workers/parameters.ts";
import { FEATURES_VERSION } from "../../../workers/verify/text-features.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { parameterRanges } from "../analysis/parameters.ts";
import type { AnalysisParameters, CoverParameters } from "../analysis/parameters.ts";

const SIGNATURES = "steward-signatures";
const SCORES = "steward-scores";
/** Raised when a line means something else than before. */
const FORMAT_VERSION = 1;

/** What `steward verify` needs to know of the signatures. */
export interface SignatureHeader {
  readonly ngramSize: number;
  readonly numPermutations: number;
}

/** The first line of signatures. */
export function signatureHeader(
  { ngramSize, numPermutations, numBands, minWords }: AnalysisParameters,
  withText: boolean,
): string {
  return `${JSON.stringify({
    format: SIGNATURES,
    version: FORMAT_VERSION,
    signatureVersion: SIGNATURE_VERSION,
    ngramSize,
    numPermutations,
    numBands,
    minWords,
    text: withText,
  })}\n`;
}

/** The first line of scores. */
export function scoreHeader(parameters: CoverParameters, cover: boolean): string {
  return `${JSON.stringify({
    format: SCORES,
    version: FORMAT_VERSION,
    featuresVersion: FEATURES_VERSION,
    mode: cover ? "cover" : "pairs",
    ...parameters,
  })}\n`;
}

/** Reads the first line of signatures. Throws `invalid` for one of another version. */
export function readSignatureHeader(value: unknown, where: string): SignatureHeader {
  const header = (value ?? {}) as Readonly<Record<string, unknown>>;
  const expected = {
    format: SIGNATURES,
    version: FORMAT_VERSION,
    signatureVersion: SIGNATURE_VERSION,
  };
  for (const [field, wanted] of Object.entries(expected))
    if (header[field] !== wanted)
      throw new StewardError(
        "invalid",
        `${where}: ${field} must be ${JSON.stringify(wanted)} and is ${shown(header[field])}`,
        {
          field,
          remedy:
            field === "format"
              ? "begin with the first line that `steward sign` wrote"
              : "sign and verify with the same version of Steward",
        },
      );
  return {
    ngramSize: readNumber(header, "ngramSize", where),
    numPermutations: readNumber(header, "numPermutations", where),
  };
}

function readNumber(
  header: Readonly<Record<string, unknown>>,
  field: "ngramSize" | "numPermutations",
  where: string,
): number {
  const { least, most } = parameterRanges[field];
  const value = header[field];
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most)
    return value;
  throw new StewardError(
    "invalid",
    `${where}: ${field} must be a whole number from ${least} to ${most} and is ${shown(value)}`,
    { field, remedy: "begin with the first line that `steward sign` wrote" },
  );
}

function shown(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value).slice(0, 80);
}
