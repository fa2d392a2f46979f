/** What a probe and its collector say to each other: all of the contract but REST. */
export * from "./values.ts";
export * from "./events/table.ts";
export * from "./events/stream.ts";
export { type HostState } from "./events/hosts.ts";
export { type PortRole, type SwitchNeighbor, type SwitchReport } from "./events/switches.ts";
export { type NeighborDiscovered, type NeighborIdType, type NeighborPower, type NeighborProtocol } from "./events/neighbors.ts";
export { type ScanRemarkCode } from "./events/scans.ts";
export { HEALTH_METRICS } from "./events/operations.ts";
export { GUARD_KINDS, type GuardKind, RogueDetected } from "./events/security.ts";
export * from "./uplink/topics.ts";
export * from "./uplink/messages.ts";
export * from "./uplink/enrollment-token.ts";
export * from "./uplink/credentials.ts";
export * from "./uplink/enrollment.ts";
export * from "./uplink/scan-profiles.ts";
export * from "./uplink/bundles.ts";
export * from "./uplink/guards.ts";
export * from "./uplink/files.ts";
