import { expect, it } from "vitest";
import { replaceEach } from "./page-snippets.ts";

it("a port that was put in is not replaced, although it begins like one that is to be", () => {
  expect(
    replaceEach("curl 127.0.0.1:8400 127.0.0.1:2112 a.b axb", {
      "127.0.0.1:8400": "127.0.0.1:21125",
      "127.0.0.1:2112": "127.0.0.1:30000",
      "a.b": "c",
    }),
  ).toBe("curl 127.0.0.1:21125 127.0.0.1:30000 c axb");
});
