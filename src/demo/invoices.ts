/** Invented invoices of tradesmen: each for a job of its own. */
import type { DemoDocument } from "./document.ts";
import { slug } from "./document.ts";
import {
  addDays,
  addressLine,
  commonRules,
  firm,
  isoDate,
  longDate,
  money,
  person,
  someDay,
} from "./facts.ts";
import { expand, sentences, type Rules } from "./grammar.ts";
import type { Random } from "./random.ts";

const JOBS: Readonly<Record<string, readonly string[]>> = {
  Joinery: [
    "oak threshold, planed and fitted",
    "sash cords renewed in the {room}",
    "shelves for the {room}, primed {colour}",
    "staircase spindle turned to match",
    "loft hatch eased and hung again",
    "window board scribed to old plaster",
    "cupboard doors trimmed after the {season} damp",
  ],
  Plumbing: [
    "tap washers changed in the {room}",
    "cistern valve replaced",
    "blocked drain rodded from the {room}",
    "radiator moved {few} feet along the wall",
    "copper pipe lagged {where}",
    "hot water cylinder flushed",
    "shower tray sealed with {colour} mastic",
  ],
  Roofing: [
    "slipped slates refixed over the {room}",
    "lead flashing dressed around the chimney",
    "gutter brackets, galvanised",
    "moss scraped off the north slope",
    "ridge tiles bedded in lime mortar",
    "skylight over the {room} reglazed",
  ],
  Electrics: [
    "double socket added in the {room}",
    "fuse board labelled and tested",
    "outside lamp with sensor, {colour}",
    "old cloth-covered cable withdrawn {where}",
    "smoke alarm wired in the {room}",
    "cooker circuit on its own breaker",
  ],
  Gardening: [
    "yew hedge clipped on both sides",
    "apple trees pruned for {season}",
    "turf laid {where}",
    "compost heap turned {how}",
    "gravel raked and topped up",
    "{colour} pots planted for the steps",
    "ivy taken down from the {room} wall",
  ],
  Printing: [
    "programmes on {colour} stock, folded",
    "letterheads, two inks",
    "posters for the {season} fair",
    "booklets stapled {how}",
    "invitation cards with a {colour} edge",
    "proofs by post",
  ],
};
const REMARKS = [
  "Work was done {when} while {person} held the ladder.",
  "The {room} was left swept.",
  "We found {few} further faults {where} and did not touch them.",
  "Materials came from {town} and cost more than in {month}.",
  "Please mind the {room} until {soon}, as everything is still drying.",
  "Travel from {town} has not been charged.",
  "Our {first} left a folding rule {where} and would be glad to have it back.",
  "The guarantee on this work runs for {few} years.",
  "Parking {where} was {bad} and is included.",
  "The price agreed {when} could be kept.",
  "A second visit is planned for {soon} at {clock}.",
];

function invoiceRules(random: Random, writtenAtMs: number): Rules {
  return {
    ...commonRules(random, writtenAtMs),
    room: [
      "kitchen",
      "scullery",
      "nursery",
      "study",
      "bathroom",
      "hall",
      "garden room",
      "back bedroom",
    ],
  };
}

/** An invoice of 100 to 250 words. */
export function inventInvoice(random: Random): DemoDocument {
  const writtenAtMs = someDay(random);
  const trade = random.pick(Object.keys(JOBS));
  const [sender, customer] = [firm(random, trade), person(random)];
  const rules = invoiceRules(random, writtenAtMs);
  const items = random
    .shuffle(JOBS[trade] ?? [])
    .slice(0, random.integer(3, 6))
    .map((job) => ({ text: expand(job, rules, random), cents: random.integer(18, 600) * 50 }));
  const net = items.reduce((sum, item) => sum + item.cents, 0);
  const number = `${sender.charAt(0)}${trade.charAt(0)}-${random.integer(10_000, 99_999)}`;
  return {
    folder: "invoices",
    name: `${isoDate(writtenAtMs)}-${slug(sender)}-${slug(number)}`,
    title: `${sender}: invoice ${number}`,
    writtenAtMs,
    paragraphs: [
      `${sender}, ${addressLine(random)}\nTo ${customer}, ${addressLine(random)}`,
      `Invoice number: ${number}\nDate: ${longDate(writtenAtMs)}`,
      items.map((item, index) => `${index + 1}. ${item.text}: £${money(item.cents)}`).join("\n"),
      `Net £${money(net)}, tax £${money(Math.round(net / 5))}, total due £${money(net + Math.round(net / 5))} by ${longDate(addDays(writtenAtMs, random.integer(10, 30)))}.`,
      sentences(REMARKS, random.integer(5, 8), rules, random).join(" "),
    ],
  };
}
