/** What is usual for a series of values and for a device, learned as it comes, and how far from it something is. */
export { type BeaconFinding, type Connection, createBeaconWatch } from "./beacon/watch.ts";
export { createDetector, type Detector, type Reading, restoreDetector } from "./detector/detector.ts";
export { type Evidence, SHIPPED_THRESHOLD } from "./detector/evidence.ts";
