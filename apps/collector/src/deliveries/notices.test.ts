import type { AddressInfo } from "node:net";
import { createFakeClock, createId, type Log, silentLog } from "@lanthorn/runtime";
import { SMTPServer } from "smtp-server";
import { afterEach, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/gateway.ts";
import { eventually } from "../services/diplomat/testing/stack.ts";
import { createSmtpMailer, type Mailer } from "./sending/mailer.ts";
import { startJobs } from "../jobs/start-jobs.ts";
import { createNotices } from "./notices.ts";
import { createNoticesStore } from "./notices-store.ts";

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface MailServer {
  readonly mails: { readonly from: string; readonly to: readonly string[]; readonly text: string }[];
  readonly mailer: Mailer;
  /** Refuses so many mails first. */
  refusals: number;
}

async function startMailServer(): Promise<MailServer> {
  const server = new SMTPServer({
    authOptional: true, allowInsecureAuth: true, hideSTARTTLS: true, disableReverseLookup: true,
    onAuth: ({ username, password }, _, done) => (
      username === "collector" && password === "12345" ? done(null, { user: username }) : done(new Error("no"))
    ),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (made.refusals > 0) {
          made.refusals -= 1;
          done(Object.assign(new Error("come back later"), { responseCode: 451 }));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        made.mails.push({
          from: mailFrom === false ? "" : mailFrom.address, to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  const made: MailServer = {
    mails: [], refusals: 0,
    mailer: createSmtpMailer({
      host: "127.0.0.1", port, security: "none", username: "collector", password: "12345", from: "lanthorn@example.com",
    }),
  };
  closing.push(() => new Promise<void>((resolve) => server.close(() => resolve())), () => made.mailer.close());
  return made;
}

async function start(mailer: Mailer | null, options: { readonly owners?: readonly string[]; readonly log?: Log } = {}) {
  const clock = createFakeClock();
  const gateway: TestGateway = await startTestGateway({ clock });
  const tenant = await gateway.createTenant("admin");
  const id = createId();
  const at = new Date(clock.now()).toISOString();
  await gateway.db.insertInto("webhooks").values({
    id, tenant_id: tenant.tenantId, url: "https://hooks.example.com:8443/services/T0/very-secret?token=x", events: "[]", active: 1,
    status: "failing", failing_since: at, secret_sealed: "", secret_hint: "",
    previous_secret_sealed: null, previous_secret_until: null, created_at: at, last_delivery_at: null, worker_id: null,
  }).execute();
  await gateway.db.insertInto("webhook_notices").values({
    id: createId(), tenant_id: tenant.tenantId, webhook_id: id, kind: "failing", detail: "status: 500", status: "pending", attempt: 0,
    next_attempt_at: at, error: null, created_at: at,
  }).execute();
  const notices = createNotices({
    store: createNoticesStore(gateway), mailer, ownersOf: () => Promise.resolve(options.owners ?? ["owner@example.com", "other@example.com"]), clock,
    log: options.log ?? silentLog,
  });
  const jobs = await startJobs([notices], { clock, lease: null });
  closing.push(() => gateway.stop(), () => jobs.close());
  void notices.runSoon();
  const record = () => gateway.db.selectFrom("webhook_notices").select(["status", "attempt", "error", "next_attempt_at"])
    .executeTakeFirstOrThrow();
  return { clock, gateway, id, record };
}

test("the account's owners are written to, once, naming the webhook and no more of its URL than the host", async () => {
  const server = await startMailServer();
  const { clock, id, record } = await start(server.mailer);
  await eventually("sent", async () => (await record()).status === "sent");
  const [mail] = server.mails;
  expect(mail).toMatchObject({ from: "lanthorn@example.com", to: ["owner@example.com", "other@example.com"] });
  expect(mail?.text).toContain("Subject: Lanthorn: a webhook is failing (hooks.example.com:8443)");
  expect(mail?.text).toContain(id);
  expect(mail?.text).toContain("status: 500");
  expect(mail?.text).not.toContain("secret");
  await clock.leap(600_000);
  await clock.advance(60_000);
  expect(server.mails.length).toBe(1);
});

test("a mail server that refuses is tried again some times, and the record tells", async () => {
  const server = await startMailServer();
  server.refusals = 2;
  const { clock, record } = await start(server.mailer);
  await eventually("refused", async () => (await record()).attempt === 1);
  expect(await record()).toMatchObject({ status: "pending", error: expect.stringContaining("come back later") as string });
  await clock.leap(65_000);
  await eventually("refused again", async () => (await record()).attempt === 2);
  await clock.leap(605_000);
  await eventually("sent", async () => (await record()).status === "sent");
  expect([server.mails.length, await record()]).toEqual([1, { status: "sent", attempt: 3, error: null, next_attempt_at: null }]);
});

test("a mail server that never takes it is given up after five times", async () => {
  const mailer = createSmtpMailer({ host: "127.0.0.1", port: 1, security: "none", from: "lanthorn@example.com" });
  const { clock, record } = await start(mailer);
  for (const [attempt, waitMs] of [[1, 65_000], [2, 605_000], [3, 3_605_000], [4, 21_605_000]] as const) {
    await eventually("refused", async () => (await record()).attempt === attempt);
    await clock.leap(waitMs);
  }
  await eventually("given up", async () => (await record()).status === "failed");
  expect(await record()).toMatchObject({ attempt: 5, next_attempt_at: null, error: expect.stringContaining("ECONNREFUSED") as string });
});

test.each([
  ["no mail server", null, ["owner@example.com"], "no mail server is configured"],
  ["no address of an owner", {}, [], "the account owner has no e-mail address"],
] as const)(
  "with %s a log line and a record say it", async (_, server, owners, error) => {
    const lines: unknown[] = [];
    const log: Log = Object.assign(Object.create(silentLog) as Log, { warn: (...line: unknown[]) => void lines.push(line) });
    const { id, record } = await start(server === null ? null : (await startMailServer()).mailer, { owners, log });
    await eventually("unsent", async () => (await record()).status === "unsent");
    expect((await record()).error).toBe(error);
    expect(lines).toEqual([[expect.objectContaining({ webhook_id: id, kind: "failing", reason: "status: 500" }), "a webhook is failing"]]);
  },
);
