import { expect, test } from "vitest";
import { createBinding, createHost, describeHost } from "./host.ts";
import { createHostTable } from "./host-table.ts";
import { createFactsTaker, portFacts, serviceFacts } from "./service-facts.ts";

const claim = (field: "device_type" | "product", value: string, source = "snmp-object") => ({ field, value, source, confidence: 0.9 });
const hostKey = (value: string) => ({ field: "ssh_host_key", value, source: "ssh" });

function createScene() {
  const table = createHostTable(16);
  const host = createHost({ key: 1, vendor: "Brother industries, LTD.", foundAt: 0, silentFrom: 0 });
  const binding = createBinding("10.0.0.7", "arp", 0, 0);
  if (binding) host.bindings.push(binding);
  table.add(host, 0);
  const published: unknown[] = [];
  let now = 0;
  return {
    host, published, take: createFactsTaker({ table, announcer: { announceChange: (one) => published.push(one) }, clock: { now: () => now } }),
    setNow(at: number) {
      now = at;
    },
  };
}

test("what a service says of its host becomes the host's evidence, by its port, and is published once", () => {
  const { host, published, take } = createScene();
  const finding = { claims: [claim("device_type", "printer"), claim("product", "CUPS")], keys: [hostKey("ssh-ed25519 SHA256:abc")] };
  take.noteAt("10.0.0.7", serviceFacts(161, finding));
  take.noteAt("10.0.0.8", serviceFacts(22, { claims: [], keys: [hostKey("x")] }));
  take.noteAt("10.0.0.7", serviceFacts(80, { claims: [], keys: [] }));
  take.noteAt("10.0.0.7", serviceFacts(161, finding));
  expect(published).toEqual([host]);
  expect(host.facts).toEqual([
    { field: "ssh_host_key", value: "ssh-ed25519 SHA256:abc", source: "ssh", confidence: 0.95, seen_at: "1970-01-01T00:00:00.000Z" },
    { field: "device_type", value: "printer", source: "snmp-object:161", confidence: 0.9, seen_at: "1970-01-01T00:00:00.000Z" },
  ]);
});

test("a host is published with the evidence of its vendor and name before that of its services", () => {
  const { host, take } = createScene();
  host.names = { dhcp: { fullName: "printer.lan", seenAt: 0 } };
  const open = new Map([["10.0.0.7 tcp 80", ""], ["10.0.0.7 tcp 515", ""], ["10.0.0.7 tcp 9100", ""]]);
  take.noteAt("10.0.0.7", portFacts(open).get("10.0.0.7") ?? []);
  expect(describeHost(host).evidence.map(({ field, value, source }) => [field, value, source])).toEqual([
    ["hostname", "printer.lan", "dhcp"], ["vendor", "Brother industries, LTD.", "oui"],
    ["device_type", "printer", "oui"], ["device_type", "printer", "hostname"],
    ["device_type", "printer", "ports"], ["ip", "10.0.0.7", "arp"],
  ]);
});

test("neither keys nor what is said without end push each other out or grow", () => {
  const { host, take } = createScene();
  for (let index = 0; index < 100; index += 1) {
    take.noteAt(
      "10.0.0.7", serviceFacts(index, { claims: [claim("device_type", "server", "http-title")], keys: [hostKey(`key number ${index}`)] }),
    );
  }
  expect(host.facts.filter(({ field }) => field === "ssh_host_key").length).toBe(12);
  expect(host.facts.filter(({ field }) => field === "device_type").length).toBe(28);
});

test("what is seen again is kept as seen now, now and then", () => {
  const { host, take, setNow } = createScene();
  const seenAt = () => host.facts[0]?.seen_at;
  take.noteAt("10.0.0.7", [{ field: "device_type", value: "printer", source: "ports", confidence: 0.65 }]);
  setNow(3_600_000);
  take.noteAt("10.0.0.7", [{ field: "device_type", value: "printer", source: "ports", confidence: 0.65 }]);
  expect(seenAt()).toBe("1970-01-01T00:00:00.000Z");
  setNow(7 * 3_600_000);
  take.noteAt("10.0.0.7", [{ field: "device_type", value: "printer", source: "ports", confidence: 0.65 }]);
  expect(seenAt()).toBe("1970-01-01T07:00:00.000Z");
});
