import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { createFakeClock, type FakeClock } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { startGateway } from "../../testing/gateway-for-test.ts";
import type { TestGateway } from "../../testing/gateway.ts";
import { openedWebSocket } from "../../testing/upgrade.ts";

const open = new Set<Socket>();
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
});

/** Connections that say `text` and then wait. */
async function hold(server: TestGateway, from: string, count: number, text = ""): Promise<readonly Socket[]> {
  return Promise.all(Array.from({ length: count }, async () => {
    const socket = connect({ port: server.listener.port, host: "127.0.0.1", localAddress: from });
    open.add(socket.on("error", () => {}).on("close", () => open.delete(socket)).resume());
    await once(socket, "connect");
    if (text !== "") socket.write(text);
    return socket;
  }));
}

/** One request over a connection of its own, or over an agent's. */
function ask(server: TestGateway, from: string, options: {
  readonly path?: string; readonly token?: string; readonly agent?: Agent; readonly method?: string; readonly body?: unknown;
} = {}) {
  return new Promise<{ readonly status: number; readonly headers: Record<string, unknown> }>((resolve, reject) => {
    request({
      host: "127.0.0.1", port: server.listener.port, localAddress: from, path: options.path ?? "/health", agent: options.agent ?? false,
      method: options.method ?? "GET",
      headers: {
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
      },
    }, (response) => {
      response.resume().on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
    }).on("error", reject).end(options.body === undefined ? undefined : JSON.stringify(options.body));
  });
}

/** Hundreds of connections on a busy machine. */
const PATIENCE = { timeout: 300_000 };
const LIMITS = { total: 200, perAddress: 120, strangersPerAddress: 50 };
const HEAD = "POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n";

describe("one address without credentials", () => {
  test.each([
    ["silent", ""], ["in the middle of their headers", "GET /health HTTP/1.1\r\nhost:"],
    ["in the middle of their bodies", `${HEAD}\r\n{`],
  ])("holds no more than its share with connections that are %s, and others are served and log in", async (_, text) => {
    const server = await startGateway({ connections: LIMITS });
    const tenant = await server.createTenant();
    await hold(server, "127.0.0.2", 400, text);
    await expect.poll(() => open.size, PATIENCE).toBe(LIMITS.strangersPerAddress);
    expect((await ask(server, "127.0.0.3")).status).toBe(200);
    const login = { path: "/api/v1/auth/login", method: "POST", body: { username: tenant.username, password: "password" } };
    expect((await ask(server, "127.0.0.3", login)).status).toBe(200);
    expect((await ask(server, "127.0.0.3", { path: "/api/v1/devices", token: tenant.token })).status).toBe(200);
    // Not even who shares the address is shut out, once the burst is over.
    const shared = () => ask(server, "127.0.0.2", { path: "/api/v1/devices", token: tenant.token }).catch(() => ({ status: 0 }));
    await expect.poll(async () => (await shared()).status, PATIENCE).toBe(200);
  });

  test("that connects faster than connections may be displaced is refused, and a second later it is not", async () => {
    const clock = createFakeClock(Date.now());
    const server = await startGateway({ connections: LIMITS, clock });
    await hold(server, "127.0.0.2", 400);
    await expect.poll(() => open.size, PATIENCE).toBe(LIMITS.strangersPerAddress);
    const kept = [...open];
    await expect(ask(server, "127.0.0.2")).rejects.toThrow();
    expect((await ask(server, "127.0.0.3")).status).toBe(200);
    expect(kept.filter((socket) => socket.destroyed)).toEqual([]);
    await clock.advance(1000);
    expect((await ask(server, "127.0.0.2")).status).toBe(200);
  });

  test("does not displace another's kept connection or stream, nor do many addresses", async () => {
    const server = await startGateway({ connections: LIMITS });
    const tenant = await server.createTenant();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const get = () => ask(server, "127.0.0.3", { path: "/api/v1/devices", token: tenant.token, agent });
    expect((await get()).status).toBe(200);
    const kept = Object.values(agent.freeSockets).flat()[0] as Socket;
    const stream = await openedWebSocket(`${server.url}/ws/events?token=${tenant.token}`, { localAddress: "127.0.0.4" });
    for (let index = 0; index < 6; index += 1) await hold(server, `127.0.0.${10 + index}`, 60);
    await expect.poll(() => open.size, PATIENCE).toBeLessThan(LIMITS.total);
    expect([(await get()).status, kept.destroyed]).toEqual([200, false]);
    await server.append(tenant, [{}]);
    await once(stream.socket, "message");
    expect((await ask(server, "127.0.0.5")).status).toBe(200);
    stream.socket.terminate();
    agent.destroy();
  });
});

describe("one address with a credential", () => {
  test("holds no more than its share either", async () => {
    const server = await startGateway({ connections: { ...LIMITS, perAddress: 30 } });
    const { token } = await server.createTenant();
    await hold(server, "127.0.0.2", 100, `GET /api/v1/devices HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
    await expect.poll(() => open.size, PATIENCE).toBe(30);
    expect((await ask(server, "127.0.0.3")).status).toBe(200);
  });
});

describe("a trusted proxy", () => {
  test("has a share of its own, and none of its connections is a stranger's", async () => {
    const server = await startGateway({ connections: { ...LIMITS, strangersPerAddress: 5, perProxy: 80 }, trustedProxies: ["127.0.0.2"] });
    await hold(server, "127.0.0.2", 60);
    expect((await ask(server, "127.0.0.2")).headers["keep-alive"]).toBeUndefined();
    expect(open.size).toBe(60);
    await hold(server, "127.0.0.2", 60);
    await expect.poll(() => open.size, PATIENCE).toBe(80);
    expect((await ask(server, "127.0.0.3")).status).toBe(200);
  });
});

describe("a stranger", () => {
  test("gives its connection back with 401 and 429, and gets its keep-alive time otherwise", async () => {
    const tier = { perMinute: 3, burst: 3 };
    const server = await startGateway({ clock: createFakeClock(Date.now()), tiers: { standard: tier, admin: tier, service: tier } });
    const { token } = await server.createTenant();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const answers = [];
    for (const path of ["/health", "/api/v1/devices", "/health", "/health"]) answers.push(await ask(server, "127.0.0.2", { path, agent }));
    expect(answers.map(({ status, headers }) => [status, headers["connection"], headers["keep-alive"]])).toEqual([
      [200, "keep-alive", "timeout=5"], [401, "close", undefined], [200, "keep-alive", "timeout=5"], [429, "close", undefined],
    ]);
    const known = await ask(server, "127.0.0.2", { path: "/api/v1/devices", token, agent });
    expect([known.status, known.headers["keep-alive"]]).toEqual([200, "timeout=65"]);
    agent.destroy();
  });

  const late = async (text: string, clock: FakeClock, server: TestGateway) => {
    const [socket] = await hold(server, "127.0.0.2", 1, text);
    const answered = once(socket as Socket, "data").then(([chunk]) => String(chunk), () => "");
    const closed = once(socket as Socket, "close").then(() => "");
    // The clock must not move before the collector has read what was sent.
    await ask(server, "127.0.0.3");
    await clock.advance(10_000);
    const answer = await Promise.race([answered, closed]);
    await closed;
    return answer;
  };

  test.each([["", ""], ["GET /health HTTP/1.1\r\n", ""], [`${HEAD}\r\n{`, "HTTP/1.1 408 "]])(
    "that has sent %j and no more after ten seconds is cut off, with %j", async (text, answer) => {
      const clock = createFakeClock(Date.now());
      const server = await startGateway({ clock });
      const received = await late(text, clock, server);
      expect(received.slice(0, 13)).toBe(answer);
      if (answer !== "") expect(received).toMatch(/x-ratelimit-remaining: \d/);
    },
  );

  test("with a valid credential may take its time over the body", async () => {
    const clock = createFakeClock(Date.now());
    const server = await startGateway({ clock });
    const { token } = await server.createTenant("admin");
    const body = JSON.stringify({ name: "k", scopes: ["devices:read"] });
    const [socket] = await hold(server, "127.0.0.2", 1, "POST /api/v1/auth/keys HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
      + `authorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
    await expect.poll(() => server.connections.count().known, PATIENCE).toBe(1);
    await clock.advance(15_000);
    const answered = once(socket as Socket, "data");
    socket?.write(body.slice(5));
    expect(String((await answered)[0])).toMatch(/^HTTP\/1.1 201 /);
  });
});
