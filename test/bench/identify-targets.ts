// Runs inside the lab's probe box: names the services given as JSON, sixteen at a time, and prints what was found as JSON.
import { type OpenPort, identifyService } from "../../apps/probe/src/identify/identify.ts";

const AT_A_TIME = 16;

const targets = JSON.parse(process.argv[2] ?? "[]") as readonly OpenPort[];
const startedAt = performance.now();
const found: unknown[] = Array.from({ length: targets.length });
let next = 0;
await Promise.all(Array.from({ length: AT_A_TIME }, async () => {
  while (next < targets.length) {
    const index = next;
    next += 1;
    const target = targets[index];
    const began = performance.now();
    const finding = target && (await identifyService(target, { random: Math.random }, new AbortController().signal));
    found[index] = finding && {
      service: finding.service, product: finding.verdicts.product?.value ?? "", version: finding.verdicts.version?.value ?? "",
      os: finding.verdicts.os?.value ?? "", deviceType: finding.verdicts.device_type?.value ?? "", keys: finding.keys,
      ms: Math.round(performance.now() - began),
    };
  }
}));
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - startedAt) / 1000, found })}\n`);
process.exit(0);
