/**
 * Every steward.yaml of the README and of docs/, as a reader would write it down: a plain file, and
 * the files that it names.
 */
import { Ajv } from "ajv";
import { spawnSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { removeTemporaryFolders, runSteward, temporaryFolder } from "./daemon.ts";
import { snippetsOf } from "./page-snippets.ts";

const root = join(import.meta.dirname, "../..");

/**
 * Sections of files that are not Steward's: a block with one of them belongs to another program.
 */
const FOREIGN: ReadonlySet<string> = new Set([
  "scrape_configs",
  "on",
  "build",
  "deploy",
  "apiVersion",
]);

interface Block {
  readonly name: string;
  readonly text: string;
}

const blocks: readonly Block[] = ["README.md", ...globSync("docs/**/*.md", { cwd: root })]
  .sort()
  .flatMap((page) =>
    snippetsOf(readFileSync(join(root, page), "utf8"))
      .filter(({ language }) => ["yaml", "yml"].includes(language))
      .map(({ section, text }, index) => ({
        name: `${page}, ${section}, block ${index + 1}`,
        text,
      })),
  );
const configurations = blocks.filter(
  ({ text }) => !Object.keys(parse(text) as object).some((key) => FOREIGN.has(key)),
);

const inEditor = new Ajv({ allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(join(root, "docs/configuration.schema.json"), "utf8")) as object,
);

/** The folder that stands for `/`. */
let machine: string;

beforeAll(() => {
  machine = temporaryFolder();
  for (const folder of ["etc/steward", "srv/papers", "var/lib/steward"])
    mkdirSync(join(machine, folder), { recursive: true, mode: 0o700 });
  const [cert, key] = ["tls-cert.pem", "tls-key.pem"].map((name) =>
    join(machine, "etc/steward", name),
  );
  const made = spawnSync("openssl", [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "365",
    "-subj",
    "/CN=steward.example.org",
    "-keyout",
    key ?? "",
    "-out",
    cert ?? "",
  ]);
  expect(made.status, made.stderr.toString()).toBe(0);
});

afterAll(removeTemporaryFolders);

describe("the configurations of the documentation", () => {
  it("are found", () => {
    expect(configurations.length).toBeGreaterThanOrEqual(8);
    expect(blocks.length - configurations.length).toBe(8);
  });

  it.each(configurations)("pass -validate without a warning: $name", async ({ text }) => {
    const { code, stdout, stderr } = await validate(text);
    expect([code, stdout + stderr]).toEqual([0, "config OK\n"]);
    // An editor marks nothing in them either.
    expect([inEditor(parse(text)), inEditor.errors]).toEqual([true, null]);
  });

  it("would not pass with a mistake in them", async () => {
    const [first] = configurations;
    expect((await validate(first?.text.replace("archives:", "archive:") ?? "")).code).toBe(1);
    expect((await validate("auth:\n  token: canary-of-this-test\n")).stdout).toContain(
      "holds a secret and can be read by other users",
    );
  });
});

/**
 * With absolute paths below `machine`, where each file of a secret has one. The configuration file
 * gets the mode that editors give.
 */
async function validate(text: string): ReturnType<typeof runSteward> {
  const placed = text.replaceAll(/(?<=[\s"'])\/(?=(?:etc|srv|var)\/)/g, `${machine}/`);
  for (const [, file = ""] of placed.matchAll(/_file: ([^\s,}]+)/g)) {
    if (file.endsWith(".pem")) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "a-secret-of-32-characters-0123456789\n", { mode: 0o600 });
  }
  const path = join(temporaryFolder(), "steward.yaml");
  writeFileSync(path, placed);
  chmodSync(path, 0o644);
  return await runSteward(["-validate", "-config", path], {
    env: { STEWARD_STATE__DIRECTORY: join(machine, "var/lib/steward") },
  });
}
