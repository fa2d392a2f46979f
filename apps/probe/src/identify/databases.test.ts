import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { readAnswer } from "@lanthorn/fingerprints";
import { describe, expect, test } from "vitest";
import { createFingerprintDatabases } from "./databases.ts";
import { toFinding } from "./finding.ts";

const RECOG = fileURLToPath(new URL("../../../../../shared/data/recog", import.meta.url));

const sshFinding = (text: string) => toFinding({ service: "ssh", claims: readAnswer("ssh", text), texts: [{ kind: "ssh", text }] });

function createScene(folder: string | null = RECOG) {
  const clock = createFakeClock(0);
  let asked = 0;
  const held = { version: "1" };
  const databases = createFingerprintDatabases({
    clock, log: silentLog, version: () => held.version,
    folder() {
      asked += 1;
      return folder;
    },
  });
  return { databases, clock, held, asked: () => asked };
}

describe.skipIf(!existsSync(RECOG))("databases of fingerprints", () => {
  test("name what our own rules do not know, and the device that says it", () => {
    const { databases } = createScene();
    const text = "GS724T - ProSafe 24-port Gigabit Smart Switch";
    const unknown = databases.consult(toFinding({ service: "ftp", texts: [{ kind: "ftp", text: "Serv-U FTP Server v7.3 ready..." }] }));
    expect(unknown.version).toMatch(/^Serv-U/);
    expect(unknown.verdicts.product?.source).toBe("ftp:recog");
    expect(databases.consult(toFinding({ service: "x", texts: [{ kind: "http-realm", text }] })).claims).toEqual([]);
  });

  test("stand behind our own rules: they add, and do not take the product's place", () => {
    const { databases } = createScene();
    const found = databases.consult(sshFinding("OpenSSH_9.2p1 Debian-2+deb12u3"));
    expect(found).toMatchObject({
      version: "OpenSSH 9.2p1", verdicts: { product: { value: "OpenSSH", source: "ssh" }, os: { value: "Debian" } },
    });
    expect(found.claims.some(({ source }) => source === "ssh:recog")).toBe(true);
  });

  test("say nothing otherwise than our own rules have read in the same text", () => {
    const { claims } = createScene().databases.consult(sshFinding("OpenSSH_9.2p1 Debian-2+deb12u3"));
    // Recog's is "12.0", and its CPE has the update within the version.
    expect(claims.filter(({ field }) => field === "os_version" || field === "cpe").map(({ source }) => source)).toEqual(["ssh", "ssh"]);
  });

  test("are read anew as soon as another version holds", () => {
    const { databases, held, asked } = createScene();
    databases.consult(sshFinding("OpenSSH_9.2p1"));
    databases.consult(sshFinding("OpenSSH_9.2p1"));
    held.version = "2";
    databases.consult(sshFinding("OpenSSH_9.2p1"));
    expect(asked()).toBe(2);
  });

  test("are read when the first text comes, and let go when none has come for a while", async () => {
    const { databases, clock, asked } = createScene();
    for (let time = 0; time < 3; time += 1) databases.consult(sshFinding("OpenSSH_9.2p1"));
    expect(asked()).toBe(1);
    await clock.advance(31_000);
    databases.consult(sshFinding("OpenSSH_9.2p1"));
    expect(asked()).toBe(2);
  });
});

test("where there are no databases, a finding is what it was", () => {
  const finding = sshFinding("OpenSSH_9.2p1");
  expect(createScene(null).databases.consult(finding)).toBe(finding);
  expect(createScene("/nowhere").databases.consult(finding)).toBe(finding);
});
