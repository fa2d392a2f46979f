/** Runs the discovery on `lan0` with real capture, sending and SQLite, and prints each event as a line. Started by `real-lan.ts`. */
import { createVendorLookup } from "@lanthorn/fingerprints";
import { createPacedSender, openCapture, openInjector, readInterface } from "@lanthorn/packet-io";
import { createLog, systemClock } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { createLiveClock } from "../../bus/bus-clock.ts";
import { createEgressPolicy } from "../../egress/policy.ts";
import { createFrameBus } from "../../bus/frame-bus.ts";
import { createHostDiscovery } from "../host-discovery.ts";
import { SETTINGS } from "./fake-lan.ts";

const vendors = createVendorLookup();
const facts = await readInterface("lan0");
const clock = createLiveClock(systemClock);
const log = createLog({ name: "watch-lan", level: "warn" });
const discovery = createHostDiscovery({
  db: new Database(":memory:"),
  outbox: {
    append(events) {
      for (const event of events) process.stdout.write(`${JSON.stringify(event)}\n`);
    },
  },
  clock,
  random: Math.random,
  log,
  interfaceFacts: () => facts,
  maxHosts: SETTINGS.maxHosts,
  policy: createEgressPolicy(SETTINGS),
  sender: createPacedSender({ injector: openInjector({ interface: "lan0", clock: systemClock }), clock: systemClock }),
  vendorOf: (mac) => vendors.vendorOf(mac),
  reverseNames: null,
  interfaceName: "lan0",
  openScanLink: null,
  routeTo: async () => null,
  identify: null,
  nmap: null,
});
const bus = createFrameBus({ modules: [discovery], clock, log });
openCapture({
  interface: "lan0",
  filter: "",
  snapLength: 2048,
  promiscuous: false,
  clock: systemClock,
  onFrames: bus.onFrames,
  onLost(reason) {
    throw reason;
  },
});
bus.start();
