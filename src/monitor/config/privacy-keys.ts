/** `pii_filter`: which personal and internal data may be exported. */
import { defineKeyGroup, keysOf, type KeyField } from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import { boolean } from "../../kernel/config/values/types.ts";
import type { PrivacyOptions } from "../options.ts";

const shown = (what: string): KeyField<boolean> => ({
  type: boolean,
  default: true,
  help: `Exports ${what}.`,
});

export const privacy = defineKeyGroup<PrivacyOptions>("pii_filter", {
  emails: shown("login names and mail addresses"),
  user_display_names: shown("names of users"),
  user_ids: shown("ids of users"),
  hostnames: shown("names of devices and of this host"),
  node_ids: shown("ids of devices"),
  vpn_ips: shown("addresses inside the network"),
  internal_ips: shown("private addresses"),
  external_ips: shown("public addresses"),
  service_addrs: shown("names of services"),
  endpoint_paths: shown("addresses and paths of endpoints"),
  network_topology: shown("routes, resolvers and search domains"),
  network_name: shown("names of networks"),
  free_text_details: shown("free text written by people, and the changes in audit records"),
  command_text: shown("commands of recorded sessions"),
});

export const privacySchema: Schema = keysOf(privacy);
