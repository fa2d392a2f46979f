import type { ProbeEvent } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { addressKey } from "../db/keys/address-key.ts";
import { describe, expect, test } from "vitest";
import { hostState } from "./testing/bench.ts";
import { at, bench, devices, found, type Host, logged, macs, makeForEachTest, offline, online, probe, send } from "./testing/keyed-hosts.ts";

makeForEachTest();

const DECOY = "192.0.2.40";
/** What is older calls no webhook, whoever it is about. */
const NOW = 3600;
const machine: Host = { ip: "192.0.2.4", mac: "00:1b:21:00:00:04" };
const port = (ip: string): ProbeEvent => ({
  type: "port_found", occurred_at: at(NOW + 5), data: { ip, mac: "", port: 22, protocol: "tcp", state: "open", service: "ssh", version: "8.4", banner: "SSH-2.0-OpenSSH_8.4", scan_id: null },
});
const keepDecoy = (ip = DECOY) => bench.database.db.insertInto("honeypot_addresses")
  .values({ probe_id: probe.probeId, ip, ip_key: addressKey(ip), tenant_id: bench.tenantId, site_id: bench.siteId, decoy: "files2", settled_before: at(0), reported_at: toInstant(bench.clock.now()) }).execute();
const addresses = async () => (await bench.database.db.selectFrom("addresses").select("ip").where("current", "=", 1).orderBy("ip").execute()).map(({ ip }) => ip);

describe("a decoy", () => {
  test("is no device, and has no ports and no software in the inventory; what was found is in the log, and calls no webhook", async () => {
    await keepDecoy();
    const decoy = { ip: DECOY, mac: "" };
    await bench.database.db.insertInto("webhooks").values({
      id: createId(), tenant_id: bench.tenantId, url: "", events: JSON.stringify(["device.discovered"]), active: 1, status: "healthy", failing_since: null, secret_sealed: "", secret_hint: "",
      previous_secret_sealed: null, previous_secret_until: null, created_at: toInstant(0), last_delivery_at: null, worker_id: null,
    }).execute();
    await bench.database.db.updateTable("tenants").set({ webhooks_revision: 1 }).execute();
    const software: ProbeEvent = { type: "host_software", occurred_at: at(NOW + 6), data: { ip: DECOY, mac: "", software: [{ vendor: "", product: "Linux", version: "5.10", edition: "", distribution: "", package_version: "", cpe: "", confidence: 0.9, source: "snmp" }] } };
    await send(found(decoy, NOW), port(DECOY), software, offline(decoy, NOW + 100, NOW), online(decoy, NOW + 200));
    expect(await devices()).toEqual([]);
    expect(await bench.database.db.selectFrom("ports").selectAll().execute()).toEqual([]);
    expect((await logged()).map(({ type, device_id: id }) => [type, id])).toEqual([["host_found", null], ["port_found", null], ["host_software", null], ["host_offline", null], ["host_online", null]]);
    expect(await bench.database.db.selectFrom("webhook_deliveries").selectAll().execute()).toEqual([]);
    await send(found({ ip: "192.0.2.41", mac: "" }, NOW), port("192.0.2.41"));
    expect((await devices()).map(({ ip, open_ports: open }) => [ip, open])).toEqual([["192.0.2.41", "[22]"]]);
    expect(await bench.database.db.selectFrom("webhook_deliveries").selectAll().execute()).toHaveLength(1);
  });

  test("is no address of the machine whose interface it shares", async () => {
    await keepDecoy();
    const state = { ...hostState({ ...machine, ip: DECOY }, at(0)), addresses: [DECOY, machine.ip] };
    await send({ type: "host_found", occurred_at: at(0), data: state });
    expect([await macs(), (await devices()).map(({ ip }) => ip), await addresses()]).toEqual([[[machine.mac]], [machine.ip], [machine.ip]]);
    await send({ type: "host_changed", occurred_at: at(10), data: { ...state, ip: machine.ip, addresses: [machine.ip, DECOY, "192.0.2.5"], changed: ["addresses"] } });
    expect(await addresses()).toEqual([machine.ip, "192.0.2.5"]);
    await send({ type: "presence_report", occurred_at: at(60), data: { hosts: [{ ip: DECOY, mac: "", last_seen_at: at(60), presence_state: "online" }] } });
    expect(await devices()).toHaveLength(1);
  });

  test("is one for all probes of its site, and for no other site; that of a revoked probe is none", async () => {
    await keepDecoy();
    const beside = await bench.addProbe();
    const other = createId();
    await bench.database.db.insertInto("sites").values({ id: other, tenant_id: bench.tenantId, name: "other", created_at: toInstant(0), probe_configuration: "{}" }).execute();
    const far = await bench.addProbe(other);
    await bench.sendBatch(beside, createId(), 0, [found({ ip: DECOY, mac: "" })]);
    expect(await devices()).toEqual([]);
    await bench.sendBatch(far, createId(), 0, [found({ ip: DECOY, mac: "" })]);
    expect((await devices()).map(({ site_id: site }) => site)).toEqual([other]);
    await bench.database.db.updateTable("probes").set({ revoked_at: toInstant(0) }).where("id", "=", probe.probeId).execute();
    await bench.sendBatch(beside, createId(), 0, [found({ ip: DECOY, mac: "" }, 20)]);
    expect(await devices()).toHaveLength(2);
  });

  test("is none any more a day after it was reported", async () => {
    await keepDecoy();
    await bench.clock.advance(86_400_000);
    await send(found({ ip: DECOY, mac: "" }, NOW));
    expect(await devices()).toEqual([]);
    await bench.clock.advance(1);
    await send(found({ ip: DECOY, mac: "" }, NOW));
    expect((await devices()).map(({ ip }) => ip)).toEqual([DECOY]);
  });

  test("hides no device that had the address before from other probes, until that has let go of it; one that was found while it was set up it does", async () => {
    const beside = await bench.addProbe();
    const sendBeside = (...events: readonly ProbeEvent[]) => bench.sendBatch(beside, createId(), 0, events);
    const known: Host = { ip: DECOY, mac: "00:1b:21:00:00:40" };
    const numbered = (number: number): ProbeEvent => ({ ...port(DECOY), data: { ...port(DECOY).data, port: number } } as ProbeEvent);
    const open = async () => (await devices()).map(({ ip, open_ports: ports }) => [ip, ports]);
    await sendBeside(found(known, -10), found({ ip: "192.0.2.41", mac: "" }, 10));
    await keepDecoy();
    await keepDecoy("192.0.2.41");
    await sendBeside(port(DECOY), port("192.0.2.41"));
    expect(await open()).toEqual([[DECOY, "[22]"], ["192.0.2.41", "[]"]]);
    await send(numbered(23));
    expect(await open()).toEqual([[DECOY, "[22]"], ["192.0.2.41", "[]"]]);
    await bench.database.db.updateTable("addresses").set({ current: 0 }).where("ip", "=", DECOY).execute();
    await sendBeside(numbered(24));
    expect((await open())[0]).toEqual([DECOY, "[22]"]);
  });
});
