import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { bundleProgram } from "../../../../test/lab/bundle-program.ts";
import { unpackDebianPackages } from "../../../../test/lab/debian-packages.ts";
import { whyNoNamespaces } from "../discover/testing/real-lan.ts";
import { type AnsweringNetwork, createAnsweringNetwork, SCANNER_IP } from "../scan/testing/answering-network.ts";

const CHILD = fileURLToPath(new URL("testing/poll-child.ts", import.meta.url));
const ROUTER = "10.66.0.1";
const reason = whyNoNamespaces();
if (reason) console.warn(`polls behind routers: ${reason}`);

const open: AnsweringNetwork[] = [];
afterEach(() => {
  for (const network of open.splice(0)) network.close();
});

/** A router at 10.66.0.1, and behind it hosts of 10.99.0.0/16. */
function makeNetwork(...live: readonly string[]): AnsweringNetwork {
  const network = createAnsweringNetwork();
  open.push(network);
  network.live(`${ROUTER}/32`);
  for (const prefix of live) network.live(prefix);
  network.route("10.99.0.0/16", ROUTER);
  return network;
}

interface Seen {
  readonly answered: readonly string[];
  readonly madeUp: number;
  readonly isRouterThere: boolean;
  readonly sent: number;
  readonly seconds: number;
}

async function poll(network: AnsweringNetwork, request: object): Promise<Seen> {
  const child = { own: SCANNER_IP, gateway: ROUTER, framesPerSecond: 5000, ...request };
  const node = [process.execPath, bundleProgram(CHILD), JSON.stringify(child)];
  const { stdout } = await promisify(execFile)("ip", ["netns", "exec", network.scanner, ...node], { timeout: 300_000 });
  return JSON.parse(stdout) as Seen;
}

const WHOLE = { first: "10.99.0.0", count: 256 };

describe.skipIf(reason !== null)("a poll behind a router", () => {
  test("sees who is there, of a whole network and of some addresses, and stays within its rate", async () => {
    const network = makeNetwork("10.99.0.16/30", "10.99.0.200/32");
    const truth = ["10.99.0.16", "10.99.0.17", "10.99.0.18", "10.99.0.19", "10.99.0.200"];
    const { answered, ...whole } = await poll(network, WHOLE);
    expect([answered.toSorted(), whole.madeUp, whole.isRouterThere]).toEqual([truth, 0, true]);
    const some = await poll(network, { list: ["10.99.0.17", "10.99.0.40", "10.99.0.200"], framesPerSecond: 6 });
    expect(some.answered.toSorted()).toEqual(["10.99.0.17", "10.99.0.200"]);
    expect(some.sent).toBeGreaterThanOrEqual(13);
    expect(some.sent / some.seconds).toBeLessThanOrEqual(6);
  });

  test("takes a network all of whose addresses answer, the first and the last too, for one device", async () => {
    const all = await poll(makeNetwork("10.99.0.0/24"), WHOLE);
    expect([all.answered, all.madeUp]).toEqual([[], 256]);
    const most = await poll(makeNetwork("10.99.0.0/25"), WHOLE);
    expect([most.answered.length, most.madeUp]).toEqual([128, 0]);
  });

  test("takes a network that answers by TCP alone for a firewall's, and tells who answers otherwise", async () => {
    const network = makeNetwork("10.99.0.0/24");
    const nft = (await unpackDebianPackages(["nftables"])).command("nft");
    network.run(nft.path, [
      "add table ip f; add chain ip f i { type filter hook input priority 0 ; }; "
      + "add rule ip f i ip daddr 10.99.0.0/24 ip daddr != 10.99.0.9 meta l4proto != tcp drop",
    ], nft.env);
    const seen = await poll(network, WHOLE);
    expect([seen.answered, seen.madeUp]).toEqual([["10.99.0.9"], 255]);
    // One that is known is believed: what it answers by was judged when it was found.
    expect((await poll(network, { list: ["10.99.0.7"] })).answered).toEqual(["10.99.0.7"]);
  });

  test("says when the router itself is silent", async () => {
    expect(await poll(makeNetwork(), { ...WHOLE, gateway: "10.66.0.77" })).toMatchObject({ answered: [], madeUp: 0, isRouterThere: false });
  });

  test("polls by IPv6 as well", async () => {
    const network = makeNetwork();
    network.addIpv6("fd66::10");
    network.run("sysctl", ["-qw", "net.ipv6.conf.all.forwarding=1"]);
    network.run("ip", ["-6", "route", "add", "local", "fd99::20/126", "dev", "lo"]);
    const request = { own: "fd66::1", gateway: "fd66::10" };
    const truth = ["fd99::20", "fd99::21", "fd99::22", "fd99::23"];
    expect((await poll(network, { ...request, first: "fd99::", count: 256 })).answered.toSorted()).toEqual(truth);
    expect((await poll(network, { ...request, list: ["fd99::22", "fd99::77"] })).answered).toEqual(["fd99::22"]);
  });
});
