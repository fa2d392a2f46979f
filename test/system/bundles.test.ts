import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../lab/free-port.ts";
import { runCommand } from "../lab/run-command.ts";
import { waitFor } from "../lab/wait-for.ts";
import type { Daemon } from "./daemon.ts";
import { COLLECTOR, type Collector, enrollProbe, type ProbeBox, startCollector, startProbe } from "./deployment.ts";

/** As many as a minute's requests allow, and more than a second's: so that there is a middle to kill in. */
const PARTS = 120;
const DATABASE = (version: number) => `<fingerprints matches="bell"><fingerprint pattern="^Bell (\\d+)$">
  <description>Bell</description><example bell.version="${version}">Bell ${version}</example><param pos="1" name="bell.version"/>
</fingerprint></fingerprints>`;

type Bundle = Readonly<Record<"manifest" | "signature" | "certificate", string>>;
type Piece = Readonly<Record<"sha256" | "content", string>>;

describe("fingerprint databases that a collector publishes while it and its probe are killed", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-bundles-"));
  const box: ProbeBox = { dataDir: join(folder, "probe") };
  const dataDir = join(folder, "collector");
  const source = join(folder, "source");
  const running: { probe?: Daemon; collector?: Collector } = {};
  const ports = { https: 0, mqtt: 0 };
  const start = {
    async probe() {
      running.probe = await startProbe(box, { interface: "no-such-if" });
    },
    async collector() {
      const env = { LANTHORN_HTTPS_PORT: String(ports.https), LANTHORN_MQTT_PORT: String(ports.mqtt) };
      running.collector = await startCollector({ dataDir, host: "127.0.0.1", env });
    },
  };
  const publish = (args: readonly string[] = []) => runCommand(process.execPath, [COLLECTOR, "bundles", "publish", "fingerprints", source, ...args], { env: { LANTHORN_DATA_DIR: dataDir } });
  const home = join(box.dataDir, "fingerprints");
  const pointer = () => (existsSync(join(home, "versions")) ? readFileSync(join(home, "versions"), "utf8") : "");
  const arrived = (version: number) => waitFor(
    `version ${version} at the probe`, () => (pointer().includes(`published ${version}\n`) ? true : null), { everyMs: 20 },
  );
  const held = () => Object.fromEntries(readdirSync(join(home, pointer().split("\n")[0] ?? ""), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "SHA256SUMS")
    .map((entry) => [entry.name, createHash("sha256").update(readFileSync(join(entry.parentPath, entry.name))).digest("hex")]));
  const wanted = () => Object.fromEntries(["bell.xml", ...readdirSync(join(source, "notes"))]
    .map((name) => [name, createHash("sha256").update(readFileSync(join(source, name === "bell.xml" ? name : join("notes", name)))).digest("hex")]));

  const digest = (name: string) => createHash("sha256").update(readFileSync(join(source, name))).digest("hex");
  const flip = (text: string, at: number) => `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
  /** In the collector's own database, as someone who has got hold of it would. */
  const inDatabase = <T>(work: (db: Database.Database) => T): T => {
    const db = new Database(join(dataDir, "lanthorn.db"), { fileMustExist: true, timeout: 10_000 });
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  /** Publishes while the probe is away, spoils it in the database, and sees that the probe keeps what it has and says why. */
  async function expectRefused(before: ReturnType<typeof held>, prepare: () => void, spoil: (db: Database.Database) => void, reason: string) {
    await running.probe?.kill();
    prepare();
    await publish();
    inDatabase(spoil);
    await start.probe();
    const state = await waitFor(`why the probe refuses it: ${reason}`, async () => {
      const { data: [probe] } = await (running.collector as Collector).rest.listProbes();
      const bundle = probe?.health?.bundles?.[0];
      return bundle?.error?.includes(reason) === true ? bundle : null;
    }, { everyMs: 500 });
    expect(state).toMatchObject({ name: "fingerprints", version: 2 });
    expect([pointer().includes("published 2\n"), held()]).toEqual([true, before]);
  }

  beforeAll(async () => {
    mkdirSync(join(source, "notes"), { recursive: true });
    writeFileSync(join(source, "bell.xml"), DATABASE(1));
    writeFileSync(join(source, "notes", "0.txt"), "first");
    Object.assign(ports, { https: await findFreePort(), mqtt: await findFreePort() });
    await start.collector();
    if (running.collector) await enrollProbe(running.collector, box, "receiver");
  });

  afterAll(async () => {
    await running.probe?.kill();
    await running.collector?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  test("arrive, each version whole or not at all", async () => {
    await start.probe();
    await publish();
    await arrived(1);
    expect(held()).toEqual(wanted());
    const [before, first] = [held(), inDatabase((db) => db.prepare("select * from bundles").get() as Bundle)];

    for (let n = 0; n < PARTS; n += 1) writeFileSync(join(source, "notes", `${n}.txt`), randomBytes(2000));
    await publish();
    for (const [which, after] of [["probe", 10], ["collector", 60], ["probe", 80]] as const) {
      const parts = join(home, "parts");
      await waitFor(`${after} parts`, () => (existsSync(parts) && readdirSync(parts).length >= after ? true : null), { everyMs: 3 });
      await running[which]?.kill();
      expect([pointer().includes("published 1\n"), held()]).toEqual([true, before]);
      await start[which]();
    }
    await arrived(2);
    expect(held()).toEqual(wanted());
    await waitFor("no part left over", () => (existsSync(join(home, "parts")) ? null : true));
    const second = held();

    await expectRefused(second, () => {
      // What its own examples do not prove.
      writeFileSync(join(source, "bell.xml"), DATABASE(1).replace("Bell 1<", "Gong 1<"));
    }, () => {}, "examples");
    writeFileSync(join(source, "bell.xml"), DATABASE(3));
    // A byte of a part, which is Base64 in the database; a byte of the signature; and the signed first version once more.
    await expectRefused(second, () => {}, (db) => {
      const { sha256, content } = db.prepare("select sha256, content from bundle_pieces where sha256 = ?").get(digest("bell.xml")) as Piece;
      db.prepare("update bundle_pieces set content = ? where sha256 = ?").run(flip(content, 40), sha256);
    }, "manifest");
    await expectRefused(second, () => {}, (db) => {
      const { signature } = db.prepare("select signature from bundles").get() as Bundle;
      db.prepare("update bundles set signature = ?").run(flip(signature, 40));
    }, "signature");
    await expectRefused(second, () => {}, (db) => {
      const { manifest, signature, certificate } = first;
      db.prepare("update bundles set version = 1, manifest = ?, signature = ?, certificate = ?").run(manifest, signature, certificate);
    }, "older");
    // The next right one is taken.
    await publish(["--version-number", "10"]);
    await arrived(10);
    expect(held()).toEqual(wanted());
  });
});
