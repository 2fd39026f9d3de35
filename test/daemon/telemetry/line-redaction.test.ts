import { describe, expect, it } from "vitest";
import { lineRule } from "../../../src/daemon/telemetry/line-attributes.ts";
import { createLineRedaction } from "../../../src/daemon/telemetry/line-redaction.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createLog, type Log, type LogLine } from "../../../src/kernel/base/log.ts";
import { defaultLogLimits, recordOfLine } from "../../../src/kernel/telemetry/writer/log-record.ts";
import type { PrivacyCategory, PrivacyOptions } from "../../../src/monitor/options.ts";
import { privacySchema } from "../../../src/monitor/config/privacy-keys.ts";
import { authored, codeOf } from "../../tidy/sources.ts";

const categories = privacySchema.map(
  ({ path }) => path.slice("pii_filter.".length) as PrivacyCategory,
);
const hiding = (...hidden: readonly PrivacyCategory[]): PrivacyOptions =>
  Object.fromEntries(
    categories.map((category) => [category, !hidden.includes(category)]),
  ) as PrivacyOptions;

/** The body and the attributes that are exported of a line. */
function exported(
  options: PrivacyOptions,
  write: (log: Log) => void,
): { readonly body: string; readonly attributes: Readonly<Record<string, unknown>> } {
  const redact = createLineRedaction(options, ["-", "home", "meine.firma", "a b"]);
  const lines: LogLine[] = [];
  const log = createLog({ level: "debug", format: "json", write: () => undefined, now: () => 0 });
  log.tap((line) => void lines.push(redact?.(line) ?? line));
  write(log);
  const [line] = lines;
  if (line === undefined || lines.length > 1) throw new Error(`${lines.length} lines`);
  const { body, names, values } = recordOfLine(0, line, defaultLogLimits);
  return { body, attributes: Object.fromEntries(names.map((name, at) => [name, values[at]])) };
}

const text = (options: PrivacyOptions, write: (log: Log) => void): string =>
  JSON.stringify(exported(options, write));
/** CPU time of this thread: a machine that is busy with other things adds none. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
/** The exported body of a log line. */
const shown = (options: PrivacyOptions, message: string): string =>
  exported(options, (log) => log.info(message)).body;

const url = "http://laptop-anna.tail1.ts.net:5252/api/v2/tailnet/meine.firma/devices";
const failed = (log: Log): void =>
  log.child("network", { network: "meine.firma" }).warn("collector failed", {
    name: "devices",
    class: "transport",
    status: 503,
    operation: "devices",
    url,
    cause: "ENOTFOUND laptop-anna.tail1.ts.net",
    error: new StewardError("upstream", `tailscale: devices: the connection failed (${url})`, {
      cause: new Error("getaddrinfo ENOTFOUND laptop-anna.tail1.ts.net"),
    }),
  });

describe("The privacy filter of exported log lines", () => {
  it("is off when everything is exported", () => {
    expect(createLineRedaction(hiding(), ["home"])).toBeUndefined();
  });

  it("removes what an attribute names, from the other texts of the line too", () => {
    const { body, attributes } = exported(hiding("endpoint_paths"), failed);
    expect(body).toBe("collector failed");
    expect(attributes).toEqual({
      network: "meine.firma",
      component: "network",
      name: "devices",
      class: "transport",
      status: 503,
      cause: "ENOTFOUND [redacted]",
      "exception.type": "StewardError",
      "exception.message":
        "tailscale: [redacted]: the connection failed ([redacted]): getaddrinfo ENOTFOUND [redacted]",
    });
  });

  it("exports no URL while something is hidden that URLs name", () => {
    for (const category of ["hostnames", "network_name", "node_ids"] as const) {
      const line = text(hiding(category), failed);
      expect(line, category).not.toMatch(/http|anna/);
    }
  });

  it("keeps an error's kind alone when free text is hidden", () => {
    const { attributes } = exported(hiding("free_text_details"), (log) =>
      log.error("failed", {
        error: new TypeError("of Anna"),
        reason: "Anna, metrics",
        job_id: "1",
      }),
    );
    expect(attributes).toEqual({ "exception.type": "TypeError", job_id: "1" });
  });

  it("masks whole names of networks, in every form", () => {
    const options = hiding("network_name");
    expect(shown(options, "network home: homelab, Home's, flows-home.mdb, /a%20b/, x - y")).toBe(
      "network [redacted]: homelab, [redacted]'s, flows-[redacted].mdb, /[redacted]/, x - y",
    );
    expect(
      exported(options, (log) => log.info("x", { network: "elsewhere", job: "of elsewhere" })),
    ).toEqual({ body: "x", attributes: { job: "of [redacted]" } });
  });

  it("masks the names of devices in lists", () => {
    const { body, attributes } = exported(hiding("hostnames"), (log) =>
      log.warn("several devices share a name, also nas", { names: "nas, tv", remedy: "name tv" }),
    );
    expect([body, attributes]).toEqual([
      "several devices share a name, also [redacted]",
      { remedy: "name [redacted]" },
    ]);
  });

  it("masks addresses of the hidden kinds wherever they are", () => {
    const message =
      "100.64.0.1:22 10.0.0.7, 8.8.8.8. fd7a:115c:a1e0::1 ::1:443 [fe80::1%eth0]:80 tcp:10.1.1.1:5 12:30:45 1.2.3";
    expect(shown(hiding("vpn_ips"), message)).toBe(
      "[redacted]:22 10.0.0.7, 8.8.8.8. [redacted] ::1:443 [fe80::1%eth0]:80 tcp:10.1.1.1:5 12:30:45 1.2.3",
    );
    expect(shown(hiding("internal_ips"), message)).toBe(
      "100.64.0.1:22 [redacted], 8.8.8.8. fd7a:115c:a1e0::1 [redacted] [[redacted]%eth0]:80 tcp:[redacted]:5 12:30:45 1.2.3",
    );
    expect(shown(hiding("external_ips"), "8.8.8.8/32 and 2001:4860:4860::8888")).toBe(
      "[redacted]/32 and [redacted]",
    );
  });

  it("masks mail addresses and logins", () => {
    expect(shown(hiding("emails"), "user anna.b+x@firma.example, eva@github may not")).toBe(
      "user [redacted], [redacted] may not",
    );
  });

  it("reaches into structures", () => {
    expect(
      text(hiding("emails"), (log) => log.info("x", { who: [{ mail: "anna@firma.example" }] })),
    ).not.toContain("anna");
  });

  it("takes time in proportion to the length of a line", () => {
    const options = hiding(...categories);
    const redact = createLineRedaction(options, ["home"]);
    for (const unit of ["a", "a-", ":", "0:", "1.", "E ", "aa@", "a://", "EAA ", "[", "home "]) {
      const time = (length: number): number => {
        const message = unit.repeat(length / unit.length);
        const beganMs = cpuMs();
        redact?.({ timeMs: 0, level: "info", component: "", message, attributes: {} });
        return cpuMs() - beganMs;
      };
      time(20_000);
      expect(time(200_000), unit).toBeLessThan(Math.max(50, time(20_000)) * 30);
    }
  });
});

describe("The attributes of the monitor's log lines", () => {
  it("all have a privacy rule in src/daemon/telemetry/line-attributes.ts", () => {
    const found = authored
      .filter((file) => file.startsWith("src/monitor/"))
      .flatMap((file) => attributesIn(codeOf(file)).map((name) => ({ file, name })));
    expect(found.length).toBeGreaterThan(100);
    expect(found.filter(({ name }) => lineRule(name) === undefined)).toEqual([]);
  });

  it("are found in calls, children and conditional spreads, and nowhere else", () => {
    expect(
      attributesIn(
        'this.#log?.warn(`a (${b({ c })})`, { d, e: f({ g }), ...(h ? {} : { i }), j: "(k" });' +
          'log.child("l", { m: n.map(({ o }) => o) }); other.push({ p });',
      ),
    ).toEqual(["d", "e", "i", "j", "m"]);
  });
});

/** Names of the attributes that are written in calls of a log. */
function attributesIn(code: string): string[] {
  const plain = code
    .replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""')
    .replaceAll(/`(?:[^`\\]|\\.)*`/g, "``");
  return [...plain.matchAll(/log\??\.(?:debug|info|warn|error)\(|\.child\(/gi)].flatMap(
    ({ index, 0: call }) => namesFrom(plain, index + call.length),
  );
}

/** Names of properties in the arguments of a call; those of nested calls are not its own. */
function namesFrom(code: string, begin: number): string[] {
  const names: string[] = [];
  const open: string[] = ["call"];
  for (let at = begin; open.length > 0 && at < code.length; at += 1) {
    const char = code.charAt(at);
    if (char === "(") open.push(code.slice(0, at).endsWith("...") ? "spread" : "nested");
    else if (char === "{" || char === "[") open.push(char);
    else if (char === ")" || char === "}" || char === "]") open.pop();
    else if (
      open.at(-1) === "{" &&
      !open.includes("nested") &&
      /[{,]\s*$/.test(code.slice(Math.max(0, at - 40), at))
    ) {
      const name = /^([A-Za-z_]\w*)\s*[:,}]/.exec(code.slice(at, at + 60))?.[1];
      if (name !== undefined) names.push(name);
    }
  }
  return names;
}
