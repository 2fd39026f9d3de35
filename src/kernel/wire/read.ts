/**
 * Reads REST JSON as messages by their descriptors: strict types, all findings in one pass. Fields
 * are read under the written name, the declared name and lowerCamel; `null` counts as absent;
 * unknown names are refused with the nearest known one.
 */
import {
  create,
  ScalarType,
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import { assert } from "../base/errors.ts";
import { createIssues, invalidRequest } from "./issues.ts";
import { noted, readJsonText, type JsonText } from "./json-text.ts";
import { nearest } from "../base/text/nearest.ts";
import { acceptedNames, fieldStyleOf, isWellKnown, jsonName } from "./style.ts";
import {
  isObject,
  refuse,
  takeEnum,
  takeScalar,
  takeWellKnown,
  type Reading,
  type Take,
} from "./values.ts";

interface Slot {
  readonly field: DescField;
  readonly name: string;
  readonly take: Take;
}
interface Plan {
  readonly slots: Map<string, Slot>;
  readonly fields: Slot[];
}

const plans = new WeakMap<DescMessage, Plan>();

export interface ReadOptions {
  /** Ignore undeclared names instead of refusing them. */
  readonly ignoreUnknown?: boolean;
}

/**
 * A message from JSON text in UTF-8; blank text gives the defaults. Throws `invalid` with all
 * findings.
 */
export function readMessage<D extends DescMessage>(
  schema: D,
  bytes: Uint8Array,
  options: ReadOptions = {},
): MessageShape<D> {
  const message = create(schema);
  const reading: Reading = {
    path: [],
    issues: createIssues(),
    ignoreUnknown: options.ignoreUnknown ?? false,
  };
  const text = readJsonText(bytes);
  if (text !== undefined) readBody(schema, message, text, reading);
  if (reading.issues.found.length > 0) throw invalidRequest(reading.issues.found);
  return message;
}

/**
 * Fills a message from the text of a body and notes problems. `except` are fields bound elsewhere.
 */
export function readBody(
  desc: DescMessage,
  message: Message,
  text: JsonText,
  reading: Reading,
  except?: ReadonlySet<DescField>,
): void {
  const parsed = noted(text, reading.issues);
  if (parsed === undefined) return;
  if (isObject(parsed.value)) readFields(desc, message, parsed.value, reading, except);
  else reading.issues.add([], "the body must be a JSON object", "invalid_type");
}

/** Reader of one value of a field; of an element for lists and maps. */
export function elementTake(field: DescField): Take {
  if (field.message !== undefined)
    return isWellKnown(field.message.typeName)
      ? takeWellKnown(field.message.typeName)
      : takeNested(field.message);
  if (field.enum !== undefined) return takeEnum(field.enum);
  assert(field.scalar !== undefined, "a field is a scalar, an enum or a message");
  return takeScalar(field, field.scalar);
}

/**
 * Compiles the plan of a message type and all nested types, so that a wrong declaration fails the
 * start.
 */
export function prepareReader(desc: DescMessage): void {
  planOf(desc);
}

/** Sets a field; notes an issue when another member of its oneof was set before. */
export function setField(
  message: Message,
  field: DescField,
  value: unknown,
  reading: Reading,
): void {
  const fields = message as unknown as Record<string, unknown>;
  if (field.oneof === undefined) {
    fields[field.localName] = value;
    return;
  }
  const before = (fields[field.oneof.localName] as { case?: string }).case;
  if (before === undefined) fields[field.oneof.localName] = { case: field.localName, value };
  else
    reading.issues.add(
      reading.path,
      `must be the only one of ${field.oneof.fields.map(jsonName).join(", ")}`,
      "invalid_value",
      "oneof",
    );
}

function readFields(
  desc: DescMessage,
  message: Message,
  given: Readonly<Record<string, unknown>>,
  reading: Reading,
  except?: ReadonlySet<DescField>,
): void {
  const plan = planOf(desc);
  const seen = new Set<Slot>();
  for (const key in given) {
    // A request that is refused anyway needs no further checks.
    if (reading.issues.full) return;
    if (!Object.hasOwn(given, key)) continue;
    const value = given[key];
    const slot = plan.slots.get(key);
    if (slot === undefined) noteUnknown(plan, key, reading, except);
    else if (except?.has(slot.field) === true) noteElsewhere(key, reading);
    else if (value !== null) {
      reading.path.push(slot.name);
      if (seen.has(slot))
        reading.issues.add(reading.path, "is given twice, under two spellings", "duplicate_field");
      seen.add(slot);
      const taken = slot.take(value, reading);
      if (taken !== undefined) setField(message, slot.field, taken, reading);
      reading.path.pop();
    }
  }
}

function noteUnknown(
  plan: Plan,
  key: string,
  reading: Reading,
  except?: ReadonlySet<DescField>,
): void {
  if (reading.ignoreUnknown || reading.issues.full) return;
  // Fields bound elsewhere are refused here under their right name, too.
  const names = plan.fields
    .filter(({ field }) => except?.has(field) !== true)
    .map(({ name }) => name);
  const meant = reading.issues.wantSuggestion ? nearest(key, names) : undefined;
  const remedy =
    meant !== undefined
      ? `did you mean ${meant}?`
      : names.length === 0
        ? "no fields are allowed here"
        : `known are ${names.join(", ")}`;
  reading.issues.add([...reading.path, key], `is not a known field; ${remedy}`, "unknown_field");
}

function noteElsewhere(key: string, reading: Reading): void {
  if (!reading.ignoreUnknown)
    reading.issues.add(
      [...reading.path, key],
      "is given by the path; leave it out of the body",
      "unknown_field",
    );
}

function planOf(desc: DescMessage): Plan {
  const known = plans.get(desc);
  if (known !== undefined) return known;
  // Registered before it is filled: a message may contain itself.
  const plan: Plan = { slots: new Map(), fields: [] };
  plans.set(desc, plan);
  try {
    for (const field of desc.fields) addSlot(plan, field);
  } catch (error) {
    plans.delete(desc);
    throw error;
  }
  return plan;
}

function addSlot(plan: Plan, field: DescField): void {
  const slot: Slot = { field, name: jsonName(field), take: takeOf(field) };
  plan.fields.push(slot);
  for (const name of acceptedNames(field)) {
    assert(!plan.slots.has(name), `${field.parent.typeName} reads two fields as ${name}`);
    plan.slots.set(name, slot);
  }
}

function takeOf(field: DescField): Take {
  const element = elementTake(field);
  if (field.fieldKind === "list") {
    const take = takeList(elementOrRefuseNull(field, element));
    return fieldStyleOf(field).notEmpty ? takeFilled(take) : take;
  }
  if (field.fieldKind === "map")
    return takeMap(elementOrRefuseNull(field, element), keyCheck(field.mapKey));
  return element;
}

function takeNested(desc: DescMessage): Take {
  planOf(desc);
  return (value, reading) => {
    if (!isObject(value)) return refuse(reading, "must be an object", value);
    const message = create(desc);
    readFields(desc, message, value, reading);
    return message;
  };
}

/** Only a `Value` may be null inside a list or map: other types cannot represent it. */
function elementOrRefuseNull(field: DescField, element: Take): Take {
  if (field.message?.typeName === "google.protobuf.Value") return element;
  return (value, reading) =>
    value === null ? refuse(reading, "must be a value", value) : element(value, reading);
}

function takeList(element: Take): Take {
  return (value, reading) => {
    if (!Array.isArray(value)) return refuse(reading, "must be a list", value);
    return value.map((inner: unknown, index) => {
      reading.path.push(index);
      const taken = element(inner, reading);
      reading.path.pop();
      return taken;
    });
  };
}

function takeFilled(list: Take): Take {
  return (value, reading) => {
    if (Array.isArray(value) && value.length === 0)
      reading.issues.add(
        reading.path,
        "must have a value, or be left out",
        "too_small",
        "min_items",
      );
    return list(value, reading);
  };
}

function takeMap(element: Take, keyIsGood: (key: string) => boolean): Take {
  return (value, reading) => {
    if (!isObject(value)) return refuse(reading, "must be an object", value);
    const entries = Object.entries(value).map(([key, inner]) => {
      reading.path.push(key);
      if (!keyIsGood(key))
        reading.issues.add(reading.path, "is not a possible key", "invalid_value", "key");
      const taken = element(inner, reading);
      reading.path.pop();
      return [key, taken] as const;
    });
    return Object.fromEntries(entries);
  };
}

function keyCheck(key: ScalarType): (key: string) => boolean {
  if (key === ScalarType.STRING) return (text) => text.isWellFormed() && text !== "__proto__";
  if (key === ScalarType.BOOL) return (text) => text === "true" || text === "false";
  const unsigned = [
    ScalarType.UINT32,
    ScalarType.FIXED32,
    ScalarType.UINT64,
    ScalarType.FIXED64,
  ].includes(key);
  return (text) => /^(0|-?[1-9]\d{0,8})$/.test(text) && !(unsigned && text.startsWith("-"));
}
