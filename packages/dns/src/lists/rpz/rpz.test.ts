import { expect, test } from "vitest";
import { readList } from "../../testing/read-list.ts";
import { bodyOf } from "../list-rule.ts";

const ZONE = `$TTL 1h
@ IN SOA localhost. root.localhost. ( 1 ; serial
  12h 15m
  3w 2h )
  IN NS localhost.
nxdomain.example        CNAME .
*.nodata.example        CNAME *.
passthru.example        CNAME rpz-passthru.
drop.example            CNAME rpz-drop.
tcp.example             CNAME rpz-tcp-only.
old.example             CNAME old.example.
local.example       60  A     192.0.2.1
                        AAAA  2001:db8::1
                        TXT   "two words" "\\"q\\"" ; comment
garden.example          CNAME *.garden.example.net.
32.1.2.0.192.rpz-client-ip CNAME rpz-drop.
24.0.2.0.192.rpz-ip     CNAME .
128.57.zz.db8.2001.rpz-ip CNAME .
ns.bad.example.rpz-nsdname CNAME .
*.worse.example.rpz-nsdname CNAME *.
16.0.0.0.172.rpz-nsip   CNAME .
24.1.2.0.192.rpz-ip     CNAME .
0.1.2.0.192.rpz-ip      CNAME .
unknown.example         CNAME rpz-explode.
x.rpz-other             CNAME .
bad.example             A     300.1.1.1
dname.example           DNAME a.
$INCLUDE other
`;

test("a zone's triggers and actions are read, and what is none is refused by its line", () => {
  const list = readList("rpz", ZONE);
  const nxdomain = bodyOf({ kind: "block", answer: "nxdomain" });
  const nodata = bodyOf({ kind: "block", answer: "nodata" });
  const records = (type: number, data: object, ttlSeconds = 3600) => ({ effect: { kind: "records", records: [{ type, ttlSeconds, data }] } });
  expect(list.read).toMatchObject([
    { name: "nxdomain.example", scope: "exact", body: nxdomain }, { name: "nodata.example", scope: "subdomains", body: nodata },
    { name: "passthru.example", body: bodyOf({ kind: "allow" }) }, { name: "drop.example", body: bodyOf({ kind: "block", answer: "drop" }) },
    { name: "tcp.example", body: bodyOf({ kind: "tcp-only" }) }, { name: "old.example", body: bodyOf({ kind: "allow" }) },
    { name: "local.example", body: records(1, { kind: "address", address: "192.0.2.1" }, 60) },
    { name: "local.example", body: records(28, { kind: "address", address: "2001:db8::1" }) },
    { name: "local.example", body: records(16, { kind: "txt", strings: ["two words", "\"q\""] }) },
    { name: "garden.example", body: records(5, { kind: "name", name: "*.garden.example.net" }) },
    { trigger: "client-ip", name: "192.0.2.1/32", body: bodyOf({ kind: "block", answer: "drop" }) }, { trigger: "ip", name: "192.0.2.0/24" },
    { trigger: "ip", scope: "exact" }, { trigger: "nsdname", name: "ns.bad.example", scope: "exact", body: nxdomain },
    { trigger: "nsdname", name: "worse.example", scope: "subdomains" }, { trigger: "nsip", name: "172.0.0.0/16" },
  ]);
  expect(list.refusals.map(({ line, reason }) => [line, reason])).toEqual([
    [22, "is no network as RPZ writes it"], [23, "is no network as RPZ writes it"], [24, "has an action that is unknown"], [25, "is a trigger that is unknown"],
    [26, "has data that cannot be read"], [27, "is no trigger"], [28, "is a directive that is not followed"],
  ]);
});

test("owners are taken below the zone that the file, its SOA or the reader names", () => {
  const names = (text: string, origin: string | null = null) => readList("rpz", text, { origin }).read.map(({ name }) => name);
  const soa = "SOA a. b. 1 2 3 4 5";
  expect(names(`$ORIGIN rpz.test.\n@ ${soa}\na.example CNAME .\nb.example.rpz.test. CNAME .\n$ORIGIN com.rpz.test.\nc CNAME .`)).toEqual(["a.example", "b.example", "c.com"]);
  expect(names(`RPZ.test. ${soa}\na.example.rpz.test. CNAME .`)).toEqual(["a.example"]);
  expect(names("a.example.rpz.test. CNAME .\nb.other. CNAME .", "rpz.test")).toEqual(["a.example"]);
});

test("a list that may not rewrite keeps its blocks and loses its records", () => {
  const list = readList("rpz", "a.example CNAME .\nb.example A 192.0.2.1\nc.example CNAME evil.example.", { mayRewrite: false });
  expect([list.rules, list.refused]).toEqual([1, 2]);
});

test("parentheses that stay open are said at the end", () => {
  expect(readList("rpz", "@ SOA a. b. ( 1").refused).toBe(1);
});
