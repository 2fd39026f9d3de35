/** Names, dates and figures that the demo's documents share. All of them are invented. */
import type { Rules } from "./grammar.ts";
import type { Random } from "./random.ts";

const FIRST = [
  "Harriet",
  "Odile",
  "Tomasz",
  "Ngozi",
  "Piet",
  "Marisol",
  "Anselm",
  "Yuki",
  "Beatrix",
  "Rowan",
  "Ingrid",
  "Farid",
  "Lucinda",
  "Callum",
  "Dagny",
  "Emeka",
  "Fiona",
  "Gustav",
  "Hana",
  "Isidro",
  "Jolanda",
  "Kofi",
  "Leonie",
  "Matteo",
];
const LAST = [
  "Brandt",
  "Okafor",
  "Whitcombe",
  "Lindqvist",
  "Marchetti",
  "Dunne",
  "Halloran",
  "Petrov",
  "Vasquez",
  "Abernathy",
  "Sorensen",
  "Kaplan",
  "Mbeki",
  "Thorne",
  "Ishikawa",
  "Delacroix",
  "Novak",
  "Fairweather",
  "Aldridge",
  "Castellan",
];
const STREETS = [
  "Mill Lane",
  "Orchard Row",
  "Quayside",
  "Chapel Street",
  "Alder Close",
  "Station Road",
  "Harbour View",
  "Weavers Court",
  "Larch Avenue",
  "Tannery Yard",
  "Priory Walk",
  "Kiln Hill",
];
const TOWNS = [
  "Eastmere",
  "Saltbridge",
  "Hollin Cross",
  "Wexcombe",
  "Brackenford",
  "Lower Haddon",
  "Marlow Sands",
  "Thistleby",
];
const FIRMS = [
  "Northwind",
  "Greyfriars",
  "Bluebell",
  "Oakhurst",
  "Pennine",
  "Swiftwater",
  "Lantern",
  "Copperfield",
  "Ravensworth",
  "Tideway",
];

/** The month names, January first. */
export const MONTHS: readonly string[] = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

const DAY_MS = 86_400_000;

/** A person's full name. */
export function person(random: Random): string {
  return `${random.pick(FIRST)} ${random.pick(LAST)}`;
}

/** A postal address on one line. */
export function addressLine(random: Random): string {
  return `${random.integer(1, 98)} ${random.pick(STREETS)}, ${random.pick(TOWNS)}`;
}

/** A firm of a trade, e.g. `Lantern Joinery`. */
export function firm(random: Random, trade: string): string {
  return `${random.pick(FIRMS)} ${trade}`;
}

/** A day from 2019 to 2024. */
export function someDay(random: Random): number {
  return Date.UTC(2019, 0, 1) + random.integer(0, 6 * 365) * DAY_MS;
}

/** `daysFrom` moved by whole days. */
export function addDays(ms: number, days: number): number {
  return ms + days * DAY_MS;
}

/** `14 March 2024`. */
export function longDate(ms: number): string {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** `2024-03-14`. */
export function isoDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** `1,234.50`. */
export function money(cents: number): string {
  const whole = Math.floor(cents / 100)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return `${whole}.${String(cents % 100).padStart(2, "0")}`;
}

/** Rules that every kind of document may use. */
export function commonRules(random: Random, writtenAtMs: number): Rules {
  return {
    person: () => person(random),
    first: FIRST,
    last: LAST,
    street: STREETS,
    town: TOWNS,
    day: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    month: MONTHS,
    soon: () => longDate(addDays(writtenAtMs, random.integer(5, 80))),
    before: () => longDate(addDays(writtenAtMs, -random.integer(5, 200))),
    few: ["two", "three", "four", "five", "six"],
    many: ["a dozen", "nearly twenty", "more than thirty", "about forty", "well over fifty"],
    season: ["spring", "summer", "autumn", "winter"],
    sum: () => `${random.pick(["£", "€", "$"])}${money(random.integer(1500, 95_000))}`,
    clock: () =>
      `${String(random.integer(8, 20)).padStart(2, "0")}:${random.pick(["00", "15", "30", "45"])}`,
    colour: ["green", "dark blue", "ochre", "white", "slate grey", "brick red", "pale yellow"],
    good: ["sound", "pleasant", "sensible", "welcome", "splendid", "decent", "fair"],
    bad: ["tiresome", "worrying", "unlucky", "costly", "awkward", "regrettable", "dull"],
    how: [
      "carefully",
      "without fuss",
      "in good time",
      "at short notice",
      "by hand",
      "with some effort",
      "rather slowly",
      "as usual",
    ],
    where: [
      "in the hall",
      "behind the shed",
      "on the landing",
      "near the harbour",
      "at the old mill",
      "by the north gate",
      "in the cellar",
      "along the towpath",
    ],
    when: [
      "last week",
      "before the holidays",
      "on {day} morning",
      "late in {month}",
      "over the {season}",
      "a fortnight ago",
      "during the storm",
      "at the weekend",
    ],
  };
}
