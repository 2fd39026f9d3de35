import { describe, expect, it } from "vitest";
import { load } from "../load.ts";

const HEADSCALE = "provider: headscale\nheadscale: {url: 'https://hs', api_key: k}\n";
const auth = "auth: {oauth: {client_id: x, client_secret: y}}";

describe("a setting without effect", () => {
  it.each([
    [
      `${HEADSCALE}collectors: {dns: {enabled: true}}`,
      "WARNING collectors.dns.enabled: is ignored: Headscale does not support it (line 3)",
    ],
    [
      `${HEADSCALE}collectors: {flowlogs: {enabled: true}}`,
      "WARNING collectors.flowlogs.enabled: is ignored",
    ],
    [
      "collectors: {devices: {enabled: false}}\nversion_checks: {devices: {enabled: true}}",
      "WARNING version_checks.devices.enabled: is ignored: collectors.devices.enabled is false",
    ],
    [
      `scrape: {enabled: true}\npii_filter: {network_name: false}\nnetworks: [{name: a, ${auth}}, {name: b, ${auth}}]`,
      "WARNING pii_filter.network_name: removes the label that distinguishes the series of several networks",
    ],
    [
      "annotations: {extra_tags: [a]}",
      "WARNING annotations.extra_tags: is ignored: annotations.url is empty",
    ],
    [
      "annotations: {categories: {expiry: {rollup: false}}}",
      "WARNING annotations.categories.expiry.rollup: is ignored",
    ],
    [
      "annotations: {url: 'https://dash', token: x, dashboard_uid: u}",
      "WARNING annotations.dashboard_uid: keeps annotations from all other dashboards",
    ],
    [
      "annotations: {url: 'https://dash', token: x, categories: {expiry: {enabled: false}, config_change: {enabled: false}}}",
      "WARNING annotations.url: is ignored: all categories are off",
    ],
    [
      "annotations: {url: 'https://dash'}",
      "ERROR annotations.token: is missing, and annotations.url is set",
    ],
  ])("is told of: %s", (yaml, expected) => {
    expect(load(yaml).problems).toEqual([expect.stringContaining(expected)]);
  });

  it.each([
    HEADSCALE,
    `${HEADSCALE}collectors: {dns: {enabled: false}, devices: {enabled: true}}`,
    "collectors: {devices: {enabled: false}}",
    `provider: headscale\nnetworks: [{name: a, provider: tailscale, ${auth}}]\ncollectors: {dns: {enabled: true}}`,
    "annotations: {url: 'https://dash', token: x}",
    `${HEADSCALE}collectors: {flowlogs: {enabled: true, source: objectstore, objectstore: {endpoint: 'https://s3', region: r, bucket: b}}}`,
  ])("is none here: %s", (yaml) => {
    expect(load(yaml).problems).toEqual([]);
  });
});
