import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createFakeClock } from "@lanthorn/runtime";
import { decodeJwt } from "jose";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { startTestGateway, type TestGateway } from "../../testing/gateway.ts";
import { openedWebSocket, openWebSocket, refusedWebSocket } from "../../testing/upgrade.ts";

const SECRET = "what the gateway and the vault share";
const gateways: TestGateway[] = [];
const servers: Server[] = [];
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

describe("a WebSocket of a service behind the gateway", () => {
  async function startSockets(options: Parameters<typeof startTestGateway>[0] = {}) {
    const server = createServer((_, response) => {
      response.writeHead(404);
      response.end();
    });
    servers.push(server);
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const sockets = new WebSocketServer({ noServer: true });
    const upgrades: IncomingMessage[] = [];
    server.on("upgrade", (request, socket, head) => {
      upgrades.push(request);
      if (request.url?.startsWith("/api/v1/vault/none")) socket.end("HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n");
      else sockets.handleUpgrade(
        request, socket, head, (webSocket) => webSocket.on("message", (data, isBinary) => webSocket.send(data, { binary: isBinary })),
      );
    });
    sockets.on("headers", (lines) => lines.push("x-ratelimit-limit: 1", "x-own: 1"));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const gateway = await startTestGateway({ ...options, remotes: { vault: { url, secret: SECRET, timeout_seconds: 30 } } });
    gateways.push(gateway);
    const admin = await gateway.createTenant("admin");
    const open = async (path: string) => {
      const upgrade = await openWebSocket(`${gateway.url}${path}`);
      return "socket" in upgrade ? upgrade.socket : upgrade.status;
    };
    return { gateway, server, admin, open, upgrades, sockets };
  }

  test("is connected through, with the token kept here", async () => {
    const { open, admin, upgrades } = await startSockets();
    const webSocket = await open(`/api/vault/live?since=3&token=${admin.token}`) as WebSocket;
    const echoed = new Promise<string>((resolve) => void webSocket.on("message", (data: Buffer) => resolve(data.toString())));
    webSocket.send("hello");
    expect(await echoed).toBe("hello");
    expect(upgrades[0]?.url).toBe("/api/v1/vault/live?since=3");
    expect(decodeJwt(String(upgrades[0]?.headers["x-lanthorn-identity"]))["sub"]).toBe(admin.userId);
    const closed = new Promise((resolve) => void webSocket.on("close", resolve));
    webSocket.close(4000);
    expect(await closed).toBe(4000);
  });

  test("is refused without credentials or scope, and where the service refuses or is away", async () => {
    const { open, admin, gateway, server } = await startSockets();
    const viewer = await gateway.createTenant("viewer");
    expect(await open("/api/vault/live")).toBe(401);
    expect(await open(`/api/vault/live?token=${viewer.token}`)).toBe(403);
    expect(await open(`/api/vault/none?token=${admin.token}`)).toBe(503);
    expect(await open(`/api/vault/li%2fve?token=${admin.token}`)).toBe(400);
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
    expect(await open(`/api/vault/live?token=${admin.token}`)).toBe(502);
  });

  test("ends on both sides when either side is lost, and when the gateway stops", async () => {
    const { open, admin, sockets, gateway } = await startSockets();
    const lost = async (cut: () => void, webSocket: WebSocket) => {
      const closed = new Promise((resolve) => void webSocket.on("close", resolve));
      cut();
      return closed;
    };
    const one = await open(`/api/vault/live?token=${admin.token}`) as WebSocket;
    expect(await lost(() => [...sockets.clients][0]?.terminate(), one)).toBe(1006);
    const two = await open(`/api/vault/live?token=${admin.token}`) as WebSocket;
    const far = [...sockets.clients].find((client) => client.readyState === WebSocket.OPEN) as WebSocket;
    await lost(() => two.terminate(), far);
    const three = await open(`/api/vault/live?token=${admin.token}`) as WebSocket;
    gateways.splice(gateways.indexOf(gateway), 1);
    expect(await lost(() => void gateway.stop(), three)).toBe(1006);
  });

  test("says what is left of the rate limit, also when it is refused, and nothing that the service says of it", async () => {
    const { gateway, admin } = await startSockets();
    const { headers, socket } = await openedWebSocket(`${gateway.url}/api/vault/live?token=${admin.token}`);
    expect([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"], headers["x-own"]]).toEqual(["100000", "99999", "1"]);
    socket.terminate();
    for (const path of ["/api/vault/live", `/api/vault/none?token=${admin.token}`, "/api/vault/live?token=x"]) {
      expect((await refusedWebSocket(`${gateway.url}${path}`)).headers["x-ratelimit-limit"]).toBe("100000");
    }
  });

  test("ends with 4401 when its bearer is demoted, is deleted or logs out, between two frames of the service", async () => {
    const { gateway, admin, sockets } = await startSockets({ clock: createFakeClock(Date.now()) });
    const ends = [
      (userId: string) => gateway.call("PUT", `/api/v1/users/${userId}`, admin.token, { role: "viewer" }),
      (userId: string) => gateway.call("DELETE", `/api/v1/users/${userId}`, admin.token),
      (_: string, token: string) => gateway.call("POST", "/api/v1/auth/logout", token),
    ];
    for (const end of ends) {
      const user = await gateway.createUser(admin, "admin");
      const { socket, closed } = await openedWebSocket(`${gateway.url}/api/vault/live?token=${user.token}`);
      const received: number[] = [];
      socket.on("message", (data: Buffer) => received.push(data.length));
      const far = [...sockets.clients].at(-1) as WebSocket;
      const lost = new Promise((resolve) => void far.on("close", resolve));
      // A busy machine sends slower than this makes: what waits stays bounded, so that the end is not behind minutes of it.
      const pump = setInterval(() => {
        if (far.bufferedAmount < 1_000_000) far.send(Buffer.alloc(200_000));
      }, 1);
      expect((await end(user.userId, user.token)).status).toBeLessThan(300);
      expect(await closed).toBe(4401);
      clearInterval(pump);
      expect(received.every((length) => length === 200_000)).toBe(true);
      await lost;
    }
  });

  test("ends with its token, and within ten seconds of a change without a message", async () => {
    const clock = createFakeClock(Date.now());
    const { gateway, admin } = await startSockets({ clock });
    const user = await gateway.createUser(admin, "admin");
    const first = await openedWebSocket(`${gateway.url}/api/vault/live?token=${user.token}`);
    await gateway.db.updateTable("users").set({ role: "viewer" }).where("id", "=", user.userId).execute();
    await clock.advance(10_000);
    expect(await first.closed).toBe(4401);
    const second = await openedWebSocket(`${gateway.url}/api/vault/live?token=${admin.token}`);
    clock.jump(86_400_000);
    await clock.advance(10_000);
    expect(await second.closed).toBe(4401);
  });

  test("shares its places with the own streams", async () => {
    const { gateway, admin } = await startSockets({ streams: { perUser: 1 } });
    const own = await openedWebSocket(`${gateway.url}/ws/events?token=${admin.token}`);
    const refused = await refusedWebSocket(`${gateway.url}/api/vault/live?token=${admin.token}`);
    expect([refused.status, refused.error.details]).toEqual([429, { reason: "too-many-streams", of: "user", limit: 1 }]);
    own.socket.terminate();
    await expect.poll(async () => typeof await openWebSocket(`${gateway.url}/api/vault/live?token=${admin.token}`)
      .then((upgrade) => ("socket" in upgrade ? upgrade.socket : 429))).toBe("object");
  });
});
