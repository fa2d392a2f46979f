import { createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import {
  at, bench, devices, DUID, found, type Host, learned, macs, makeForEachTest, merges, recomparison, send, wired, wireless,
} from "./testing/keyed-hosts.ts";

makeForEachTest();

describe("an interface that goes to another machine", () => {
  const dock: Host = { ip: "192.0.2.90", mac: "64:4b:f0:00:00:01" };
  const OTHER = "000100012affffff0022";
  const laptop = (host: Host, duid: string, hostname: string): Host => ({ ...host, hostname, keys: { dhcp_duid: duid } });
  const [own, theirs]: readonly [Host, Host] = [
    { ip: "192.0.2.10", mac: "f0:18:98:00:00:01" }, { ip: "192.0.2.11", mac: "f0:18:98:00:00:02" },
  ];

  test("is identified by the key of the device that has it: a dock is each laptop's in turn, and neither becomes the other", async () => {
    await send(found(laptop(own, DUID, "one")), found(laptop(dock, DUID, "one"), 1), found(laptop(theirs, OTHER, "two"), 2));
    expect(await macs()).toEqual([[dock.mac, own.mac], [theirs.mac]]);
    for (const [duid, hostname, expected] of [
      [OTHER, "two", [[own.mac], [dock.mac, theirs.mac]]], [DUID, "one", [[dock.mac, own.mac], [theirs.mac]]],
    ] as const) {
      await send(learned(laptop(dock, duid, hostname), 10));
      expect(await macs()).toEqual(expected);
      expect((await devices()).map(({ hostname: shown }) => shown)).toEqual(["one", "two"]);
    }
    const changes = await bench.database.db.selectFrom("device_changes").select(["before", "source"]).where("field", "=", "interfaces")
      .execute();
    expect(changes).toEqual([{ before: dock.mac, source: "dhcp" }, { before: dock.mac, source: "dhcp" }]);
  });

  test("leaves a device that had no other, to be found again by its key", async () => {
    await send(found(laptop(dock, DUID, "one")), found(laptop(theirs, OTHER, "two"), 1));
    const [first] = await devices();
    await send(learned(laptop(dock, OTHER, "two"), 10));
    expect(await macs()).toEqual([[], [dock.mac, theirs.mac]]);
    expect((await devices())[0]).toMatchObject({ id: first?.id, hostname: "one", mac: "", presence_state: "offline", is_online: 0 });
    await send(found(laptop(own, DUID, "one"), 20));
    expect(await macs()).toEqual([[own.mac], [dock.mac, theirs.mac]]);
    expect((await devices())[0]).toMatchObject({ id: first?.id, mac: own.mac, presence_state: "online" });
  });

  test("is not identified by a machine that was reinstalled, whose old key is forgotten", async () => {
    await send(found(laptop(own, DUID, "one")));
    await send(learned(laptop(own, OTHER, "one"), 10));
    expect(await macs()).toEqual([[own.mac]]);
    expect(await bench.database.db.selectFrom("device_keys").select("key").execute()).toEqual([{ key: `dhcp_duid ${OTHER}` }]);
  });

  test("is found with two others of its machine in one batch, where a device has the key already", async () => {
    await send(found(laptop(dock, DUID, "one")));
    await send(found(laptop(own, DUID, "one"), 10), found(laptop({ ip: "192.0.2.12", mac: "f0:18:98:00:00:03" }, DUID, "one"), 10));
    expect((await macs()).map((list) => list.length)).toEqual([3]);
  });
});

describe("the nightly comparison", () => {
  test("joins by a key what a third device kept apart, once that is gone, and by a MAC that was announced; at three o'clock", async () => {
    const three = [1, 2, 3]
      .map((index): Host => ({ ip: `192.0.2.${index}`, mac: `00:1b:21:00:00:0${index}`, hostname: "pc",
        keys: { snmp_engine_id: `80001f88800${index}` } }));
    await send(...three.map((host) => found(host)));
    const rows = await devices();
    const own = { tenant_id: bench.tenantId, site_id: bench.siteId, source: "x", first_seen: at(0) };
    for (const { id } of rows) {
      await bench.database.db.insertInto("device_keys").values({ ...own, device_id: id, key: "dhcp_client_id 0102030405060708" }).execute();
    }
    await bench.database.db.deleteFrom("device_keys").where("key", "like", "snmp%").execute();
    expect(await recomparison.run()).toBe(0);
    await bench.database.db.deleteFrom("devices").where("id", "=", rows[2]?.id ?? "").execute();
    await bench.clock.advance(16 * 3_600_000);
    await recomparison.run();
    expect((await macs()).map((list) => list.length)).toEqual([2]);
    expect((await merges()).map(({ by_id, at: merged }) => [by_id, merged.slice(11, 16)])).toEqual([["identity", "03:00"]]);
    const phone2: Host = { ip: "192.0.2.50", mac: "da:00:00:00:00:01", hostname: "pc" };
    await send(found(phone2, 400));
    const phoneId = (await devices()).find(({ mac }) => mac === phone2.mac)?.id ?? "";
    await bench.database.db.insertInto("device_keys").values({ ...own, device_id: phoneId, key: `mac ${three[0]?.mac}` }).execute();
    expect(await recomparison.run()).toBe(1);
    expect((await macs()).map((list) => list.length)).toEqual([3]);
  });

  test("leaves apart what people took apart", async () => {
    await send(found({ ...wired, keys: {} }), found({ ...wireless, keys: {} }));
    const [one, two] = (await devices()).map(({ id }) => id) as [string, string];
    const own = { tenant_id: bench.tenantId, site_id: bench.siteId };
    for (const id of [one, two]) {
      await bench.database.db.insertInto("device_keys").values({
        ...own, device_id: id, key: `dhcp_duid ${DUID}`, source: "x", first_seen: at(0),
      }).execute();
    }
    await bench.database.db.insertInto("device_merges").values({
      ...own, id: createId(), kept_id: one, merged_id: two, at: at(0), by_type: "user", by_id: "x", by_name: "x", reasons: "[]",
      snapshot: null, undone_at: at(1),
    }).execute();
    expect(await recomparison.run()).toBe(0);
    expect((await devices()).length).toBe(2);
  });
});
