/** Invented leases and hire agreements. */
import type { DemoDocument } from "./document.ts";
import { slug } from "./document.ts";
import { addressLine, commonRules, isoDate, longDate, money, person, someDay } from "./facts.ts";
import { paragraphs, sentences, type Rules } from "./grammar.ts";
import type { Random } from "./random.ts";

const OBJECTS = [
  "flat",
  "lock-up garage",
  "workshop",
  "allotment",
  "studio",
  "mooring",
  "shop",
  "paddock",
  "attic room",
  "boat shed",
  "market stall",
  "cottage",
];

const CLAUSES = [
  "{^tenant} keeps the {fitting} in repair and has the {fitting} serviced each {season}.",
  "{^owner} insures the {object} against {risk}, and {tenant} whatever stands in it.",
  "No {nuisance} is allowed after {clock}.",
  "{^tenant} may put up a {fitting} only with written consent from {owner}.",
  "{^owner} may enter the {object} with {few} days' warning to look at the {fitting}.",
  "At the end the {object} is handed back {state}, ordinary wear excepted.",
  "The deposit of {sum} stays with {keeper} and earns no interest.",
  "Should {risk} make the {object} useless, the rent rests until it can be used again.",
  "{^tenant} clears {waste} from {place} whenever {owner} asks.",
  "Sharing the {object} with {guest} needs no leave for up to {few} weeks.",
  "A {fitting} found broken {when} is put right by {owner}.",
  "Keys lost by {tenant} are replaced together with the lock.",
  "{^owner} pays the {charge} and {tenant} pays the {charge2}.",
  "Animals other than {animal} are not kept in the {object}.",
  "Notice is given in writing, {few} months before the quarter ends.",
  "{^tenant} lets {neighbour} pass over {place} with a barrow.",
  "Rent that comes late by more than {few} weeks bears interest at {few} per cent.",
  "The {colour} paint outside is renewed every {few} years at the cost of {owner}.",
  "{^tenant} does not drive nails into {place}.",
  "Either side may ask {keeper} to settle a quarrel over the {fitting}.",
  "Snow and {waste} are swept from {place} before {clock}.",
  "An inventory naming the {fitting} and the {fitting} was signed on {before}.",
  "The use of the {object} for {trade} is expressly permitted.",
  "{^owner} promises {tenant} quiet enjoyment, {neighbour} notwithstanding.",
];

function leaseRules(random: Random, writtenAtMs: number, object: string): Rules {
  return {
    ...commonRules(random, writtenAtMs),
    object: [object],
    tenant: ["the tenant", "the hirer", "the occupier"],
    owner: ["the landlord", "the owner", "the estate"],
    fitting: [
      "boiler",
      "stove",
      "skylight",
      "gutter",
      "roller door",
      "water meter",
      "hoist",
      "fuse box",
      "fence",
      "drain cover",
      "window catches",
      "hand rail",
    ],
    risk: [
      "fire",
      "flood",
      "storm",
      "falling trees",
      "subsidence",
      "frost",
      "collapse of the quay",
    ],
    nuisance: [
      "hammering",
      "music",
      "bonfire",
      "cooking with fish",
      "revving of engines",
      "spray painting",
    ],
    state: [
      "swept and dry",
      "freshly limewashed",
      "empty and locked",
      "as it was found",
      "cleaned from top to bottom",
    ],
    keeper: ["the agency", "a notary in {town}", "the county arbiter", "the savings bank"],
    waste: ["leaves", "rubble", "old nets", "broken crates", "ashes"],
    place: [
      "the yard",
      "the common stair",
      "the party wall",
      "the slipway",
      "the footpath",
      "the loading bay",
    ],
    guest: ["a cousin", "an apprentice", "a lodger", "a travelling friend"],
    charge: ["ground rent", "chimney sweep", "building insurance", "road levy"],
    charge2: ["water rate", "electricity", "refuse fee", "harbour dues"],
    animal: ["a single cat", "bees", "caged birds", "one elderly dog"],
    neighbour: ["the neighbour", "the miller", "the party upstairs", "the ferry company"],
    trade: [
      "bookbinding",
      "mending bicycles",
      "pottery",
      "storing cider",
      "teaching music",
      "boat repair",
    ],
  };
}

/** An agreement of 150 to 400 words. */
export function inventLease(random: Random): DemoDocument {
  const writtenAtMs = someDay(random);
  const object = random.pick(OBJECTS);
  const [owner, tenant] = [person(random), person(random)];
  const clauses = sentences(
    CLAUSES,
    random.integer(9, 15),
    leaseRules(random, writtenAtMs, object),
    random,
  );
  return {
    folder: "leases",
    name: `${isoDate(writtenAtMs)}-${slug(object)}-${slug(tenant)}`,
    title: `Lease of a ${object}, ${tenant}`.replace(" a a", " an a"),
    writtenAtMs,
    paragraphs: [
      `${owner} lets the ${object} at ${addressLine(random)} to ${tenant} from ${longDate(writtenAtMs)}. The rent is ${money(random.integer(4000, 140_000))} a month.`,
      ...paragraphs(clauses, random).map((text, index) => `§ ${index + 1} ${text}`),
      `Signed ${longDate(writtenAtMs)}: ${owner}, ${tenant}.`,
    ],
  };
}
