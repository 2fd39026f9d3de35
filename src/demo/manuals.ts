/** Invented instructions for things that a household owns. */
import type { DemoDocument } from "./document.ts";
import { slug } from "./document.ts";
import { commonRules, someDay } from "./facts.ts";
import { paragraphs, sentences, type Rules } from "./grammar.ts";
import type { Random } from "./random.ts";

interface Device {
  readonly name: string;
  readonly parts: readonly string[];
  readonly troubles: readonly string[];
}

const DEVICES: readonly Device[] = [
  {
    name: "Washing Machine",
    parts: ["drum", "soap drawer", "lint filter", "door seal", "inlet hose", "programme dial"],
    troubles: ["creeps across the floor", "leaves the linen wet", "hums but does not turn"],
  },
  {
    name: "Coffee Maker",
    parts: ["brew head", "water tank", "grinder", "drip tray", "steam wand", "paper filter"],
    troubles: ["drips after brewing", "tastes of soap", "clicks and stays cold"],
  },
  {
    name: "Lawn Mower",
    parts: ["blade", "pull cord", "grass box", "throttle", "spark plug", "rear axle"],
    troubles: ["stalls in long grass", "smokes on slopes", "cuts in stripes"],
  },
  {
    name: "Slide Projector",
    parts: ["lamp", "carousel", "focus ring", "fan", "lens cap", "remote cord"],
    troubles: ["jams on thick frames", "shows a grey halo", "burns a smell of dust"],
  },
  {
    name: "Sewing Machine",
    parts: ["bobbin", "needle plate", "presser foot", "hand wheel", "thread guide", "pedal"],
    troubles: ["skips stitches", "snarls underneath", "runs backwards"],
  },
  {
    name: "Bicycle",
    parts: ["chain", "brake pads", "saddle post", "front fork", "bottom bracket", "derailleur"],
    troubles: ["squeals on wet days", "drops into the smallest gear", "pulls to the left"],
  },
  {
    name: "Dehumidifier",
    parts: ["collecting tank", "float switch", "air grille", "coil", "castors", "hygrostat"],
    troubles: ["freezes over", "stops before the tank is full", "rattles at night"],
  },
  {
    name: "Radio Receiver",
    parts: [
      "tuning knob",
      "aerial",
      "battery lid",
      "loudspeaker",
      "volume slider",
      "earphone socket",
    ],
    troubles: ["drifts off the station", "whistles near the window", "fades at dusk"],
  },
  {
    name: "Pressure Cooker",
    parts: ["lid", "rubber gasket", "safety valve", "basket", "handle lock", "weight"],
    troubles: ["hisses without pause", "will not open", "boils dry"],
  },
  {
    name: "Wood Stove",
    parts: ["grate", "ash pan", "air slide", "flue damper", "glass pane", "fire brick"],
    troubles: ["blackens its glass", "draws badly in fog", "goes out overnight"],
  },
  {
    name: "Tent",
    parts: ["ridge pole", "guy ropes", "ground sheet", "fly sheet", "pegs", "zip"],
    troubles: ["sags in rain", "flaps in the wind", "sweats inside"],
  },
  {
    name: "Label Printer",
    parts: ["ribbon", "roller", "tear bar", "paper tray", "cutter", "print head"],
    troubles: ["prints pale on the left", "feeds two labels", "blinks red"],
  },
];

const ADVICE = [
  "Before first use wipe the {part} with {cleaner} and let it dry {where}.",
  "Turn the {part} {turn} until it {sign}.",
  "Never touch the {part} while the {part} is {hot}.",
  "If it {trouble}, take out the {part} and look for {dirt}.",
  "Every {few} {span} the {part} wants a drop of {oil}.",
  "The {part} is held by {few} screws; undo the {colour} one last.",
  "Spare parts such as the {part} come from {town} and take {few} {span}.",
  "Store it {where} with the {part} loosened, so that nothing {perishes}.",
  "When it {trouble}, the {part} is most often to blame.",
  "Hold the {part} {turn} and push the {part} in until it {sign}.",
  "Children may watch the {part} but should not {meddle}.",
  "A {part} that {perishes} is replaced, never glued.",
  "{^cleaner} harms the {part}; use {cleaner2} instead.",
  "Should it still {fail}, set the {part} to its middle mark and wait {few} minutes.",
  "Check after {season} that the {part} has not {shifted}.",
  "The mark on the {part} shows how far the {part} may go.",
  "Lift it by the {part}, with {few} hands if you have them.",
  "It is normal that the {part} {sign} during the first {few} {span}.",
  "Empty the {part} {how} whenever the {part} looks {hot}.",
  "Do not run it without the {part}, not even to try it out.",
  "For long journeys wrap the {part} in {wrap}.",
  "If it {trouble} and also {trouble}, a workshop must see it.",
  "The guarantee covers the {part}, though not {dirt} in the {part}.",
  "Put the {part} back in reverse order and listen whether it {sign}.",
];

function manualRules(random: Random, writtenAtMs: number, device: Device): Rules {
  return {
    ...commonRules(random, writtenAtMs),
    part: device.parts,
    trouble: device.troubles,
    cleaner: ["vinegar", "a damp cloth", "warm soapy water", "white spirit"],
    cleaner2: ["chalk", "rain water", "a soft brush", "lemon juice"],
    turn: [
      "clockwise",
      "towards you",
      "a quarter to the left",
      "gently upwards",
      "against the spring",
    ],
    sign: ["clicks", "hums softly", "stops by itself", "sits flush", "gives a little"],
    hot: ["hot", "moving", "under load", "wet", "open"],
    dirt: ["fluff", "grit", "a bent pin", "scale", "dead insects", "rust"],
    span: ["weeks", "months", "hours of use", "days"],
    oil: ["thin oil", "silicone grease", "graphite", "beeswax"],
    perishes: ["cracks", "sticks", "warps", "swells", "frays"],
    meddle: ["lean on it", "oil it", "take it apart", "hang things on it"],
    fail: ["refuse to start", "stop halfway", "make that noise", "lose its setting"],
    shifted: ["worked loose", "bent", "changed its colour", "begun to leak"],
    wrap: ["newspaper", "a blanket", "the original foam", "an old jersey"],
  };
}

/** A manual of 120 to 400 words. */
export function inventManual(random: Random): DemoDocument {
  const writtenAtMs = someDay(random);
  const device = random.pick(DEVICES);
  const model = `${random.pick(["Aster", "Corvus", "Delta", "Hestia", "Juno", "Merlin", "Polar", "Vega"])} ${random.integer(2, 99)}0`;
  const advice = sentences(
    ADVICE,
    random.integer(10, 18),
    manualRules(random, writtenAtMs, device),
    random,
  );
  return {
    folder: "manuals",
    name: `${slug(device.name)}-${slug(model)}`,
    title: `${model} ${device.name}: instructions for use`,
    writtenAtMs,
    paragraphs: [
      `Read these pages before you use your ${device.name.toLowerCase()} and keep them near it.`,
      ...paragraphs(advice, random),
    ],
  };
}
