/** Invented minutes of small societies. */
import type { DemoDocument } from "./document.ts";
import { slug } from "./document.ts";
import { commonRules, isoDate, longDate, person, someDay } from "./facts.ts";
import { paragraphs, sentences, type Rules } from "./grammar.ts";
import type { Random } from "./random.ts";

const BODIES = [
  "Garden Committee",
  "Residents' Association",
  "Parents' Council",
  "Rowing Club",
  "Friends of the Library",
  "Allotment Society",
  "Village Hall Trust",
  "Chess Circle",
  "Heritage Railway Group",
  "Lifeboat Supporters",
];

const ITEMS = [
  "{^person} reported that the {asset} needs {repair} before {month}.",
  "The treasurer gave the balance as {sum} after paying for {repair}.",
  "It was agreed by {few} votes to {few} to buy {goods} from {town}.",
  "A complaint about the {asset} was read out and answered {how}.",
  "{^person} offered to store {goods} {where} until {soon}.",
  "The {event} will be held on {soon}, starting at {clock}.",
  "Nobody could say who had lent the {asset} to the {other}.",
  "A quotation of {sum} for {repair} was thought {bad} and sent back.",
  "Subscriptions stay at {sum}, with half price for {group}.",
  "The {other} asked to share the {asset} {when}; this was declined {how}.",
  "{^person} thanked {group} for running the {event} {when}.",
  "The secretary is to write to {person} about {goods}.",
  "Keys to the {asset} are now held by {person} and {person}.",
  "After some discussion the plan for {repair} was put off until {season}.",
  "The insurance on the {asset} ends on {soon} and will be renewed {how}.",
  "Attendance at the {event} was {many}, a {good} result.",
  "{^group} want the {asset} painted {colour}, and {person} will find a brush.",
  "A grant of {sum} towards {repair} has been applied for.",
  "The {event} lost {sum}, mostly through {goods} that nobody wanted.",
  "{^person} warned that {goods} kept {where} attract mice.",
  "The web page still shows {event} of {before} and shall be corrected.",
  "New members this month are {person}, {person} and {person}.",
  "The raffle at the {event} offers {goods} as first prize.",
  "It was noted that the {asset} had been left unlocked {when}.",
  "The auditor found {few} small slips in the accounts and called them {bad}.",
  "A vote of thanks to {person}, who retires after {few} years, was carried {how}.",
  "The lease of the {asset} passes to the {other} from {soon}.",
  "{^group} may use the {asset} free of charge on {day} evenings.",
];

function minutesRules(random: Random, writtenAtMs: number): Rules {
  return {
    ...commonRules(random, writtenAtMs),
    asset: [
      "boat house",
      "reading room",
      "tool shed",
      "marquee",
      "projector",
      "tea urn",
      "notice board",
      "footbridge",
      "piano",
      "mower",
      "signal box",
      "canoe trailer",
      "greenhouse",
      "sound system",
    ],
    repair: [
      "new guttering",
      "fresh paint",
      "a second lock",
      "rewiring",
      "a survey",
      "stronger hinges",
      "a damp course",
      "two new tyres",
      "a thorough cleaning",
      "better lighting",
    ],
    goods: [
      "folding chairs",
      "seed potatoes",
      "life jackets",
      "second-hand novels",
      "chess clocks",
      "paper lanterns",
      "compost bins",
      "a crate of mugs",
      "bunting",
      "knitted owls",
    ],
    event: [
      "summer fete",
      "plant sale",
      "open day",
      "quiz night",
      "winter lecture",
      "regatta",
      "book fair",
      "harvest supper",
      "steam weekend",
      "children's morning",
    ],
    group: [
      "junior members",
      "the bell ringers",
      "pensioners",
      "volunteers",
      "the scouts",
      "school leavers",
      "the night anglers",
    ],
    other: [
      "cricket club",
      "parish council",
      "drama society",
      "young farmers",
      "brass band",
      "sailing school",
    ],
  };
}

/** Minutes of 120 to 400 words. */
export function inventMinutes(random: Random): DemoDocument {
  const writtenAtMs = someDay(random);
  const body = random.pick(BODIES);
  const items = sentences(ITEMS, random.integer(10, 16), minutesRules(random, writtenAtMs), random);
  const present = Array.from({ length: random.integer(3, 7) }, () => person(random));
  return {
    folder: "minutes",
    name: `${isoDate(writtenAtMs)}-${slug(body)}`,
    title: `${body}: minutes of ${longDate(writtenAtMs)}`,
    writtenAtMs,
    paragraphs: [
      `Present: ${present.join(", ")}. Apologies: ${person(random)}.`,
      ...paragraphs(items, random).map((text, index) => `${index + 1}. ${text}`),
      `Closed at ${random.integer(20, 22)}:${random.pick(["05", "10", "25", "40", "50"])}. Taken by ${present[0]}.`,
    ],
  };
}
