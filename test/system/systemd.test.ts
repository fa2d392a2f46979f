import {
  chmodSync, chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createRestClient } from "@lanthorn/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REPOSITORY } from "../lab/lab-state.ts";
import { runCommand, tryCommand } from "../lab/run-command.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { NODE_SETTINGS } from "./deployment.ts";
import { waitFor } from "../lab/wait-for.ts";

const UNITS = ["lanthorn-probe", "lanthorn-collector"] as const;
const MAX_EXPOSED = 3;
/** Debian's nobody and nogroup. */
const NOBODY = 65_534;
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs"];
const WITHOUT_CAPABILITIES = [...AS_NOBODY, "--inh-caps=-all", "--bounding-set=-all"];
const WITH_RAW_SOCKETS = [...AS_NOBODY, "--inh-caps=-all,+net_raw", "--ambient-caps=+net_raw", "--bounding-set=-all,+net_raw"];
/** A network of its own with nobody else on it; the kernel takes it away with its last process. */
const ALONE = ["unshare", "--net", "sh", "-c", `
  ip link add lan0 type veth peer name far0 && ip addr add 10.99.0.1/30 dev lan0 && ip link set far0 up && ip link set lan0 up && exec "$@"
`, "sh"];

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn("SKIPPED: running the installed daemons as another user needs root; run the tests with sudo");
const analyze = (...args: readonly string[]) => tryCommand("systemd-analyze", args);
const canAnalyze = (await analyze("--version")).code === 0;
if (!canAnalyze) console.warn("SKIPPED: systemd-analyze, which rates the units' sandbox, is not installed");

describe("what systemd/install.sh puts below a folder", () => {
  const root = mkdtempSync(join(tmpdir(), "lanthorn-install-"));
  const installed = (...path: readonly string[]) => join(root, ...path);
  const daemons: Daemon[] = [];
  let said = "";

  beforeAll(async () => {
    // For the other user who is to run it.
    chmodSync(root, 0o755);
    said = await runCommand("systemd/install.sh", ["all", "--root", root], { cwd: REPOSITORY });
  });

  afterAll(async () => {
    for (const daemon of daemons) await daemon.kill();
    rmSync(root, { recursive: true, force: true });
  });

  test("is programs, units, users and configuration, writable by root alone, and no secret is among it", () => {
    const modes = (folder: string) => pathsBelow(installed(folder)).map((path) => {
      const found = lstatSync(path);
      return `${relative(root, path)} ${found.isSymbolicLink() ? "link" : (found.mode & 0o777).toString(8)}`;
    });
    expect(["etc", "usr/bin", "usr/lib/systemd", "usr/lib/sysusers.d", "usr/lib/tmpfiles.d"].flatMap(modes)).toEqual([
      "etc/lanthorn 755", "etc/lanthorn/collector.toml 640", "etc/lanthorn/credentials 700", "etc/lanthorn/probe.toml 644",
      "usr/bin/lanthorn link", "usr/bin/lanthorn-collector link", "usr/bin/lanthorn-probe link",
      "usr/lib/systemd/system 755",
      "usr/lib/systemd/system/lanthorn-collector.service 644", "usr/lib/systemd/system/lanthorn-probe.service 644",
      "usr/lib/sysusers.d/lanthorn.conf 644", "usr/lib/tmpfiles.d/lanthorn.conf 644",
    ]);
    const writable = (path: string) => !lstatSync(path).isSymbolicLink() && (lstatSync(path).mode & 0o022) !== 0;
    expect(pathsBelow(installed("usr/lib/lanthorn")).filter(writable)).toEqual([]);
    const parts = readdirSync(installed("usr/lib/lanthorn")).toSorted();
    expect(parts).toEqual(["LICENSE", "apps", "bin", "node_modules", "package.json", "packages"]);
    expect(said).toContain("admin-password");
  });

  test("runs from there, and takes the configuration that came with it", async () => {
    const { version } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as { readonly version: string };
    for (const name of ["lanthorn", ...UNITS]) {
      expect(await tryCommand(installed("usr/bin", name), ["--version"])).toMatchObject({ code: 0, stdout: `${version}\n` });
    }
    for (const name of UNITS) {
      const configuration = installed("etc/lanthorn", `${name.slice("lanthorn-".length)}.toml`);
      const check = await tryCommand(installed("usr/bin", name), ["--check-config", "--config", configuration]);
      expect(check).toMatchObject({ code: 0, stderr: "" });
    }
  });

  test.each(UNITS)("%s starts Node as tests and benches do", (name) => {
    const { flags, env } = NODE_SETTINGS[name];
    const settings = Object.entries(env).map(([key, value]) => `${key}=${value}`);
    const command = readFileSync(installed("usr/lib/lanthorn/bin", name), "utf8");
    expect(command.split("\n")).toContainEqual(expect.stringContaining([...settings, "node", ...flags].join(" ")));
  });

  test.skipIf(!canAnalyze).each(UNITS)("%s.service is sandboxed, and systemd finds no fault with it", async (unit) => {
    const file = installed("usr/lib/systemd/system", `${unit}.service`);
    const { stdout } = await analyze("security", "--offline=true", "--no-pager", file);
    expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(MAX_EXPOSED);
    // The same with the program where it is here, as systemd looks whether it can be run.
    const copy = installed(`${unit}.service`);
    writeFileSync(copy, readFileSync(file, "utf8").replaceAll("=/usr/lib/lanthorn/", `=${installed("usr/lib/lanthorn")}/`));
    expect(await analyze("verify", "--man=no", copy)).toMatchObject({ code: 0, stderr: "" });
    rmSync(copy);
  });

  describe.skipIf(!isRoot)("as another user", () => {
    const state = (name: string) => installed("var/lib", name);
    const credentials = installed("run/credentials");
    let collector: Daemon;
    let password = "";

    beforeAll(async () => {
      // As systemd does: directories of state and credentials that the service's user may read.
      for (const name of UNITS) mkdirSync(state(name), { recursive: true });
      // Empty ones, as systemd-tmpfiles makes them, and the configuration for the service's group.
      mkdirSync(credentials, { recursive: true });
      for (const name of ["token-secret", "admin-password"]) writeFileSync(join(credentials, name), "", { mode: 0o600 });
      chownSync(installed("etc/lanthorn/collector.toml"), 0, NOBODY);
      for (const path of [credentials, ...pathsBelow(credentials), ...UNITS.map(state)]) chownSync(path, NOBODY, NOBODY);
      collector = await startDaemon({
        script: installed("usr/bin/lanthorn-collector"), args: ["run", "--config", installed("etc/lanthorn/collector.toml")],
        through: WITHOUT_CAPABILITIES, logFile: installed("collector.log"),
        env: {
          LANTHORN_DATA_DIR: state("lanthorn-collector"), CREDENTIALS_DIRECTORY: credentials, NODE_ENV: "production",
          LANTHORN_HTTP_PORT: "0", LANTHORN_HTTPS_HOST: "127.0.0.1", LANTHORN_HTTPS_PORT: "0",
          LANTHORN_MQTT_HOST: "127.0.0.1", LANTHORN_MQTT_PORT: "0", LANTHORN_FEEDS_ENABLED: "false",
        },
      });
      daemons.push(collector);
      password = readFileSync(join(state("lanthorn-collector"), "admin-password"), "utf8").trim();
    });

    const probeProgram = installed("usr/bin/lanthorn-probe");
    const probeEnvironment = { LANTHORN_DATA_DIR: state("lanthorn-probe"), LANTHORN_INTERFACE: "lan0", NODE_ENV: "production" };

    test("the collector serves, and knows the password that its first start made", async () => {
      const url = String(collector.ready["url"]);
      const health = await fetch(`${url}/health`);
      expect(health.status).toBe(200);
      let token = "";
      const rest = createRestClient({ url, token: () => token, fetch });
      token = (await rest.login({ username: "admin", password })).access_token;
      const site = (await rest.listSites()).data[0];
      // By root, as the README tells it; what it writes is the service user's.
      const enrollment = await rest.createEnrollmentToken({ site_id: site?.id ?? "" });
      const where = ["--collector", String(collector.ready["https_url"]), "--token", enrollment.token];
      await runCommand(probeProgram, ["enroll", ...where], { env: probeEnvironment });
      expect(statSync(join(state("lanthorn-probe"), "identity", "identity.json"))).toMatchObject({ uid: NOBODY, gid: NOBODY });
    });

    test("the probe ends without CAP_NET_RAW and names it", async () => {
      const [program, ...args] = [...ALONE, ...WITHOUT_CAPABILITIES, probeProgram, "run"];
      const { code, stderr } = await tryCommand(program, args, { env: probeEnvironment });
      expect([code, stderr.includes("AmbientCapabilities=CAP_NET_RAW")]).toEqual([6, true]);
      expect(stderr).not.toMatch(/^ +at /m);
    });

    test("the probe watches with CAP_NET_RAW and nothing else", async () => {
      const probe = await startDaemon({
        script: probeProgram, args: ["run"], through: [...ALONE, ...WITH_RAW_SOCKETS], env: probeEnvironment,
        logFile: installed("probe.log"),
      });
      daemons.push(probe);
      const status = await waitFor("the watched interface", async () => {
        const { stdout } = await tryCommand(probeProgram, ["status", "--json"], { env: probeEnvironment });
        const report = JSON.parse(stdout) as { readonly interface: { readonly up: boolean; readonly problem: string | null } };
        return report.interface.up ? report : null;
      });
      expect(status.interface).toMatchObject({ name: "lan0", problem: null, addresses: expect.arrayContaining(["10.99.0.1/30"]) });
      expect(readFileSync(`/proc/${probe.pid}/status`, "utf8")).toMatch(/^Uid:\t65534\t65534[\s\S]*^CapEff:\t0000000000002000$/m);
      expect(await probe.stop()).toBe(0);
    });
  });

  test("is DNS, too, where somebody asks for it, with the addresses that it answers on; it goes without the others", async () => {
    const dns = (...path: readonly string[]) => readFileSync(installed(...path), "utf8");
    await runCommand("systemd/install.sh", ["dns", "--listen", "192.0.2.1", "--listen", "2001:db8::1", "--root", root], { cwd: REPOSITORY });
    expect(dns("etc/systemd/system/lanthorn-dns.socket.d/listen.conf")).toBe(
      "[Socket]\nListenDatagram=192.0.2.1:53\nListenStream=192.0.2.1:53\nListenDatagram=[2001:db8::1]:53\nListenStream=[2001:db8::1]:53\n",
    );
    const check = ["--check-config", "resolver", "--config", installed("etc/lanthorn/dns.toml")];
    expect(await tryCommand(installed("usr/lib/lanthorn/bin/lanthorn-probe"), check)).toMatchObject({ code: 0, stderr: "" });
    if (canAnalyze) {
      const { stdout } = await analyze("security", "--offline=true", "--no-pager", installed("usr/lib/systemd/system/lanthorn-dns.service"));
      expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(MAX_EXPOSED);
    }
    await runCommand("systemd/uninstall.sh", ["dns", "--purge", "--root", root], { cwd: REPOSITORY });
    expect(pathsBelow(root).filter((path) => path.includes("dns.") && !path.includes("/usr/lib/lanthorn"))).toEqual([]);
    expect(existsSync(installed("usr/lib/lanthorn/bin/lanthorn-probe"))).toBe(true);
  });

  test("is decoys, too, where somebody asks for them, in a unit with as few rights", async () => {
    await runCommand("systemd/install.sh", ["decoy", "--root", root], { cwd: REPOSITORY });
    const file = installed("etc/lanthorn/decoy.toml");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(/^# (?=\[|[a-z]+ = )/gm, ""));
    expect(await tryCommand(installed("usr/lib/lanthorn/bin/lanthorn-probe"), ["--check-config", "decoy", "--config", file])).toMatchObject({ code: 0, stderr: "" });
    if (canAnalyze) {
      for (const unit of ["lanthorn-decoy.service", "lanthorn-decoy-addresses.service"]) {
        const { stdout } = await analyze("security", "--offline=true", "--no-pager", installed(`usr/lib/systemd/system/${unit}`));
        expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(MAX_EXPOSED);
      }
    }
    await runCommand("systemd/uninstall.sh", ["decoy", "--purge", "--root", root], { cwd: REPOSITORY });
    expect(pathsBelow(root).filter((path) => /decoy(?:-addresses)?\./.test(path) && !path.includes("/usr/lib/lanthorn"))).toEqual([]);
  });

  test("goes again with systemd/uninstall.sh, all but configuration and state, and those with --purge", async () => {
    for (const daemon of daemons) await daemon.kill();
    const left = () => [...pathsBelow(installed("usr")), ...pathsBelow(installed("etc"))]
      .filter((path) => !lstatSync(path).isDirectory()).map((path) => relative(root, path));
    const uninstall = (...args: readonly string[]) => runCommand("systemd/uninstall.sh", [...args, "--root", root], { cwd: REPOSITORY });
    await uninstall("probe");
    expect(left().filter((path) => /^usr\/(bin|lib\/systemd)/.test(path))).toEqual([
      "usr/bin/lanthorn", "usr/bin/lanthorn-collector", "usr/lib/systemd/system/lanthorn-collector.service",
    ]);
    await uninstall("collector");
    const kept = ["collector.toml", "probe.toml"];
    expect(left()).toEqual(kept.map((name) => `etc/lanthorn/${name}`));
    await uninstall("all", "--purge");
    expect([left(), readdirSync(installed("var/lib")).length]).toEqual([[], 0]);
  });
});

test.each(["install.sh", "uninstall.sh"])("systemd/%s is a sound script, and tells how it is called", async (script) => {
  expect(await tryCommand("sh", ["-n", join(REPOSITORY, "systemd", script)])).toMatchObject({ code: 0, stderr: "" });
  for (const args of [[], ["everything"], ["probe", "--root"]]) {
    const { code, stderr } = await tryCommand(join(REPOSITORY, "systemd", script), args);
    expect([code, stderr.includes(script)]).toEqual([2, true]);
  }
});

/** Everything below a folder, its folders too, sorted; nothing where there is no such folder. */
function pathsBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => join(entry.parentPath, entry.name)).toSorted();
}
