import type { Honeypot, HoneypotSession } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { exempt, listHoneypotFiles, listHoneypots, listHoneypotSessions, proposeHoneypots, replayHoneypotSession, showHoneypotSession, testHoneypot, unexempt } from "./honeypot.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const AT = "2026-01-01T12:00:00.000Z";
const connect = (calls: object) => ({ rest: { listSites: () => Promise.resolve(page([{ id: ID, name: "Office" }])), ...calls } }) as unknown as Connection;
const page = <T>(data: readonly T[], total = data.length) => ({ data, meta: { page: 1, per_page: 100, total, next_cursor: null } });

const SESSION: HoneypotSession = {
  id: ID, site_id: ID, probe_id: ID, decoy: "files2", device_id: null, source_ip: "192.0.2.66", source_mac: "", destination_ip: "192.0.2.9", stage: "credential", severity: "high", services: ["ssh"],
  usernames: ["root\u001B[2J"], connections: 3, credentials: 2, mitre_techniques: ["T1046"], detail: "3 connections to ssh", is_test: false, started_at: AT, last_at: AT,
};

test("decoys are listed with what they serve, and why they do not serve the rest", async () => {
  const decoy: Honeypot = {
    id: ID, site_id: ID, probe_id: ID, name: "files2", persona: "nas", hostname: "files2", address: "192.0.2.9", state: "partly", reported_at: AT, test: null, own_address: null,
    services: [{ service: "ssh", port: 22, problem: null }, { service: "http", port: 80, problem: "port 80 is in use" }],
  };
  const text = formatAnswer(await listHoneypots(connect({ listHoneypots: () => Promise.resolve(page([decoy])) }), undefined), false);
  expect(text).toMatch(/files2\s+nas\s+192.0.2.9\s+serving in part\s+ssh:22\s/);
  expect(text).toContain("files2 does not serve http: port 80 is in use");
  const own = { interface: "eth0", mac: "00:11:32:00:00:01", state: "in_use", used_by: "52:54:00:00:00:99", is_mac_refused: null, problem: "192.0.2.9 is another device's" } as const;
  const refused = formatAnswer(await listHoneypots(connect({ listHoneypots: () => Promise.resolve(page([{ ...decoy, own_address: own }])) }), undefined), false);
  expect(refused).toMatch(/192\.0\.2\.9 00:11:32:00:00:01/);
  expect(refused).toContain("files2 is out of reach: 192.0.2.9 is another device's");
  expect(refused).not.toContain("does not serve");
  expect((await listHoneypots(connect({ listHoneypots: () => Promise.resolve(page([])) }), "Office")).text).toContain("install.sh decoy");
});

test("proposals are shown as the lines to be written, with why", async () => {
  const proposal = { id: ID, site_id: ID, persona: "nas", name: "nas-15", devices: 14, address: null, mac_block: "00:11:32", reason: "you have 14 Synology: be a fifteenth", configuration: "[[decoys]]\nname = \"nas-15\"\n" };
  const text = formatAnswer(await proposeHoneypots(connect({ listHoneypotProposals: () => Promise.resolve(page([proposal])) }), "Office"), false);
  expect(text).toContain('# you have 14 Synology: be a fifteenth\n# No planned network of IPAM holds them, or has room: choose a free address\n[[decoys]]\nname = "nas-15"');
  expect((await proposeHoneypots(connect({ listHoneypotProposals: () => Promise.resolve(page([])) }), undefined)).text).toContain("no two devices");
});

test("sessions are asked for by what is wanted, and shown without what moves a terminal's cursor", async () => {
  const queries: unknown[] = [];
  const connection = connect({
    listHoneypotSessions: (query: unknown) => Promise.resolve((queries.push(query), page([SESSION], 7))),
    readHoneypotSession: () => Promise.resolve({ ...SESSION, clients: [{ kind: "ja4", value: "t13d\u001B[2J", service: "https" }], rungs: [{ stage: "touch", at: AT, event_id: ID, service: "ssh", source_port: 1, destination_port: 22, username: "", detail: "1 connection" }] }),
  });
  const text = formatAnswer(await listHoneypotSessions(connection, { site: "Office", decoy: "files2", stage: "credential", since: "24h", limit: "1" }), false);
  expect(queries).toEqual([{ site_id: ID, decoy: "files2", stage: "credential", since: "24h", per_page: 1 }]);
  expect(text).toMatch(/192.0.2.66\s+files2\s+credential\s+high\s+ssh\s+3\s+2\s/);
  expect(text).toContain("1 of 7");
  const shown = formatAnswer(await showHoneypotSession(connection, ID), false);
  expect(shown).toContain("touch at ssh (22): 1 connection");
  expect(shown).toContain("root?[2J");
  expect(shown).toContain("JA4 at https: t13d?[2J");
});

test("a shell is replayed as it looked, and no escape of its reaches the terminal", async () => {
  const lines = [{ version: 2, width: 80, height: 24 }, [0.1, "o", "$ "], [0.2, "i", "ecx\u007fho\r"], [0.3, "o", "ecx\b \bho \u001B]0;x\u0007\r\n"], [0.4, "o", "\u009B2J\u202Eab\r\n"]];
  const asciicast = `${lines.map((line) => JSON.stringify(line)).join("\n")}\nno line\n`;
  const connection = connect({
    readHoneypotTranscripts: (_: string, { cursor }: { readonly cursor?: string }) => Promise.resolve(
      cursor === ID ? { transcripts: [{ id: ID, service: "telnet", recorded_at: AT, asciicast: "" }], next_cursor: null } : { transcripts: [{ id: ID, service: "ssh", recorded_at: AT, asciicast }], next_cursor: ID },
    ),
    listHoneypotFiles: () => Promise.resolve({ files: [{ id: ID, service: "tftp", recorded_at: AT, name: "evil\u001B.bin", sha256: "ab".repeat(32), octets: 3, is_kept: true, direction: "sent" }] }),
  });
  expect(formatAnswer(await replayHoneypotSession(connection, ID), false)).toMatch(/^--- ssh, until .*\n\$ echo \u241B\]0;x\u2407\n\?2J\?ab\n\n--- telnet, until .*\n$/);
  expect(formatAnswer(await listHoneypotFiles(connection, ID), false)).toMatch(/sent\s+tftp\s+evil\?\.bin\s+3\s+yes\s+abab/);
});

test("a test says how the probe is asked, and what came of the last one", async () => {
  const decoy = { id: ID, name: "files2", test: { asked_at: AT, asked_by: "tester", status: "sent", error: null, session_id: null } };
  const asked: string[] = [];
  const connection = connect({ listHoneypots: () => Promise.resolve(page([decoy])), testHoneypot: (id: string) => Promise.resolve((asked.push(id), decoy)) });
  expect((await testHoneypot(connection, "files2", undefined)).text).toContain("lanthorn honeypot list");
  expect(asked).toEqual([ID]);
  await expect(testHoneypot(connection, "none", undefined)).rejects.toMatchObject({ code: "not-found" });
});

test("an exemption says for whom, where and until when; ports that are none are refused", async () => {
  const wishes: object[] = [];
  const connection = connect({
    createHoneypotExemption: (wish: object) => Promise.resolve((wishes.push(wish), { id: ID, ports: [], hours: null, expires_at: null, created_by: "tester", ...wish })), deleteHoneypotExemption: () => Promise.resolve(),
  });
  const made = await exempt(connection, ["192.0.2.10"], { name: "scanner", reason: "nightly", ports: "80,443", hours: "22:00-04:30", expires: "8h" }, 0);
  expect(wishes).toEqual([{ site_id: ID, name: "scanner", addresses: ["192.0.2.10"], reason: "nightly", ports: [80, 443], hours: "22:00-04:30", expires_at: "1970-01-01T08:00:00.000Z" }]);
  expect(formatAnswer(made, false)).toMatch(/scanner\s+192.0.2.10\s+80,443\s+22:00-04:30/);
  await expect(exempt(connection, ["192.0.2.10"], { name: "a", reason: "b", ports: "80,x" }, 0)).rejects.toMatchObject({ code: "bad-option" });
  expect((await unexempt(connection, ID)).text).toContain("reported again");
});
