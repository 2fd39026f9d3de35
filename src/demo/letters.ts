/** Invented letters: one topic each, with the turns of phrase that people use for it. */
import type { DemoDocument } from "./document.ts";
import { slug } from "./document.ts";
import { addressLine, commonRules, isoDate, longDate, person, someDay } from "./facts.ts";
import { expand, paragraphs, sentences, type Rules } from "./grammar.ts";
import type { Random } from "./random.ts";

const OPENINGS = [
  "thank you for your {note} of {before}.",
  "I hope this {note} finds you in better weather than ours.",
  "it was {good} to meet you {when} and to talk at length.",
  "I am sorry that my answer comes so late.",
  "{person} gave me your address and said you would not mind.",
  "as promised {when}, here is the news from {town}.",
  "you asked me to put our conversation in writing.",
  "please forgive the hurried hand.",
  "since we last spoke a great deal has happened.",
];
const CLOSINGS = [
  "Do give my regards to {person}.",
  "I look forward to your reply and remain as ever at your disposal.",
  "Please ring before {clock}, since the line is busy later.",
  "With every good wish to all of you {where}.",
  "If anything is unclear, a postcard will do.",
  "I enclose a stamped envelope for the answer.",
  "Until then I keep my fingers crossed.",
  "We shall speak again when {first} is back.",
  "There is no hurry whatever.",
];
const TOPICS: Readonly<Record<string, readonly string[]>> = {
  "School trip": [
    "The {form} class will visit the {sight} at {town} on {soon}.",
    "Each child needs {kit} and {kit}.",
    "The coach leaves from {street} at {clock} sharp, whatever the rain does.",
    "{^person} and {few} parents go along to help.",
    "The cost is {sum} a head, which the {fund} will share for those who ask.",
    "Last year somebody left {kit} {where}, so please write names inside.",
    "Lunch is eaten {where}, and nobody has to finish the cabbage.",
    "Children who feel sick on winding roads sit {place} the driver.",
    "A short essay about {sight} is due the {day} after.",
    "Telephones stay at home, as {few} of them drowned {when}.",
  ],
  Garden: [
    "The {plant} by the {colour} wall has come through the {season} {how}.",
    "I moved {few} {plant} {where} and lost none of them.",
    "{^person} swears by {feed}, but the {pest} seem to enjoy it.",
    "Could you spare a cutting of the {plant} that I admired {when}?",
    "The {pest} have eaten {many} seedlings.",
    "We dug in {feed} until our backs complained.",
    "The new fence is {colour} and already leans.",
    "Nothing does better in shade than {plant}, whatever the books say.",
    "On {soon} the society judges {plant}, and I mean to enter.",
    "The water butt overflowed {when} and took the {plant} with it.",
  ],
  "Insurance claim": [
    "I write about the damage to our {thing} that happened {when}.",
    "The {tradesman} looked at it on {before} and called the state of it {bad}.",
    "An estimate of {sum} for the {thing} is enclosed together with {few} photographs.",
    "Water came through the {part} and ran {where}.",
    "Nobody was hurt, though {person} had a fright.",
    "The {part} had been inspected {how} only the year before.",
    "Your assessor may call on any {day} after {clock}.",
    "We have kept the broken pieces {where} for you to see.",
    "The neighbour at {street} saw the {part} come down.",
    "I should be grateful for a first payment, as the {tradesman} will not begin without one.",
  ],
  Choir: [
    "The tenors are down to {few}, and one of those has moved to {town}.",
    "We open with {work} and close with {work}.",
    "Rehearsals begin again on {soon} at {clock}, {where}.",
    "{^person} will take the solo unless the throat gets worse.",
    "The organ needs {sum} before it plays in tune again.",
    "Scores of {work} have gone missing {where}.",
    "Our conductor wants {work} sung {how}, and the altos disagree.",
    "The concert {when} drew {many} listeners and {few} dogs.",
    "Black is worn on the night, with a {colour} scarf.",
    "Cake after the last note is {person}'s doing.",
  ],
  Holiday: [
    "We reached {town} {how}, after {few} changes of train.",
    "The room looks over the {sight} and smells of {smell}.",
    "Every morning {person} swims to the {colour} buoy and back.",
    "The museum of {sight} is shut on {day}, as we found out on a {day}.",
    "A boat to the island costs {sum} and rolls dreadfully.",
    "We ate {dish} {where} and regretted it by night.",
    "Tell {first} that the {kit} was exactly what one needs here.",
    "The landlady speaks of nothing but {dish}.",
    "It rained {when}, so we learned to play cards.",
    "We come home on {soon} with {many} pebbles.",
  ],
  Neighbours: [
    "The hedge between us has grown {how} since {season}.",
    "Might the {noise} stop by {clock} on weekdays?",
    "{^person} at {street} has complained to the council about the {noise}.",
    "We would gladly share the cost of {sum} for a new {part}.",
    "Your cat sleeps {where} and frightens our {pest}.",
    "The bins were put out {when} and blew as far as {street}.",
    "We shall have the {tradesman} in from {soon}, which will be {bad} for a week.",
    "The key to the {part} hangs with {person} should you need it.",
    "Thank you for the jar of {dish} left on the step.",
    "A quiet word is better than a {note}, but we keep missing each other.",
  ],
  Thanks: [
    "The {gift} arrived {how} and is now {where}.",
    "I had wanted a {gift} since I was at school.",
    "Everybody who calls admires the {colour} of it.",
    "How you knew about {work} is beyond me.",
    "{^person} tried the {gift} at once and would not give it back.",
    "The party {when} went on till {clock} and ended with {dish}.",
    "There were {many} guests and chairs for {few}.",
    "Your speech made even {first} cry a little.",
    "The candle smells of {smell}, which suits the house.",
    "I shall put the {sum} towards {kit} for the {season}.",
  ],
};

function letterRules(random: Random, writtenAtMs: number): Rules {
  return {
    ...commonRules(random, writtenAtMs),
    note: ["letter", "card", "message", "note", "kind lines"],
    form: ["second", "fourth", "sixth", "youngest", "oldest"],
    fund: ["parents' fund", "school chest", "friends' circle"],
    kit: [
      "stout boots",
      "a raincoat",
      "a notebook",
      "a packed lunch",
      "warm socks",
      "a tin mug",
      "sun cream",
      "a torch",
      "a whistle",
    ],
    sight: [
      "lighthouse",
      "glass works",
      "Roman bath",
      "tide mill",
      "castle ruin",
      "botanic garden",
      "salt mine",
      "railway shed",
      "bird reserve",
    ],
    place: ["behind", "beside", "right in front of"],
    plant: [
      "dahlias",
      "climbing beans",
      "sweet peas",
      "quince",
      "hellebores",
      "raspberries",
      "leeks",
      "foxgloves",
      "rhubarb",
      "irises",
    ],
    feed: ["seaweed", "horse manure", "wood ash", "leaf mould", "bone meal"],
    pest: ["slugs", "pigeons", "greenfly", "rabbits", "wasps", "hens"],
    thing: [
      "kitchen ceiling",
      "greenhouse",
      "piano",
      "garden wall",
      "carpet",
      "bay window",
      "motor boat",
    ],
    part: ["roof", "gutter", "chimney", "side gate", "flat roof", "skylight", "drain"],
    tradesman: ["roofer", "plumber", "glazier", "plasterer", "joiner", "electrician"],
    work: [
      "the spring madrigals",
      "a Bach motet",
      "the sea shanties",
      "a slow hymn",
      "the harvest cantata",
      "an evening round",
      "the Welsh folk songs",
    ],
    smell: ["pine resin", "old books", "lavender", "diesel", "fresh bread"],
    dish: [
      "mussels",
      "plum jam",
      "lentil soup",
      "almond cake",
      "grilled sardines",
      "pickled beets",
      "apple crumble",
    ],
    noise: ["drum practice", "barking", "sawing", "motor cycle", "trumpet", "karaoke"],
    gift: [
      "barometer",
      "fountain pen",
      "teapot",
      "patchwork quilt",
      "telescope",
      "fruit bowl",
      "music box",
    ],
  };
}

/** A letter of 100 to 350 words. */
export function inventLetter(random: Random): DemoDocument {
  const writtenAtMs = someDay(random);
  const [sender, reader] = [person(random), person(random)];
  const topic = random.pick(Object.keys(TOPICS));
  const rules = letterRules(random, writtenAtMs);
  const own = sentences(TOPICS[topic] ?? [], random.integer(6, 9), rules, random);
  const second = random.pick(Object.keys(TOPICS).filter((other) => other !== topic));
  const aside = sentences(TOPICS[second] ?? [], random.integer(2, 5), rules, random);
  const opening = expand(`{^opening}`, { ...rules, opening: OPENINGS }, random);
  return {
    folder: "letters",
    name: `${isoDate(writtenAtMs)}-${slug(reader)}-${slug(topic)}`,
    title: `${topic}: letter to ${reader}`,
    writtenAtMs,
    paragraphs: [
      `${addressLine(random)}\n${longDate(writtenAtMs)}`,
      `Dear ${reader},`,
      opening,
      ...paragraphs(own, random),
      ...paragraphs(aside, random),
      sentences(CLOSINGS, 2, rules, random).join(" "),
      `Yours\n${sender}`,
    ],
  };
}
