import { parseIp } from "@lanthorn/packets";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { createRoutedHost } from "./routed-host.ts";
import { createRoutedHostsStore } from "./routed-hosts-store.ts";

function sampleHost() {
  const host = createRoutedHost({ bytes: parseIp("10.9.0.7") as Uint8Array, foundAt: 1_760_000_000_000, silentFrom: 0 });
  host.names = { "reverse-dns": { fullName: "till-3.lan", seenAt: 1_760_000_000_000 } };
  host.presence = "offline";
  return host;
}

test("a host behind a router comes back from the database as it was saved, already published with its name", () => {
  const db = new Database(":memory:");
  createRoutedHostsStore(db).save(sampleHost());
  expect(createRoutedHostsStore(db).load(5000)).toMatchObject([{
    address: "10.9.0.7", presence: "offline", names: sampleHost().names, published: { presence: "offline", hostname: "till-3" },
    watch: { silentFrom: 5000 },
  }]);
});

test("a table of an earlier version, which knew no names, is taken over with its hosts", () => {
  const db = new Database(":memory:");
  createRoutedHostsStore(db).save(sampleHost());
  db.exec("ALTER TABLE routed_hosts DROP COLUMN names");
  const store = createRoutedHostsStore(db);
  expect(store.load(0)).toMatchObject([{ address: "10.9.0.7", names: {}, published: { hostname: "" } }]);
  store.save(sampleHost());
  expect(store.load(0)).toMatchObject([{ published: { hostname: "till-3" } }]);
});

test("rows that cannot be read are left out, and names that are none", () => {
  const db = new Database(":memory:");
  const store = createRoutedHostsStore(db);
  store.save(sampleHost());
  db.exec("UPDATE routed_hosts SET names = '{not json'");
  db.exec("INSERT INTO routed_hosts SELECT 'no address', presence, 0, 0, 0, 0, names FROM routed_hosts");
  expect(store.load(0)).toMatchObject([{ address: "10.9.0.7", names: {} }]);
});
