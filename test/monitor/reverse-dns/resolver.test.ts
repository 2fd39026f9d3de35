import { Resolver } from "node:dns/promises";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { createReverseResolver, isServer } from "../../../src/monitor/reverse-dns/resolver.ts";
import { startDns, type DnsAnswer } from "../../support/dns.ts";

async function resolved(answer: DnsAnswer, address = "203.0.113.7", timeoutMs = 5_000) {
  await using dns = await startDns(() => answer);
  const resolver = createReverseResolver(
    { server: dns.address, timeoutMs },
    { clock: systemClock },
  );
  const names = await resolver
    .resolve(address)
    .catch((error: unknown) => (error as NodeJS.ErrnoException).code);
  return { names, questions: dns.questions };
}

describe("a reverse query", () => {
  it("asks for the name of both kinds of addresses", async () => {
    expect(await resolved(["host.example.net"])).toEqual({
      names: ["host.example.net"],
      questions: ["7.113.0.203.in-addr.arpa"],
    });
    const { questions } = await resolved("none", "2001:db8::1");
    expect(questions).toEqual([`1.${"0.".repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`]);
  });

  it("gives names in lower case, and only those that are host names", async () => {
    const names = [
      "Host.Example.NET",
      "a b.example.net",
      "<b>.example.net",
      "x\n.example",
      "_tcp.ok",
    ];
    expect((await resolved(names)).names).toEqual(["host.example.net", "_tcp.ok"]);
  });

  it("gives none for an address without a name", async () => {
    expect((await resolved("none")).names).toEqual([]);
    expect((await resolved([])).names).toEqual([]);
  });

  it("fails when the server does, or does not answer", async () => {
    expect((await resolved("failure")).names).toBe("ESERVFAIL");
    expect((await resolved("silence", "203.0.113.7", 50)).names).toBe("ETIMEOUT");
  });
});

it("the system's servers are looked up again after a failure, at most every half minute", async () => {
  await using first = await startDns(() => "failure");
  await using second = await startDns(() => ["host.example.net"]);
  const clock = createManualClock();
  let lookups = 0;
  let server = first.address;
  const resolver = createReverseResolver(
    { server: "", timeoutMs: 5_000 },
    {
      clock,
      systemResolver(options) {
        lookups += 1;
        const made = new Resolver(options);
        made.setServers([server]);
        return made;
      },
    },
  );
  const ask = () => resolver.resolve("203.0.113.7").catch(() => "failed");
  expect([await ask(), await ask(), lookups]).toEqual(["failed", "failed", 2]);
  server = second.address;
  await clock.advance(30_000);
  expect([await ask(), await ask(), lookups]).toEqual(["failed", ["host.example.net"], 3]);
});

it.each([
  ["192.0.2.53", true],
  ["192.0.2.53:5353", true],
  ["2001:db8::53", true],
  ["[2001:db8::53]:53", true],
  ["[192.0.2.53]:53", false],
  ["2001:db8::53:65536", false],
  ["192.0.2.53:0", false],
  ["192.0.2.53:65536", false],
  ["dns.example.net", false],
  ["dns.example.net:53", false],
  ["[2001:db8::53]", false],
  [" 192.0.2.53", false],
])("%s is a server: %s", (text, expected) => {
  expect(isServer(text)).toBe(expected);
});
