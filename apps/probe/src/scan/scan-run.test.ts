import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseIpv4 } from "@lanthorn/packets";
import { afterEach, describe, expect, test } from "vitest";
import { unpackDebianPackages } from "../../../../test/lab/debian-packages.ts";
import { whyNoNamespaces } from "../discover/testing/real-lan.ts";
import { ipv4Number } from "../observe/address-prefix.ts";
import { type AnsweringNetwork, createAnsweringNetwork, SCANNER_IP } from "./testing/answering-network.ts";

const CHILD = fileURLToPath(new URL("testing/scan-child.ts", import.meta.url));
const number = (text: string) => ipv4Number(parseIpv4(text) as Uint8Array);
const reason = whyNoNamespaces();
if (reason) console.warn(`probe scan: ${reason}`);

interface Found {
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

async function scan(network: AnsweringNetwork, request: { readonly first: string; readonly count: number; readonly ports?: readonly number[]; readonly udpPorts?: readonly number[]; readonly late?: boolean }): Promise<Found> {
  const { first, count, ports = [], udpPorts = [], late = false } = request;
  const child = { interface: "lan0", ranges: [[number(first), count, number(SCANNER_IP)]], ports, udpPorts, framesPerSecond: 50_000, late };
  const node = [process.execPath, "--import", import.meta.resolve("tsx"), "--conditions=@lanthorn/source", CHILD, JSON.stringify(child)];
  const { stdout } = await promisify(execFile)("ip", ["netns", "exec", network.scanner, ...node], { timeout: 60_000 });
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
      "add table ip t; add chain ip t p { type nat hook prerouting priority -100 ; }; add rule ip t p ip daddr 10.66.0.2 tcp dport 1-65535 dnat to 10.66.0.1:22",
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
    expect([hosts.length, phantoms]).toEqual([16, [`${network.answererMac} 4094`]]);
  });

  test("ends when who is awake has answered, and takes who answers late after that", async () => {
    const network = makeNetwork();
    const at = number("10.66.0.10");
    await network.answerArp([[at, 5]], [[at + 20, 1200], [at + 21, 2500]]);
    const { early, hosts, seconds } = await scan(network, { first: "10.66.0.1", count: 254, late: true });
    expect([early, hosts.length]).toEqual([5, 7]);
    expect(hosts).toContain("10.66.0.30 02:00:0a:42:00:1e");
    expect(seconds).toBeLessThan(1.2);
  });

  test("finds what is open where everything else is dropped", async () => {
    const network = makeNetwork("10.66.0.0/28");
    await network.listen([22, 443]);
    const nft = (await unpackDebianPackages(["nftables"])).command("nft");
    network.run(nft.path, ["add table ip f; add chain ip f i { type filter hook input priority 0 ; }; add rule ip f i tcp dport != { 22, 443 } drop"], nft.env);
    const { ports } = await scan(network, { first: "10.66.0.0", count: 16, ports: range(1, 1000) });
    expect(ports.toSorted()).toEqual(range(0, 15).flatMap((last) => [22, 443].map((port) => `10.66.0.${last} tcp ${port}`)).toSorted());
  });
});
