import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId, systemClock } from "@lanthorn/runtime";
import { afterAll, expect, test } from "vitest";
import { linkBySocket } from "../../channel/socket-link.ts";
import { listenForDecoys } from "./decoy-listener.ts";
import { LINK_SOCKET, type ReportedHit, ToDecoys } from "./messages.ts";

const folder = mkdtempSync(join(tmpdir(), "lanthorn-decoy-link-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("what cannot be read is taken and said once, so that it does not come again; what comes after it is heard", async () => {
  const [hits, warnings, taken] = [[] as ReportedHit[], [] as unknown[], [] as unknown[]];
  const path = join(folder, LINK_SOCKET);
  const listener = listenForDecoys(path, {
    onHit: (hit) => hits.push(hit) > 0, onCredentials: () => true, onEvidence: () => true, collector: () => [], clock: systemClock, log: { warn: (fields: object) => void warnings.push(fields) },
  });
  let isOpen = false;
  const link = linkBySocket<ToDecoys, object>({
    path, incoming: ToDecoys, onOpen: () => (isOpen = true), onMessage: (message) => void taken.push(message), onAway: () => undefined, random: Math.random, clock: systemClock,
  });
  await expect.poll(() => isOpen).toBe(true);
  const hit = {
    incident_id: createId(), decoy: "files2", source_ip: "fe80::9", destination_ip: "2001:db8::5", stage: "touch", severity: "low", service: "ftp", source_port: 1, destination_port: 21, username: "", detail: "",
    is_test: false, connections: 1, credentials: 0, since: 1, last_at: 1, services: ["ftp"], usernames: [], techniques: [], report: "first", left_out: 0,
  };
  for (let number = 1; number <= 40; number += 1) link.send({ kind: "hit", number, hit: { ...hit, source_ip: "fe80::9%eth0" } });
  link.send({ kind: "credentials", number: 1, credentials: [] });
  link.send({ kind: "evidence", number: 1, evidence: {} });
  link.send({ kind: "hit", number: 41, hit });
  await expect.poll(() => hits).toEqual([hit]);
  await expect.poll(() => taken).toHaveLength(43);
  expect(taken.slice(39)).toEqual([{ kind: "taken", number: 40 }, { kind: "credentials-taken", number: 1 }, { kind: "evidence-taken", number: 1 }, { kind: "taken", number: 41 }]);
  expect(warnings).toEqual([{ unread: 1 }]);
  link.close();
  await listener.close();
});
