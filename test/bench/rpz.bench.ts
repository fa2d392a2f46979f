import { spawn } from "node:child_process";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createListReader, createNameSetBuilder, createVerdictEngine, type DnsQuery, openNameSet, type ServerFacts, type Verdict, type VerdictEngine } from "@lanthorn/dns";
import { decodeDns, DNS_TYPE, type DnsMessage, encodeDns, parseIp } from "@lanthorn/packets";
import { unpackDebianPackages } from "../lab/debian-packages.ts";
import { findFreePort } from "../lab/free-port.ts";
import { waitFor } from "../lab/wait-for.ts";
import { addressTexts, createRpzWorld, type RpzRules, type RpzWorld, serveWorld } from "./rpz-world.ts";

const SEED = 18;
const CASES = 10_000;
/** Of loopback: 127.0.1.1 and so on. */
const CLIENTS = 8;
const IN_FLIGHT = 32;
/** A question that is dropped has no answer, however long one waits; all others have had theirs by then. */
const SILENCE_MS = 2000;
const WRONG_SHOWN = 20;

type Case = RpzWorld["cases"][number];

/**
 * Asks unbound, with response policy zones made from a seed, 10,000 questions for zones with rules about names, clients and addresses, and as many for zones with rules
 * about names and the servers that answer for them (NSDNAME, NSIP), and compares its answers with those of the engine over the same zones. Both have one small
 * world of names behind them.
 */
export async function run(args: readonly string[]): Promise<void> {
  const seed = args.length > 0 ? Number(args[0]) : SEED;
  const counts = { cases: 0, agree: 0 };
  for (const rules of ["addresses", "servers"] as const) {
    const world = createRpzWorld(seed, rules, { cases: CASES, clients: CLIENTS });
    const wrong = await compare(world, rules);
    counts.cases += CASES;
    counts.agree += CASES - wrong;
  }
  console.log(JSON.stringify({ bench: "rpz", ...counts }));
}

/** @returns How many answers differ. */
async function compare(world: RpzWorld, rules: RpzRules): Promise<number> {
  const engine = createEngine(world);
  const expected = world.cases.map((one) => outcomeOf(world, engine, one));
  const found = await askUnbound(world, rules);
  const wrong = world.cases.flatMap((one, index) => (found[index] === expected[index] ? [] : [{ ...one, unbound: found[index], ours: expected[index], steps: stepsOf(world, engine, one) }]));
  for (const one of wrong.slice(0, WRONG_SHOWN)) console.error(JSON.stringify(one));
  const decided = countBy(world.cases.map((one) => judge(world, engine, one).rule?.trigger ?? "none"));
  console.log(`rules about ${rules}: ${CASES - wrong.length} of ${CASES} agree; outcomes: ${countBy(expected.map((outcome) => outcome.split(" ", 1)[0] ?? ""))}; decided by: ${decided}`);
  return wrong.length;
}

function countBy(keys: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].map(([key, count]) => `${key} ${count}`).join(", ");
}

function createEngine(world: RpzWorld): VerdictEngine {
  const lists = world.zones.map((_, index) => ({ id: `zone-${index}`, name: `Zone ${index}`, category: "malware", kind: "rpz" as const }));
  const builder = createNameSetBuilder({ lists, hashKey: [SEED, SEED], day: 20_000, expectedNames: 0, before: null });
  for (const [index, text] of world.zones.entries()) {
    const reader = createListReader("rpz", { mayRewrite: true, origin: null }, (rule) => builder.add(index, rule));
    reader.push(Buffer.from(text));
    const { refusals } = reader.end();
    if (refusals.length > 0) throw new Error(`zone ${index} has a line that is refused: ${JSON.stringify(refusals[0])}`);
  }
  const set = openNameSet(Buffer.concat(builder.finish()));
  if ("fault" in set) throw new Error(set.fault);
  return createVerdictEngine([set], {
    policies: [{
      id: "all", name: "All", scope: { kind: "everyone" }, mode: "enforce", answer: { kind: "nxdomain" }, privateRelay: "allow", browserDns: "allow",
      lists: lists.map(({ id }) => ({ listId: id, mode: "enforce", schedule: null })),
    }],
    allowances: [], pauses: [], timeZones: {}, waitsForAnswer: false,
  });
}

function queryOf({ name, type, client }: Case): DnsQuery {
  return { name, type, client: { deviceId: null, groupIds: [], vlanId: null, siteId: "site", address: Uint8Array.of(127, 0, 1, client + 1), names: [] }, atMs: 0, isUdp: true };
}

function judge(world: RpzWorld, engine: VerdictEngine, one: Case, note?: (text: string) => void): Verdict {
  const query = queryOf(one);
  const take = note && (({ text }: { readonly text: string }) => note(text));
  const question = engine.judgeQuestion(query, take);
  const { chain, addresses } = world.answer(one.name, one.type);
  return engine.judgeAnswer(query, question, { names: chain.map((name) => ({ section: "cname", name })), addresses, nameServers: [one.name, ...chain].map((name) => serversOf(world, name)) }, take);
}

function serversOf({ servers }: RpzWorld, name: string): ServerFacts {
  const ofName = servers.filter(({ zones }) => zones.some((zone) => name.endsWith(`.${zone}`)));
  return { names: ofName.map((server) => server.name), addresses: ofName.map(({ address }) => parseIp(address) ?? new Uint8Array(4)) };
}

function stepsOf(world: RpzWorld, engine: VerdictEngine, one: Case): readonly string[] {
  const steps: string[] = [];
  judge(world, engine, one, (text) => steps.push(text));
  return steps;
}

/** What a client sees: `drop`, `truncated`, or a response code with the addresses. */
function outcomeOf(world: RpzWorld, engine: VerdictEngine, one: Case): string {
  const { action, answer } = judge(world, engine, one);
  if (action === "drop") return "drop";
  if (action === "truncate") return "truncated";
  if (answer === null) return truthOf(world, one.name, one.type);
  if (answer.kind !== "records") return `${{ nxdomain: 3, nodata: 0, refused: 5, servfail: 2 }[answer.kind]} `;
  const [alias] = answer.records.flatMap(({ data }) => (data.kind === "name" ? [data.name] : []));
  if (alias !== undefined) return truthOf(world, alias, one.type);
  return `0 ${addressTexts(answer.records.flatMap(({ data }) => (data.kind === "address" ? [parseIp(data.address) ?? new Uint8Array(4)] : [])))}`;
}

function truthOf(world: RpzWorld, name: string, type: number): string {
  const { responseCode, addresses } = world.answer(name, type);
  return `${responseCode} ${addressTexts(addresses)}`;
}

async function askUnbound(world: RpzWorld, rules: RpzRules): Promise<readonly string[]> {
  const { path, env } = (await unpackDebianPackages(["unbound"])).command("unbound");
  const folder = await mkdtemp(join(tmpdir(), "lanthorn-rpz-"));
  const upstream = await serveWorld(world, ["127.0.0.1", ...(rules === "servers" ? world.servers.map(({ address }) => address) : [])]);
  const port = await findFreePort();
  for (const [index, text] of world.zones.entries()) await writeFile(join(folder, `zone-${index}`), text);
  await writeFile(join(folder, "unbound.conf"), configurationOf({ folder, port, upstream: upstream.port, world, rules }));
  const unbound = spawn(path, ["-d", "-c", join(folder, "unbound.conf")], { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit"] });
  const sockets = await Promise.all(Array.from({ length: CLIENTS }, (_, client) => openClient(client)));
  try {
    const ready = { name: "ready.walled.example", type: DNS_TYPE.a, client: 0 };
    await waitFor("unbound's first answer", async () => (unbound.exitCode === null && (await askAll(sockets, port, [ready], 500))[0] !== "drop" ? true : null));
    const outcomes = await askAll(sockets, port, world.cases, SILENCE_MS);
    if (unbound.exitCode !== null || unbound.signalCode !== null) throw new Error(`unbound ended: ${unbound.signalCode ?? unbound.exitCode}`);
    return outcomes;
  } finally {
    for (const socket of sockets) socket.close();
    upstream.close();
    const ended = once(unbound, "exit");
    if (unbound.exitCode === null && unbound.kill()) await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

function configurationOf({ folder, port, upstream, world, rules }: { readonly folder: string; readonly port: number; readonly upstream: number; readonly world: RpzWorld; readonly rules: RpzRules }): string {
  const server = [
    "server:", '  username: ""', '  chroot: ""', `  directory: "${folder}"`, '  pidfile: ""', "  use-syslog: no", "  do-daemonize: no", `  interface: 127.0.0.1@${port}`,
    "  access-control: 127.0.0.0/8 allow", "  do-not-query-localhost: no", "  num-threads: 1", "  do-ip6: no", '  module-config: "respip iterator"', "  msg-cache-size: 0", "  rrset-cache-size: 0", '  target-fetch-policy: "0 0 0 0 0"', "  qname-minimisation: no",
  ];
  const rpz = world.zones.flatMap((_, index) => ["rpz:", `  name: "zone-${index}.rpz"`, `  zonefile: "${join(folder, `zone-${index}`)}"`]);
  // A forwarder meets no servers: for rules about them it has to ask each domain's own.
  const stubs = rules === "addresses" ? [] : world.servers.flatMap(({ name, address, zones }) => zones.flatMap((zone) => ["stub-zone:", `  name: "${zone}"`, `  stub-host: "${name}"`, `  stub-addr: ${address}@${upstream}`, "  stub-no-cache: yes"]));
  return [...server, ...rpz, ...stubs, "forward-zone:", '  name: "."', `  forward-addr: 127.0.0.1@${upstream}`, "remote-control:", "  control-enable: no", ""].join("\n");
}

async function openClient(client: number): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.bind(0, `127.0.1.${client + 1}`);
  await once(socket, "listening");
  return socket;
}

/** Asks some questions at a time. One that is not answered before nothing else has been for a while counts as dropped, and gives its place to others. */
async function askAll(sockets: readonly Socket[], port: number, cases: readonly Case[], silenceMs: number): Promise<readonly string[]> {
  const outcomes = cases.map(() => "drop");
  let answered = 0;
  const listeners = sockets.map((socket) => {
    const listener = (bytes: Buffer) => {
      const message = decodeDns(bytes);
      if (!message.ok) return;
      outcomes[message.value.id] = outcomeOfMessage(message.value);
      answered += 1;
    };
    socket.on("message", listener);
    return () => socket.off("message", listener);
  });
  for (const [id, { name, type, client }] of cases.entries()) {
    sockets[client]?.send(encodeDns({ id, isRecursionDesired: true, questions: [{ name, type, class: 1, wantsUnicastResponse: false }] }), port, "127.0.0.1");
    if (id % IN_FLIGHT === IN_FLIGHT - 1) await untilQuiet(() => answered, 20);
  }
  await untilQuiet(() => answered, silenceMs);
  for (const off of listeners) off();
  return outcomes;
}

async function untilQuiet(count: () => number, quietMs: number): Promise<void> {
  let before = -1;
  while (count() !== before) {
    before = count();
    await pause(quietMs);
  }
}

function outcomeOfMessage({ isTruncated, responseCode, questions, answers }: DnsMessage): string {
  if (isTruncated) return "truncated";
  const wanted = answers.filter(({ type }) => type === questions[0]?.type);
  return `${responseCode} ${addressTexts(wanted.flatMap(({ data }) => (data.kind === "address" ? [data.address] : [])))}`;
}
