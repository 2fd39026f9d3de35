import { Ajv } from "ajv";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { daemonSchema } from "../../../src/daemon/configuration.ts";
import { fileSchema } from "../../../src/kernel/config/file-schema.ts";

const validator = new Ajv({ allErrors: true, allowUnionTypes: true });
const check = validator.compile(fileSchema(daemonSchema));

/** Where the file breaks the schema, without the branches of one value that were tried. */
function broken(yaml: string): string[] {
  return check(parse(yaml))
    ? []
    : [...new Set((check.errors ?? []).map(({ instancePath }) => instancePath))];
}

describe("the JSON Schema of the configuration file", () => {
  it.each([
    ["an empty file's map", "{}"],
    ["sections without keys", "gateway:\nscrape: {}\ndedup: ''\nlogging: []"],
    ["keys without values", "gateway:\n  listen:\nscrape:\n  enabled: ''"],
    ["true as people write it", "scrape: {enabled: yes}\nadmin: {enabled: No, landing_page: 1}"],
    ["numbers as texts", "headscale: {api_key: 12345}\nscrape: {max_requests_in_flight: '4'}"],
    ["durations", "otlp: {timeout: 1m30s}\ncollectors: {users: {interval: 1.5h}}"],
    ["a list as one text", "gateway: {allowed_hosts: 'a.example, b.example'}"],
    ["a list", "gateway: {allowed_hosts: [a.example]}"],
    ["a secret in a file", "auth: {token_file: /run/token}"],
    ["another name of a key", "log_level: debug"],
    ["a map", "otlp: {headers: {x-org: 1}}"],
    ["an archive", "dedup: {archives: [{name: a, kind: folder, path: /srv/papers}]}"],
    [
      "a network with a secret's file",
      "networks: [{name: home, provider: headscale, url: 'https://h', api_key_file: /k}]",
    ],
  ])("takes %s", (_name, yaml) => {
    expect(broken(yaml)).toEqual([]);
  });

  it.each([
    ["an unknown section", "gatewy: {}", ""],
    ["an unknown key", "gateway: {listn: ':1'}", "/gateway"],
    ["a word for true", "scrape: {enabled: maybe}", "/scrape/enabled"],
    ["a duration without a unit", "otlp: {timeout: 30}", "/otlp/timeout"],
    [
      "a number out of its bounds",
      "collectors: {node_metrics: {discovery: {port: 65536}}}",
      "/collectors/node_metrics/discovery/port",
    ],
    ["another word", "logging: {level: loud}", "/logging/level"],
    ["a group for a value", "gateway: {listen: {port: 1}}", "/gateway/listen"],
    ["a list for a group", "gateway: [1]", "/gateway"],
    ["an object without what it needs", "dedup: {archives: [{name: a}]}", "/dedup/archives/0"],
    [
      "an unknown key of an object",
      "dedup: {archives: [{name: a, kind: folder, pth: /srv}]}",
      "/dedup/archives/0",
    ],
  ])("marks %s", (_name, yaml, path) => {
    expect(broken(yaml)).toContain(path);
  });

  it("is committed as an editor reads it; `npm run generate` writes it anew", () => {
    const file = join(import.meta.dirname, "../../../docs/configuration.schema.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(
      JSON.parse(JSON.stringify(fileSchema(daemonSchema))),
    );
  });

  it("says of each key what it is", () => {
    const text = JSON.stringify(fileSchema(daemonSchema));
    for (const { help } of daemonSchema) expect(text).toContain(JSON.stringify(help));
  });
});
