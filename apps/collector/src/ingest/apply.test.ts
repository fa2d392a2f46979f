import { createId, toInstant } from "@lanthorn/runtime";
import type { ProbeEvent } from "@lanthorn/contract";
import { hostnameKey } from "../db/keys/hostname-key.ts";
import { addressKey } from "../db/keys/address-key.ts";
import type { ProbeAddress } from "../broker/broker.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createIngestBench, type HostSketch, hostState, type IngestBench } from "./testing/bench.ts";

let bench: IngestBench;
let probe: ProbeAddress;
let queueId = "";
let after = 0;
beforeEach(async () => {
  bench = await createIngestBench();
  probe = await bench.addProbe();
  queueId = createId();
  after = 0;
});
afterEach(() => bench.close());

const T0 = Date.UTC(2026, 10, 20, 11);
const at = (seconds: number) => toInstant(T0 + seconds * 1000);
const send = async (...events: ProbeEvent[]) => {
  const ack = await bench.sendBatch(probe, queueId, after, events);
  after += events.length;
  expect(ack).toMatchObject({ watermark: after, refused: null });
};
const found = (host: HostSketch, seconds = 0): ProbeEvent => ({
  type: "host_found", occurred_at: at(seconds), data: hostState(host, at(seconds)),
});
type Changed = ("ip" | "addresses" | "hostname" | "vendor")[];
const changed = (host: HostSketch, fields: Changed, seconds: number): ProbeEvent =>
  ({ type: "host_changed", occurred_at: at(seconds), data: { ...hostState(host, at(seconds)), changed: fields } });
const devices = () => bench.database.db.selectFrom("devices").selectAll().orderBy("ip_key").execute();
const logged = async () => (await bench.database.db.selectFrom("events").select(["type", "device_id", "probe_seq", "data"]).orderBy("seq")
  .execute());
const A = { ip: "192.0.2.10", mac: "02:00:00:00:00:01", hostname: "alpha", vendor: "Example" };

describe("a host that is found", () => {
  test("becomes a device, online, with its interface, addresses and evidence, and one log row names it", async () => {
    await send(found({ ...A, addresses: ["192.0.2.10", "2001:db8::10"] }));
    const [device] = await devices();
    expect(device).toMatchObject({
      ip: A.ip, mac: A.mac, hostname: "alpha", vendor: "Example", ip_key: "4c000020a", is_online: 1, presence_state: "online",
      site_id: bench.siteId,
      tenant_id: bench.tenantId, first_seen: at(0), last_seen: at(0), device_type: "unknown", open_ports: "[]", tags: "[]",
      locked_fields: "[]",
    });
    expect(
      await bench.database.db.selectFrom("interfaces").select(["mac", "vendor", "device_id"]).execute(),
    ).toEqual([{ mac: A.mac, vendor: "Example", device_id: device?.id }]);
    expect(
      await bench.database.db.selectFrom("addresses").select(["ip", "current"]).orderBy("ip").execute(),
    ).toEqual([{ ip: "192.0.2.10", current: 1 }, { ip: "2001:db8::10", current: 1 }]);
    expect(
      (await bench.database.db.selectFrom("evidence").selectAll().execute()).map((row) => row.source).toSorted(),
    ).toEqual(["arp", "dhcp"]);
    expect(await logged()).toMatchObject([{ type: "host_found", device_id: device?.id, probe_seq: 1 }]);
    expect(await bench.database.db.selectFrom("device_changes").selectAll().execute()).toEqual([]);
  });

  test("and that a person made before is seen from then on, and announced now where no event reported it", async () => {
    const own = { tenant_id: bench.tenantId, site_id: bench.siteId, hostname: "", hostname_key: "", vendor: "", os_guess: "", device_type: "unknown",
      is_online: 0, presence_state: "unknown", first_seen: "", last_seen: "", open_ports: "[]", tags: "[]", locked_fields: "[]" };
    const [whole, unplaced] = [createId(), createId()];
    const B = { ip: "192.0.2.11", mac: "02:00:00:00:00:02" };
    await bench.database.db.insertInto("devices").values([
      { ...own, id: whole, ip: A.ip, ip_key: addressKey(A.ip), mac: A.mac }, { ...own, id: unplaced, ip: "", ip_key: "", mac: B.mac },
    ]).execute();
    const part = { tenant_id: bench.tenantId, site_id: bench.siteId };
    await bench.database.db.insertInto("interfaces").values([
      { ...part, device_id: whole, mac: A.mac, vendor: "", first_seen: at(0) },
      { ...part, device_id: unplaced, mac: B.mac, vendor: "", first_seen: at(0) },
    ]).execute();
    await bench.database.db.insertInto("addresses")
      .values({ ...part, device_id: whole, mac: A.mac, ip: A.ip, ip_key: addressKey(A.ip), first_seen: "", last_seen: "", current: 1 })
      .execute();
    await send(found(A, 5), found(B, 6));
    expect((await devices()).map(({ id, ip, first_seen: first, last_seen: last }) => [id, ip, first, last]))
      .toEqual([[whole, A.ip, at(5), at(5)], [unplaced, B.ip, at(6), at(6)]]);
    expect((await logged()).map(({ type, device_id: id }) => [type, id])).toEqual([["host_changed", whole], ["host_found", unplaced]]);
    expect(await bench.database.db.selectFrom("addresses").select(["ip", "first_seen", "last_seen"]).orderBy("ip_key").execute())
      .toEqual([{ ip: A.ip, first_seen: at(5), last_seen: at(5) }, { ip: B.ip, first_seen: at(6), last_seen: at(6) }]);
  });

  test("again, or by a second probe, is not announced as new", async () => {
    await send(found(A), found(A, 5), found({ ...A, hostname: "beta" }, 6));
    const second = await bench.addProbe();
    await bench.sendBatch(second, createId(), 0, [found({ ...A, hostname: "beta" }, 7)]);
    expect((await devices()).length).toBe(1);
    expect((await logged()).map((row) => row.type)).toEqual(["host_found", "host_online", "host_changed", "host_online"]);
  });

  test("at another site is another device", async () => {
    const siteId = createId();
    await bench.database.db.insertInto("sites").values({
      id: siteId, tenant_id: bench.tenantId, name: "two", created_at: at(0), probe_configuration: "{}",
    }).execute();
    const other = await bench.addProbe(siteId);
    await send(found(A));
    await bench.sendBatch(other, createId(), 0, [found(A)]);
    expect((await devices()).map((device) => device.site_id).toSorted()).toEqual([bench.siteId, siteId].toSorted());
  });

  test("without a MAC is known by its address", async () => {
    const routed = { ip: "198.51.100.7", mac: "", hostname: "far" };
    await send(found(routed), changed({ ...routed, hostname: "farther" }, ["hostname"], 3));
    await send({ type: "host_offline", occurred_at: at(300), data: { ip: routed.ip, mac: "", last_seen_at: at(3), missed_checks: 3 } });
    expect(await devices()).toMatchObject([{ ip: routed.ip, mac: "", hostname: "farther", presence_state: "offline" }]);
    expect(await bench.database.db.selectFrom("interfaces").selectAll().execute()).toEqual([]);
  });
});

describe("a host that changes", () => {
  test("keeps its history with what said so, and its old address as no longer current", async () => {
    await send(found(A), changed({ ...A, ip: "192.0.2.11", hostname: "Beta 7" }, ["ip", "addresses", "hostname"], 60));
    const [device] = await devices();
    expect(device).toMatchObject({ ip: "192.0.2.11", ip_key: "4c000020b", hostname: "Beta 7", hostname_key: hostnameKey("Beta 7"), last_seen: at(60), first_seen: at(0) });
    expect(
      await bench.database.db.selectFrom("device_changes").select(["field", "before", "after", "source", "at"]).orderBy("id").execute(),
    ).toEqual([
      { field: "ip", before: "192.0.2.10", after: "192.0.2.11", source: "arp", at: at(60) },
      { field: "hostname", before: "alpha", after: "Beta 7", source: "dhcp", at: at(60) },
    ]);
    expect(await bench.database.db.selectFrom("addresses").select(["ip", "current", "last_seen"]).orderBy("ip").execute())
      .toEqual([{ ip: "192.0.2.10", current: 0, last_seen: at(0) }, { ip: "192.0.2.11", current: 1, last_seen: at(60) }]);
  });

  test("does so over several batches as in one", async () => {
    await send(found(A));
    await send(changed({ ...A, hostname: "beta" }, ["hostname"], 1));
    await send(changed({ ...A, ip: "192.0.2.12", hostname: "beta", addresses: ["192.0.2.12", "192.0.2.10"] }, ["ip", "addresses"], 2));
    expect(await devices()).toMatchObject([{ hostname: "beta", ip: "192.0.2.12" }]);
    expect(
      await bench.database.db.selectFrom("addresses").select("ip").where("current", "=", 1).orderBy("ip").execute(),
    ).toEqual([{ ip: "192.0.2.10" }, { ip: "192.0.2.12" }]);
  });

  test("never overwrites what a person set, nor what is known with what is not", async () => {
    await send(found(A));
    await bench.database.db.updateTable("devices").set({ hostname: "mine", locked_fields: JSON.stringify(["hostname"]) }).execute();
    await send(changed({ ...A, hostname: "theirs", vendor: "" }, ["hostname", "vendor"], 1));
    expect(await devices()).toMatchObject([{ hostname: "mine", vendor: "Example" }]);
    expect(await bench.database.db.selectFrom("device_changes").selectAll().execute()).toEqual([]);
  });

  test("and is not here (its discovery was lost in a gap) is found now", async () => {
    await send(changed(A, ["hostname"], 1));
    expect((await devices()).length).toBe(1);
    expect(await logged()).toMatchObject([{ type: "host_found" }]);
  });

  test("in its name only is not thereby online", async () => {
    await send(
      found(A), { type: "host_offline", occurred_at: at(200), data: { ip: A.ip, mac: A.mac, last_seen_at: at(0), missed_checks: 3 } },
    );
    await send(changed({ ...A, hostname: "beta" }, ["hostname"], 300));
    expect(await devices()).toMatchObject([{ presence_state: "offline", is_online: 0, last_seen: at(0), hostname: "beta" }]);
  });
});

describe("presence", () => {
  test("goes off and on, and last_seen never goes back or beyond our own clock", async () => {
    await send(found(A));
    await send({ type: "host_offline", occurred_at: at(200), data: { ip: A.ip, mac: A.mac, last_seen_at: at(20), missed_checks: 4 } });
    expect(await devices()).toMatchObject([{ presence_state: "offline", is_online: 0, last_seen: at(20) }]);
    await send({ type: "host_online", occurred_at: at(300), data: { ip: A.ip, mac: A.mac, last_seen_at: at(10) } });
    expect(await devices()).toMatchObject([{ presence_state: "online", is_online: 1, last_seen: at(20) }]);
    await send({ type: "host_online", occurred_at: at(999_999), data: { ip: A.ip, mac: A.mac, last_seen_at: at(999_999) } });
    expect(await devices()).toMatchObject([{ last_seen: toInstant(bench.clock.now()) }]);
  });

  test("that is reported sets each host that is known here; an offline that another probe has outrun does nothing", async () => {
    const B = { ip: "192.0.2.20", mac: "02:00:00:00:00:02" };
    await send(found(A), found(B));
    await bench.database.db.updateTable("devices").set({ presence_state: "unknown" }).execute();
    await send({
      type: "presence_report", occurred_at: at(60),
      data: { hosts: [
        { ip: A.ip, mac: A.mac, last_seen_at: at(50), presence_state: "online" },
        { ...B, last_seen_at: at(0), presence_state: "offline" },
        { ip: "192.0.2.99", mac: "02:00:00:00:00:99", last_seen_at: at(50), presence_state: "online" },
      ] },
    });
    expect(await devices()).toMatchObject([
      { presence_state: "online", is_online: 1, last_seen: at(50) }, { presence_state: "offline", is_online: 0, last_seen: at(0) },
    ]);
    await send({ type: "host_offline", occurred_at: at(40), data: { ip: A.ip, mac: A.mac, last_seen_at: at(5), missed_checks: 3 } });
    expect((await devices())[0]).toMatchObject({ presence_state: "online" });
    expect(
      (await logged()).map((row) => [row.type, row.device_id === null]),
    ).toEqual([["host_found", false], ["host_found", false], ["presence_report", true], ["host_offline", false]]);
  });
});

describe("a port", () => {
  const port = (number: number, protocol: "tcp" | "udp", state: "open" | "closed", seconds: number): ProbeEvent => ({
    type: "port_found", occurred_at: at(seconds),
    data: { ip: A.ip, mac: A.mac, port: number, protocol, state, service: "s", version: "", banner: `b${seconds}`, scan_id: null },
  });

  test("is kept by number and protocol, and the device lists each open number once, in order", async () => {
    await send(found(A), port(443, "tcp", "open", 1), port(53, "tcp", "open", 2), port(53, "udp", "open", 3), port(53, "udp", "open", 4));
    expect(await devices()).toMatchObject([{ open_ports: "[53,443]" }]);
    await send(port(53, "udp", "closed", 5));
    expect(await devices()).toMatchObject([{ open_ports: "[53,443]" }]);
    await send(port(53, "tcp", "closed", 6), port(8080, "tcp", "closed", 6));
    expect(await devices()).toMatchObject([{ open_ports: "[443]" }]);
    expect(
      await bench.database.db.selectFrom("ports").select(["port", "protocol", "state", "banner"]).orderBy("port").orderBy("protocol")
        .execute(),
    ).toEqual([
      { port: 53, protocol: "tcp", state: "closed", banner: "b6" }, { port: 53, protocol: "udp", state: "closed", banner: "b5" },
      { port: 443, protocol: "tcp", state: "open", banner: "b1" }, { port: 8080, protocol: "tcp", state: "closed", banner: "b6" },
    ]);
  });
});

test("an alert names the device that it is about", async () => {
  await send(found(A), {
    type: "rogue_detected", occurred_at: at(9),
    data: { kind: "arp_spoofing", severity: "high", ip: A.ip, mac: A.mac, expected_macs: [], vlan_id: null, detail: "", packets: [] },
  }, { type: "error", occurred_at: at(9), data: { code: "x", message: "y" } });
  const [device] = await devices();
  expect((await logged()).map((row) => row.device_id)).toEqual([device?.id, device?.id, null]);
});
