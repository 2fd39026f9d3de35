import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import type { SeriesScope } from "../../../src/kernel/telemetry/writer/scope.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import { createK8sIntake } from "../../../src/monitor/k8s/intake.ts";
import { readRecording } from "../../../src/monitor/k8s/recording.ts";
import { clientOf, commandClassOf } from "../../../src/monitor/k8s/vocabulary.ts";

function setUp() {
  const records: string[] = [];
  const scope = createTelemetryWriter({ clock: systemClock }).scope({
    name: "n",
    resource: {},
    constants: {},
    redact: {
      metric: (_row, values) => values,
      log: (row, fields) => (
        records.push(
          `${row.name} ${fields.timeMs} ${JSON.stringify(fields.attributes)} ${fields.body}`,
        ),
        fields
      ),
    },
  }) as SeriesScope;
  const series = (): string[] =>
    [...scope.table.indexes()]
      .flatMap((index) =>
        [...index.numbers()].map((number) => {
          const values = scope.table.describe([number]).values[0] as unknown[];
          return `${index.row.name.replace("vpn.k8s.", "")}{${values.join(",")}} ${scope.table.columns.value[number]}`;
        }),
      )
      .toSorted();
  const warnings: unknown[] = [];
  const intake = createK8sIntake({
    scope,
    log: { warn: (message, fields) => void warnings.push([message, fields]) },
  });
  const accept = (values: readonly unknown[], recording = false) =>
    intake.accept({ records: values, recording, recorder: "rec-1" }, new AbortController().signal);
  return { accept, series, records, warnings };
}

function request(kubernetes: object, more: object = {}): object {
  return {
    type: "kubernetes-api-request",
    id: "1",
    timestamp: Date.parse("2026-11-20T10:00:00Z") / 1_000,
    userAgent: "kubectl/v1.34.1 (linux/amd64) kubernetes/abc",
    request: { method: "GET", path: "/api/v1/x", body: null },
    kubernetes: { IsResourceRequest: true, Path: "/api/v1/x", ...kubernetes },
    source: { node: "laptop.example.test", nodeID: "nSim1", nodeUser: "ada@example.test" },
    ...more,
  };
}

describe("What recorders saw of clusters", () => {
  it("counts requests by what they do", async () => {
    const { accept, series } = setUp();
    await accept([
      request({ Verb: "list", Resource: "pods", Namespace: "web" }),
      request({ Verb: "get", Resource: "secrets", Namespace: "web", Name: "db" }),
      request({ Verb: "delete", Resource: "deployments", APIGroup: "apps", Namespace: "web" }),
      request({
        Verb: "create",
        Resource: "selfsubjectaccessreviews",
        APIGroup: "authorization.k8s.io",
      }),
      request(
        { Verb: "create", Resource: "pods", Subresource: "exec", Namespace: "web", Name: "app-1" },
        {
          request: {
            method: "POST",
            path: "/api/v1/namespaces/web/pods/app-1/exec?command=/bin/bash&command=-l&container=main&stdin=true",
          },
        },
      ),
    ]);
    expect(series()).toEqual([
      "api.exec_sessions{web,shell,exec,ada@example.test} 1",
      "api.mutations{delete,deployments,web,ada@example.test} 1",
      "api.rbac_probes{selfsubjectaccessreviews,,ada@example.test} 1",
      "api.requests{create,pods,exec,,web,kubectl,ada@example.test,rec-1} 1",
      "api.requests{create,selfsubjectaccessreviews,,authorization.k8s.io,,kubectl,ada@example.test,rec-1} 1",
      "api.requests{delete,deployments,,apps,web,kubectl,ada@example.test,rec-1} 1",
      "api.requests{get,secrets,,,web,kubectl,ada@example.test,rec-1} 1",
      "api.requests{list,pods,,,web,kubectl,ada@example.test,rec-1} 1",
      "api.sensitive_reads{secrets,web,ada@example.test,kubectl} 1",
      "schema_drift{type,known} 5",
    ]);
  });

  it("logs a request with its command, pod and selectors, at its own time", async () => {
    const { accept, records } = setUp();
    await accept([
      request(
        {
          Verb: "create",
          Resource: "pods",
          Subresource: "exec",
          Namespace: "web",
          Name: "app-1",
          LabelSelector: "a=b",
        },
        { request: { method: "POST", path: "/x?command=sh&command=-c&command=id&container=main" } },
      ),
    ]);
    expect(records[0]).toContain(`vpn.k8s.api_request ${Date.parse("2026-11-20T10:00:00Z")} `);
    expect(records[0]).toContain(
      '"vpn.k8s.command":"sh -c id","vpn.k8s.command_class":"shell","vpn.k8s.pod":"app-1","vpn.k8s.container":"main"',
    );
    expect(records[0]).toContain('"vpn.k8s.label_selector":"a=b"');
    expect(
      records[0]?.endsWith(
        "} create pods/exec app-1 in web by ada@example.test from laptop.example.test: sh -c id",
      ),
    ).toBe(true);
  });

  it("counts the start of a recorded session, and leaves sessions of others out", async () => {
    const { accept, series, records } = setUp();
    const head = {
      version: 2,
      width: 80,
      height: 24,
      timestamp: 1_790_000_000,
      command: "python3 -i",
      srcNode: "laptop.example.test",
      srcNodeID: "nSim1",
      srcNodeTags: ["tag:b", "tag:a"],
      kubernetes: { PodName: "app-1", Namespace: "web", Container: "main", SessionType: "attach" },
    };
    expect(await accept([head, { ...head, kubernetes: undefined }, "no head"], true)).toEqual({
      accepted: 2,
      refused: { malformed: 1 },
    });
    expect(series()).toEqual(["session.started{attach,web,interpreter,tag:a,tag:b} 1"]);
    expect(records).toHaveLength(1);
    expect(records[0]).toContain(
      "} attach in web/app-1, container main by tag:a,tag:b from laptop.example.test: python3 -i",
    );
  });

  it.each([
    ["of early recorders", "Kubernetes API Request", "2026-11-20T10:00:00Z"],
    ["of early recorders, with a number", "Kubernetes API Request", 1_795_168_800],
    ["of present ones, with a text", "kubernetes-api-request", "2026-11-20T10:00:00Z"],
    ["without a type", undefined, "2026-11-20T12:00:00+02:00"],
  ])("reads requests %s", async (_which, type, timestamp) => {
    const { accept, series, records, warnings } = setUp();
    await accept([request({ Verb: "get", Resource: "pods" }, { type, timestamp })]);
    expect(series()).toEqual([
      "api.requests{get,pods,,,,kubectl,ada@example.test,rec-1} 1",
      "schema_drift{type,known} 1",
    ]);
    expect(records[0]).toContain(`vpn.k8s.api_request ${Date.parse("2026-11-20T10:00:00Z")} `);
    expect(warnings).toEqual([]);
  });

  it("counts events of an unknown type, and warns once of each type", async () => {
    const { accept, series, warnings } = setUp();
    const odd = ["Something New", "Other", "Something New"].map((type) => ({ type }));
    expect(await accept(odd)).toEqual({ accepted: 3, refused: {} });
    await accept(odd);
    expect(series()).toEqual(["schema_drift{type,unknown} 6"]);
    const message =
      "a session recorder writes events of an unknown type, which are not counted: it may be newer than this version";
    expect(warnings).toEqual([
      [message, { name: "type Something New", type: "Something New" }],
      [message, { name: "type Other", type: "Other" }],
    ]);
  });

  it("warns of 128 unknown types, and of no terminal session", async () => {
    const { accept, warnings } = setUp();
    await accept(Array.from({ length: 200 }, (_, at) => ({ type: `t${at}` })));
    await accept([{ version: 2, srcNode: "a" }], true);
    expect(warnings).toHaveLength(128);
  });

  it("counts an unknown verb as other, and refuses a request without its parts", async () => {
    const { accept, series } = setUp();
    await accept([
      { type: "Something New" },
      request({ Verb: "frobnicate" }),
      { type: "kubernetes-api-request" },
    ]);
    expect(series()).toEqual([
      "api.requests{other,,,,,kubectl,ada@example.test,rec-1} 1",
      "schema_drift{type,known} 1",
      "schema_drift{type,unknown} 1",
    ]);
  });

  it("bounds names", () => {
    const long = "x".repeat(100_000);
    const bounded = expect.stringMatching(/^x{1004}…~[0-9a-f]{16}$/) as string;
    expect(
      readRecording(
        request(
          { Verb: long, Namespace: long, Name: long },
          { source: { node: long, nodeUser: long } },
        ),
        false,
      ),
    ).toMatchObject({
      verb: bounded,
      namespace: bounded,
      objectName: bounded,
      source: { node: bounded, user: bounded },
    });
  });

  it("reads anything without throwing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, recording) => {
        readRecording(value, recording);
        readRecording(
          {
            type: "kubernetes-api-request",
            kubernetes: value,
            source: value,
            request: value,
            timestamp: value,
          },
          recording,
        );
      }),
    );
  });

  it("folds programs and clients into few words", () => {
    expect(
      [
        "",
        "/bin/bash -l",
        "C:\\Windows\\cmd.exe",
        "python3.11",
        "python3 x.py",
        "cat /etc/passwd",
      ].map(commandClassOf),
    ).toEqual(["none", "shell", "shell", "other", "interpreter", "other"]);
    expect(["", "kubectl/v1", "k9s", "<script>", "Go-http-client/2.0"].map(clientOf)).toEqual([
      "unknown",
      "kubectl",
      "k9s",
      "other",
      "Go-http-client",
    ]);
  });
});
