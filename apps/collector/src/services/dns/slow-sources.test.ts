import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DnsList } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TestTenant } from "../../testing/gateway.ts";
import { type DnsGateway, startDnsGateway } from "./testing/dns-gateway.ts";

/** A byte now and then, for ever: never silent for long enough to be given up for that. */
const TRICKLE_MS = 20;

let it: DnsGateway;
let zones: Server;
let zonesAsked: number;
beforeEach(async () => {
  it = await startDnsGateway();
  it.source.serve("/trickle.txt", (_, response) => {
    const timer = setInterval(() => response.write("0.0.0.0 a.example\n"), TRICKLE_MS);
    response.on("close", () => clearInterval(timer));
  });
  it.source.serve("/list.txt", "a.example\nb.example\n");
  zonesAsked = 0;
  zones = createServer((socket) => {
    zonesAsked += 1;
    // The length of a message that never ends.
    socket.write(Buffer.of(0xff, 0xff));
    const timer = setInterval(() => socket.write(Buffer.of(0)), TRICKLE_MS);
    socket.on("close", () => clearInterval(timer)).on("error", () => {});
  });
  await new Promise<void>((resolve) => {
    zones.listen(0, "127.0.0.1", resolve);
  });
});
afterEach(async () => {
  await it.close();
  await new Promise((resolve) => void zones.close(resolve));
});

const create = async (of: TestTenant, wish: object) => {
  const { status, body } = await it.gateway.call("POST", "/api/v1/dns/lists", of.token, wish);
  expect(status).toBe(201);
  return (body as { readonly id: string }).id;
};
const read = async (of: TestTenant, id: string) => DnsList.parse((await it.gateway.get(`/api/v1/dns/lists/${id}`, of.token)).body);
const listUrl = (path: string) => `${it.source.url}/${path}.txt`;
const timesAsked = (path: string) => it.source.requests.filter((one) => one.path === path).length;
const zoneUrl = () => `axfr://127.0.0.1:${(zones.address() as AddressInfo).port}/rpz.example`;

describe("a server that trickles", () => {
  test.each([["a list", () => listUrl("trickle"), () => timesAsked("/trickle.txt")], ["a zone", zoneUrl, () => zonesAsked]] as const)("%s holds no other tenant's lists, and is given up after five minutes", async (_, url, asked) => {
    const slow = await create(it.tenant, { name: "slow", url: url() });
    const running = it.dns.updates.run();
    await expect.poll(asked).toBe(1);
    const [second, third] = [await it.gateway.createTenant("admin"), await it.gateway.createTenant("admin")];
    const quick = await create(second, { name: "quick", url: listUrl("list") });
    await expect.poll(async () => (await read(second, quick)).active?.rules).toBe(2);
    // One that becomes due by itself, without a request, is found at the next look.
    const later = await create(third, { name: "later", url: listUrl("list"), enabled: false });
    await it.gateway.db.updateTable("dns_lists").set({ is_enabled: 1 }).where("id", "=", later).execute();
    await it.clock.advance(15_000);
    await expect.poll(async () => (await read(third, later)).active?.rules).toBe(2);
    expect(await read(it.tenant, slow)).toMatchObject({ active: null, error: null, checked_at: null });
    await it.clock.advance(300_000);
    await running;
    expect(await read(it.tenant, slow)).toMatchObject({ active: null, error: expect.stringContaining("5 minutes") as string });
  });

  test("of one tenant is asked for one list at a time, and of many tenants for two at once", async () => {
    for (const name of ["one", "two"]) await create(it.tenant, { name, url: listUrl("trickle") });
    for (let left = 3; left > 0; left -= 1) await create(await it.gateway.createTenant("admin"), { name: "slow", url: listUrl("trickle") });
    const other = await it.gateway.createTenant("admin");
    mkdirSync(join(it.folder, "dns-lists"), { recursive: true });
    writeFileSync(join(it.folder, "dns-lists", "own.txt"), "a.example\n");
    const own = await create(other, { name: "own", file: "own.txt" });
    await expect.poll(async () => (await read(other, own)).active?.rules).toBe(1);
    expect(timesAsked("/trickle.txt")).toBe(2);
    await it.clock.advance(300_000);
    await expect.poll(() => timesAsked("/trickle.txt")).toBe(4);
  });

  test("ends with the collector", async () => {
    await create(it.tenant, { name: "slow", url: listUrl("trickle") });
    await expect.poll(() => timesAsked("/trickle.txt")).toBe(1);
    await it.dns.updates.close();
  });
});

describe("the file of a zone", () => {
  const folder = () => join(it.folder, "dns-lists", ".zones");
  const leave = (...names: readonly string[]) => {
    mkdirSync(folder(), { recursive: true });
    for (const name of names) writeFileSync(join(folder(), name), "; serial 1\n");
  };

  test("goes with its list", async () => {
    const [gone, stays] = [await create(it.tenant, { name: "gone", url: zoneUrl(), enabled: false }), await create(it.tenant, { name: "stays", url: zoneUrl(), enabled: false })];
    leave(gone, `${gone}.new`, stays);
    expect((await it.gateway.call("DELETE", `/api/v1/dns/lists/${gone}`, it.tenant.token)).status).toBe(204);
    expect(readdirSync(folder())).toEqual([stays]);
  });

  test("goes at the start of a collector where its list is gone", async () => {
    const retention = it.dns.retention?.find(({ name }) => name === "dns-zones-retention");
    expect(retention).toMatchObject({ atStart: true, who: "each replica" });
    expect(await retention?.run()).toBe(0);
    expect(existsSync(folder())).toBe(false);
    const stays = await create(it.tenant, { name: "stays", url: zoneUrl(), enabled: false });
    const gone = createId();
    leave(stays, gone, `${gone}.new`);
    expect(await retention?.run()).toBe(2);
    expect(readdirSync(folder())).toEqual([stays]);
  });
});
