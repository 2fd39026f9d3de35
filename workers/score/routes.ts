/**
 * Routes as `x>y`, in the direction of travel: "outbound: osl - cdg", "from osl to cdg", "von osl
 * nach cdg".
 */
import { anyOf, ROUTE_LABELS } from "./labels.ts";
import { collect, type Found } from "./token-sets.ts";

const PLACE = "(?<![\\p{L}\\d])(\\p{L}{2,5})";
/** Found from its dash backwards, since dashes are rarer than words. */
const LABELLED = new RegExp(
  `(?=[-–—])(?<=(?<![\\p{L}\\d])${anyOf(ROUTE_LABELS)}[\\s:]{1,3}${PLACE}\\s?)[-–—]\\s?(\\p{L}{2,5})(?![\\p{L}\\d])`,
  "gu",
);
const FROM_TO = new RegExp(
  `(?=[fv])(?<![\\p{L}\\d])(?:from\\s${PLACE}\\sto|von\\s${PLACE}\\snach)\\s(\\p{L}{2,5})(?![\\p{L}\\d])`,
  "gu",
);

/** The routes of a lower-case text; "from time to time" is none. */
export function findRoutes(text: string): readonly Found[] {
  return [
    ...collect(text, LABELLED, ([, origin, destination]) => route(origin, destination)),
    ...collect(text, FROM_TO, ([, english, german, destination]) =>
      route(english ?? german, destination),
    ),
  ];
}

function route(origin: string | undefined, destination: string | undefined): string | undefined {
  return origin === undefined || destination === undefined || origin === destination
    ? undefined
    : `${origin}>${destination}`;
}
