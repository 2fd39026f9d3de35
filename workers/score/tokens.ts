/**
 * Reads the discriminative tokens of a text. Dates are claimed first, then times, then amounts;
 * what one of them has claimed no other category sees, so a date or a sum of money counts once. An
 * identifier that is a long number stays a reference too: the label before it may be misread in a
 * scan, the number still speaks. docs/decisions/discriminative-tokens.md has the rules and the
 * reasons.
 */
import { findAmounts } from "./amounts.ts";
import { findDates } from "./dates.ts";
import { withAsciiDigits } from "./digits.ts";
import { findIdentifiers } from "./identifiers.ts";
import { findReferences } from "./references.ts";
import { findRoutes } from "./routes.ts";
import { findTimes } from "./times.ts";
import { distinctTokens, withoutFound, type TokenSets } from "./token-sets.ts";

/**
 * The six token sets of a sample: normalised text, that is lower-case with single spaces. Time
 * grows with the length of the sample, whatever is in it.
 */
export function tokensOf(sample: string): TokenSets {
  const text = withAsciiDigits(sample);
  const dates = findDates(text);
  const undated = withoutFound(text, dates);
  const times = findTimes(undated);
  const timeless = withoutFound(undated, times);
  const amounts = findAmounts(timeless);
  const rest = withoutFound(timeless, amounts);
  return {
    dates: distinctTokens(dates),
    times: distinctTokens(times),
    amounts: distinctTokens(amounts),
    identifiers: distinctTokens(findIdentifiers(rest)),
    references: distinctTokens(findReferences(rest)),
    routes: distinctTokens(findRoutes(rest)),
  };
}
