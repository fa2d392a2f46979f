import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { DnsAllowance, DnsCheck, DnsList, Probe } from "@lanthorn/contract";
import { decodeDns, DNS_RESPONSE_CODE, DNS_TYPE, dnsEdns, type DnsMessage, encodeDns } from "@lanthorn/packets";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { type Collector, enrollProbe, PROBE, type ProbeBox, startCollector, startProbe } from "./deployment.ts";
import { createOperator } from "./operator.ts";
import { createSmallDisk, type SmallDisk } from "./small-disk.ts";

const [BLOCKED, RESOLVED] = [DNS_RESPONSE_CODE.nameError, DNS_RESPONSE_CODE.noError];
const MANY = Array.from({ length: 40_000 }, (_, index) => `host${index * 7919}.advertising-network.example\n`).join("");

describe("names that a collector's lists have, at a resolver beside its probe", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-names-"));
  const shared = join(folder, "shared");
  let disk: SmallDisk | null = null;
  let box: ProbeBox = { dataDir: join(folder, "probe") };
  const operator = createOperator(join(folder, "session.json"));
  const upstream = createSocket("udp4");
  let serve = (response: ServerResponse): void => void response.end("ads.example\n");
  const source = createServer((_, response) => serve(response));
  let collector: Collector;
  const running: { probe?: Daemon; resolver?: Daemon } = {};

  const start = {
    async probe() {
      running.probe = await startProbe(box, { interface: "no-such-if", env: { LANTHORN_DNS_DIRECTORY: shared } });
    },
    async resolver() {
      running.resolver = await startDaemon({ script: PROBE, args: ["resolver", "--config", join(folder, "dns.toml")], env: {}, logFile: join(folder, "resolver.log"), ...(disk && { through: disk.through }) });
    },
  };
  const port = () => Number(/^udp .*:(\d+)$/m.exec(((running.resolver?.ready["listeners"] ?? []) as readonly string[]).join("\n"))?.[1]);
  /** One question, once more where no answer comes. */
  const of = (name: string) => waitFor(`an answer for ${name}`, async (): Promise<DnsMessage | null> => {
    const socket = createSocket("udp4");
    try {
      socket.send(encodeDns({ id: 7, isRecursionDesired: true, questions: [{ name, type: DNS_TYPE.a }], additionals: [{ name: ".", type: DNS_TYPE.opt, class: 1232, ttlSeconds: 0, data: { kind: "opt", options: [] } }] }), port(), "127.0.0.1");
      const [bytes] = (await once(socket, "message", { signal: AbortSignal.timeout(2000) })) as [Buffer];
      const read = decodeDns(Uint8Array.from(bytes));
      return read.ok ? read.value : null;
    } finally {
      socket.close();
    }
  });
  const until = (name: string, code: number) => waitFor(`${name} answered with ${code}`, async () => ((await of(name)).responseCode === code ? true : null));
  const errorOf = (message: DnsMessage) => Buffer.from(dnsEdns(message)?.options.find(({ code }) => code === 15)?.value.subarray(2) ?? []).toString();
  const list = async () => (await operator.ask<DnsList[]>("dns", "lists"))[0] as DnsList;

  beforeAll(async () => {
    if (canMakeLabs()) {
      disk = await createSmallDisk(shared, 4);
      box = { ...box, through: disk.through };
    } else mkdirSync(shared);
    upstream.on("message", (bytes, { port: to, address }) => {
      const read = decodeDns(Uint8Array.from(bytes));
      const [question] = read.ok ? read.value.questions : [];
      if (!read.ok || !question) return;
      const answers = [{ name: question.name, type: DNS_TYPE.a, ttlSeconds: 0, data: { kind: "address", address: Uint8Array.of(192, 0, 2, 1) } } as const];
      upstream.send(encodeDns({ id: read.value.id, isResponse: true, isRecursionAvailable: true, questions: read.value.questions, answers }), to, address);
    });
    upstream.bind(0, "127.0.0.1");
    source.listen(0, "127.0.0.1");
    await Promise.all([once(upstream, "listening"), once(source, "listening")]);
    writeFileSync(join(folder, "dns.toml"), `listen = ["127.0.0.1"]\nport = 0\ncollector_directory = ${JSON.stringify(shared)}\n[[upstreams]]\naddress = "127.0.0.1"\nport = ${upstream.address().port}\n`);
    const file = join(folder, "collector.toml");
    writeFileSync(file, `[feeds]\nmirror = "http://127.0.0.1:${(source.address() as AddressInfo).port}"\n`);
    collector = await startCollector({ dataDir: join(folder, "collector"), host: "127.0.0.1", file });
    await enrollProbe(collector, box, "box");
    await operator.run("login", "--url", collector.url, "--password-file", collector.passwordFile);
    await Promise.all([start.probe(), start.resolver()]);
  });
  afterAll(async () => {
    await Promise.all([running.probe?.kill(), running.resolver?.kill(), collector?.kill()]);
    await disk?.close();
    source.closeAllConnections();
    source.close();
    upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("are observed, then blocked, and the client reads which list it was", async () => {
    await until("ads.example", RESOLVED);
    await operator.ask("dns", "lists", "add", "ads", "--url", `http://127.0.0.1:${(source.address() as AddressInfo).port}/ads.txt`, "--category", "advertising");
    await waitFor("the list", async () => (await list()).active);
    expect(await operator.ask<DnsCheck>("dns", "check", "ads.example")).toMatchObject({ action: "allow", observed: { list: "ads" } });
    await operator.ask("dns", "policies", "enforce", "Everyone");
    await until("ads.example", BLOCKED);
    expect(errorOf(await of("ads.example"))).toBe("ads (advertising)");
    expect(await operator.ask<DnsCheck>("dns", "check", "ads.example")).toMatchObject({ action: "block", policy: "Everyone" });
    const state = await waitFor("its version in the probe's health", async () => {
      const [probe] = await operator.ask<Probe[]>("probes", "list");
      return probe?.health?.bundles?.find(({ name, version }) => name === "dns" && version !== null) ?? null;
    });
    expect(state.error).toBeNull();
  });

  test("resolve while they are allowed or filtering is paused, and not after", async () => {
    const allowed = await operator.ask<DnsAllowance>("dns", "allow", "shop.example", "--cname", "ads.example");
    expect(allowed.name).toBe("ads.example");
    await until("ads.example", RESOLVED);
    await operator.ask("dns", "disallow", allowed.id);
    await until("ads.example", BLOCKED);
    await operator.ask("dns", "pause");
    await until("ads.example", RESOLVED);
    await operator.ask("dns", "resume");
    await until("ads.example", BLOCKED);
  });

  test("stay as they were while the list's server stops half-way or sends something else", async () => {
    const tries: readonly [(response: ServerResponse) => void, string][] = [
      [(response) => void response.writeHead(200, { "content-length": 1000 }).write("other.example\n", () => response.destroy()), ""],
      [(response) => void response.end("<html>moved</html>\n"), "format"],
    ];
    for (const [how, reason] of tries) {
      serve = how;
      const before = (await list()).error;
      await operator.ask("dns", "lists", "update", "ads");
      await waitFor("what came of it", async () => {
        const { error } = await list();
        return error !== null && error !== before && error.includes(reason) ? error : null;
      });
      expect([(await list()).active?.version, (await of("ads.example")).responseCode, (await of("other.example")).responseCode]).toEqual([1, BLOCKED, RESOLVED]);
    }
  });

  test("stay as they were where another signature is on them, and the probe says so", async () => {
    await running.probe?.kill();
    const version = async () => (await collector.rest.listDnsSites()).data[0]?.version ?? 0;
    const before = await version();
    await operator.ask("dns", "rules", "block", "bad.example");
    await waitFor("another bundle", async () => (await version() > before ? true : null));
    const db = new Database(join(folder, "collector", "lanthorn.db"), { fileMustExist: true, timeout: 10_000 });
    const { signature } = db.prepare("select signature from bundles where name like 'dns/%'").get() as { readonly signature: string };
    db.prepare("update bundles set signature = ? where name like 'dns/%'").run(`${signature[0] === "A" ? "B" : "A"}${signature.slice(1)}`);
    db.close();
    await start.probe();
    await waitFor("why the probe refuses it", async () => {
      const [probe] = await operator.ask<Probe[]>("probes", "list");
      return probe?.health?.bundles?.find(({ name, error }) => name === "dns" && error?.includes("signature") === true) ?? null;
    });
    expect([(await of("ads.example")).responseCode, (await of("bad.example")).responseCode]).toEqual([BLOCKED, RESOLVED]);
    await operator.ask("dns", "rules", "block", "worse.example");
    await until("bad.example", BLOCKED);
  });

  test.skipIf(!canMakeLabs())("stay as they were while the disk is full", async () => {
    disk?.fill();
    await operator.ask("dns", "allow", "ads.example");
    await waitFor("a version that finds no room", () => (readFileSync(join(box.dataDir, "probe.log"), "utf8").includes("could not be left for the resolver") ? true : null));
    expect([(await of("ads.example")).responseCode, (await of("bad.example")).responseCode]).toEqual([BLOCKED, BLOCKED]);
    disk?.free();
    await operator.ask("dns", "allow", "worse.example");
    await until("ads.example", RESOLVED);
    for (const { id } of await operator.ask<DnsAllowance[]>("dns", "allowed")) await operator.ask("dns", "disallow", id);
    await until("ads.example", BLOCKED);
  });

  test("are whole, old or new, while probe and resolver are killed in the middle, and need nobody after a restart", async () => {
    serve = (response) => void response.end(`ads.example\nnew.example\n${MANY}`);
    await operator.ask("dns", "lists", "update", "ads");
    for (let left = 2; left > 0; left -= 1) {
      // Wherever it is: fetching, installing or copying.
      await running.probe?.kill();
      expect((await of("ads.example")).responseCode).toBe(BLOCKED);
      await start.probe();
    }
    for (let left = 2; left > 0; left -= 1) {
      await running.resolver?.kill();
      await start.resolver();
      await until("ads.example", BLOCKED);
    }
    await until("new.example", BLOCKED);
    await Promise.all([running.probe?.kill(), running.resolver?.kill(), collector.kill()]);
    await start.resolver();
    await until("new.example", BLOCKED);
    expect([(await of("ads.example")).responseCode, (await of("shop.example")).responseCode]).toEqual([BLOCKED, RESOLVED]);
  });
});
