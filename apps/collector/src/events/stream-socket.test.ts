import { once } from "node:events";
import { STREAM_EVENTS, StreamTicket } from "@lanthorn/contract";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { startGateway } from "../testing/gateway-for-test.ts";
import type { TestGateway } from "../testing/gateway.ts";
import { openedWebSocket, openWebSocket, refusedWebSocket, sendRaw } from "../testing/upgrade.ts";

const at = ({ url }: TestGateway, query: string) => `${url}/ws/events?${query}`;

describe("an upgrade to /ws/events is refused before it happens", () => {
  test("with 401 without a token, with a bad one, an expired one, and a used ticket", async () => {
    const clock = createFakeClock(Date.now());
    const server = await startGateway({ clock });
    const tenant = await server.createTenant("viewer");
    const { ticket } = StreamTicket.parse((await server.call("POST", "/api/v1/ws/ticket", tenant.token)).body);
    (await openedWebSocket(at(server, `ticket=${ticket}`))).socket.terminate();
    for (const query of ["", "token=", "token=x.y.z", "ticket=", "ticket=x", `ticket=${ticket}`]) {
      const { status, error, headers } = await refusedWebSocket(at(server, query));
      expect([query, status, error.code, headers["www-authenticate"]]).toEqual([query, 401, "UNAUTHORIZED", "Bearer"]);
    }
    clock.jump(86_400_000);
    expect((await refusedWebSocket(at(server, `token=${tenant.token}`))).status).toBe(401);
  });

  test("with 403 without the scope that it needs", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant("admin");
    const { body } = await server.call("POST", "/api/v1/auth/keys", tenant.token, { name: "k", scopes: ["devices:read"] });
    const { key, id } = body as { readonly key: string; readonly id: string };
    const { ticket } = StreamTicket.parse((await server.call("POST", "/api/v1/ws/ticket", key)).body);
    await server.db.updateTable("api_keys").set({ scopes: '["alerts:read"]' }).where("id", "=", id).execute();
    const { status, error } = await refusedWebSocket(at(server, `ticket=${ticket}`));
    expect([status, error.code, error.details]).toEqual([403, "FORBIDDEN", { required: "devices:read" }]);
  });

  test("with 400 and the parameter for what it does not understand, and what there is", async () => {
    const server = await startGateway();
    const { token } = await server.createTenant("viewer");
    for (const [query, path] of [
      ["since=x", "since"], ["since=-1", "since"], ["events=nonsense", "events.0"], ["events=ids_alert,x", "events.1"], ["site_id=1", "site_id"],
    ] as const) {
      const { status, error } = await refusedWebSocket(at(server, `token=${token}&${query}`));
      const details = error.details as readonly { readonly path: string; readonly message: string }[];
      expect([query, status, error.code, details[0]?.path]).toEqual([query, 400, "BAD_REQUEST", path]);
      if (path.startsWith("events")) for (const name of STREAM_EVENTS) expect(details[0]?.message).toContain(name);
    }
  });

  test("with 404 for a site that is not there, or is another tenant's", async () => {
    const server = await startGateway();
    const [mine, theirs] = [await server.createTenant("viewer"), await server.createTenant("viewer")];
    for (const siteId of [createId(), theirs.siteId]) {
      const { status, error } = await refusedWebSocket(at(server, `token=${mine.token}&site_id=${siteId}`));
      expect([status, error.code]).toEqual([404, "NOT_FOUND"]);
    }
    (await openedWebSocket(at(server, `token=${mine.token}&site_id=${mine.siteId}`))).socket.terminate();
  });

  test("with 404 elsewhere, 401 there for who is nobody, and the envelope for a handshake that is none", async () => {
    const server = await startGateway();
    const { token } = await server.createTenant("viewer");
    const raw = (target: string, version = 13) => sendRaw(server.listener.port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n`
      + `Upgrade: websocket\r\nSec-WebSocket-Version: ${version}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
    for (const [answer, status] of [
      [await raw(`/ws/other?token=${token}`), 404], [await raw("/ws/other"), 401], [await raw("//"), 401],
      [await raw(`/ws/events?token=${token}`, 7), 400],
    ] as const) {
      expect([answer.status, Object.keys(JSON.parse(answer.body) as object), answer.headers["x-ratelimit-limit"]]).toEqual(
        [status, ["error"], "100000"],
      );
    }
    expect((await server.get("/health")).status).toBe(200);
  });
});

test("an upgrade counts as a request, tells what is left with its 101, and is refused like one that is too many", async () => {
  const tier = { perMinute: 5, burst: 2 };
  const server = await startGateway({ tiers: { standard: tier, admin: tier, service: tier }, clock: createFakeClock(Date.now()) });
  const { token } = await server.createTenant("viewer");
  for (const remaining of ["1", "0"]) {
    const { headers, socket } = await openedWebSocket(at(server, `token=${token}`));
    expect([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]).toEqual(["5", remaining]);
    socket.terminate();
  }
  const { status, error, headers } = await refusedWebSocket(at(server, `token=${token}`));
  expect([status, error.code, headers["retry-after"], headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]).toEqual(
    [429, "RATE_LIMITED", "1", "5", "0"],
  );
});

describe("a stream ends with 4401", () => {
  type End = (server: TestGateway, user: Awaited<ReturnType<TestGateway["createUser"]>>, adminToken: string) => Promise<unknown>;
  const ENDS: readonly (readonly [string, End])[] = [
    ["at logout", (server, { token }) => server.call("POST", "/api/v1/auth/logout", token)],
    ["when its user changes the password", (server, { token }) =>
      server.call("POST", "/api/v1/auth/password", token, { old_password: "password", new_password: "another password" })],
    ["when its user is given another password", (server, { userId }, admin) =>
      server.call("PUT", `/api/v1/users/${userId}`, admin, { password: "another password" })],
    ["when its user is deleted", (server, { userId }, admin) => server.call("DELETE", `/api/v1/users/${userId}`, admin)],
  ];
  test.each(ENDS)("%s, at once, without a look at the clock", async (_, end) => {
    const changed: string[] = [];
    const server = await startGateway({ clock: createFakeClock(Date.now()), onAccessChanged: (tenantId) => changed.push(tenantId) });
    const admin = await server.createTenant("admin");
    const user = await server.createUser(admin, "viewer");
    const own = await openedWebSocket(at(server, `token=${user.token}`));
    const { ticket } = StreamTicket.parse((await server.call("POST", "/api/v1/ws/ticket", user.token)).body);
    const byTicket = await openedWebSocket(at(server, `ticket=${ticket}`));
    const bystander = await openedWebSocket(at(server, `token=${admin.token}`));
    await end(server, user, admin.token);
    expect([await own.closed, await byTicket.closed]).toEqual([4401, 4401]);
    expect(changed).toEqual([admin.tenantId]);
    const seen = once(bystander.socket, "message");
    await server.append(admin, [{}]);
    await seen;
    bystander.socket.terminate();
  });

  test("when its key is deleted, or its scopes are fewer, also through a ticket", async () => {
    const server = await startGateway({ clock: createFakeClock(Date.now()) });
    const admin = await server.createTenant("admin");
    const open = async () => {
      const { body } = await server.call("POST", "/api/v1/auth/keys", admin.token, { name: "k", scopes: ["devices:read"] });
      const { key, id } = body as { readonly key: string; readonly id: string };
      const { ticket } = StreamTicket.parse((await server.call("POST", "/api/v1/ws/ticket", key)).body);
      return { id, stream: await openedWebSocket(at(server, `ticket=${ticket}`)) };
    };
    const deleted = await open();
    await server.call("DELETE", `/api/v1/auth/keys/${deleted.id}`, admin.token);
    expect(await deleted.stream.closed).toBe(4401);
    const reduced = await open();
    expect((await server.call("PUT", `/api/v1/auth/keys/${reduced.id}`, admin.token, { scopes: ["alerts:read"] })).status).toBe(200);
    expect(await reduced.stream.closed).toBe(4401);
  });

  test("when another collector says that something changed, and by itself within ten seconds where nobody does", async () => {
    const clock = createFakeClock(Date.now());
    const server = await startGateway({ clock });
    const admin = await server.createTenant("admin");
    const [deleted, kept] = [await server.createUser(admin, "viewer"), await server.createUser(admin, "viewer")];
    const [one, two] = [
      await openedWebSocket(at(server, `token=${deleted.token}`)), await openedWebSocket(at(server, `token=${kept.token}`)),
    ];
    await server.db.deleteFrom("users").where("id", "=", deleted.userId).execute();
    server.sessions.accessChanged(admin.tenantId);
    expect(await one.closed).toBe(4401);
    await server.db.deleteFrom("users").where("id", "=", kept.userId).execute();
    await clock.advance(10_000);
    expect(await two.closed).toBe(4401);
    expect(server.sessions.count()).toBe(0);
  });

  test("when its token ends", async () => {
    const clock = createFakeClock(Date.now());
    const server = await startGateway({ clock });
    const { token } = await server.createTenant("viewer");
    const stream = await openedWebSocket(at(server, `token=${token}`));
    // The wall clock alone leaps: a day of pings without time to answer them would end the connection in another way.
    clock.jump(86_400_000);
    await clock.advance(10_000);
    expect(await stream.closed).toBe(4401);
  });
});

describe("streams are shared out", () => {
  const fill = async (server: TestGateway, token: string, count: number) => {
    const statuses: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const upgrade = await openWebSocket(at(server, `token=${token}`));
      statuses.push("status" in upgrade ? upgrade.status : 101);
    }
    return statuses;
  };
  const count = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length;

  test("one user and one tenant hold their own share, and another tenant opens one", async () => {
    const server = await startGateway({ streams: { total: 60, perTenant: 20, perUser: 8 } });
    const [greedy, other] = [await server.createTenant("viewer"), await server.createTenant("viewer")];
    const ofUser = await fill(server, greedy.token, 20);
    expect([count(ofUser, 101), count(ofUser, 429)]).toEqual([8, 12]);
    const { error, headers } = await refusedWebSocket(at(server, `token=${greedy.token}`));
    expect([error.code, error.details, headers["retry-after"]]).toEqual(
      ["RATE_LIMITED", { reason: "too-many-streams", of: "user", limit: 8 }, "10"],
    );
    for (let index = 0; index < 3; index += 1) await fill(server, (await server.createUser(greedy, "viewer")).token, 8);
    const late = await server.createUser(greedy, "viewer");
    expect((await refusedWebSocket(at(server, `token=${late.token}`))).error.details).toMatchObject({ of: "tenant", limit: 20 });
    const theirs = await openedWebSocket(at(server, `token=${other.token}`));
    const seen = once(theirs.socket, "message");
    await server.append(other, [{}]);
    await seen;
  });

  test("a place that is given up is free again, and 503 says that all are taken", async () => {
    const server = await startGateway({ streams: { total: 2 } });
    const { token } = await server.createTenant("viewer");
    const first = await openedWebSocket(at(server, `token=${token}`));
    await openedWebSocket(at(server, `token=${token}`));
    const { status, error } = await refusedWebSocket(at(server, `token=${token}`));
    expect([status, error.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    first.socket.terminate();
    await expect.poll(async () => fill(server, token, 1)).toEqual([101]);
  });
});
