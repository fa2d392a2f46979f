import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DNS_RESPONSE_CODE, DNS_TYPE, type DnsMessage, type DnsRecordFields } from "@lanthorn/packets";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { ask } from "./testing/ask.ts";
import { address, createOpened, edns, extendedError, lastOf } from "./testing/opened.ts";

const opened = createOpened();
const folder = mkdtempSync(join(tmpdir(), "lanthorn-lists-"));
afterEach(() => opened.close());
afterAll(() => rmSync(folder, { recursive: true }));

const listFile = (name: string, text: string) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const alias = (name: string, target: string): DnsRecordFields => ({ name, type: DNS_TYPE.cname, ttlSeconds: 60, data: { kind: "name", name: target } });

async function filtering(lists: readonly Record<string, unknown>[], filter: Record<string, unknown> = {}, answers?: (name: string) => readonly DnsRecordFields[]) {
  const upstream = await opened.server(({ questions: [asked] }) => ({ answers: answers ? answers(asked?.name.toLowerCase() ?? "") : [address(1, 60, asked?.name)] }));
  const resolver = await opened.resolverOver([upstream], { lists, filter });
  await resolver.refreshLists();
  const of = (name: string, more: { readonly type?: number; readonly tcp?: boolean } = {}): Promise<DnsMessage> =>
    ask(resolver.port, { ...(more.tcp !== undefined && { tcp: more.tcp }), questions: [{ name, type: more.type ?? DNS_TYPE.a }], additionals: [edns()] });
  return { ...resolver, upstream, of };
}

describe("a name that a list has", () => {
  test("is answered as if it were not there, for every type, and the answer names the list", async () => {
    const { of, upstream, counts } = await filtering([{ name: "Ads", file: listFile("ads", "||ads.example^\n"), category: "advertising" }]);
    for (const type of [DNS_TYPE.a, DNS_TYPE.aaaa, DNS_TYPE.https, DNS_TYPE.txt]) {
      const message = await of("Banner.ADS.example", { type });
      expect([message.responseCode, message.answers, message.questions[0]?.name]).toEqual([DNS_RESPONSE_CODE.nameError, [], "Banner.ADS.example"]);
      expect(message.authorities).toMatchObject([{ name: "Banner.ADS.example", type: DNS_TYPE.soa, ttlSeconds: 10, data: { kind: "soa", minimum: 10 } }]);
      expect(extendedError(message)).toMatchObject({ code: expect.toSatisfy((code: number) => code >= 15 && code <= 17), text: expect.stringContaining("Ads") });
    }
    expect([upstream.asked.length, counts.blocked]).toEqual([0, 4]);
    expect(lastOf(await of("example.org"))).toEqual([1]);
  });

  test.each([
    ["zero", DNS_RESPONSE_CODE.noError, [Uint8Array.of(0, 0, 0, 0)]],
    ["nodata", DNS_RESPONSE_CODE.noError, []],
    ["refused", DNS_RESPONSE_CODE.refused, []],
  ] as const)("is answered with %s where that is wanted", async (blocked, code, addresses) => {
    const { of } = await filtering([{ name: "Ads", file: listFile(`ads-${blocked}`, "0.0.0.0 ads.example\n0.0.0.0 more.example\n") }], { blocked });
    const message = await of("ads.example");
    expect(message.responseCode).toBe(code);
    expect(message.answers.map(({ data }) => (data.kind === "address" ? Uint8Array.from(data.address) : data))).toEqual(addresses);
  });

  test("is found behind another name, in the cache too", async () => {
    const { of, upstream } = await filtering([{ name: "Trackers", file: listFile("trackers", "||tracker.example^\n") }], {}, (name) =>
      name === "shop.example.net" ? [alias(name, "shop.tracker.example"), address(1, 60, "shop.tracker.example")] : [address(2, 60, name)]);
    for (let left = 2; left > 0; left -= 1) expect((await of("shop.example.net")).responseCode).toBe(DNS_RESPONSE_CODE.nameError);
    expect(upstream.asked).toHaveLength(1);
    expect(lastOf(await of("other.example.net"))).toEqual([2]);
  });

  test("resolves where it is allowed, and where the list is only observed: then it is counted", async () => {
    const allowed = await filtering([{ name: "Ads", file: listFile("ads-allowed", "||ads.example^\n") }], { allow: ["good.ads.example"] });
    expect([lastOf(await allowed.of("x.good.ads.example")), (await allowed.of("ads.example")).responseCode]).toEqual([[1], DNS_RESPONSE_CODE.nameError]);
    const observed = await filtering([{ name: "Ads", file: listFile("ads-observed", "||ads.example^\n"), mode: "observe" }]);
    expect([lastOf(await observed.of("ads.example")), observed.counts.observed, observed.counts.blocked]).toEqual([[1], 1, 0]);
  });

  test("of a response policy zone is dropped, or sent to TCP, where the zone says so", async () => {
    const zone = "$TTL 60\n@ SOA localhost. root.localhost. 1 1 1 1 1\n@ NS localhost.\ntcp.example CNAME rpz-tcp-only.\ngone.example CNAME .\n";
    const { of } = await filtering([{ name: "zone", file: listFile("zone", zone), format: "rpz", origin: "rpz.test" }]);
    expect((await of("tcp.example")).isTruncated).toBe(true);
    expect(lastOf(await of("tcp.example", { tcp: true }))).toEqual([1]);
    expect((await of("gone.example")).responseCode).toBe(DNS_RESPONSE_CODE.nameError);
  });
});

describe("a list", () => {
  test("that has changed is read again; one that shrinks by half, or is gone, leaves the last good one", async () => {
    const file = listFile("changing", "a.example\nb.example\nc.example\nd.example\n");
    const { of, refreshLists } = await filtering([{ name: "changing", file, format: "domains" }]);
    const isBlocked = async (name: string) => (await of(name)).responseCode === DNS_RESPONSE_CODE.nameError;
    expect([await isBlocked("a.example"), await isBlocked("e.example")]).toEqual([true, false]);
    writeFileSync(file, "a.example\nb.example\nc.example\ne.example\nf.example\n");
    await refreshLists();
    expect([await isBlocked("a.example"), await isBlocked("d.example"), await isBlocked("f.example")]).toEqual([true, false, true]);
    writeFileSync(file, "f.example\n");
    await refreshLists();
    expect(await isBlocked("a.example")).toBe(true);
    rmSync(file);
    await refreshLists();
    expect(await isBlocked("a.example")).toBe(true);
  });

  test("that would block a public suffix or a protected name is not used; the others are", async () => {
    const { of } = await filtering([
      { name: "broken", file: listFile("broken", "||com^\n||x.example^\n") },
      { name: "bold", file: listFile("bold", "||bank.example^\n") },
      { name: "sound", file: listFile("sound", "||ads.example^\n") },
      { name: "missing", file: join(folder, "missing") },
    ], { protected: ["www.bank.example"] });
    expect([lastOf(await of("www.test.com")), lastOf(await of("x.example")), lastOf(await of("bank.example"))]).toEqual([[1], [1], [1]]);
    expect((await of("ads.example")).responseCode).toBe(DNS_RESPONSE_CODE.nameError);
  });

  test("that is being read keeps nobody waiting: names resolve", async () => {
    const many = Array.from({ length: 300_000 }, (_, index) => `n${index}.blocked.example`).join("\n");
    const upstream = await opened.server(({ questions: [asked] }) => ({ answers: [address(1, 60, asked?.name)] }));
    const { port, refreshLists } = await opened.resolverOver([upstream], { lists: [{ name: "many", file: listFile("many", many), format: "domains" }] });
    let isRead = false;
    const read = refreshLists().then(() => (isRead = true));
    expect(lastOf(await ask(port, { questions: [{ name: "n7.blocked.example", type: DNS_TYPE.a }] }))).toEqual([1]);
    expect(isRead).toBe(false);
    await read;
    expect((await ask(port, { questions: [{ name: "n7.blocked.example", type: DNS_TYPE.a }] })).responseCode).toBe(DNS_RESPONSE_CODE.nameError);
  });
});

test("what takes names past this resolver is denied where that is wanted", async () => {
  const { of } = await filtering([], { private_relay: "block", browser_dns: "block" });
  for (const name of ["mask.icloud.com", "use-application-dns.net"]) expect((await of(name)).responseCode).toBe(DNS_RESPONSE_CODE.nameError);
  const open = await filtering([]);
  expect(lastOf(await open.of("mask.icloud.com"))).toEqual([1]);
});

describe("rules about the servers that answer for a name", () => {
  const ns = (zone: string, target: string): DnsRecordFields => ({ name: zone, type: DNS_TYPE.ns, ttlSeconds: 60, data: { kind: "name", name: target } });
  const zoneFile = (name: string, rule: string) => listFile(name, `$ORIGIN rpz.example.\n$TTL 60\n@ SOA localhost. root.localhost. 1 3600 600 86400 60\n@ NS localhost.\n${rule} CNAME .\n`);
  /** A world in which one company's servers answer for shop.test and all below it. */
  const world = ({ name, type }: { readonly name: string; readonly type: number }): readonly DnsRecordFields[] => {
    const zone = name.toLowerCase();
    if (type === DNS_TYPE.ns) return zone === "shop.test" ? [ns(zone, "ns1.Bulletproof.test")] : zone === "good.test" ? [ns(zone, "ns.good.test")] : [];
    if (type === DNS_TYPE.a && zone === "alias.good.test") return [alias(zone, "www.shop.test"), address(9, 60, "www.shop.test")];
    return type === DNS_TYPE.a ? [address(zone === "ns1.bulletproof.test" ? 66 : 1, 60, zone)] : [];
  };

  test.each([["nsdname", "*.bulletproof.test.rpz-nsdname"], ["nsip", "32.66.2.0.192.rpz-nsip"]])("hold for all below their zones, behind an alias and from the cache too: %s", async (kind, rule) => {
    const upstream = await opened.server(({ questions: [asked] }) => ({ answers: asked ? world(asked) : [] }));
    const resolver = await opened.resolverOver([upstream], { lists: [{ name: "Zone", file: zoneFile(kind, rule), format: "rpz" }] });
    await resolver.refreshLists();
    const code = async (name: string) => (await ask(resolver.port, { questions: [{ name, type: DNS_TYPE.a }] })).responseCode;
    for (let left = 2; left > 0; left -= 1) {
      expect([await code("www.shop.test"), await code("a.b.c.d.e.f.g.shop.test"), await code("alias.good.test"), await code("www.good.test"), await code("localhost")]).toEqual(
        [DNS_RESPONSE_CODE.nameError, DNS_RESPONSE_CODE.nameError, DNS_RESPONSE_CODE.nameError, DNS_RESPONSE_CODE.noError, DNS_RESPONSE_CODE.noError]);
    }
    expect(upstream.asked.filter(({ message: { questions: [asked] } }) => asked?.type === DNS_TYPE.ns && asked.name.toLowerCase() === "shop.test")).toHaveLength(1);
    expect(upstream.asked.some(({ message: { questions: [asked] } }) => asked?.name.toLowerCase() === "test" || asked?.name.toLowerCase() === "localhost")).toBe(false);
  });

  test("let a name resolve whose servers nobody says, after a second at most", async () => {
    const upstream = await opened.server(({ questions: [asked] }) => (asked?.type === DNS_TYPE.a ? { answers: [address(1, 60, asked.name)] } : null));
    const resolver = await opened.resolverOver([upstream], { lists: [{ name: "Zone", file: zoneFile("silent", "ns.bad.test.rpz-nsdname"), format: "rpz" }] });
    await resolver.refreshLists();
    expect((await ask(resolver.port, { questions: [{ name: "www.shop.test", type: DNS_TYPE.a }] })).responseCode).toBe(DNS_RESPONSE_CODE.noError);
  });
});
