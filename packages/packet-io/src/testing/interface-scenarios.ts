import { writeFileSync } from "node:fs";
import { systemClock } from "@lanthorn/runtime";
import { type InterfaceFacts, readInterface, readNeighborTable } from "../interface/interface-facts.ts";
import { watchInterface } from "../interface/interface-watch.ts";
import { codeOf, ip, until } from "./wire.ts";

async function facts() {
  ip("link", "set", "va", "address", "02:00:5e:00:53:01", "mtu", "1400");
  ip("link", "set", "vb", "down");
  ip("address", "add", "192.0.2.10/24", "dev", "va");
  ip("address", "add", "198.51.100.1/25", "dev", "va");
  ip("route", "add", "default", "via", "192.0.2.1", "dev", "va", "metric", "200");
  ip("route", "add", "default", "via", "192.0.2.2", "dev", "va", "metric", "100");
  ip("neigh", "add", "192.0.2.77", "lladdr", "02:00:5e:00:53:77", "dev", "va");
  const withoutIndex = async (name: string) => ({ ...(await readInterface(name)), index: 0 });
  return {
    unplugged: (await readInterface("va")).up,
    loopback: await withoutIndex("lo"),
    facts: await withoutIndex("va"),
    neighbors: await readNeighborTable(),
    missing: await Promise.all(["nope", "", "../va", "-h", "a b", "x".repeat(99)].map((name) => codeOf(() => readInterface(name)))),
  };
}


async function sixthVersion() {
  writeFileSync("/proc/sys/net/ipv6/conf/va/disable_ipv6", "0");
  ip("link", "set", "va", "addrgenmode", "none");
  ip("-6", "address", "flush", "dev", "va");
  ip("address", "add", "2001:db8::10/64", "dev", "va", "nodad");
  ip("-6", "route", "add", "default", "via", "2001:db8::1", "dev", "va");
  ip("neigh", "add", "2001:db8::77", "lladdr", "02:00:5e:00:53:77", "dev", "va", "router");
  const { addresses, gateways } = await readInterface("va");
  return { addresses, gateways, neighbors: (await readNeighborTable()).filter((neighbor) => neighbor.state === "permanent") };
}

async function watch() {
  const seen: (InterfaceFacts | null)[] = [];
  const failures: string[] = [];
  const watcher = watchInterface({
    interface: "va",
    clock: systemClock,
    periodMs: 20,
    onChange: (facts) => void seen.push(facts),
    onFailure: (reason) => void failures.push(reason.code),
  });
  const last = () => seen.at(-1);
  await until(() => last()?.up === true);
  ip("link", "set", "va", "down");
  await until(() => last()?.up === false);
  ip("link", "set", "va", "up");
  await until(() => last()?.up === true);
  ip("link", "set", "vb", "down");
  await until(() => last()?.up === false);
  ip("link", "set", "vb", "up");
  await until(() => last()?.up === true);
  ip("address", "add", "192.0.2.10/24", "dev", "va");
  await until(() => last()?.addresses.length === 1);
  ip("route", "add", "default", "via", "192.0.2.1");
  await until(() => last()?.gateways.length === 1);
  const index = last()?.index ?? 0;
  ip("link", "del", "va");
  await until(() => last() === null);
  ip("link", "add", "va", "type", "veth", "peer", "name", "vb");
  ip("link", "set", "va", "up");
  ip("link", "set", "vb", "up");
  await until(() => last()?.up === true);
  const heard = seen.length;
  watcher.close();
  ip("link", "del", "va");
  const missing = watchInterface({ interface: "va", clock: systemClock, onChange: (facts) => void seen.push(facts), onFailure() {} });
  await until(() => seen.length > heard);
  missing.close();
  return { anotherIndex: (seen[heard - 1]?.index ?? 0) !== index, afterClose: seen.slice(heard), failures };
}

/** As `captureScenarios`, of facts about interfaces. */
export const interfaceScenarios = { facts, sixthVersion, watch };
