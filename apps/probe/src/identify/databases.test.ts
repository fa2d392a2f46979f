import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readAnswer } from "@lanthorn/fingerprints";
import { describe, expect, test } from "vitest";
import { createFingerprintDatabases } from "./databases.ts";
import { type ServiceFinding, toFinding, withClaims } from "./finding.ts";

const RECOG = fileURLToPath(new URL("../../../../../shared/data/recog", import.meta.url));

const sshFinding = (text: string) => toFinding({ service: "ssh", claims: readAnswer("ssh", text), texts: [{ kind: "ssh", text }] });

function createScene(folder: string | null = RECOG) {
  let asked = 0;
  const held = { version: "1" };
  const warnings: string[] = [];
  const databases = createFingerprintDatabases({
    version: () => held.version,
    folder() {
      asked += 1;
      return folder;
    },
    warn: ({ name }) => void warnings.push(name),
  });
  const consult = (finding: ServiceFinding) => {
    const { texts, claims, verdicts } = finding;
    return withClaims(finding, databases.consult({ texts, claims, product: verdicts.product?.value ?? "" }));
  };
  return { consult, held, warnings, asked: () => asked };
}

describe.skipIf(!existsSync(RECOG))("databases of fingerprints", () => {
  test("name what our own rules do not know, and the device that says it", () => {
    const { consult } = createScene();
    const text = "GS724T - ProSafe 24-port Gigabit Smart Switch";
    const unknown = consult(toFinding({ service: "ftp", texts: [{ kind: "ftp", text: "Serv-U FTP Server v7.3 ready..." }] }));
    expect(unknown.version).toMatch(/^Serv-U/);
    expect(unknown.verdicts.product?.source).toBe("ftp:recog");
    expect(consult(toFinding({ service: "x", texts: [{ kind: "http-realm", text }] })).claims).toEqual([]);
  });

  test("stand behind our own rules: they add, and do not take the product's place", () => {
    const { consult } = createScene();
    const found = consult(sshFinding("OpenSSH_9.2p1 Debian-2+deb12u3"));
    expect(found).toMatchObject({
      version: "OpenSSH 9.2p1", verdicts: { product: { value: "OpenSSH", source: "ssh" }, os: { value: "Debian" } },
    });
    expect(found.claims.some(({ source }) => source === "ssh:recog")).toBe(true);
  });

  test("say nothing otherwise than our own rules have read in the same text", () => {
    const { claims } = createScene().consult(sshFinding("OpenSSH_9.2p1 Debian-2+deb12u3"));
    // Recog's is "12.0", and its CPE has the update within the version.
    expect(claims.filter(({ field }) => field === "os_version" || field === "cpe").map(({ source }) => source)).toEqual(["ssh", "ssh"]);
  });

  test("are read anew as soon as another version holds", () => {
    const { consult, held, asked } = createScene();
    consult(sshFinding("OpenSSH_9.2p1"));
    consult(sshFinding("OpenSSH_9.2p1"));
    held.version = "2";
    consult(sshFinding("OpenSSH_9.2p1"));
    expect(asked()).toBe(2);
  });
});

test("where there are no databases, a finding is what it was", () => {
  const finding = sshFinding("OpenSSH_9.2p1");
  expect(createScene(null).consult(finding)).toBe(finding);
  expect(createScene("/nowhere").consult(finding)).toBe(finding);
});
