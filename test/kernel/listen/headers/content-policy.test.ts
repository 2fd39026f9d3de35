import { describe, expect, it } from "vitest";
import { contentPolicy } from "../../../../src/kernel/listen/headers/content-policy.ts";

describe("the policy of an answer's content", () => {
  it("allows nothing unless it is asked to", () => {
    expect(contentPolicy()).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(contentPolicy({ styles: [], scripts: [] })).toBe(contentPolicy());
  });

  it("lets through each text of a page by its hash, and what the page says it does", () => {
    expect(
      contentPolicy({
        styles: ["a"],
        scripts: ["b", "c"],
        ownScripts: true,
        dataImages: true,
        ownRequests: true,
      }),
    ).toBe(
      "default-src 'none'; script-src 'self' 'sha256-PiPoFgA5WUoziU9lZOGxNIu9egCI1CxKy3PurtWcAJ0=' 'sha256-Ln0sA6lQeuJl7PW1NWiFpTOTogKdJBOUmXJloaJa78Y='; " +
        "style-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  it("never allows whatever is written into a page", () => {
    expect(
      contentPolicy({
        styles: ["x"],
        scripts: ["x"],
        ownScripts: true,
        dataImages: true,
        ownRequests: true,
      }),
    ).not.toContain("unsafe");
  });
});
