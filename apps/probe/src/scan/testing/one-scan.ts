/**
 * Runs the discovery on `lan0` of its own namespace and one scan on it, and prints each event as a line, and `done` when the scan has
 * ended. A line on standard input cancels it. For tests only. Argument: the scan's order as JSON.
 */
import { createVendorLookup } from "@lanthorn/fingerprints";
import { createPacedSender, openCapture, openInjector, readInterface } from "@lanthorn/packet-io";
import { createLog, systemClock } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { createLiveClock } from "../../bus/bus-clock.ts";
import { createEgressPolicy } from "../../egress/policy.ts";
import { createFrameBus } from "../../bus/frame-bus.ts";
import { identifyService } from "../../identify/identify.ts";
import { createProgramFinder } from "../../nmap/find-program.ts";
import { openNmapScanner } from "../../nmap/open.ts";
import { openScanLink } from "../../probing/scan-link.ts";
import { createHostDiscovery } from "../../discover/host-discovery.ts";
import { SETTINGS } from "../../discover/testing/fake-lan.ts";

const order = JSON.parse(process.argv[2] ?? "") as Parameters<ReturnType<typeof createHostDiscovery>["scans"]["start"]>[0];
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const facts = await readInterface("lan0");
const clock = createLiveClock(systemClock);
const log = createLog({ name: "one-scan", level: "warn" });
const done = new Promise<void>((resolve) => {
  const discovery = createHostDiscovery({
    db: new Database(":memory:"),
    outbox: {
      append(events) {
        for (const event of events) say(event);
        if (events.some(({ type }) => ["scan_complete", "scan_cancelled", "scan_failed"].includes(type))) resolve();
      },
    },
    clock, random: Math.random, log, interfaceFacts: () => facts,
    maxHosts: SETTINGS.maxHosts, policy: createEgressPolicy({ ...SETTINGS, sweep: { ...SETTINGS.sweep, intervalSeconds: 86_400 } }),
    sender: createPacedSender({ injector: openInjector({ interface: "lan0", clock: systemClock }), clock: systemClock }),
    vendorOf: createVendorLookup().vendorOf, reverseNames: null,
    interfaceName: "lan0",
    routeTo: async () => null,
    openScanLink: (excluded) => openScanLink({ interface: "lan0", excluded, random: Math.random }),
    identify: (openPort, signal) => identifyService(openPort, { random: Math.random }, signal),
    nmap: openNmapScanner({ find: createProgramFinder(process.env), interfaceName: "lan0", clock: systemClock }),
  });
  const bus = createFrameBus({ modules: [discovery], clock, log });
  openCapture({
    interface: "lan0", filter: "", snapLength: 2048, promiscuous: false, clock: systemClock, onFrames: bus.onFrames,
    onLost(reason) {
      throw reason;
    },
  });
  bus.start();
  say(discovery.scans.start(order));
  process.stdin.once("data", () => void discovery.scans.cancel(order.scan_id));
});
await done;
process.stdout.write("done\n", () => process.exit(0));
