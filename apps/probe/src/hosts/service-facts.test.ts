import { expect, test } from "vitest";
import { createBinding, createHost, describeHost } from "./host.ts";
import { createHostTable } from "./host-table.ts";
import { createFactsTaker } from "./service-facts.ts";

const verdict = (field: "device_type" | "product", value: string) => ({ field, value, source: "snmp-object", confidence: 0.9, sources: ["snmp-object"] });

test("what a service says of its host becomes the host's evidence, is told once, and does not grow", () => {
  const table = createHostTable(16);
  const host = createHost({ key: 1, vendor: "", wallAt: 0, silentFrom: 0 });
  const binding = createBinding("10.0.0.7", "arp", 0, 0);
  if (binding) host.bindings.push(binding);
  table.add(host);
  const told: unknown[] = [];
  const take = createFactsTaker({ table, telling: { tellChange: (one) => told.push(one) }, clock: { now: () => 0 } });

  take("10.0.0.7", { verdicts: { device_type: verdict("device_type", "printer"), product: verdict("product", "CUPS") }, keys: [{ field: "ssh_host_key", value: "ssh-ed25519 SHA256:abc", source: "ssh" }] });
  take("10.0.0.8", { verdicts: {}, keys: [{ field: "ssh_host_key", value: "x", source: "ssh" }] });
  take("10.0.0.7", { verdicts: {}, keys: [] });
  expect(told).toEqual([host]);
  expect(describeHost(host).evidence.slice(0, 2)).toEqual([
    { field: "ssh_host_key", value: "ssh-ed25519 SHA256:abc", source: "ssh", confidence: 0.95, seen_at: "1970-01-01T00:00:00.000Z" },
    { field: "device_type", value: "printer", source: "snmp-object", confidence: 0.9, seen_at: "1970-01-01T00:00:00.000Z" },
  ]);

  for (let index = 0; index < 100; index += 1) take("10.0.0.7", { verdicts: {}, keys: [{ field: "ssh_host_key", value: `key ${index}`, source: "ssh" }] });
  expect(host.facts.length).toBe(24);
});
