import { describe, expect, it } from "vitest";
import { indexRoute, type IndexPageOptions } from "../../../src/daemon/pages/index-page.ts";
import { PAGE_POLICY } from "../../../gateway/web/shell.ts";
import { createCall, type PlainRequest } from "../../../src/kernel/service.ts";

async function page(options: Omit<IndexPageOptions, "version" | "links" | "ai">): Promise<string> {
  const request: Pick<PlainRequest, "headers"> = { headers: {} };
  const answer = await indexRoute({
    ...options,
    version: "1.2.3",
    ai: false,
    links: [{ href: "/", label: "Overview" }],
  }).handle(
    request as PlainRequest,
    createCall({ signal: new AbortController().signal, requestId: "r" }),
  );
  expect(answer.headers["content-security-policy"]).toBe(PAGE_POLICY);
  return answer.body as string;
}

describe("the page at /", () => {
  it("tells of the services that run, and of no other", async () => {
    const [both, documents, tokens] = [
      await page({ demo: false, documents: true, tokens: true }),
      await page({ demo: false, documents: true, tokens: false }),
      await page({ demo: false, documents: false, tokens: true }),
    ];
    expect(
      [both, documents, tokens].map((text) => [
        text.includes("/api/v1/duplicates"),
        text.includes("VAULT_ADDR"),
        text.includes("/v1/sys/health"),
        text.includes('href="/docs"'),
      ]),
    ).toEqual([
      [true, true, true, true],
      [true, false, false, true],
      [false, true, true, true],
    ]);
  });

  it("says of a demo that it is one", async () => {
    expect(await page({ demo: true, documents: true, tokens: true })).toContain("This is a demo");
    expect(await page({ demo: false, documents: true, tokens: true })).not.toContain(
      "This is a demo",
    );
  });
});
