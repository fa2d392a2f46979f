import { StreamFrame } from "@lanthorn/contract";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { TestGateway, TestTenant } from "../testing/gateway.ts";
import { startGateway } from "../testing/gateway-for-test.ts";

const sockets: WebSocket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
});

async function start(options: Parameters<typeof startGateway>[0] = {}) {
  const server = await startGateway(options);
  return { server, tenant: await server.createTenant("viewer") };
}

interface Watcher {
  readonly socket: WebSocket;
  readonly frames: StreamFrame[];
  /** Resolves when there are `count` frames. */
  has(count: number): Promise<readonly StreamFrame[]>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly opened: Promise<void>;
}

function watch({ url }: TestGateway, query: string): Watcher {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws/events?${query}`);
  sockets.push(socket);
  const frames: StreamFrame[] = [];
  const waiting = new Set<() => void>();
  socket.on("message", (data) => {
    frames.push(StreamFrame.parse(JSON.parse((data as Buffer).toString())));
    for (const look of waiting) look();
  });
  socket.on("error", () => {});
  return {
    socket,
    frames,
    has: (count) => new Promise((resolve) => {
      const look = () => {
        if (frames.length < count) return;
        waiting.delete(look);
        resolve(frames);
      };
      waiting.add(look);
      look();
    }),
    closed: new Promise((resolve) => {
      socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
    }),
    opened: new Promise((resolve) => {
      socket.on("open", resolve);
    }),
  };
}

/** Watches from the tenant's last event on, and is known to be live: the first event after it has come. */
async function watchLive(server: TestGateway, tenant: TestTenant, query = ""): Promise<Watcher> {
  const watcher = watch(server, `token=${tenant.token}&since=${await lastSeq(server, tenant)}${query}`);
  await watcher.opened;
  return watcher;
}

async function lastSeq({ reads }: TestGateway, { tenantId }: TestTenant): Promise<number> {
  return (await reads.selectFrom("tenants").select("last_event_seq").where("id", "=", tenantId).executeTakeFirstOrThrow()).last_event_seq;
}

const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ data: { code: String(from + index), message: "" } }));
const codes = (frames: readonly StreamFrame[]) => frames.map(({ data }) => Number(data["code"]));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("/ws/events", () => {
  test("sends committed events as the contract's frames, with where they came from", async () => {
    const { server, tenant } = await start();
    const watcher = await watchLive(server, tenant);
    const [probeId, deviceId] = [createId(), createId()];
    const data = { ip: "10.0.0.1", mac: "", hostname: "h", vendor: "", addresses: ["10.0.0.1"], evidence: [] };
    await server.append(tenant, [{ type: "host_found", probeId, deviceId, occurredAt: "2026-01-01T00:00:00.000Z", data }]);
    const [frame] = await watcher.has(1);
    expect(frame).toEqual({
      event: "host_found", timestamp: "2026-01-01T00:00:00.000Z", seq: 1, id: frame?.id,
      data: { ...data, site_id: tenant.siteId, probe_id: probeId, device_id: deviceId },
    });
  });

  test("sends only the types that reach the stream, under the stream's names", async () => {
    const { server, tenant } = await start();
    const watcher = await watchLive(server, tenant);
    await server.append(tenant, [
      { type: "host_offline" }, { type: "presence_report" }, { type: "queue_gap" }, { type: "probe_returned" }, { type: "probe_silent" },
      { type: "ids_alert" },
    ]);
    expect((await watcher.has(3)).map(({ event, seq }) => [event, seq])).toEqual([["error", 3], ["error", 5], ["ids_alert", 6]]);
  });

  test("filters by event and by site, and keeps tenants apart", async () => {
    const { server, tenant } = await start();
    const other = await server.createTenant();
    const siteId = createId();
    await server.db.insertInto("sites").values({
      id: siteId, tenant_id: tenant.tenantId, name: "another", probe_configuration: "{}", created_at: new Date().toISOString(),
    }).execute();
    const byEvent = await watchLive(server, tenant, "&events=host_found,ids_alert");
    const bySite = await watchLive(server, tenant, `&site_id=${siteId}`);
    const theirs = await watchLive(server, other);
    await server.append(tenant, [
      { type: "error" }, { type: "host_found" }, { type: "error", siteId }, { type: "error", siteId: null }, { type: "ids_alert" },
      { type: "ids_alert", siteId },
    ]);
    await server.append(other, [{ type: "error" }]);
    expect((await byEvent.has(3)).map(({ seq }) => seq)).toEqual([2, 5, 6]);
    expect((await bySite.has(2)).map(({ seq }) => seq)).toEqual([3, 6]);
    expect((await theirs.has(1)).map(({ seq }) => seq)).toEqual([1]);
    expect([byEvent.frames.length, bySite.frames.length, theirs.frames.length]).toEqual([3, 2, 1]);
  });

  test("without since begins with what comes after", async () => {
    const { server, tenant } = await start();
    await server.append(tenant, numbered(1, 3));
    const watcher = watch(server, `token=${tenant.token}`);
    await watcher.opened;
    await server.append(tenant, numbered(4, 1));
    expect(codes(await watcher.has(1))).toEqual([4]);
  });

  test("resumes from a sequence without gap or repeat while events keep coming, for many watchers that come and go", async () => {
    const { server, tenant } = await start();
    await server.append(tenant, numbered(1, 1500));
    const total = 4000;
    const writing = (async () => {
      for (let next = 1501; next <= total; next += 50) {
        await server.append(tenant, numbered(next, 50));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const follow = async (since: number) => {
      let last = since;
      const seen: number[] = [];
      while (last < total) {
        const watcher = watch(server, `token=${tenant.token}&since=${last}`);
        const frames = await watcher.has(Math.min(700, total - last));
        seen.push(...codes(frames));
        last = frames.at(-1)?.seq ?? last;
        watcher.socket.terminate();
      }
      return seen;
    };
    const followers = await Promise.all([follow(0), follow(0), follow(1000), follow(1500)]);
    await writing;
    expect(followers[0]).toEqual(upTo(total));
    expect(followers[1]).toEqual(upTo(total));
    expect(followers[2]).toEqual(upTo(total).slice(1000));
    expect(followers[3]).toEqual(upTo(total).slice(1500));
  });

  test("says first that the log does not reach back, then goes on with what there is", async () => {
    const { server, tenant } = await start();
    await server.append(tenant, numbered(1, 10));
    await server.db.deleteFrom("events").where("seq", "<=", 4).execute();
    const behind = watch(server, `token=${tenant.token}&since=2`);
    const frames = await behind.has(7);
    expect(frames[0]).toMatchObject({ event: "error", data: { code: "gap" }, seq: 4 });
    expect(codes(frames.slice(1))).toEqual([5, 6, 7, 8, 9, 10]);
    const justEnough = watch(server, `token=${tenant.token}&since=4&events=host_found`);
    const ahead = watch(server, `token=${tenant.token}&since=99&events=host_found`);
    expect((await ahead.has(1))[0]).toMatchObject({ event: "error", data: { code: "gap" }, seq: 10 });
    await server.append(tenant, [{ type: "host_found" }]);
    expect((await justEnough.has(1))[0]?.seq).toBe(11);
    expect((await ahead.has(2))[1]?.seq).toBe(11);
    await server.db.deleteFrom("events").execute();
    const emptied = watch(server, `token=${tenant.token}&since=3`);
    expect((await emptied.has(1))[0]).toMatchObject({ data: { code: "gap" }, seq: 11 });
  });

  test("pings, and cuts off who does not answer", async () => {
    const clock = createFakeClock(Date.now());
    const { server, tenant } = await start({ clock });
    const answering = await watchLive(server, tenant);
    const pinged = new Promise((resolve) => answering.socket.once("ping", resolve));
    const silent = new WebSocket(`${server.url.replace("http", "ws")}/ws/events?token=${tenant.token}`, { autoPong: false });
    sockets.push(silent);
    const cut = new Promise<number>((resolve) => silent.once("close", resolve));
    await new Promise((resolve) => silent.once("open", resolve));
    const silentPinged = new Promise((resolve) => silent.once("ping", resolve));
    await clock.advance(30_000);
    await Promise.all([pinged, silentPinged]);
    await clock.advance(30_000);
    expect(await cut).toBe(1006);
  });

  test("closes a consumer that is more than 1 MiB behind with 1013, and lets the others be", async () => {
    const { server, tenant } = await start();
    const fast = await watchLive(server, tenant);
    const slow = await watchLive(server, tenant);
    await server.append(tenant, numbered(1, 1));
    await Promise.all([fast.has(1), slow.has(1)]);
    slow.socket.pause();
    const message = "x".repeat(250_000);
    let next = 2;
    // The kernel's own buffers hold some megabytes before ours begins to fill: until then nothing is behind.
    for (; next < 82; next += 2) {
      await server.append(tenant, Array.from({ length: 2 }, (_, index) => ({ data: { code: String(next + index), message } })));
      await fast.has(next + 1);
    }
    slow.socket.resume();
    const { code } = await slow.closed;
    expect(code).toBe(1013);
    expect(codes(slow.frames)).toEqual(upTo(slow.frames.length));
    expect(codes(fast.frames)).toEqual(upTo(next - 1));
    const resumed = watch(server, `token=${tenant.token}&since=${slow.frames.at(-1)?.seq}`);
    expect(codes(await resumed.has(next - 1 - slow.frames.length)).at(-1)).toBe(next - 1);
  });
});
