import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Device, EnrollmentToken, Probe, Site, StreamFrame } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CommandResult } from "../lab/run-command.ts";
import { writeCaptureOfHosts } from "./capture-of-hosts.ts";
import type { Daemon } from "./daemon.ts";
import { type Collector, type ProbeBox, runProbeCommand, startCollector, startProbe } from "./deployment.ts";
import { createOperator } from "./operator.ts";
import { findOtherTime } from "./other-time.ts";
import { waitFor } from "../lab/wait-for.ts";

const otherTime = await findOtherTime();

describe("from a login to a revoked probe", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-enrollment-"));
  const dataDir = join(folder, "collector");
  const box: ProbeBox = { dataDir: join(folder, "probe") };
  const operator = createOperator(join(folder, "session.json"));
  const former = createOperator(join(folder, "former-session.json"));
  const passwordFile = join(dataDir, "admin-password");
  let collector: Collector;
  let probe: Daemon | undefined;
  let expiredToken = "";
  let site: Site;
  let token = "";
  let probeId = "";

  const enroll = (given: {
    readonly token: string; readonly url?: string; readonly force?: boolean; readonly env?: Readonly<Record<string, string>>;
  }) => {
    const { url = collector.httpsUrl, force = false } = given;
    const args = ["enroll", "--collector", url, "--token", given.token, "--name", "box-1", ...(force ? ["--force"] : [])];
    return runProbeCommand(box, args, given.env);
  };
  const makeToken = () => operator.ask<EnrollmentToken>("probes", "token", "create", "--site", "Store 12");
  const record = async () => (await operator.ask<Probe[]>("probes", "list")).find(({ id }) => id === probeId);

  beforeAll(async () => {
    if (otherTime) {
      // What was made two days ago and was good for less is expired now.
      const past = await startCollector({ dataDir, host: "127.0.0.1", env: otherTime("-2d") });
      await former.run("login", "--url", past.url, "--password-file", passwordFile);
      expiredToken = (await former.ask<EnrollmentToken>("probes", "token", "create", "--site", "default", "--ttl", "1h")).token;
      await past.stop();
      collector = await startCollector({ dataDir, host: "127.0.0.1", httpPort: Number(new URL(past.url).port) });
    } else {
      collector = await startCollector({ dataDir, host: "127.0.0.1" });
    }
  });

  afterAll(async () => {
    await probe?.stop();
    await collector?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("without a login, every command tells the command for it", async () => {
    await expectFault(operator.run("sites", "list"), 1, "lanthorn login --url");
  });

  test("a login needs the right password, and over TLS the collector's CA", async () => {
    const wrong = join(folder, "wrong-password");
    writeFileSync(wrong, "guess");
    const login = (url: string, file: string, ...more: readonly string[]) =>
      operator.run("login", "--url", url, "--password-file", file, ...more);
    await Promise.all([
      expectFault(login(collector.url, wrong), 1, "password is wrong"),
      expectFault(login(collector.httpsUrl, passwordFile), 1, "--ca FILE"),
      expectFault(login("http://127.0.0.1:9", passwordFile), 1, "no answer from http://127.0.0.1:9"),
      expectFault(login("collector:8443", passwordFile), 1, "--url"),
    ]);
    expect(await login(collector.httpsUrl, passwordFile, "--ca", join(dataDir, "ca.crt"))).toMatchObject({ code: 0, stderr: "" });
    expect(statSync(join(folder, "session.json")).mode & 0o777).toBe(0o600);
  });

  test.skipIf(otherTime === null)("a login that has expired tells the command for a new one", async () => {
    await expectFault(former.run("sites", "list"), 1, "lanthorn login --url");
  });

  test("sites are made and listed, each name once", async () => {
    site = await operator.ask<Site>("sites", "create", "Store 12");
    await expectFault(operator.run("sites", "create", "Store 12"), 1, "Store 12");
    const { code, stdout } = await operator.run("sites", "list");
    expect([code, stdout.split("\n").map((line) => line.split("  ")[0])]).toEqual([0, ["NAME", "default", "Store 12", ""]]);
  });

  test("a token is made for a site that there is, good for a minute at least", async () => {
    await Promise.all([
      expectFault(operator.run("probes", "token", "create", "--site", "Store 13"), 1, "Store 12"),
      expectFault(operator.run("probes", "token", "create", "--site", "Store 12", "--ttl", "soon"), 1, "--ttl"),
      expectFault(operator.run("probes", "token", "create", "--site", "Store 12", "--ttl", "5s"), 1, "ttl_seconds"),
    ]);
    const made = await makeToken();
    expect(made.site_id).toBe(site.id);
    ({ token } = made);
  });

  test("what cannot enroll says why, by its exit code too, and leaves the token good", async () => {
    const [head, secret, pin] = token.split(".") as [string, string, string];
    await Promise.all([
      expectFault(runProbeCommand(box, ["run"], { LANTHORN_INTERFACE: "lo" }), 3, "lanthorn-probe enroll --collector"),
      expectFault(runProbeCommand(box, ["status"]), 3, "lanthorn-probe enroll --collector"),
      expectFault(enroll({ token: "letmein" }), 20, "lanthorn probes token create"),
      expectFault(enroll({ token: [head, "A".repeat(secret.length), pin].join(".") }), 21, "lanthorn probes token create"),
      expectFault(enroll({ token: [head, secret, "A".repeat(pin.length)].join(".") }), 24, "not the collector that issued this token"),
      expectFault(enroll({ token, url: "https://127.0.0.1:9" }), 26, "127.0.0.1:9"),
      expectFault(enroll({ token, url: collector.httpsUrl.replace("https", "ftp") }), 29, "https://"),
    ]);
    expect(existsSync(join(box.dataDir, "identity"))).toBe(false);
  });

  test.skipIf(otherTime === null)("neither does a token from yesterday, nor a clock that is ten minutes off", async () => {
    await expectFault(enroll({ token: expiredToken }), 23, "expired");
    for (const offset of ["+600s", "-600s"]) await expectFault(enroll({ token, env: otherTime?.(offset) ?? {} }), 25, "timedatectl");
    expect(existsSync(join(box.dataDir, "identity"))).toBe(false);
  });

  test("a token enrolls one probe, once", async () => {
    expect(await enroll({ token })).toMatchObject({ code: 0, stderr: "" });
    await expectFault(enroll({ token }), 27, "--force");
    await expectFault(enroll({ token, force: true }), 22, "used");
    const [only, ...others] = await operator.ask<Probe[]>("probes", "list");
    expect([only, others]).toMatchObject([{ name: "box-1", site_id: site.id, state: "enrolled", health: null }, []]);
    probeId = only?.id ?? "";
    await expectFault(runProbeCommand(box, ["status"]), 7, "systemctl start lanthorn-probe");
    expect(statSync(join(box.dataDir, "identity", "identity.json")).mode & 0o777).toBe(0o600);
  });

  test("its probe is online, and what it finds is watched and listed", async () => {
    const capture = join(folder, "hosts.pcap");
    const configuration = join(folder, "probe.toml");
    const macs = writeCaptureOfHosts(capture, 3);
    writeFileSync(configuration, "[health]\ninterval_seconds = 5\n");
    const watch = operator.start("watch", "--json", "--events", "host_found", "--site", site.id);
    const readable = operator.start("watch", "--events", "host_found");
    const isWatching = ({ notes }: typeof watch) => notes.some((note) => note.startsWith("watching"));
    await waitFor("both watching", () => (isWatching(watch) && isWatching(readable) ? true : null));
    probe = await startProbe(box, { interface: "none", args: ["--replay", capture, "--config", configuration] });
    await waitFor("three events", () => (watch.lines.length >= 3 && readable.lines.length >= 3 ? true : null));
    const frames = watch.lines.map((line) => JSON.parse(line) as StreamFrame);
    expect(frames.map(({ event, data }) => [event, data["mac"]])).toEqual(macs.map((mac) => ["host_found", mac]));
    for (const [index, line] of readable.lines.entries()) expect(line).toMatch(new RegExp(`host_found .* ${macs[index]}`));
    expect(await Promise.all([watch.stop(), readable.stop()])).toEqual([0, 0]);
    const devices = await operator.ask<Device[]>("devices", "list");
    const addresses = ["10.20.0.1", "10.20.0.2", "10.20.0.3"];
    expect(devices.map(({ mac, ip, is_online }) => [mac, ip, is_online])).toEqual(macs.map((mac, index) => [mac, addresses[index], true]));
    await waitFor("health", async () => ((await record())?.health?.hosts.online === 3 ? true : null));
    expect(await record()).toMatchObject({ state: "online", refused: {} });
    expect(await status()).toMatchObject({ probe_id: probeId, site_name: "Store 12", collector: { connected: true, problem: null } });
  });

  test("a revocation cuts the live session, and it does not come back", async () => {
    await expectFault(operator.run("probes", "revoke", "box-1"), 1, "probe_id");
    expect(await operator.run("probes", "revoke", probeId)).toMatchObject({ code: 0, stderr: "" });
    expect((await record())?.state).toBe("revoked");
    // Its certificate is refused at each new attempt: it says so in its log and its status, and keeps what it finds.
    await waitFor("the refusal in the log", () => (isRefusal(readFileSync(join(box.dataDir, "probe.log"), "utf8")) ? true : null));
    const link = await waitFor("the refusal in the status", async () => {
      const { collector: now } = await status();
      return isRefusal(now.problem ?? "") ? now : null;
    });
    expect(link.connected).toBe(false);
    expect((await record())?.state).toBe("revoked");
    expect(await probe?.stop()).toBe(0);
  });

  test("a revoked probe comes back only by a new enrollment", async () => {
    const { token: another } = await makeToken();
    expect(await enroll({ token: another, force: true })).toMatchObject({ code: 0 });
    const states = (await operator.ask<Probe[]>("probes", "list")).map(({ state }) => state);
    expect(states.toSorted()).toEqual(["enrolled", "revoked"]);
  });

  test("a collector that is gone is named by every command", async () => {
    await collector.stop();
    await expectFault(operator.run("devices", "list"), 1, `no answer from ${collector.httpsUrl}`);
  });

  async function status() {
    const { stdout } = await runProbeCommand(box, ["status", "--json"]);
    return JSON.parse(stdout) as { readonly collector: { readonly connected: boolean; readonly problem: string | null } };
  }
});

/** MQTT 3.1.1's return code 5. */
function isRefusal(text: string): boolean {
  return /not authorized/i.test(text);
}

/** A failure as a newcomer meets it: its exit code, nothing on standard output, and words that help without a stack. */
async function expectFault(command: Promise<CommandResult>, code: number, words: string): Promise<void> {
  const result = await command;
  expect(result).toMatchObject({ code, stdout: "" });
  expect(result.stderr).toContain(words);
  expect(result.stderr).not.toMatch(/^ +at /m);
}
