import { describe, expect, it } from "vitest";
import { load } from "../load.ts";

const PLACE = "endpoint: 'https://s3.example.org', region: r, bucket: b";
const flow = (fields: string): string =>
  `collectors: {flowlogs: {source: objectstore, objectstore: {${fields}}}}`;

describe("windows of a log", () => {
  it.each(["flowlogs", "auditlogs"])(
    "are longer than the time between runs, or have no limit: %s",
    (log) => {
      expect(load(`collectors: {${log}: {interval: 10m, max_window: 10m}}`).problems).toEqual([
        `ERROR collectors.${log}.max_window: must be more than collectors.${log}.interval, or 0 for no limit (line 1) — make it longer, or collect more often.`,
      ]);
      expect(
        load(`collectors: {${log}: {source: both, interval: 10m, max_window: 1m}}`).problems,
      ).toContainEqual(expect.stringContaining(`ERROR collectors.${log}.max_window: must be more`));
      for (const rest of ["max_window: 0", "max_window: 11m", "max_window: 1m, enabled: false"])
        expect(load(`collectors: {${log}: {interval: 10m, ${rest}}}`).problems).toEqual([]);
    },
  );
});

describe("a feed that is used", () => {
  it.each([
    [flow(""), "ERROR collectors.flowlogs.objectstore.endpoint: is missing, and this feed is used"],
    [
      flow("endpoint: 'https://s3', region: r"),
      "ERROR collectors.flowlogs.objectstore.bucket: is missing",
    ],
    [
      flow("endpoint: 'http://s3.example.org', region: r, bucket: b"),
      "ERROR collectors.flowlogs.objectstore.endpoint: is plain HTTP to another machine",
    ],
    [
      flow(`${PLACE}, access_key_id: canary`),
      "ERROR collectors.flowlogs.objectstore.secret_access_key: is missing",
    ],
    [
      flow(`${PLACE}, secret_access_key: canary`),
      "ERROR collectors.flowlogs.objectstore.access_key_id: is missing",
    ],
    [
      flow(`${PLACE}, session_token: canary`),
      "ERROR collectors.flowlogs.objectstore.session_token: needs access_key_id",
    ],
    [
      flow(`${PLACE}, max_cycle_records: 5, max_object_records: 6`),
      "ERROR collectors.flowlogs.objectstore.max_cycle_records: must be at least max_object_records, which is 6, got 5",
    ],
    [
      flow(`${PLACE}, max_cycle_wire_bytes: 1MiB`),
      "ERROR collectors.flowlogs.objectstore.max_cycle_wire_bytes: must be at least max_object_wire_bytes",
    ],
    [
      flow(`${PLACE}, max_cycle_decompressed_bytes: 1MiB`),
      "ERROR collectors.flowlogs.objectstore.max_cycle_decompressed_bytes: must be at least",
    ],
    [flow(`${PLACE}, lookback: 0`), "WARNING collectors.flowlogs.objectstore.lookback: is 0"],
    [
      flow(`${PLACE}, prefix: /logs`),
      "WARNING collectors.flowlogs.objectstore.prefix: begins with /",
    ],
    [
      flow(`${PLACE}, initial_lookback: 337h`),
      "WARNING collectors.flowlogs.objectstore.initial_lookback: is more than the 14 days",
    ],
    [
      "collectors: {k8s_audit: {enabled: true}}",
      "ERROR collectors.k8s_audit.objectstore.endpoint: is missing",
    ],
  ])("is whole: %s", (yaml, expected) => {
    const { problems } = load(yaml);
    expect(problems[0]).toContain(expected);
    expect(problems.join()).not.toContain("canary");
  });

  it.each([
    flow(PLACE),
    flow("endpoint: 'http://127.0.0.1:9000', region: r, bucket: b"),
    flow("endpoint: 'http://s3', region: r, bucket: b, allow_insecure_http: true"),
    flow(`${PLACE}, access_key_id: a, secret_access_key: b`),
  ])("is nothing to talk about when it is: %s", (yaml) => {
    expect(load(yaml).problems).toEqual([]);
  });

  it("is where no other is", () => {
    const both = (prefix: string): string =>
      `collectors: {flowlogs: {source: objectstore, objectstore: {${PLACE}, prefix: logs}}, auditlogs: {source: objectstore, objectstore: {${PLACE.replace(".org", ".org/")}, prefix: ${prefix}}}}`;
    expect(load(both("logs/")).problems[0]).toContain(
      "ERROR collectors.auditlogs.objectstore.prefix: is where another feed is too",
    );
    expect(load(both("audit")).problems).toEqual([]);
  });
});

describe("a feed that is not used", () => {
  it.each([
    [
      `collectors: {flowlogs: {objectstore: {${PLACE}}}}`,
      "WARNING collectors.flowlogs.objectstore: is ignored: collectors.flowlogs.source is not objectstore",
    ],
    [
      `collectors: {k8s_audit: {objectstore: {${PLACE}}}}`,
      "WARNING collectors.k8s_audit.objectstore: is ignored: collectors.k8s_audit.enabled is false",
    ],
    [
      `networks: [{name: a, auth: {oauth: {client_id: x, client_secret: y}}, objectstore: {audit: {${PLACE}}}}]`,
      "WARNING networks[0].objectstore.audit: is ignored",
    ],
  ])("is told of: %s", (yaml, expected) => {
    expect(load(yaml).problems).toEqual([expect.stringContaining(expected)]);
  });
});

describe("feeds of several networks", () => {
  const two = (first: string, second: string, collectors: string): string =>
    `networks: [{name: a, auth: {oauth: {client_id: x, client_secret: y}}, objectstore: {${first}}}, {name: b, auth: {oauth: {client_id: x, client_secret: y}}, objectstore: {${second}}}]\ncollectors: {${collectors}}`;
  const flows = "flowlogs: {source: objectstore}";

  it("are each their own, never the one below collectors", () => {
    expect(load(two(`flow: {${PLACE}}`, "", flows)).problems[0]).toContain(
      "ERROR networks[1].objectstore.flow.endpoint: is missing, and this feed is used",
    );
    expect(load(two(`flow: {${PLACE}}`, `flow: {${PLACE}}`, flows)).problems[0]).toContain(
      "ERROR networks[1].objectstore.flow.prefix: is where another feed is too",
    );
    expect(
      load(two(`flow: {${PLACE}, prefix: a}`, `flow: {${PLACE}, prefix: b}`, flows)).problems,
    ).toEqual([]);
    expect(
      load(
        two(
          `flow: {${PLACE}, prefix: a}`,
          `flow: {${PLACE}, prefix: b}`,
          `flowlogs: {source: objectstore, objectstore: {${PLACE}}}`,
        ),
      ).problems,
    ).toEqual([
      expect.stringContaining(
        "WARNING collectors.flowlogs.objectstore: is ignored: each of the networks has its own",
      ),
    ]);
  });

  it("of recordings are there for at least one", () => {
    const on = "k8s_audit: {enabled: true}";
    expect(load(two("", "", on)).problems[0]).toContain(
      "ERROR networks: have no objectstore.k8s_audit",
    );
    expect(load(two(`k8s_audit: {${PLACE}}`, "", on)).problems).toEqual([]);
  });
});
