import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DnsCheck, DnsList } from "@lanthorn/contract";
import { silentLog } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTargetPolicy } from "../../apps/collector/src/deliveries/sending/target-policy.ts";
import { singleKey } from "../../apps/collector/src/sealing/keyring.ts";
import { createSealing } from "../../apps/collector/src/sealing/sealing.ts";
import { type Dns, openDns } from "../../apps/collector/src/services/dns/open.ts";
import { createFeedClient } from "../../apps/collector/src/services/feeds/fetching/client.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../apps/collector/src/testing/gateway.ts";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { findFreePort } from "../lab/free-port.ts";
import { tryCommand } from "../lab/run-command.ts";
import { waitFor } from "../lab/wait-for.ts";

const ZONE = "rpz.example";
const SECRET = Buffer.alloc(32, 7).toString("base64");
const MANY = 30_000;

describe("zones that a name server gives", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-zones-"));
  let packages: DebianRoot;
  let knot: ChildProcess;
  let port: number;
  let gateway: TestGateway;
  let dns: Dns;
  let tenant: TestTenant;

  const zoneFile = (serial: number, rules: readonly string[]) =>
    writeFileSync(join(folder, `${ZONE}.zone`), [`$ORIGIN ${ZONE}.`, "$TTL 60", `@ SOA localhost. root.localhost. ${serial} 3600 600 86400 60`, "@ NS localhost.", ...rules, ""].join("\n"));
  const command = (name: string, ...args: readonly string[]): readonly string[] => {
    const { path, env } = packages.command(name);
    return ["env", ...Object.entries(env).map(([key, value]) => `${key}=${value}`), path, ...args];
  };
  const log = () => readFileSync(join(folder, "knot.log"), "utf8");
  const add = async (wish: Record<string, unknown>): Promise<string> => {
    const made = await gateway.call("POST", "/api/v1/dns/lists", tenant.token, { name: "Zone", category: "malware", url: `axfr://127.0.0.1:${port}/${ZONE}`, ...wish });
    expect(made).toMatchObject({ status: 201 });
    return (made.body as { readonly id: string }).id;
  };
  const fetchNow = async (id: string): Promise<DnsList> => {
    await gateway.call("POST", `/api/v1/dns/lists/${id}/update`, tenant.token);
    await dns.updates.run();
    return (await gateway.call("GET", `/api/v1/dns/lists/${id}`, tenant.token)).body;
  };
  /** What lists say of a name: a tenant's first policy observes. */
  const matches = async (name: string) => ((await gateway.call("GET", `/api/v1/dns/check?name=${name}`, tenant.token)).body as DnsCheck).matches;

  beforeAll(async () => {
    packages = await unpackDebianPackages(["knot", "knot-dnsutils"]);
    port = await findFreePort();
    mkdirSync(join(folder, "db"));
    zoneFile(1, ["bad.example CNAME .", "*.bad.example CNAME .", String.raw`note.example TXT "a \"note\""`, ...Array.from({ length: MANY }, (_, index) => `n${index}.many.example CNAME .`)]);
    // Without that timeout Knot closes a connection whose other end, on a busy machine, reads nothing for half a second.
    writeFileSync(join(folder, "knot.conf"), `server:
  rundir: ${folder}
  listen: 127.0.0.1@${port}
  tcp-io-timeout: 60000
log:
  - target: ${join(folder, "knot.log")}
    any: info
database:
  storage: ${join(folder, "db")}
key:
  - id: transfer
    algorithm: hmac-sha512
    secret: ${SECRET}
acl:
  - id: transfers
    key: transfer
    action: [transfer, query]
zone:
  - domain: ${ZONE}
    storage: ${folder}
    file: ${ZONE}.zone
    acl: transfers
    zonefile-load: difference
    zonefile-sync: -1
    journal-content: all
`);
    const [program = "", ...args] = command("knotd", "-c", join(folder, "knot.conf"));
    knot = spawn("setpriv", ["--pdeathsig", "KILL", program, ...args], { stdio: "ignore" });
    await waitFor("the server", async () => ((await soaOf()).includes("localhost") ? true : null));
    gateway = await startTestGateway({
      alerts: true,
      modules(parts) {
        const client = createFeedClient({ clock: parts.clock, policy: createTargetPolicy(["127.0.0.1"]), resolve: () => Promise.resolve([]), userAgent: "test" }, { ca: null, proxy: null });
        dns = openDns({ data_dir: folder }, {
          ...parts, sealing: createSealing(singleKey(new Uint8Array(32).fill(7))), log: silentLog, events: parts.log, fetchFile: () => Promise.reject(new Error("nothing is downloaded here")), addressesOf: (url) => client.addressesOf(url),
          onPublished: async () => {}, publish: () => Promise.resolve(true),
        });
        return [dns];
      },
    });
    tenant = await gateway.createTenant("admin");
  });

  afterAll(async () => {
    const ended = once(knot, "exit");
    if (knot.kill("SIGKILL")) await ended;
    await gateway?.stop();
    rmSync(folder, { recursive: true });
  });

  async function soaOf(): Promise<string> {
    const [program = "", ...args] = command("kdig", "@127.0.0.1", "-p", String(port), ZONE, "SOA", "+short", "+timeout=2", "+retry=0");
    return (await tryCommand(program, args)).stdout;
  }

  test("are taken with a key, then only what has changed, and their rules count; the key is never shown", async () => {
    const id = await add({ tsig: { name: "Transfer", algorithm: "hmac-sha512", secret: SECRET } });
    const first = await fetchNow(id);
    expect(first).toMatchObject({ error: null, format: "rpz", tsig: { name: "Transfer", algorithm: "hmac-sha512" }, active: { version: 1, rules: MANY + 2 } });
    expect(JSON.stringify(first)).not.toContain(SECRET);
    expect(await matches("www.bad.example")).toMatchObject([{ list_id: id, record: "www.bad.example" }]);
    // It is written after the last of it is sent.
    await expect.poll(log).toMatch(/AXFR, outgoing.*finished/);
    expect((await fetchNow(id)).active?.version).toBe(1);
    zoneFile(2, ["worse.example CNAME .", "*.bad.example CNAME .", String.raw`note.example TXT "a \"note\""`, ...Array.from({ length: MANY }, (_, index) => `n${index}.many.example CNAME .`)]);
    knot.kill("SIGHUP");
    await waitFor("the new version of the zone", async () => ((await soaOf()).includes(" 2 3600") ? true : null));
    expect(await fetchNow(id)).toMatchObject({ error: null, active: { version: 2, rules: MANY + 2, added: 1, removed: 1 } });
    await expect.poll(log).toMatch(/IXFR, outgoing.*finished/);
    expect([await matches("worse.example"), await matches("bad.example")]).toMatchObject([[{ list_id: id }], []]);
  });

  test("are not taken with another key, another name of it, or none: the reason is said, and what was active stays", async () => {
    const id = await add({ name: "Other", tsig: { name: "transfer", algorithm: "hmac-sha512", secret: SECRET } });
    expect((await fetchNow(id)).error).toBeNull();
    let serial = 100;
    const change = (tsig: unknown) => gateway.call("PUT", `/api/v1/dns/lists/${id}`, tenant.token, { tsig });
    for (const [tsig, reason] of [
      [{ name: "transfer", algorithm: "hmac-sha512", secret: Buffer.alloc(32, 8).toString("base64") }, /BADSIG|NOTAUTH/], [{ name: "nobody", algorithm: "hmac-sha512", secret: SECRET }, /BADKEY|NOTAUTH/], [null, /REFUSED|NOTAUTH/],
    ] as const) {
      expect((await change(tsig)).status).toBe(200);
      // Whether something is newer, everybody may ask.
      zoneFile((serial += 1), ["x.example CNAME ."]);
      knot.kill("SIGHUP");
      await expect.poll(async () => (await fetchNow(id)).error ?? "").toMatch(reason);
      expect((await fetchNow(id)).active?.version).toBe(1);
    }
    const wrong = await gateway.call("POST", "/api/v1/dns/lists", tenant.token, { name: "Wrong", url: "https://lists.example/a.txt", tsig: { name: "a", secret: SECRET } });
    expect(wrong.status).toBe(400);
  });
});
