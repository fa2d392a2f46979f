/** Runs the discovery on `lan0` with real capture, sending and SQLite, and prints each event as a line. Started by `real-lan.ts`. */
import { createVendorLookup } from "@lanthorn/fingerprints";
import { createPacedSender, openCapture, openInjector, readInterface } from "@lanthorn/packet-io";
import { createLog, systemClock } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { createHostDiscovery } from "../host-discovery.ts";
import { SETTINGS } from "./fake-lan.ts";

const vendors = createVendorLookup();
const facts = await readInterface("lan0");
const discovery = createHostDiscovery({
  db: new Database(":memory:"),
  outbox: {
    append(events) {
      for (const event of events) process.stdout.write(`${JSON.stringify(event)}\n`);
    },
  },
  clock: systemClock,
  random: Math.random,
  log: createLog({ name: "watch-lan", level: "warn" }),
  interfaceFacts: () => facts,
  settings: SETTINGS,
  sender: createPacedSender({ injector: openInjector({ interface: "lan0", clock: systemClock }), clock: systemClock }),
  vendorOf: (mac) => vendors.vendorOf(mac),
  reverseNames: null,
  interfaceName: "lan0",
  openScanLink: null,
  routeTo: async () => null,
  identify: null,
  deepLook: null,
});
openCapture({
  interface: "lan0",
  filter: "",
  snapLength: 2048,
  promiscuous: false,
  clock: systemClock,
  onFrames: (batch) => discovery.onFrames(batch),
  onLost(reason) {
    throw reason;
  },
});
discovery.start();
