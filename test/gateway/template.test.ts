import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPathTree, parseTemplate, splitPath, type PathTree } from "../../gateway/template.ts";

function tree(...templates: string[]): PathTree<string> {
  const made = createPathTree<string>();
  for (const text of templates) made.leaf(parseTemplate(text), () => text);
  return made;
}

describe("a path template", () => {
  it.each([
    ["/", [], []],
    ["/api/v1/jobs", [], []],
    ["/api/v1/jobs/{job_id}/progress", ["job_id"], []],
    ["/v1/{rest=**}", ["rest"], []],
  ])("%s has the variables %o", (text, variables) => {
    expect(parseTemplate(text).variables).toEqual(variables);
  });

  it.each([
    "",
    "api",
    "/a/{b}c",
    "/a/*",
    "/a/{b=*}",
    "/a:verb",
    "/{a=**}/b",
    "/{a}/{a}",
    "/a/{b.c}",
    "/a?b",
  ])("%s is refused", (text) => {
    expect(() => parseTemplate(text)).toThrow("assertion failed");
  });
});

describe("the tree of paths", () => {
  const paths = tree(
    "/",
    "/d/{id}",
    "/d/stats",
    "/d/{id}/content",
    "/d/stats/deep/{x}",
    "/v1/{rest=**}",
    "/v1/sys/health",
  );
  it.each([
    ["/", "/", []],
    ["/d/stats", "/d/stats", []],
    ["/d/other", "/d/{id}", ["other"]],
    ["/d/stats/content", "/d/{id}/content", ["stats"]],
    ["/d/a%2Fb%20c/content", "/d/{id}/content", ["a/b c"]],
    ["/d/%73tats", "/d/stats", []],
    ["/v1/sys/health", "/v1/sys/health", []],
    ["/v1/sys/other/x", "/v1/{rest=**}", ["sys/other/x"]],
    ["/v1/a/", "/v1/{rest=**}", ["a/"]],
  ])("finds %s under %s", (path, leaf, values) => {
    expect(paths.find(splitPath(path) ?? [])).toEqual({ leaf, values });
  });

  it.each(["", "//", "/d", "/d/", "/d/x/", "/d//content", "/D/x", "/d/x/content/y", "/v1"])(
    "finds nothing for %s",
    (path) => {
      expect(paths.find(splitPath(path) ?? ["no path"])).toBeUndefined();
    },
  );

  it.each(["/%", "/%zz", "/%ff", "/a/%c3", "a", "*"])("cannot split %s", (path) => {
    expect(splitPath(path)).toBeUndefined();
  });

  it("finds the template that a path was made from, with what its variables stood for", () => {
    const segment = fc.oneof(fc.stringMatching(/^[a-z]{1,3}$/), fc.stringMatching(/^\{[a-z]\}$/));
    const templates = fc.array(
      fc.uniqueArray(segment, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join("/")}`),
      { minLength: 1, maxLength: 12 },
    );
    const value = fc.string({ minLength: 1, unit: "grapheme" }).map((text) => `=${text}`);
    fc.assert(
      fc.property(
        templates,
        fc.nat(),
        fc.array(value, { minLength: 4, maxLength: 4 }),
        (texts, pick, values) => {
          const chosen = parseTemplate(texts[pick % texts.length] ?? "/");
          const given = chosen.variables.map((_, index) => values[index] ?? "=");
          const path = chosen.text.replaceAll(/\{.\}/g, () =>
            encodeURIComponent(given.shift() ?? "="),
          );
          const found = tree(...texts).find(splitPath(path) ?? []);
          // Values never equal a literal here, so only templates of the same shape can have been
          // found.
          expect(found?.leaf.replaceAll(/\{.\}/g, "{}")).toBe(
            chosen.text.replaceAll(/\{.\}/g, "{}"),
          );
          expect(found?.values).toEqual(chosen.variables.map((_, index) => values[index] ?? "="));
        },
      ),
    );
  });
});
