import { run as api } from "./api.bench.ts";
import { run as baselines } from "./baselines.bench.ts";
import { run as beacons } from "./beacons.bench.ts";
import { run as behaviour } from "./behaviour.bench.ts";
import { run as capture } from "./capture.bench.ts";
import { run as cpe } from "./cpe.bench.ts";
import { run as cveImport } from "./cve-import.bench.ts";
import { run as cveMatch } from "./cve-match.bench.ts";
import { run as dashboard } from "./dashboard.bench.ts";
import { run as decode } from "./decode.bench.ts";
import { run as dns } from "./dns.bench.ts";
import { run as dnsNames } from "./dns-names.bench.ts";
import { run as evidence } from "./evidence.bench.ts";
import { run as fleet } from "./fleet.bench.ts";
import { run as flows } from "./flows.bench.ts";
import { run as footprint } from "./footprint.bench.ts";
import { run as guards } from "./guards.bench.ts";
import { run as honeypot } from "./honeypot.bench.ts";
import { run as honeypotTwins } from "./honeypot-twins.bench.ts";
import { run as hostile } from "./hostile.bench.ts";
import { run as identity } from "./identity.bench.ts";
import { run as ids } from "./ids.bench.ts";
import { run as idsVerify } from "./ids-verify.bench.ts";
import { run as ingest } from "./ingest.bench.ts";
import { run as nab } from "./nab.bench.ts";
import { run as portscan } from "./portscan.bench.ts";
import { run as recog } from "./recog.bench.ts";
import { run as rpz } from "./rpz.bench.ts";
import { run as services } from "./services.bench.ts";
import { run as sweep } from "./sweep.bench.ts";
import { run as webhooks } from "./webhooks.bench.ts";

/** Every bench by its name; each prints what it measures and, as its last line, the result as JSON. */
const BENCHES: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  api, baselines, beacons, behaviour, capture, "cve-import": cveImport, "cve-match": cveMatch, cpe, dashboard, decode, dns, "dns-names": dnsNames, evidence, fleet, flows, footprint, guards, honeypot, "honeypot-twins": honeypotTwins, hostile, identity, ids, "ids-verify": idsVerify, ingest, nab, portscan, recog, rpz, services, sweep, webhooks,
};

const [name = "", ...rest] = process.argv.slice(2);
// As in `npm run bench -- flows -- FILE`: what comes behind it is the bench's own.
const args = rest[0] === "--" ? rest.slice(1) : rest;
const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
if (bench) {
  await bench(args);
} else {
  const asked = name === "" ? "Which bench?" : `There is no bench called ${name}.`;
  console.error(`${asked} npm run bench -- NAME [args], with one of: ${Object.keys(BENCHES).join(", ")}`);
  process.exitCode = 2;
}
