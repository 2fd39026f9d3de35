/** The collectors that `dedup.paperless_metrics.collectors` chooses from. */
export const collectorNames = [
  "status",
  "statistics",
  "document",
  "tag",
  "correspondent",
  "document_type",
  "storage_path",
  "group",
  "user",
  "remote_version",
] as const;

export type CollectorName = (typeof collectorNames)[number];
