import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { pageAssets } from "../../../gateway/web/assets.ts";
import { startGateway } from "../start-gateway.ts";

const assets = pageAssets();
const all = [
  ...new Set([
    assets.url("steward.css"),
    assets.url("early.js"),
    assets.url("landing.js"),
    assets.url("plain.js"),
    ...assets.modules("landing.js"),
    ...assets.modules("plain.js"),
  ]),
];

describe("the pages' assets", () => {
  it("are served under their content's hash, to be kept for a year, and as what they are", async () => {
    const { url } = await startGateway();
    for (const path of all) {
      const answer = await fetch(`${url}${path}`);
      const body = await answer.text();
      expect(path).toContain(createHash("sha256").update(body).digest("base64url").slice(0, 16));
      expect(answer.headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
      expect(answer.headers.get("content-type")).toBe(
        path.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
      );
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("hold no types, no comment that leads to a file that is not there, and only imports that are served", async () => {
    const { url } = await startGateway();
    for (const path of all.filter((each) => each.endsWith(".js"))) {
      const body = await (await fetch(`${url}${path}`)).text();
      expect(body).not.toMatch(/sourceMappingURL|^import type|^export interface/m);
      for (const [, specifier] of body.matchAll(/\bfrom\s*"([^"]+)";?$/gm))
        expect(all).toContain(specifier);
    }
  });

  it("know everything a module needs, so that a page can ask for it at once", () => {
    expect(assets.modules("landing.js").some((each) => each.includes("preact-dist-preact."))).toBe(
      true,
    );
    expect(assets.modules("landing.js").some((each) => each.includes("landing-landing."))).toBe(
      true,
    );
    for (const island of ["landing.js", "plain.js"]) {
      const modules = assets.modules(island);
      expect(new Set(modules).size).toBe(modules.length);
    }
  });

  it("are named anew when they change and otherwise keep their name", () => {
    expect(pageAssets().url("landing.js")).toBe(assets.url("landing.js"));
  });

  it("that are not there are not found, whatever the name", async () => {
    const { url } = await startGateway();
    for (const path of ["/assets/landing.js", "/assets/..%2f..%2fpackage.json", "/assets/"])
      expect((await fetch(`${url}${path}`)).status).toBe(404);
    expect(() => assets.url("nothing.js")).toThrow("there is no asset nothing.js");
  });
});
