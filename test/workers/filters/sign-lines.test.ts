import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { run } from "../../../workers/filters/sign-lines.ts";
import type { SignLinesInput } from "../../../workers/filters/tasks.ts";
import { normalise } from "../../../workers/text/normalise.ts";
import { control } from "../control.ts";
import { textHash } from "../text/identity.ts";

const parameters = { numPermutations: 64, numBands: 16, ngramSize: 3 };

/** Signed with a limit of 300 characters, of which 64 bytes are kept. */
function sign(texts: readonly string[]): { readonly id: string; readonly identity: string }[] {
  const lines = texts.map((content, id) => JSON.stringify({ id: String(id), content })).join("\n");
  const bytes = new Uint8Array(new SharedArrayBuffer(Buffer.byteLength(lines)));
  bytes.set(Buffer.from(lines));
  const input: SignLinesInput = {
    bytes,
    firstLine: 1,
    fields: {},
    digest: {
      limits: { units: 300, bytes: 64 },
      sign: { parameters, fingerprint: new Uint8Array(32) },
    },
    parameters,
    minWords: 1,
    withText: false,
  };
  const written = Buffer.from(run(input, control()).lines).toString("utf8");
  return written
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { id: string; identity: string });
}

const identityOf = (text: string): string => Buffer.from(textHash(normalise(text))).toString("hex");

describe("signed lines", () => {
  it("have the signature of their own text behind one that is halved to few words", () => {
    const noise = [1, 2, 3, 4].map((seed) => hash("sha512", String(seed)).slice(0, 90));
    const halved = noise.join(" ");
    const texts = ["first text of words", halved, "second text of words", "third text of words"];
    const signed = sign(texts);
    for (const id of [0, 2, 3])
      expect(signed.find((line) => line.id === String(id))?.identity).toBe(
        identityOf(texts[id] ?? ""),
      );
    expect(new Set(signed.map(({ identity }) => identity)).size).toBe(signed.length);
  });
});
