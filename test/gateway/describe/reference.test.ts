import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { curlOf, exampleOf, type Example } from "../../../gateway/describe/examples.ts";
import type { JsonSchema } from "../../../gateway/describe/json-schema.ts";
import type { OpenApi } from "../../../gateway/describe/openapi.ts";
import { escapeHtml } from "../../../gateway/web/render.ts";
import { PAGE_POLICY } from "../../../gateway/web/shell.ts";
import {
  jobEnd,
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "../../contract/daemon.ts";
import { mismatches } from "./schema-check.ts";

let daemon: Daemon;
let page: string;
let policy: string;
let document: OpenApi;

beforeAll(async () => {
  daemon = await startDaemon({
    args: ["-demo"],
    env: { STEWARD_GATEWAY__LISTEN: "127.0.0.1:0", STEWARD_STATE__DIRECTORY: temporaryFolder() },
  });
  const answer = await rest(daemon, "GET", "/docs");
  [page, policy] = [answer.text, answer.headers.get("content-security-policy") ?? ""];
  document = (await rest(daemon, "GET", "/openapi.json")).json as OpenApi;
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

/** Of all operations, in the document's order. */
function examplesOf({ paths }: OpenApi): Example[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => exampleOf(verb, path, operation)),
  );
}

describe("the page", () => {
  it("stands in the frame of all pages, under their policy, and asks for nothing from elsewhere", () => {
    expect(policy).toBe(PAGE_POLICY);
    expect(page).not.toMatch(
      /<style|\sstyle=|<(img|iframe|object)|@import|\son\w+=|<script(?![^>]*\ssrc="\/assets\/)/i,
    );
    expect(page.replaceAll(daemon.url, "")).not.toMatch(/(?:href|src)="(?:https?:)?\/\//);
    for (const text of [
      "<h1>Steward</h1>",
      "This is a demo.",
      "data-theme-switch",
      'href="/docs" aria-current="page"',
    ])
      expect(page).toContain(text);
  });

  it("keeps services of the same name in two packages apart", () => {
    const section = (id: string): string =>
      new RegExp(`<section class="operation" id="${id}"[^]*?</section>`).exec(page)?.[0] ?? "";
    expect([
      section("getHealth").includes("/api/v1/health"),
      section("getHealth").includes("sealed"),
    ]).toEqual([true, false]);
    expect([
      section("tokensGetHealth").includes("/v1/sys/health"),
      section("tokensGetHealth").includes("sealed"),
    ]).toEqual([true, true]);
    expect([...page.matchAll(/<h2>([^<]+)<\/h2>/g)].map((match) => match[1])).toEqual(
      expect.arrayContaining(["SystemService", "tokens.EngineService", "tokens.SystemService"]),
    );
  });

  it("has every operation with its example, and every link leads to one", () => {
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
    const text = page.replaceAll(/<\/?span[^>]*>/g, "");
    for (const example of examplesOf(document)) {
      const command = curlOf(example).replace("$STEWARD", daemon.url);
      expect(text.includes(escapeHtml(command)) ? "" : command).toBe("");
    }
  });
});

describe("every example of the page", () => {
  /** The ids of this daemon, as a reader of the page would take them from the lists. */
  async function ids(): Promise<Record<string, string>> {
    for (const job of (await rest(daemon, "GET", "/api/v1/jobs")).json.data)
      await jobEnd(daemon, job.id as string);
    await expect
      .poll(async () => (await rest(daemon, "GET", "/api/v1/duplicates")).json.data.length, {
        timeout: 60_000,
      })
      .toBeGreaterThan(0);
    const group = (
      await rest(
        daemon,
        "GET",
        `/api/v1/duplicates/${(await rest(daemon, "GET", "/api/v1/duplicates")).json.data[0].id}`,
      )
    ).json.data;
    const job = (await rest(daemon, "GET", "/api/v1/jobs")).json.data[0].id as string;
    // The demo asks its model by itself after the first sync.
    const results = "/api/v1/ai/results?status=pending&minConfidence=0.8";
    await expect
      .poll(async () => (await rest(daemon, "GET", results)).json.data.length, { timeout: 60_000 })
      .toBeGreaterThan(0);
    return {
      jobId: job,
      duplicates: group.id,
      ai: (await rest(daemon, "GET", results)).json.data[0].id,
      documents: group.members[0].documentId,
      a: group.members[0].documentId,
      b: group.members[1].documentId,
      docA: group.members[0].documentId,
      docB: group.members[1].documentId,
      documentId: group.members[1].documentId,
      paperlessId: String(group.members[0].paperlessId),
      documentCount: "10",
    };
  }

  function filled(
    example: Example,
    known: Record<string, string>,
  ): { path: string; body: unknown } {
    const kind = /^\/api\/v1\/([a-z]+)/.exec(example.path)?.[1] ?? "";
    const path = example.path.replaceAll(
      /\{(\w+)\}/g,
      (_all, name: string) => known[name === "id" ? kind : name] ?? name,
    );
    const body =
      example.body === undefined
        ? undefined
        : (JSON.parse(example.body) as Record<string, unknown>);
    if (body !== undefined && "documentId" in body) body["documentId"] = known["documentId"];
    if (body !== undefined && "groupIds" in body) body["groupIds"] = [known["duplicates"]];
    return { path, body };
  }

  it("does on a running demo what the document says", async () => {
    const known = await ids();
    const examples = examplesOf(document);
    expect(examples.length).toBeGreaterThan(15);
    // What takes things away comes last, and each with a group in the status it is meant for.
    const restores = ({ verb, path }: Example): boolean => verb === "DELETE" && /pairs/.test(path);
    const deletes = ({ path }: Example): boolean => path.endsWith("/batch/delete-non-primary");
    const last = (one: Example): number =>
      restores(one) ? 1 : deletes(one) ? 2 : one.verb === "DELETE" ? 3 : 0;
    const ordered = examples.toSorted((one, other) => last(one) - last(other));
    const setStatus = (status: string): Promise<unknown> =>
      rest(daemon, "PUT", `/api/v1/duplicates/${known["duplicates"]}/status`, { status });
    const wrong: string[] = [];
    for (const example of ordered) {
      const { path, body } = filled(example, known);
      if (restores(example)) await setStatus("false_positive");
      if (deletes(example)) await setStatus("pending");
      const answer = await rest(daemon, example.verb, path, body);
      const responses =
        document.paths[example.path.replace(/\?.*/, "")]?.[example.verb.toLowerCase()]?.responses ??
        {};
      // Failures are references; a failure as an example would be a wrong example.
      const found = responses[answer.status] as
        | { $ref?: string; content?: Record<string, { schema: JsonSchema }> }
        | undefined;
      const declared = found?.$ref === undefined ? found : undefined;
      // Below /v1/ only a Vault token opens, and whoever answers there says more than the typed
      // method does: its own tests show what.
      const vault = path.startsWith("/v1/");
      if (vault && answer.status === 403) continue;
      // What the contract refuses as a bad request depends on a result's state, or on a choice that an
      // example cannot make; test/contract/ai.test.ts shows what each method does.
      if (path.startsWith("/api/v1/ai/") && answer.json.error?.code === "BAD_REQUEST") continue;
      // A job that has ended cannot be cancelled, and one runs at a time: the document says so as
      // well.
      if (declared === undefined && answer.status !== 409)
        wrong.push(`${example.verb} ${path}: ${answer.status} ${answer.text}`);
      const schema = (declared ?? (responses["default"] as typeof found))?.content?.[
        "application/json"
      ]?.schema;
      if (schema !== undefined)
        wrong.push(
          ...mismatches(answer.json, schema, componentOf)
            .filter((each) => !vault || !each.endsWith("is not declared"))
            .map((each) => `${example.verb} ${path}: ${each}`),
        );
    }
    expect(wrong).toEqual([]);
  });

  function componentOf(reference: string): JsonSchema {
    const found = (document.components["schemas"] as Record<string, JsonSchema>)[
      reference.replace("#/components/schemas/", "")
    ];
    expect(found, reference).toBeDefined();
    return found ?? {};
  }
});
