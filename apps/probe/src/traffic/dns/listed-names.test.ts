import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeDns, DNS_TYPE, encodeDns, parseIp } from "@lanthorn/packets";
import { silentLog } from "@lanthorn/runtime";
import type { FlowKey, TrafficMessage } from "@lanthorn/traffic";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSharing, SITE, siteFiles } from "../../dns-lists/testing/site-bundle.ts";
import type { DnsFinding } from "../../dns-threats/finding.ts";
import { createDnsWatch, type DnsWatch } from "./dns-watch.ts";
import { createListedNames, type ListedNames } from "./listed-names.ts";

const [CLIENT, RESOLVER, SERVER] = ["10.0.0.5", "10.0.0.1", "203.0.113.9"];
const AT = Date.UTC(2026, 0, 1) * 1000;
const CATEGORIES = { bots: "command and control", traps: "phishing", virus: "Malware" };
const LISTS = { bots: ["bot.example\nfine.bot.example\n"], traps: ["trap.example\nlogin.trap.example\n"], virus: ["cdn.virus.example\n"], ads: ["ads.example\n"] };

let folder: string;
let found: DnsFinding[];
let watch: DnsWatch;
let names: ListedNames;
let sharing: ReturnType<typeof createSharing>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-listed-names-"));
  sharing = createSharing(folder);
  found = [];
  watch = createDnsWatch({
    settings: { enabled: true, allow: ["fine.bot.example"], resolvers: [] }, random: () => 0.5, onSuspicion: () => undefined, onListed: (finding) => found.push(finding),
  });
  names = createListedNames({ dataDir: sharing.dataDir, onRead: watch.useLists, log: silentLog });
});
afterEach(async () => {
  await names.close();
  rmSync(folder, { recursive: true });
});

const install = async (...given: Parameters<typeof siteFiles>) => {
  const before = watch.counters().listedNames;
  sharing.install(siteFiles(...given));
  names.load();
  await expect.poll(() => watch.counters().listedNames, { timeout: 60_000 }).not.toBe(before);
};
const end = (ip: string, port: number) => ({ ip: parseIp(ip) as Uint8Array, port });
const flow = (server: string, port: number, client = CLIENT) => ({ originator: end(client, 40_000), responder: end(server, port) }) as unknown as FlowKey;
const say = (message: object, key = flow(SERVER, 443)) => watch.onMessage(key, { side: 0, at: AT, ...message } as unknown as TrafficMessage);
const tls = (serverName: string | null, protocol = "tls") => say({ protocol, kind: "client-hello", hello: { serverName, alpn: [] } });
const http = (host: string | null) => say({ protocol: "http", kind: "request", host });
const dns = (fields: Parameters<typeof encodeDns>[0], side: 0 | 1 = 0, client = CLIENT) => {
  const bytes = encodeDns(fields);
  const read = decodeDns(bytes);
  if (!read.ok) throw new Error("a test's message cannot be read");
  say({ protocol: "dns", side, message: read.value, bytes }, flow(RESOLVER, 53, client));
};
const question = (name: string, type: number = DNS_TYPE.a) => ({ id: 1, questions: [{ name, type }] });

describe("names of harmful lists", () => {
  test("are found in questions, in what answers lead to, in TLS, QUIC and HTTP; others are not", async () => {
    await install(LISTS, {}, CATEGORIES);
    expect(watch.counters().listedNames).toBe(5);
    dns(question("Bot.example", DNS_TYPE.txt));
    dns(question("ads.example"));
    dns({ ...question("shop.example"), isResponse: true, answers: [{ name: "shop.example", type: DNS_TYPE.cname, ttlSeconds: 60, data: { kind: "name", name: "cdn.virus.example" } }] }, 1);
    for (const protocol of ["tls", "quic"]) tls("login.trap.example", protocol);
    tls(null);
    http("bot.example");
    http(null);
    for (const text of ["", ".", "example", "\u0000", "x".repeat(70_000), "a.".repeat(200), "10.0.0.1"]) http(text);
    expect(found.map(({ campaign, severity, name, type, blockedRecord, serverIp }) => [campaign, severity, name, type, blockedRecord, serverIp])).toEqual([
      ["List bots", "critical", "bot.example", "TXT", null, RESOLVER], ["List virus", "high", "shop.example", "A", "cdn.virus.example", RESOLVER],
      ["List traps", "low", "login.trap.example", "", null, SERVER], ["List traps", "low", "login.trap.example", "", null, SERVER], ["List bots", "critical", "bot.example", "", null, SERVER],
    ]);
    expect(found[0]).toMatchObject({ mode: "passive", action: "reported", category: "command and control", clientIp: CLIENT, feed: "List bots", lists: ["List bots"], techniques: ["T1071"] });
    expect(found.slice(2).map(({ reason }) => reason.split(":")[0])).toEqual(["Asked for in TLS", "Asked for in QUIC", "Asked for in HTTP"]);
    expect(watch.counters().listed).toBe(5);
  });

  test("are not reported where the site or this machine allows them, and of a resolver that asks for others", async () => {
    const device = { id: "01939f6e-2a10-7c3e-8f00-00000000000a", name: "lab", groups: [], ips: [CLIENT], macs: [] };
    const allowances = [{ id: SITE, name: "trap.example", has_subdomains: true, scope: { kind: "device" as const, id: device.id }, until_ms: null }];
    await install(LISTS, { allowances, devices: [device] }, CATEGORIES);
    tls("trap.example");
    tls("fine.bot.example");
    say({ protocol: "tls", kind: "client-hello", hello: { serverName: "trap.example", alpn: [] } }, flow(SERVER, 443, "10.0.0.6"));
    expect(found.map(({ clientIp }) => clientIp)).toEqual(["10.0.0.6"]);
    dns({ ...question("www.example"), isResponse: true, isRecursionAvailable: true, answers: [] }, 1);
    dns(question("bot.example"), 0, RESOLVER);
    expect(found).toHaveLength(1);
    dns(question("bot.example"));
    expect(found).toHaveLength(2);
  });

  test("are those of the newest version, and stay where one is damaged", async () => {
    tls("bot.example");
    await install(LISTS, {}, CATEGORIES);
    await install({ ...LISTS, bots: ["other.example\nsecond.example\nthird.example\n"] }, {}, CATEGORIES);
    for (const name of ["bot.example", "third.example"]) tls(name);
    expect(found.map(({ name }) => name)).toEqual(["third.example"]);
    const broken = new Map(siteFiles(LISTS, { policies: [] }, CATEGORIES));
    broken.set("lists.json", Buffer.from(`{"v":1,"site_id":"${SITE}"}`));
    sharing.install(broken);
    names.load();
    await names.close();
    tls("third.example");
    expect(found).toHaveLength(2);
  });
});
