/** Captured answers of a real archive: reading them, and the archive they were captured from. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Estate, NewDocument, User } from "../../../src/demo/paperless/types.ts";
import { parseTime } from "../../../src/demo/paperless/times.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";

const root = join(import.meta.dirname, "samples");

/** One request with its answer. */
export interface Sample {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly text: string;
  };
}

export type Captured = "v2" | "v3";

/** Where the order of the names is not that in which they were captured. */
const order = [
  ["11-patch-title", "11-patch-samevalue", "11-patch-multi", "11-patch-null", "11-patch-empty"],
  ["11-patch-cf", "11-patch-cf-partial", "11-patch-cf-clear", "11-patch-corrstr"],
  ["11-patch-childtag", "11-patch-removeparent"],
  [
    "12-cf-new",
    "12-cf-dup",
    "12-corr-new",
    "12-corr-dup",
    "12-tag-new",
    "12-tag-dup",
    "12-tag-dup-case",
    "12-tag-space",
  ],
  ["12-tag-noalgo", "12-type-new", "12-type-dup"],
  ["14-delete", "14-delete-again"],
].flat();

/** All samples of a release, in the order in which they were captured. */
export function samplesOf(captured: Captured): Sample[] {
  const files = readdirSync(join(root, captured)).toSorted();
  const names = files.map((file) => file.replace(/\.txt$/, ""));
  const group = (name: string): string => name.slice(0, 2);
  const rank = (name: string): number =>
    order.includes(name) ? order.indexOf(name) : order.length;
  const placed = names.toSorted((left, right) =>
    group(left) === group(right) ? rank(left) - rank(right) : 0,
  );
  return placed.map((name) => readSample(name, join(root, captured, `${name}.txt`)));
}

function readSample(name: string, path: string): Sample {
  const [request, rest] = split(readFileSync(path, "utf8"), /\n\n/);
  const [head, body] = split(rest, /\n\n/);
  const lines = request.split("\n").map((line) => line.replace(/^> /, ""));
  const [method = "", target = ""] = (lines[0] ?? "").split(" ", 2);
  const headers: Record<string, string> = { accept: "*/*" };
  let sent: string | undefined;
  for (const line of lines.slice(1)) {
    const [field, value] = split(line, /:\s?/);
    if (line.startsWith("body: ")) sent = line.slice(6);
    else if (line.startsWith("(basic) "))
      headers["authorization"] = `Basic ${Buffer.from(line.slice(8)).toString("base64")}`;
    else headers[field.toLowerCase()] = value;
  }
  if (sent !== undefined) headers["content-type"] ??= "application/x-www-form-urlencoded";
  const answer = head.split("\n");
  return {
    name,
    method,
    path: target,
    headers: { host: "archive.test", ...headers },
    body: sent,
    answer: {
      status: Number((answer[0] ?? "").split(" ")[1]),
      headers: Object.fromEntries(
        answer.slice(1).map((line) => {
          const [field, value] = split(line, /:\s?/);
          return [field, value];
        }),
      ),
      text: body.replace(/\n?time_total=.*\s*$/, ""),
    },
  };
}

function split(text: string, at: RegExp): [string, string] {
  const found = at.exec(text);
  return found === null
    ? [text, ""]
    : [text.slice(0, found.index), text.slice(found.index + found[0].length)];
}

const MONTHS = [
  ["January", "February", "March", "April", "May", "June"],
  ["July", "August", "September", "October", "November", "December"],
].flat();

/** The users of the captured archive. */
export function sampleUsers(captured: Captured): User[] {
  const first = captured === "v3" ? 2 : 3;
  const user = (id: number, username: string, mayView: boolean, superuser = false): User => ({
    id,
    username,
    password: Secret.of(`pw-${username}-1`, "test"),
    token: Secret.of(`<TOKEN-${username.toUpperCase()}>`, "test"),
    superuser,
    mayView,
    mayChange: superuser,
  });
  return [
    user(first, "archivist", true, true),
    user(first + 1, "viewer", true),
    user(first + 2, "nobody", false),
  ];
}

/** The thirty documents of the captured archive; what only it can know is read from the samples. */
export function fillWithSamples(captured: Captured): (estate: Estate) => void {
  return (estate) => {
    for (const row of tags) estate.addReference("tags", row);
    for (const name of ["Northwind Water", "Contoso Energy", "Fabrikam Insurance"])
      estate.addReference("correspondents", { name });
    for (const name of ["Invoice", "Contract", "Letter"])
      estate.addReference("document_types", { name });
    estate.addReference("storage_paths", {
      name: "By year",
      path: "{{ created_year }}/{{ title }}",
    });
    for (const [name, dataType, extraData = null] of fields)
      estate.addCustomField({ name, dataType, extraData });
    const archivist = captured === "v3" ? 2 : 3;
    const seen = seenDocuments(captured);
    for (let index = 0; index < 30; index++)
      estate.add({ ...invent(index, archivist), ...seen.get(index + 1) });
  };
}

const tags = [
  { name: "inbox", color: "#1f78b4", isInboxTag: true },
  { name: "utilities", color: "#a6cee3" },
  { name: "tax 2024", color: "#33a02c" },
  { name: "Contract", color: "#000000" },
  { name: "warranty", color: "#fb9a99" },
  { name: "water", color: "#b2df8a", parent: 2 },
];

const fields: readonly (readonly [name: string, type: string, extra?: unknown])[] = [
  ["Amount", "monetary"],
  ["Due", "date"],
  ["Paid", "boolean"],
  ["Ref", "string"],
  ["Pages read", "integer"],
  ["Related", "documentlink"],
  [
    "State",
    "select",
    {
      select_options: [
        { label: "open", id: "aB1" },
        { label: "closed", id: "cD2" },
      ],
    },
  ],
  ["Weight", "float"],
  ["Link", "url"],
];

function invent(index: number, archivist: number): NewDocument {
  const kind = index % 3;
  const month = index % 12;
  const day = String((index % 28) + 1).padStart(2, "0");
  return {
    id: index + 1,
    title: `${["Water invoice", "Energy statement", "Policy"][kind]} ${MONTHS[month]} ${index}`,
    content: `Document ${20_000 + index}.`,
    created: index === 18 ? "1950-07-19" : `2024-${String(month + 1).padStart(2, "0")}-${day}`,
    correspondent: index % 5 === 0 ? null : kind + 1,
    documentType: index % 4 === 0 ? null : kind + 1,
    storagePath: index === 3 ? 1 : null,
    tags: [[4, 1], [3], [2, 5]][kind] ?? [],
    archiveSerialNumber: index % 20 === 5 ? 100 + index : null,
    originalFileName: index === 17 ? null : `scan_${String(index).padStart(4, "0")}.pdf`,
    hasArchiveFile: index % 4 !== 0,
    owner: index < 20 ? archivist : null,
    pageCount: (index % 4) + 1,
    hasThumbnail: index !== 19,
    customFields: index === 19 ? [{ field: 4, value: "A-2" }] : [],
  };
}

/** Times, texts and checksums of documents, as their first samples show them. */
function seenDocuments(captured: Captured): Map<number, Partial<NewDocument>> {
  const seen = new Map<number, Record<string, unknown>>();
  const note = (shown: Record<string, any>): void => {
    if (typeof shown["id"] !== "number") return;
    const row = seen.get(shown["id"]) ?? {};
    const set = (name: string, value: unknown): void => {
      if (value !== undefined) row[name] ??= value;
    };
    const timeOf = (text: string | undefined): number | undefined =>
      text === undefined ? undefined : parseTime(text);
    set("modifiedUs", timeOf(shown["modified"]));
    set("addedUs", timeOf(shown["added"]));
    set("content", shown["content"]);
    set("checksum", shown["versions"]?.[0]?.checksum);
    set("customFields", shown["custom_fields"]);
    set(
      "notes",
      shown["notes"]?.map((one: Record<string, any>) => ({
        id: one["id"],
        note: one["note"],
        createdUs: timeOf(one["created"]),
        user: one["user"].id ?? one["user"],
      })),
    );
    seen.set(shown["id"], row);
  };
  for (const { name, answer } of samplesOf(captured)) {
    // Version 6 shows choices by their place, and after 11- come the changes.
    if (name > "11" && !name.startsWith("11-patch-title")) continue;
    const body = jsonOf(answer.text) as Record<string, any> | undefined;
    for (const shown of [body, ...(body?.["results"] ?? [])]) if (shown) note(shown);
  }
  const checksum = seen.get(1)?.["checksum"] ?? "one";
  const twin = seen.get(14)?.["checksum"] ?? "two";
  for (const [id, value] of [
    [1, checksum],
    [13, checksum],
    [2, twin],
    [14, twin],
  ] as const)
    seen.set(id, { ...seen.get(id), checksum: value });
  return seen;
}

/** The body as JSON; undefined when it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
