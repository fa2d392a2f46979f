import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ipv4Number, parseIpv4 } from "@lanthorn/packets";
import { afterEach, describe, expect, test } from "vitest";
import { bundleProgram } from "../../../../test/lab/bundle-program.ts";
import { unpackDebianPackages } from "../../../../test/lab/debian-packages.ts";
import { whyNoNamespaces } from "../discover/testing/real-lan.ts";
import { type AnsweringNetwork, createAnsweringNetwork, SCANNER_IP } from "./testing/answering-network.ts";

const CHILD = fileURLToPath(new URL("testing/scan-child.ts", import.meta.url));
const number = (text: string) => ipv4Number(parseIpv4(text) as Uint8Array);
const reason = whyNoNamespaces();
if (reason) console.warn(`probe scan: ${reason}`);

interface Found {
  readonly counts: Readonly<Record<string, { readonly tcp: unknown; readonly udp: unknown }>>;
  readonly early: number;
  readonly hosts: readonly string[];
  readonly ports: readonly string[];
  readonly phantoms: readonly string[];
  readonly seconds: number;
}

const open: AnsweringNetwork[] = [];
afterEach(() => {
  for (const network of open.splice(0)) network.close();
});

function makeNetwork(...prefixes: readonly string[]): AnsweringNetwork {
  const network = createAnsweringNetwork();
  open.push(network);
  for (const prefix of prefixes) network.live(prefix);
  return network;
}

type Beyond = { readonly routed?: object; readonly ipv6?: object };

async function scan(
  network: AnsweringNetwork,
  request: Beyond & {
    readonly first: string; readonly count: number; readonly ports?: readonly number[];
    readonly udpPorts?: readonly number[]; readonly late?: boolean; readonly excluded?: readonly string[];
  },
): Promise<Found> {
  const { first, count, ports = [], udpPorts = [], late = false, ...beyond } = request;
  const child = {
    ...beyond, interface: "lan0", ranges: [[number(first), count, number(SCANNER_IP)]], ports, udpPorts, framesPerSecond: 50_000, late };
  const node = [process.execPath, bundleProgram(CHILD), JSON.stringify(child)];
  const { stdout } = await promisify(execFile)("ip", ["netns", "exec", network.scanner, ...node], { timeout: 300_000 });
  return JSON.parse(stdout) as Found;
}

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe.skipIf(reason !== null)("a scan with frames of its own", () => {
  test("finds every host of a range once, and none that is not there", async () => {
    const network = makeNetwork("10.66.0.0/26", "10.66.3.7/32");
    const { hosts, ports } = await scan(network, { first: "10.66.0.0", count: 1024 });
    const addresses = hosts.map((host) => host.split(" ")[0] ?? "");
    expect(addresses.toSorted()).toEqual([...range(0, 63).map((last) => `10.66.0.${last}`), "10.66.3.7"].toSorted());
    expect([hosts.every((host) => /^\S+ ([\da-f]{2}:){5}[\da-f]{2}$/.test(host)), ports]).toEqual([true, []]);
  });

  test("reports no excluded host that is heard", async () => {
    const network = makeNetwork("10.66.0.0/29");
    await network.listen([22]);
    const { hosts, ports } = await scan(network, { first: "10.66.0.1", count: 4, ports: [22], excluded: ["10.66.0.3/32"] });
    expect(hosts.map((host) => host.split(" ")[0] ?? "").toSorted()).toEqual(["10.66.0.1", "10.66.0.2", "10.66.0.4"]);
    expect(ports.toSorted()).toEqual(["10.66.0.1 tcp 22", "10.66.0.2 tcp 22", "10.66.0.4 tcp 22"]);
  });

  test("finds every open port of every host once, and none that is closed", async () => {
    const network = makeNetwork("10.66.0.0/27");
    await network.listen([22, 80, 8443]);
    const { ports, phantoms } = await scan(network, { first: "10.66.0.0", count: 64, ports: range(1, 9000) });
    const truth = range(0, 31).flatMap((last) => [22, 80, 8443].map((port) => `10.66.0.${last} tcp ${port}`));
    expect([ports.toSorted(), phantoms]).toEqual([truth.toSorted(), []]);
  });

  test("says of a host that answers on every port that it does, and tells no port of it", async () => {
    const network = makeNetwork("10.66.0.1/32", "10.66.0.2/32");
    await network.listen([22, 443]);
    const nft = (await unpackDebianPackages(["nftables"])).command("nft");
    network.run(nft.path, [
      "add table ip t; add chain ip t p { type nat hook prerouting priority -100 ; }; "
      + "add rule ip t p ip daddr 10.66.0.2 tcp dport 1-65535 dnat to 10.66.0.1:22",
    ], nft.env);
    const { ports, phantoms } = await scan(network, { first: "10.66.0.1", count: 2, ports: [22, 23, 443] });
    expect([ports.toSorted(), phantoms]).toEqual([["10.66.0.1 tcp 22", "10.66.0.1 tcp 443"], ["10.66.0.2"]]);
  });

  test("finds UDP services by what their protocols ask, beside TCP", async () => {
    const network = makeNetwork("10.66.0.0/29");
    await network.listen([22]);
    await network.serveUdp("10.66.0.3", [53, 161, 5353]);
    const { ports } = await scan(network, { first: "10.66.0.1", count: 6, ports: [22], udpPorts: [53, 69, 123, 161, 5353] });
    expect(ports.filter((port) => port.includes("udp")).toSorted()).toEqual([161, 53, 5353].map((port) => `10.66.0.3 udp ${port}`));
    expect(ports.filter((port) => port.includes("tcp"))).toHaveLength(6);
  });

  test("takes a MAC that answers for thousands of addresses for a router, and not for thousands of hosts", async () => {
    const network = makeNetwork("10.66.0.0/20");
    const { hosts, phantoms } = await scan(network, { first: "10.66.0.1", count: 4094 });
    expect([hosts.length, phantoms]).toEqual([4, [`${network.answererMac} 4094`]]);
  });

  test("ends when who is awake has answered, and takes who answers late after that", async () => {
    const network = makeNetwork();
    const at = number("10.66.0.10");
    await network.answerArp([[at, 5]], [[at + 20, 1200], [at + 21, 2500]]);
    const look = () => scan(network, { first: "10.66.0.1", count: 254, late: true });
    let found = await look();
    // On a busy machine a scan may take longer than the first of the late ones, but not each time.
    for (let more = 0; more < 4 && found.early > 5; more += 1) found = await look();
    const { early, hosts } = found;
    expect([early, hosts.length]).toEqual([5, 7]);
    expect(hosts).toContain("10.66.0.30 02:00:0a:42:00:1e");
  });

  test("finds what is open where everything else is dropped", async () => {
    const network = makeNetwork("10.66.0.0/28");
    await network.listen([22, 443]);
    const nft = (await unpackDebianPackages(["nftables"])).command("nft");
    network.run(nft.path, [
      "add table ip f; add chain ip f i { type filter hook input priority 0 ; }; add rule ip f i tcp dport != { 22, 443 } drop",
    ], nft.env);
    const { ports } = await scan(network, { first: "10.66.0.0", count: 16, ports: range(1, 1000) });
    expect(ports.toSorted()).toEqual(range(0, 15).flatMap((last) => [22, 443].map((port) => `10.66.0.${last} tcp ${port}`)).toSorted());
  });

  test("counts what is closed and filtered, in nmap's words", async () => {
    const network = makeNetwork("10.66.0.0/29");
    await network.listen([22]);
    await network.serveUdp("10.66.0.3", [53]);
    const nft = (await unpackDebianPackages(["nftables"])).command("nft");
    network.run(nft.path, [
      "add table ip f; add chain ip f i { type filter hook input priority 0 ; }; "
      + "add rule ip f i ip daddr 10.66.0.3 tcp dport 24-25 drop; add rule ip f i ip daddr 10.66.0.3 udp dport 161 drop",
    ], nft.env);
    const { counts } = await scan(network, { first: "10.66.0.3", count: 1, ports: range(20, 29), udpPorts: [53, 69, 161] });
    expect(counts).toEqual({ "10.66.0.3": {
      tcp: { open: 1, closed: 7, filtered: 2, "open|filtered": 0 }, udp: { open: 1, closed: 1, filtered: 0, "open|filtered": 1 },
    } });
  });

  test("takes what answers ARP and nothing else for a router with proxy ARP, and tells the hosts that are really there", async () => {
    const network = makeNetwork("10.66.0.1/32", "10.66.0.100/30");
    // It answers ARP for the whole /24, and has a way to nobody but its own.
    network.run("sysctl", ["-qw", "net.ipv4.conf.lan0.proxy_arp=1", "net.ipv4.neigh.lan0.proxy_delay=0", "net.ipv4.ip_forward=1"]);
    network.run("ip", ["link", "add", "behind0", "type", "veth", "peer", "name", "behind1"]);
    network.run("ip", ["link", "set", "behind1", "up"]);
    network.run("ip", ["link", "set", "behind0", "up"]);
    network.run("ip", ["route", "add", "10.66.0.0/24", "dev", "behind0"]);
    const { hosts, phantoms } = await scan(network, { first: "10.66.0.1", count: 254 });
    expect(phantoms).toEqual([`${network.answererMac} 254`]);
    for (const last of [100, 101, 102, 103]) expect(hosts.map((host) => host.split(" ")[0])).toContain(`10.66.0.${last}`);
    expect(hosts.length).toBeLessThanOrEqual(9);
  });

  test("finds hosts behind a router by their own answers, and not by what the router says of the others", async () => {
    const network = makeNetwork("10.66.0.1/32", "10.99.0.16/29", "10.99.1.7/32");
    network.route("10.99.0.0/16", "10.66.0.1");
    await network.listen([22]);
    const nft = (await unpackDebianPackages(["nftables"])).command("nft");
    // One answers no echo, another nothing but a SYN.
    network.run(nft.path, [
      "add table ip f; add chain ip f i { type filter hook input priority 0 ; }; "
      + "add rule ip f i ip daddr 10.99.0.17 icmp type echo-request drop; "
      + "add rule ip f i ip daddr 10.99.0.18 tcp dport != 22 drop; add rule ip f i ip daddr 10.99.0.18 meta l4proto != tcp drop",
    ], nft.env);
    const { hosts, ports, phantoms } = await scan(network, {
      first: "10.66.0.1", count: 1, ports: [22, 23], routed: { gateway: "10.66.0.1", ranges: [["10.99.0.0", 512]] },
    });
    const truth = [...range(16, 23).map((last) => `10.99.0.${last}`), "10.99.1.7"];
    expect([hosts.toSorted(), phantoms]).toEqual([truth.map((ip) => `${ip} ${network.answererMac}`).toSorted(), []]);
    expect(ports.toSorted()).toEqual(truth.map((ip) => `${ip} tcp 22`).toSorted());
  });

  test("says that a firewall answers for a network behind a router, and tells none of its addresses", async () => {
    const network = makeNetwork("10.66.0.1/32", "10.99.0.0/24");
    network.route("10.99.0.0/16", "10.66.0.1");
    const nft = (await unpackDebianPackages(["nftables"])).command("nft");
    network.run(nft.path, [
      "add table ip f; add chain ip f i { type filter hook input priority 0 ; }; "
      + "add rule ip f i ip daddr 10.99.0.0/24 ip daddr != 10.99.0.9 meta l4proto != tcp drop",
    ], nft.env);
    const { hosts, phantoms } = await scan(network, {
      first: "10.66.0.1", count: 1, routed: { gateway: "10.66.0.1", ranges: [["10.99.0.0", 256]] },
    });
    expect([hosts, phantoms]).toEqual([[`10.99.0.9 ${network.answererMac}`], ["firewall 255"]]);
  });

  test("finds hosts and their ports by IPv6: those of a small prefix, those that were seen, and those that answer all nodes", async () => {
    const network = makeNetwork();
    network.addIpv6("fd66::10", "fd66::11", "fd66::aaaa:1");
    await network.listen([22, 8443]);
    const small = await scan(network, {
      first: "10.66.0.1", count: 0, ports: [22, 23], ipv6: { prefix: "fd66::/120", sources: ["fd66::1"], observed: [] },
    });
    expect(small.hosts.toSorted()).toEqual(["fd66::10", "fd66::11"].map((ip) => `${ip} ${network.answererMac}`));
    expect(small.ports.toSorted()).toEqual(["fd66::10 tcp 22", "fd66::11 tcp 22"]);
    expect(small.counts["fd66::10"]).toEqual({
      tcp: { open: 1, closed: 1, filtered: 0, "open|filtered": 0 }, udp: { open: 0, closed: 0, filtered: 0, "open|filtered": 0 },
    });
    const large = await scan(network, {
      first: "10.66.0.1", count: 0, ports: [8443], ipv6: { prefix: "fd66::/64", sources: ["fd66::1"], observed: ["fd66::11", "fd66::12"] },
    });
    expect(large.hosts).toContain(`fd66::11 ${network.answererMac}`);
    // To all nodes the kernel answers from one of its addresses in the prefix.
    expect(large.hosts.length).toBeGreaterThanOrEqual(2);
    expect(large.ports).toHaveLength(large.hosts.length);
  });

  test("counts what is open, closed and silent over UDP by IPv6", async () => {
    const network = makeNetwork();
    network.addIpv6("fd66::10");
    await network.serveUdp("fd66::10", [53, 161]);
    network.run("sysctl", ["-qw", "net.ipv6.icmp.ratelimit=0"]);
    const nft = (await unpackDebianPackages(["nftables"])).command("nft");
    network.run(nft.path, [
      "add table ip6 f; add chain ip6 f i { type filter hook input priority 0 ; }; "
      + "add rule ip6 f i udp dport 69 drop; add rule ip6 f i udp dport 500 reject with icmpv6 admin-prohibited",
    ], nft.env);
    const { ports, counts } = await scan(network, {
      first: "10.66.0.1", count: 0, ports: [22], udpPorts: [53, 67, 69, 123, 161, 500],
      ipv6: { prefix: "fd66::10/128", sources: ["fd66::1"], observed: [] },
    });
    expect(ports.toSorted()).toEqual(["fd66::10 udp 161", "fd66::10 udp 53"]);
    expect(counts["fd66::10"]?.udp).toEqual({ open: 2, closed: 1, filtered: 1, "open|filtered": 1 });
  });
});
