import { describe, expect, it } from "vitest";
import { ingressOptions } from "../../../../src/monitor/ingress/config/ingress-keys.ts";
import { load } from "../../config/load.ts";

const RECEIVER = `streaming: {enabled: true, listen: '127.0.0.1:0', token: sixteen-characters-at-least, BODY}
collectors: {flowlogs: {source: stream}, auditlogs: {source: stream}}`;
const problems = (log: string, body = ""): readonly string[] =>
  load(
    `ingress_wal: {${log}}\n${body === "none" ? "" : RECEIVER.replace(", BODY", body === "" ? "" : `, ${body}`)}`,
  ).problems.filter((line) => !line.includes("vpn.auth"));

describe("the keys of the ingress log", () => {
  it("keep its folder in the state folder unless they name another", () => {
    const options = (text: string) => {
      const { config } = load(text);
      return config && ingressOptions(config, "/var/lib/steward");
    };
    expect(options("")).toBeUndefined();
    expect(options("ingress_wal: {enabled: true}")).toEqual({
      directory: "/var/lib/steward/ingress-wal",
      maxBytes: 268_435_456,
      maxEntries: 10_000,
    });
    expect(
      options("ingress_wal: {enabled: true, directory: /srv/log, max_entries: 5}"),
    ).toMatchObject({ directory: "/srv/log", maxEntries: 5 });
  });

  it.each([
    ["directory: /", "ingress_wal.directory: must be a path below the root"],
    ["directory: /a/../b", "ingress_wal.directory: must be a path below the root"],
    ["directory: /a/", "ingress_wal.directory: must be a path below the root"],
    ["max_bytes: 0", "ingress_wal.max_bytes: must be"],
    ["max_entries: 0", "ingress_wal.max_entries: must be"],
    ["corruption: skip", "ingress_wal.corruption: must be"],
    ["max_bytes: 1000000", "ingress_wal.max_bytes: is less than one body may have"],
  ])("refuse %s", (key, message) => {
    expect(problems(`enabled: true, ${key}`)).toContainEqual(
      expect.stringContaining(`ERROR ${message}`),
    );
  });

  it.each(["max_body_bytes: -1", "max_body_bytes: 67108865"])("refuse bodies with %s", (body) => {
    expect(problems("enabled: true", body)).toEqual([
      expect.stringContaining(
        "ERROR streaming.max_body_bytes: must be at most 67108864 bytes while ingress_wal.enabled is true",
      ),
    ]);
    expect(problems("enabled: false", body)).toEqual([]);
  });

  it("warn of a log that nothing fills, and of settings of one that is off", () => {
    expect(problems("enabled: true", "none")).toEqual([
      expect.stringContaining("WARNING ingress_wal.enabled: is true, and no receiver is on"),
    ]);
    expect(problems("max_entries: 5")).toEqual([
      expect.stringContaining("WARNING ingress_wal.max_entries: is ignored"),
    ]);
    expect(problems("enabled: true")).toEqual([]);
  });
});
