/** Collector options of one network; disabled collectors are left out. */
import type { Config } from "../../kernel/config/config.ts";
import { collectorSections } from "../collectors/all.ts";
import type { NetworkShare } from "../collectors/section.ts";
import type { SectionOptions } from "../options.ts";

export function collectorOptions(config: Config, share: NetworkShare): SectionOptions {
  return Object.fromEntries(
    collectorSections.map((section) => [section.name, section.read(config, share)]),
  );
}
