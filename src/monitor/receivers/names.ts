/** Names of the receivers: of their components, ports and certificates. */
export const RECEIVERS = ["stream", "webhook"] as const;
