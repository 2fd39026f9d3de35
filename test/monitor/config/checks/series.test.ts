import { describe, expect, it } from "vitest";
import { load } from "../load.ts";

describe("limits of series", () => {
  it.each([
    [
      "warning_threshold: 10, critical_threshold: 9",
      [
        "ERROR cardinality.critical_threshold: must be at least cardinality.warning_threshold, which is 10, got 9",
      ],
    ],
    ["metric_limit: 5000", ["WARNING cardinality.critical_threshold: is never reached"]],
    [
      "metric_limit: 5000, critical_threshold: 0, warning_threshold: 6000",
      ["WARNING cardinality.warning_threshold: is never reached"],
    ],
    ["warning_threshold: 0, critical_threshold: 9", []],
    ["metric_limit: 0", []],
    ["metric_limit: -1", []],
  ])("agree with each other: %s", (fields, expected) => {
    expect(load(`cardinality: {${fields}}`).problems).toEqual(
      expected.map((line) => expect.stringContaining(line) as string),
    );
  });
});

describe("counting of flows", () => {
  it.each([
    ["metrics_mode: both", ["WARNING cardinality.flow.metrics_mode: both counts every flow twice"]],
    [
      "metrics_mode: all, rollup_top_n: 5",
      ["WARNING cardinality.flow.rollup_top_n: is 5 and is ignored"],
    ],
    [
      "source_port: true, destination_port: true",
      [
        "WARNING cardinality.flow.source_port: is ignored",
        "WARNING cardinality.flow.destination_port: is ignored",
      ],
    ],
    ["metrics_mode: all, source_port: true", []],
  ])("does what is written: %s", (fields, expected) => {
    expect(load(`cardinality: {flow: {${fields}}}`).problems).toEqual(
      expected.map((line) => expect.stringContaining(line) as string),
    );
  });
});

describe("agents on nodes", () => {
  const target = "{url: 'http://a:1/metrics'}";
  it.each([
    ["enabled: true", ["WARNING collectors.node_metrics.enabled: scrapes nothing"]],
    [`targets: [${target}]`, ["WARNING collectors.node_metrics.targets: is ignored"]],
    [
      "discovery: {enabled: true}",
      ["WARNING collectors.node_metrics.discovery.enabled: is ignored"],
    ],
    [
      "enabled: true, discovery: {enabled: true}, max_distinct_metrics: -1",
      [
        "WARNING collectors.node_metrics.max_distinct_metrics: lets nodes make as many metrics as they want",
      ],
    ],
    [`enabled: true, targets: [${target}]`, []],
    [
      `enabled: true, targets: [${target}, {url: 'http://a:1/metrics', instance: 'a:1'}]`,
      ["ERROR collectors.node_metrics.targets: must be different"],
    ],
    [`enabled: true, targets: [${target}, {url: 'http://a:1/metrics', instance: other}]`, []],
    [
      `enabled: true, targets: [${target}, {url: 'http://a:1/debug/metrics'}]`,
      [
        "ERROR collectors.node_metrics.targets: must have different instances, http://a:1/metrics and http://a:1/debug/metrics both have a:1",
      ],
    ],
    [
      "enabled: true, targets: [{url: 'http://a/', instance: web}, {url: 'http://b/', instance: web}]",
      ["ERROR collectors.node_metrics.targets: must have different instances"],
    ],
    [
      "targets: [{url: 'http://ada:canary@a'}]",
      ["ERROR collectors.node_metrics.targets[0].url: must not contain credentials"],
    ],
    ["targets: [{instance: a}]", ["ERROR collectors.node_metrics.targets[0].url: is missing"]],
    [
      "targets: [{url: 'https://a', tls: {cert_file: c}}]",
      [
        "ERROR collectors.node_metrics.targets[0].tls.key_file: is missing, but the other of the pair is set",
      ],
    ],
    [
      "targets: [{url: 'https://a', headers: {x: canary, x_file: /k}}]",
      ["ERROR collectors.node_metrics.targets[0].headers.x: is given twice"],
    ],
  ])("are asked as it is written: %s", (fields, expected) => {
    const { problems } = load(`collectors: {node_metrics: {${fields}}}`);
    expect(problems).toEqual(expected.map((line) => expect.stringContaining(line) as string));
    expect(problems.join()).not.toContain("canary");
  });

  it("have a limit of series, and belong to one network", () => {
    expect(
      load(
        `cardinality: {metric_limit: 0}\ncollectors: {node_metrics: {enabled: true, targets: [${target}]}}`,
      ).problems,
    ).toEqual([
      expect.stringContaining(
        "WARNING cardinality.metric_limit: lets nodes make as many series as they want",
      ),
    ]);
    const auth = "auth: {oauth: {client_id: x, client_secret: y}}";
    expect(
      load(
        `networks: [{name: a, ${auth}}, {name: b, ${auth}}]\ncollectors: {node_metrics: {enabled: true, targets: [${target}]}}`,
      ).problems,
    ).toEqual([
      expect.stringContaining(
        "WARNING collectors.node_metrics.targets: belong to the first of the networks",
      ),
    ]);
  });
});
