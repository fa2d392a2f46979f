import { createFakeClock } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { createRoutedHosts } from "./routed-hosts.ts";

function createScanned({ mostWanted = 100 } = {}) {
  const wanted: string[] = [];
  const world = { wanted, mostWanted };
  const hosts = createRoutedHosts({
    clock: createFakeClock(),
    wantName(host) {
      if (wanted.length >= world.mostWanted || "bindings" in host) return false;
      wanted.push(host.address);
      return true;
    },
  });
  const published = () => hosts.take().map((event) => (event.type === "host_found" ? [event.data.ip, event.data.hostname] : []));
  return Object.assign(world, { hosts, published });
}

describe("hosts that a scan finds behind a router", () => {
  test("are published at once, and again with the name that DNS gives them", () => {
    const { hosts, published, wanted } = createScanned();
    hosts.add("10.9.0.1");
    hosts.add("10.9.0.2");
    expect(published()).toEqual([["10.9.0.1", ""], ["10.9.0.2", ""]]);
    expect(wanted).toEqual(["10.9.0.1", "10.9.0.2"]);
    hosts.noteName("10.9.0.2", "printer.lan");
    hosts.noteName("10.9.0.9", "stranger.lan");
    const [event] = hosts.take();
    expect(event).toMatchObject({ type: "host_found", data: { ip: "10.9.0.2", mac: "", hostname: "printer", addresses: ["10.9.0.2"] } });
    expect(event?.type === "host_found" && event.data.evidence).toContainEqual(
      expect.objectContaining({ field: "hostname", value: "printer.lan", source: "reverse-dns", confidence: 0.6 }));
    hosts.noteName("10.9.0.2", "printer.lan");
    expect(published()).toEqual([]);
    expect(wanted).toHaveLength(2);
  });

  test("wait where too many names are wanted, and have their turn later", () => {
    const world = createScanned({ mostWanted: 1 });
    for (const ip of ["10.9.0.1", "10.9.0.2", "10.9.0.3"]) world.hosts.add(ip);
    expect(world.published()).toHaveLength(3);
    expect(world.wanted).toEqual(["10.9.0.1"]);
    world.mostWanted = 10;
    expect(world.published()).toEqual([]);
    expect(world.wanted).toEqual(["10.9.0.1", "10.9.0.2", "10.9.0.3"]);
  });

  test("keep their names beside what their services say, within what one event may hold", () => {
    const { hosts } = createScanned();
    hosts.add("10.9.0.1");
    hosts.noteName("10.9.0.1", "nas-1.example.com");
    hosts.learn("10.9.0.1", Array.from({ length: 80 }, (_, index) =>
      ({ field: "tls_certificate", value: index.toString(16).padStart(64, "0"), source: `tls:${index}`, confidence: 0.9 })));
    const [event] = hosts.take();
    const evidence = event?.type === "host_found" ? event.data.evidence : [];
    expect([evidence.length <= 64, evidence.some(({ field }) => field === "hostname"), evidence.some(({ field }) => field === "ip")])
      .toEqual([true, true, true]);
  });
});
