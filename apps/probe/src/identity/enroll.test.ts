import { createPrivateKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatEnrollmentToken } from "@lanthorn/contract/uplink";
import { systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EXIT_CODES } from "../errors.ts";
import { enroll } from "./enroll.ts";
import { certificateLifetime, identityPath, readIdentity } from "./identity.ts";
import { renew } from "./renew.ts";
import { createTestCa, startTestCollector, type TestCa, type TestCollector } from "./testing/collector.ts";

let directory: string;
let ca: TestCa;
let collector: TestCollector;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-enroll-"));
  ca = await createTestCa();
  collector = await startTestCollector({ ca });
});
afterEach(async () => {
  await collector.close();
  rmSync(directory, { recursive: true, force: true });
});

const run = (overrides: Partial<Parameters<typeof enroll>[0]> = {}) =>
  enroll({
    collectorUrl: collector.url, token: collector.token, name: "box", dataDir: directory, force: false, clock: systemClock, ...overrides,
  });
const code = (expected: string) => expect.objectContaining({ code: expected }) as Error;
const nothingKept = () => expect(existsSync(identityPath(directory))).toBe(false);

async function replaceCollector(options: Omit<Parameters<typeof startTestCollector>[0], "ca">): Promise<void> {
  await collector.close();
  collector = await startTestCollector({ ca, ...options });
}

describe("enrollment", () => {
  test("keeps the key that was made here with the certificate for it, for its owner's eyes only", async () => {
    const identity = await run();
    expect(readIdentity(directory)).toEqual(identity);
    expect(identity).toMatchObject({
      probe_id: collector.probeId, name: "box", collector_url: collector.url, trust: "pinned", mqtt_url: "mqtts://127.0.0.1:8883",
    });
    expect(new X509Certificate(identity.certificate).checkPrivateKey(createPrivateKey(identity.private_key))).toBe(true);
    expect(statSync(identityPath(directory)).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(directory, "identity"))).toEqual(["identity.json"]);
  });

  test("happens once, unless it is forced", async () => {
    await run();
    await expect(run()).rejects.toThrow(code("already-enrolled"));
    await expect(run({ force: true })).resolves.toMatchObject({ probe_id: collector.probeId });
  });

  test.each(["token-unknown", "token-used", "token-expired"])("tells %s apart", async (reason) => {
    collector.refusal = reason;
    await expect(run()).rejects.toThrow(code(reason));
    nothingKept();
  });

  test("tells a refusal for another reason from all of them", async () => {
    collector.refusal = "bad-certificate-request";
    await expect(run()).rejects.toThrow(code("refused"));
  });

  test("sends nothing to a collector without the pinned key", async () => {
    const other = await createTestCa();
    await expect(run({ token: formatEnrollmentToken({ secret: "s".repeat(43), caPin: other.pin }) })).rejects.toThrow(code("wrong-pin"));
    expect(collector.requests).toEqual([]);
  });

  test("sends nothing to somebody who shows the pinned CA and has no certificate under it", async () => {
    const other = await createTestCa();
    const stolen = await other.issueWithKey("collector");
    await collector.close();
    collector = await startTestCollector({
      ca: { ...ca, issueWithKey: async () => ({ key: stolen.key, cert: `${stolen.cert}\n${ca.pem}` }) },
    });
    await expect(run()).rejects.toThrow(code("wrong-pin"));
    expect(collector.requests).toEqual([]);
    nothingKept();
  });

  test("holds the pin against what comes back, too", async () => {
    collector.answerWith = await createTestCa();
    await expect(run()).rejects.toThrow(code("wrong-pin"));
    nothingKept();
  });

  test("does not take a certificate for somebody else", async () => {
    collector.nameInCertificate = "somebody";
    await expect(run()).rejects.toThrow(code("not-a-collector"));
    nothingKept();
  });

  test.each([[600_000], [-600_000]])("finds clocks that are %i ms apart before the token is spent", async (aheadMs) => {
    collector.aheadMs = aheadMs;
    await expect(run()).rejects.toThrow(code("clock-skew"));
    expect(collector.requests).toEqual(["GET /api/health"]);
  });

  test.each([
    ["not valid yet", { from: Date.now() + 3_600_000 }],
    ["expired", { to: Date.now() - 3_600_000 }],
  ])("takes a collector's certificate that is %s for a clock that is off", async (_, serverLifetime) => {
    await replaceCollector({ serverLifetime });
    await expect(run()).rejects.toThrow(code("clock-skew"));
    expect(collector.requests).toEqual([]);
  });

  test("finds nobody listening", async () => {
    const { url, token } = collector;
    await replaceCollector({});
    await expect(run({ collectorUrl: url, token })).rejects.toThrow(code("unreachable"));
  });

  test("finds a name that does not exist", async () => {
    await expect(run({ collectorUrl: "https://no-such-host.invalid" })).rejects.toThrow(code("unreachable"));
  });

  test("finds something that is no TLS server", async () => {
    const server = createServer((socket) => socket.on("error", () => undefined).end("220 ready\r\n"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    await expect(run({ collectorUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}` })).rejects.toThrow(
      code("not-a-collector"),
    );
    server.close();
  });

  test("goes without encryption to this machine only, and holds the pin there as well", async () => {
    await expect(run({ collectorUrl: "http://192.0.2.1:8080" })).rejects.toThrow(code("insecure-url"));
    await expect(run({ collectorUrl: "http://localhost.example" })).rejects.toThrow(code("insecure-url"));
    await expect(run({ collectorUrl: "ftp://127.0.0.1" })).rejects.toThrow(code("insecure-url"));
    await expect(run({ collectorUrl: "collector" })).rejects.toThrow(code("insecure-url"));
    await replaceCollector({ plain: true });
    await expect(run()).resolves.toMatchObject({ trust: "loopback" });
  });

  test("refuses a token that is none before it connects anywhere", async () => {
    for (const token of ["", "lt1.short.pin", `lt2.${"a".repeat(43)}.${"b".repeat(43)}`]) {
      await expect(run({ token })).rejects.toThrow(code("token-malformed"));
    }
    expect(collector.requests).toEqual([]);
  });

  test("says that an identity file which cannot be read is to be replaced, without a word of what is in it", async () => {
    await run();
    writeFileSync(identityPath(directory), '{"private_key":"-----BEGIN PRIVATE KEY-----"}');
    await expect(run()).rejects.toThrow(code("not-enrolled"));
    await expect(run()).rejects.not.toThrow(/BEGIN/);
    await expect(run({ force: true })).resolves.toBeDefined();
  });

  test("ends with an exit code of its own for each failure that it tells apart", () => {
    const codes = [
      "token-malformed", "token-unknown", "token-used", "token-expired", "wrong-pin", "clock-skew", "unreachable", "already-enrolled",
    ] as const;
    expect(new Set(codes.map((name) => EXIT_CODES[name])).size).toBe(codes.length);
  });
});

describe("renewal", () => {
  test("gives a new key and certificate under the old identity", async () => {
    const before = await run();
    const endsAt = await renew({ dataDir: directory, collectorUrl: null, clock: systemClock });
    const after = readIdentity(directory);
    expect(after).toMatchObject({ probe_id: before.probe_id, collector_url: before.collector_url });
    expect(after?.private_key).not.toBe(before.private_key);
    expect(after && certificateLifetime(after).to).toBe(endsAt);
  });

  test("leaves everything as it is when it is refused, or answered wrongly", async () => {
    const before = await run();
    collector.nameInCertificate = "somebody";
    await expect(renew({ dataDir: directory, collectorUrl: null, clock: systemClock })).rejects.toThrow(code("not-a-collector"));
    collector.answerWith = await createTestCa();
    await expect(renew({ dataDir: directory, collectorUrl: null, clock: systemClock })).rejects.toThrow(code("wrong-pin"));
    expect(readIdentity(directory)).toEqual(before);
  });

  test("is not sent to a server under another CA", async () => {
    await run();
    const other = await createTestCa();
    const impostor = await startTestCollector({ ca: other });
    await expect(renew({ dataDir: directory, collectorUrl: impostor.url, clock: systemClock })).rejects.toThrow(code("wrong-pin"));
    expect(impostor.requests).toEqual([]);
    await impostor.close();
  });
});
