import { networkInterfaces } from "node:os";
import { parseArgs } from "node:util";
import { releaseFilePages } from "@lanthorn/packet-io";
import { createLog, systemClock } from "@lanthorn/runtime";
import { keepHeapSmall } from "./small-heap.ts";
import { runTrafficProcess } from "./traffic/process/run-process.ts";

// A program of its own beside `main.ts`: what the other commands need would stay in the memory of this process. The daemon starts it, and says
// everything else by the channel.
const { collect } = keepHeapSmall(systemClock, { firstMs: null, isPatient: true });
const { values } = parseArgs({ allowPositionals: true, options: { "log-level": { type: "string", default: "info" }, program: { type: "string", default: "" } } });
const log = createLog({ name: "lanthorn-probe-traffic", level: values["log-level"] });
const ownNetworks = () => Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).flatMap(({ internal, cidr }) => (internal || cidr === null ? [] : [cidr])));
const dropStart = () => {
  collect();
  releaseFilePages();
};
await runTrafficProcess({ program: [process.execPath, ...process.execArgv, values.program], clock: systemClock, random: Math.random, log, collectGarbage: dropStart, ownNetworks });
process.exit(0);
