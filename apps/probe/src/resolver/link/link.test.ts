import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DNS_TYPE } from "@lanthorn/packets";
import { createFakeClock, silentLog, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSharing, siteFiles } from "../../dns-lists/testing/site-bundle.ts";
import { ask } from "../testing/ask.ts";
import { address, createOpened } from "../testing/opened.ts";
import { LINK_SOCKET, type ListedThreat, type ReportedQueries } from "./messages.ts";
import { listenForResolver, type ResolverListener } from "./resolver-listener.ts";

const opened = createOpened();
let folder: string;
let daemon: ResolverListener | null = null;
let threats: ListedThreat[];
let queries: ReportedQueries[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-link-"));
  [threats, queries] = [[], []];
});
afterEach(async () => {
  await opened.close();
  await daemon?.close();
  rmSync(folder, { recursive: true });
});

const path = () => join(folder, LINK_SOCKET);
const listen = (isWritten: () => boolean = () => true) => {
  daemon = listenForResolver(path(), { clock: systemClock, log: silentLog, onThreat: (threat) => isWritten() && threats.push(threat) > 0, onQueries: (reported) => isWritten() && queries.push(reported) > 0 });
};
const total = () => threats.reduce((sum, { times }) => sum + times, 0);

/** A resolver whose client is another host than the machine itself, as far as a host of loopback can be. */
async function start() {
  const lists = [["Bad", "malware", "||bad.example^\n"], ["Ads", "advertising", "||ads.example^\n||bad.example^\n"]].map(([name, category, text]) => {
    const file = join(folder, `${name}.txt`);
    writeFileSync(file, text as string);
    return { name, category, file };
  });
  const upstream = await opened.server(({ questions: [asked] }) => ({ answers: [address(1, 60, asked?.name)] }));
  const resolver = await opened.resolverOver([upstream], { lists, collector_directory: folder, queries_per_second: 100_000, burst: 100_000 });
  await resolver.refreshLists();
  return { ...resolver, of: (name: string) => ask(resolver.port, { questions: [{ name, type: DNS_TYPE.a }], from: "127.0.0.5" }) };
}

test("names of malware come to the daemon with their lists, counted; advertising and the machine's own questions never do", async () => {
  listen();
  const { of, port } = await start();
  await ask(port, { questions: [{ name: "own.bad.example", type: DNS_TYPE.a }] });
  for (let left = 300; left > 0; left -= 1) await of(left % 2 === 0 ? "ads.example" : "www.bad.example");
  await expect.poll(total).toBe(150);
  expect(threats[0]).toMatchObject({
    client_ip: "127.0.0.5", list: "Bad", category: "malware", severity: "high", action: "blocked", name: "www.bad.example", type: DNS_TYPE.a, samples: ["www.bad.example"], policy: "everyone", blocked_record: null,
  });
  expect(threats[0]?.lists.toSorted()).toEqual(["Ads", "Bad"]);
  expect(new Set(threats.map(({ client_ip: ip }) => ip)).size).toBe(1);
  expect(daemon?.state()).toMatchObject({ upstreams: 1, upstreams_down: 0 });
});

test("what the daemon could not write down, or was asked while it was away, is sent again", async () => {
  const { of } = await start();
  await of("a.bad.example");
  let isWritten = false;
  listen(() => isWritten);
  await expect.poll(() => daemon?.state() ?? null).not.toBeNull();
  await daemon?.close();
  isWritten = true;
  listen(() => isWritten);
  await expect.poll(total).toBe(1);
  expect(threats).toMatchObject([{ samples: ["a.bad.example"] }]);
});

test("the socket is for owner and group alone; what a killed daemon left is replaced", async () => {
  listen();
  await expect.poll(() => existsSync(path()) && (statSync(path()).mode & 0o777)).toBe(0o660);
  await daemon?.close();
  listen();
  await expect.poll(() => existsSync(path())).toBe(true);
});

test.each([["all", "blocked", ["ads.example"]], ["all", "counts", []], ["counts", "all", []], ["all", null, ["ads.example", "other.example"]]] as const)(
  "of the machine's own level %s and the site's %s the stricter one holds", async (report, level, expected) => {
    const sharing = createSharing(folder);
    await sharing.leave(siteFiles({ ads: ["ads.example\n"] }, level === null ? {} : { queries: { level } }));
    const clock = createFakeClock(1_800_000_000_000);
    daemon = listenForResolver(join(sharing.directory, LINK_SOCKET), { clock: systemClock, log: silentLog, onThreat: () => true, onQueries: (reported) => queries.push(reported) > 0 });
    await expect.poll(() => existsSync(join(sharing.directory, LINK_SOCKET))).toBe(true);
    const upstream = await opened.server(({ questions: [asked] }) => ({ answers: [address(1, 60, asked?.name)] }));
    const { port, refreshLists } = await opened.resolverOver([upstream], { collector_directory: sharing.directory, queries: { report } }, clock);
    await ask(port, { questions: [{ name: "early.example", type: DNS_TYPE.a }], from: "127.0.0.5" });
    await refreshLists();
    for (const name of ["ads.example", "other.example"]) await ask(port, { questions: [{ name, type: DNS_TYPE.a }], from: "127.0.0.5" });
    await expect.poll(() => daemon?.state() ?? null).not.toBeNull();
    await clock.advance(15_000);
    await expect.poll(() => queries.length).toBe(1);
    expect([queries[0]?.level, queries[0]?.rows.map(({ name }) => name).toSorted()]).toEqual([level === "all" || level === null ? report : level, expected]);
  },
);

test("hostile messages end their own connection and nothing else", async () => {
  listen();
  await expect.poll(() => existsSync(path())).toBe(true);
  const framed = (text: string) => {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const refused = Buffer.concat(Array.from({ length: 40 }, (_, number) => framed(JSON.stringify({ kind: "threat", number, threat: { client_ip: "x" } }))));
  for (const bytes of [randomBytes(4096).fill(0xff, 0, 4), refused]) {
    const socket = connect(path());
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write(bytes);
    await once(socket, "close");
  }
  expect(threats).toEqual([]);
  const { of } = await start();
  await of("b.bad.example");
  await expect.poll(total).toBe(1);
});
