import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId, createLifecycle, hpkePublicKey, silentLog, systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { linkBySocket } from "../../channel/socket-link.ts";
import { type FromDecoys, LINK_SOCKET, ToDecoys } from "../../decoy/link/messages.ts";
import { openProbeDatabase } from "../../queue/database.ts";
import { createOutbox } from "../../queue/outbox.ts";
import { openDecoyLink } from "./open-decoy-link.ts";
import type { RoundContext } from "./round-context.ts";

let folder: string;
const lifecycle = createLifecycle({ log: silentLog, closeTimeoutMs: 5000 });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-decoy-link-"));
});
afterEach(async () => {
  await lifecycle.close();
  rmSync(folder, { recursive: true });
});

test("a password that was tried is in none of the queue's files in clear, not while it waits for the collector either", async () => {
  const { db, close } = openProbeDatabase(join(folder, "probe.db"), { clock: systemClock, log: silentLog, owner: createId() });
  lifecycle.onClose("database", close);
  const outbox = createOutbox({ db, clock: systemClock, log: silentLog, budgetBytes: 1e9, onAppended: () => undefined });
  const link = openDecoyLink({
    configuration: { decoy: { directory: folder }, collector: { mqtt_url: "mqtts://127.0.0.1" } }, replay: null, random: Math.random, clock: systemClock, log: silentLog, lifecycle,
  } as unknown as RoundContext, { db, outbox }, { macAt: () => "", onDecoys: () => undefined });
  link?.sealFor(hpkePublicKey(new Uint8Array(32).fill(7)).toString("base64"));
  await new Promise<void>((resolve) => {
    const decoys = linkBySocket<ToDecoys, FromDecoys>({
      path: join(folder, LINK_SOCKET), incoming: ToDecoys, random: Math.random, clock: systemClock, onAway: () => undefined,
      onOpen: () => void decoys.send({
        kind: "credentials", number: 1, credentials: { incident_id: createId(), decoy: "files2", tried: [{ service: "ftp", username: "joe", password: "Summer-2026!", is_bait: false }] },
      }),
      onMessage: ({ kind }) => {
        if (kind === "credentials-taken") resolve();
      },
    });
    lifecycle.onClose("decoys", decoys.close);
  });
  const [event] = outbox.take({ maxEvents: 10, maxBytes: 1e6 })?.events ?? [];
  expect(JSON.parse(event?.data ?? "")).toMatchObject({ decoy: "files2", tried: [{ username: "joe", password: null }], passwords_sealed: expect.any(String) as string });
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()).map(({ name }) => readFileSync(join(folder, name)));
  expect(files.some((bytes) => bytes.includes("joe"))).toBe(true);
  expect(files.filter((bytes) => bytes.includes("Summer-2026!"))).toEqual([]);
});
