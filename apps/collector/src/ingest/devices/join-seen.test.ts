import { createId } from "@lanthorn/runtime";
import { beforeEach, describe, expect, test } from "vitest";
import {
  at, bench, devices, DUID, found, type Host, learned, logged, macs, makeForEachTest, merges, offline, online, probe, recomparison, send, wired, wireless,
} from "../testing/keyed-hosts.ts";

makeForEachTest();

describe("two interfaces with a strong key in common", () => {
  test("are one device, which is not announced a second time, and the reason is kept and audited", async () => {
    await send(found(wired));
    const [first] = await devices();
    await send(found(wireless, 60));
    expect(await macs()).toEqual([[wired.mac, wireless.mac]]);
    expect(await devices())
      .toMatchObject([{ id: first?.id, hostname: "laptop", ip: wired.ip, mac: wired.mac, mac_count: 2, presence_state: "online" }]);
    expect(await logged()).toEqual([{ type: "host_found", device_id: first?.id }, { type: "host_changed", device_id: first?.id }]);
    const [merge] = await merges();
    expect([merge?.kept_id, merge?.by_type, JSON.parse(merge?.reasons ?? "")])
      .toEqual([first?.id, "system", [{ key: `dhcp_duid ${DUID}`, source: "dhcp" }]]);
    expect(await bench.database.db.selectFrom("audit").select(["action", "actor_type", "target_id"]).execute())
      .toEqual([{ action: "device.merge", actor_type: "system", target_id: first?.id }]);
  });

  test("are one whether they come in one batch, in two, or the key is learned later", async () => {
    await send(found(wired), found(wireless));
    expect(await macs()).toEqual([[wired.mac, wireless.mac]]);
    const late: Host = { ip: "192.0.2.30", mac: "00:1b:21:00:00:03", hostname: "laptop" };
    await send(found(late, 5));
    expect((await devices()).length).toBe(2);
    await send(learned({ ...late, keys: { dhcp_duid: DUID } }, 9));
    expect(await macs()).toEqual([[wired.mac, wireless.mac, late.mac]]);
    await send(learned({ ...late, keys: { dhcp_duid: DUID } }, 10), found(wired, 11), found(wireless, 12));
    expect((await merges()).length).toBe(2);
  });

  test("are found again by either, and each keeps its own addresses", async () => {
    await send(found(wired), found(wireless, 1));
    await send(found({ ...wired, ip: "192.0.2.11" }, 2), found({ ...wireless, ip: "192.0.2.21" }, 3));
    expect(await bench.database.db.selectFrom("addresses").select(["mac", "ip", "current"]).orderBy("ip").execute()).toEqual([
      { mac: wired.mac, ip: "192.0.2.10", current: 0 }, { mac: wired.mac, ip: "192.0.2.11", current: 1 },
      { mac: wireless.mac, ip: "192.0.2.20", current: 0 }, { mac: wireless.mac, ip: "192.0.2.21", current: 1 },
    ]);
    expect(await devices()).toMatchObject([{ ip: "192.0.2.11", mac: wired.mac }]);
  });

  test("are two devices at two sites", async () => {
    const siteId = createId();
    await bench.database.db.insertInto("sites")
      .values({ id: siteId, tenant_id: bench.tenantId, name: "two", created_at: at(0), probe_configuration: "{}" }).execute();
    const other = await bench.addProbe(siteId);
    await send(found(wired));
    await bench.sendBatch(other, createId(), 0, [found(wireless)]);
    expect((await devices()).length).toBe(2);
  });
});

describe("a device of two interfaces", () => {
  beforeEach(() => send(found(wired), found(wireless, 1)));

  test("is online while one of them is, is listed by one that answers, and no event says that it went offline", async () => {
    await send(offline(wired, 300));
    expect(await devices()).toMatchObject([{ presence_state: "online", is_online: 1, ip: wireless.ip, mac: wireless.mac }]);
    await send(offline(wireless, 400));
    expect(await devices()).toMatchObject([{ presence_state: "offline", is_online: 0 }]);
    await send(online(wired, 500));
    expect(await devices()).toMatchObject([{ presence_state: "online", is_online: 1, ip: wired.ip, mac: wired.mac }]);
    expect((await logged()).map(({ type }) => type))
      .toEqual(["host_found", "host_changed", "presence_report", "host_offline", "host_online"]);
    expect(await bench.database.db.selectFrom("device_changes").select(["field", "before", "after", "source"]).orderBy("id").execute())
      .toEqual([
      { field: "ip", before: wired.ip, after: wireless.ip, source: "presence" },
      { field: "ip", before: wireless.ip, after: wired.ip, source: "presence" },
    ]);
  });

  test("is unknown with its probe, and known again by what is then seen of each", async () => {
    await bench.send(probe, "status", { v: 1, state: "online", version: "1", run_id: createId(), at: at(0) });
    await bench.send(probe, "status", { v: 1, state: "stopped", version: "1", run_id: createId(), at: at(1) });
    expect(await devices()).toMatchObject([{ presence_state: "unknown", is_online: 1 }]);
    await send({ type: "presence_report", occurred_at: at(600),
      data: { hosts: [{ ip: wired.ip, mac: wired.mac, last_seen_at: at(0), presence_state: "offline" }] } });
    expect(await devices()).toMatchObject([{ presence_state: "unknown", is_online: 1 }]);
    await send({ type: "presence_report", occurred_at: at(601),
      data: { hosts: [{ ip: wireless.ip, mac: wireless.mac, last_seen_at: at(0), presence_state: "offline" }] } });
    expect(await devices()).toMatchObject([{ presence_state: "offline", is_online: 0 }]);
  });

  test("keeps the address that a person set", async () => {
    await bench.database.db.updateTable("devices").set({ locked_fields: '["ip"]' }).execute();
    await send(offline(wired, 300), found({ ...wireless, ip: "192.0.2.99" }, 301));
    expect(await devices()).toMatchObject([{ ip: wired.ip }]);
  });
});

describe("a random MAC", () => {
  const phone = (day: number, keys: Host["keys"]): Host =>
    ({ ip: `192.0.2.${50 + day}`, mac: `da:a1:19:00:00:${String(day).padStart(2, "0")}`, hostname: "phone", ...(keys ? { keys } : {}) });

  test("joins by strong evidence: a phone that changes its MAC every day is one device, and its old MACs are forgotten", async () => {
    const client = { dhcp_client_id: "00706978656c2d372d61626364" };
    for (let day = 0; day < 30; day += 1) await send(found(phone(day, client), day * 86_400),
      offline(phone(day, client), day * 86_400 + 3600, day * 86_400));
    expect((await devices()).length).toBe(1);
    expect((await macs())[0]?.length).toBeLessThanOrEqual(9);
    expect((await logged()).filter(({ type }) => type === "host_found").length).toBe(1);
  });

  test("joins by nothing weaker: the same name, vendor and address are another device", async () => {
    await send(found(phone(1, {})), offline(phone(1, {}), 300), found({ ...phone(2, {}), ip: phone(1, {}).ip }, 400));
    expect((await devices()).length).toBe(2);
    expect(await merges()).toEqual([]);
  });

  test("joins the device whose own MAC it tells, whichever was seen first", async () => {
    const own: Host = { ip: "192.0.2.10", mac: "00:1b:21:00:00:01", hostname: "phone" };
    const random = { ...phone(1, {}), keys: { dhcp_client_id: "01001b21000001" } };
    await send(found(own), found(random, 5));
    expect(await macs()).toEqual([[own.mac, random.mac]]);
    const [other, otherRandom] = [{ ip: "192.0.2.11", mac: "00:1b:21:00:00:02", hostname: "phone" },
      { ...phone(2, {}), keys: { dhcp_client_id: "01001b21000002" } }];
    await send(found(otherRandom, 10));
    await send(found(other, 15));
    expect(await macs()).toEqual([[own.mac, random.mac], [other.mac, otherRandom.mac]]);
  });
});

describe("what is not joined", () => {
  test("virtual machines of one image that run at the same time; one that took another card is", async () => {
    const vm = (index: number): Host =>
      ({ ip: `192.0.2.${index}`, mac: `52:54:00:00:00:0${index}`, keys: { ssh_host_key: "ssh-ed25519 SHA256:the-image" } });
    await send(found(vm(1)), found(vm(2), 1));
    expect((await macs()).map((list) => list.length)).toEqual([1, 1]);
    await send(offline(vm(1), 300));
    await recomparison.run();
    expect((await macs()).map((list) => list.length)).toEqual([2]);
    expect(JSON.parse((await merges())[0]?.reasons ?? "")).toEqual([{ key: "ssh_host_key ssh-ed25519 SHA256:the-image", source: "dhcp" }]);
  });

  test("a key that many show at once", async () => {
    await send(...Array.from({ length: 6 }, (_, index) =>
      found({ ip: `192.0.2.${index + 1}`, mac: `00:1b:21:00:02:0${index}`, hostname: "same", keys: { dhcp_duid: DUID } })));
    expect((await devices()).length).toBe(6);
  });

  test("machines made from one image, which share a key and differ in another", async () => {
    const clone = (index: number): Host =>
      ({ ip: `192.0.2.${index}`, mac: `52:54:00:00:00:0${index}`,
        keys: { ssh_host_key: "ssh-ed25519 SHA256:the-image", snmp_engine_id: `80001f88800${index}` } });
    await send(found(clone(1)), found(clone(2)), found(clone(3)));
    expect((await devices()).length).toBe(3);
  });

  test("a key that two devices kept apart have joins no third", async () => {
    await send(found({ ...wired, keys: { ...wired.keys, snmp_engine_id: "80001f888001" } }),
      found({ ...wireless, keys: { ...wireless.keys, snmp_engine_id: "80001f888002" } }));
    await send(found({ ip: "192.0.2.30", mac: "00:1b:21:00:00:03", hostname: "laptop", keys: { dhcp_duid: DUID } }, 5));
    expect((await devices()).length).toBe(3);
  });

  test("more interfaces than a machine has", async () => {
    const hosts = Array.from({ length: 20 }, (_, index): Host =>
      ({ ip: `192.0.2.${index + 1}`, mac: `00:1b:21:00:01:${String(index).padStart(2, "0")}`,
        keys: { ssh_host_key: "ssh-ed25519 SHA256:one-of-many-cards" } }));
    for (const host of hosts) await send(found(host));
    expect((await macs()).map((list) => list.length)).toEqual([16, 1, 1, 1, 1]);
  });

  test("adapters of VPN clients, whose one MAC is everybody's: each address is a machine of its own", async () => {
    const mac = "00:05:9a:3c:7a:00";
    await send(found({ ip: "192.0.2.10", mac, hostname: "one", keys: { dhcp_duid: DUID } }),
      found({ ip: "192.0.2.11", mac, hostname: "two", keys: { dhcp_duid: DUID } }));
    expect((await devices()).map(({ ip, mac: shown, hostname }) => [ip, shown, hostname]))
      .toEqual([["192.0.2.10", "", "one"], ["192.0.2.11", "", "two"]]);
    await send(found({ ip: "192.0.2.10", mac, addresses: ["192.0.2.10", "192.0.2.12"] }, 5), offline({ ip: "192.0.2.11", mac }, 300));
    expect((await devices()).map(({ ip, presence_state }) => [ip, presence_state]))
      .toEqual([["192.0.2.10", "online"], ["192.0.2.11", "offline"], ["192.0.2.12", "online"]]);
    expect(await bench.database.db.selectFrom("interfaces").selectAll().execute()).toEqual([]);
  });

  test("what people took apart", async () => {
    await send(found(wired), found(wireless, 1));
    const device = await bench.database.db.selectFrom("devices").selectAll().executeTakeFirstOrThrow();
    const taken = createId();
    await bench.database.db.insertInto("devices").values({ ...device, id: taken, mac: wireless.mac, mac_count: 1 }).execute();
    await bench.database.db.updateTable("interfaces").set({ device_id: taken }).where("mac", "=", wireless.mac).execute();
    await bench.database.db.updateTable("device_merges").set({ undone_at: at(2), merged_id: taken }).execute();
    await send(found(wireless, 10), learned(wireless, 11));
    expect((await macs()).map((list) => list.length)).toEqual([1, 1]);
  });
});

describe("a device that was known by its address alone", () => {
  test("is the one whose MAC is then seen at that address, with all that people said of it", async () => {
    const id = createId();
    const row = { id, tenant_id: bench.tenantId, site_id: bench.siteId, ip: wired.ip, ip_key: "4c000020a", mac: "", hostname: "the nas",
      hostname_key: "the nas",
      vendor: "", os_guess: "", device_type: "server", is_online: 0,
      presence_state: "unknown", first_seen: at(-9), last_seen: at(-9), open_ports: "[]", tags: '["core"]',
      locked_fields: '["device_type","hostname","ip","tags"]' };
    await bench.database.db.insertInto("devices").values(row).execute();
    await bench.database.db.insertInto("addresses")
      .values({ device_id: id, tenant_id: bench.tenantId, site_id: bench.siteId, mac: "", ip: wired.ip, ip_key: "4c000020a",
        first_seen: at(-9), last_seen: at(-9), current: 1 }).execute();
    await send(found(wired));
    expect(await devices())
      .toMatchObject([{ id, hostname: "the nas", device_type: "server", tags: '["core"]', ip: wired.ip, mac: wired.mac,
        presence_state: "online", is_online: 1, mac_count: 1 }]);
    expect(await macs()).toEqual([[wired.mac]]);
    await send(offline(wired, 300));
    expect(await devices()).toMatchObject([{ presence_state: "offline" }]);
  });
});

test("hosts that each have their own keys are as many devices", async () => {
  const host = (index: number, keys: Host["keys"]): Host =>
    ({ ip: `10.0.1.${index}`, mac: `00:1b:21:00:03:${index.toString(16).padStart(2, "0")}`, ...(keys ? { keys } : {}) });
  await send(...Array.from({ length: 200 }, (_, index) =>
    found(host(index, index % 2 ? { dhcp_duid: `00010001aabb${index.toString(16).padStart(4, "0")}` } : {}))));
  expect((await bench.database.db.selectFrom("device_keys").selectAll().execute()).length).toBe(100);
  expect((await devices()).length).toBe(200);
});
