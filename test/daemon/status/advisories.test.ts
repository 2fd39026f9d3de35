import { describe, expect, it } from "vitest";
import { advisoriesOf, advisory } from "../../../src/daemon/status/advisories.ts";
import { configOf, configurationOf } from "./config-of.ts";

describe("the key of an advisory", () => {
  it.each([
    ["vpn.auth.method: is apikey", "vpn.auth.method"],
    ["networks[0].url is plain HTTP", "networks[0].url"],
    ["scrape.enabled=true is open", "scrape.enabled"],
    ["otlp.endpoint, or another", "otlp.endpoint"],
    ["STEWARD_ODD is not known", undefined],
    ["plain words", undefined],
    ["/etc/a.yaml: can be read", undefined],
    ["", undefined],
    [".", undefined],
  ])("of %j is %j", (message, key) => {
    expect(advisory(message)).toEqual({ message, ...(key === undefined ? {} : { key }) });
  });
});

describe("advisories", () => {
  const keysOf = (environment: Record<string, string>, idle: boolean) =>
    advisoriesOf(configOf(environment), { warnings: [], idle }).map(({ key }) => key);

  it("say that nothing leaves the process, and that nothing is collected, as long as that is so", () => {
    expect(keysOf({}, true)).toEqual(["otlp.endpoint", "vpn.auth"]);
    expect(keysOf({}, false)).toEqual(["otlp.endpoint"]);
    expect(keysOf({ STEWARD_OTLP__ENDPOINT: "http://127.0.0.1:4318" }, false)).toEqual([]);
    expect(
      keysOf({ STEWARD_OTLP__METRICS__ENDPOINT: "http://127.0.0.1:4318/v1/metrics" }, false),
    ).toEqual([]);
    expect(
      keysOf({ STEWARD_SCRAPE__ENABLED: "true", STEWARD_SCRAPE__LISTEN: "127.0.0.1:2112" }, false),
    ).toEqual([]);
    expect(keysOf({ STEWARD_OTLP__PROTOCOL: "stdout" }, false)).toEqual([]);
  });

  it("begin with the warnings of the configuration, in their order and with their remedy", () => {
    const { config, warnings } = configurationOf({
      STEWARD_AUTH__TOKEN: "short",
      STEWARD_NOBODY: "1",
    });
    const messages = advisoriesOf(config, { warnings, idle: false }).map(
      ({ message }) => message ?? "",
    );
    expect(messages.slice(0, warnings.length)).toEqual(
      warnings.map(({ path, rule }) => expect.stringContaining(`${path}: ${rule}`) as string),
    );
    expect(messages.find((message) => message.startsWith("auth.token"))).toContain(
      " — use 32 random ones.",
    );
  });
});
