/** What is usual for a series of values and for a device, learned as it comes, and how far from it something is. */
export { type BeaconFinding, type Connection, createBeaconWatch } from "./beacon/watch.ts";
export type { Accepted } from "./behaviour/accepted.ts";
export type { Anomaly } from "./behaviour/anomaly.ts";
export type { DeviceBehaviour, UsualFeature } from "./behaviour/devices/describe-device.ts";
export type { DeviceState } from "./behaviour/devices/device-table.ts";
export type { ObservedBroadcast, ObservedFlow, ObservedQuery } from "./behaviour/flow.ts";
export { type BehaviourCounts, type BehaviourWatch, createBehaviourWatch } from "./behaviour/watch.ts";
export { createDetector, type Detector, type Reading, restoreDetector } from "./detector/detector.ts";
export { type Evidence, SHIPPED_THRESHOLD } from "./detector/evidence.ts";
export type { SavedEntry } from "./sealed.ts";
export { createDelegatedReader, type DelegatedReader, type DelegatedSummary } from "./countries/delegated.ts";
export type { CountryRange } from "./countries/range.ts";
export { type CountryTable, createCountryTable, openCountryTable, TABLE_FILE } from "./countries/table.ts";
