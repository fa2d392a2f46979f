import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { createBinding, createHost, describeHost } from "./host.ts";
import { createHostsStore } from "./hosts-store.ts";

function sampleHost() {
  const host = createHost({ key: 0x00_11_22_33_44_55, vendor: "Acme", foundAt: 1_760_000_000_000, silentFrom: 0 });
  for (const address of ["192.168.1.20", "192.168.1.3", "fe80::1", "2001:db8::1"]) {
    const binding = createBinding(address, "arp", 0, 1_760_000_000_500);
    if (binding) host.bindings.push(binding);
  }
  host.names = { dhcp: { fullName: "laptop", seenAt: 1_760_000_000_000 } };
  host.presence = "offline";
  host.watch.asked = 10.5;
  host.watch.answered = 7;
  return host;
}

test("a host comes back from the database as it was saved, already published, and silent from the start only", () => {
  const db = new Database(":memory:");
  const host = sampleHost();
  createHostsStore(db).save(host);
  const [loaded] = createHostsStore(db).load(5000);
  if (!loaded) throw new Error("nothing was loaded");
  expect(describeHost(loaded)).toEqual(describeHost(host));
  expect(describeHost(loaded)).toMatchObject({ ip: "192.168.1.3", addresses: ["192.168.1.3", "192.168.1.20", "2001:db8::1", "fe80::1"] });
  expect(loaded).toMatchObject({ mac: "00:11:22:33:44:55", presence: "offline", published: { hostname: "laptop" } });
  expect(loaded.watch).toMatchObject({ asked: 10.5, answered: 7, silentFrom: 5000, seenAt: Number.NEGATIVE_INFINITY });
});

test("rows that cannot be read are left out, and what else is in the database is loaded", () => {
  const db = new Database(":memory:");
  const store = createHostsStore(db);
  store.save(sampleHost());
  db.exec("UPDATE hosts SET names = '{not json'");
  db.exec("INSERT INTO hosts VALUES ('no mac', 'online', '', '{}', 0, 0, 0, 0), ('00:00:00:00:00:09', 'online', '', '{}', 0, 0, 0, 0)");
  db.exec("INSERT INTO host_addresses VALUES ('00:00:00:00:00:09', 'no address', 'arp', 0)");
  const hosts = store.load(0);
  expect(hosts.map(({ mac, names }) => [mac, names])).toEqual([["00:11:22:33:44:55", {}]]);
});

test("a removed host takes its addresses with it", () => {
  const db = new Database(":memory:");
  const store = createHostsStore(db);
  store.save(sampleHost());
  store.remove("00:11:22:33:44:55");
  expect(store.load(0)).toEqual([]);
  expect(db.prepare("SELECT count(*) AS rows FROM host_addresses").get()).toEqual({ rows: 0 });
});
