// The first step of every command: makes a bare clone able to run. It uses nothing but Node itself, does nothing when
// nothing is missing, says what it does, and where it cannot, ends with the one command that would help.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fail, read, root, run, say, start } from "./run.mjs";

/** Kept beside the packages it speaks of, so that removing node_modules removes it too. */
const STAMP = `${root}node_modules/.lanthorn-set-up`;

/** Debian package → a file that is there once it is installed. */
const DEBIAN_PACKAGES = {
  "libpcap-dev": "/usr/include/pcap/pcap.h",
  "g++": "/usr/bin/g++",
  make: "/usr/bin/make",
  python3: "/usr/bin/python3",
  iproute2: "/usr/sbin/ip",
  "xz-utils": "/usr/bin/xz",
  "ca-certificates": "/etc/ssl/certs/ca-certificates.crt",
};

checkNode();
installDebianPackages();
await installNpmPackages();

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`Lanthorn needs Node.js 20.19 or later; this is ${process.versions.node}.`, "On Debian 13: apt-get install nodejs npm");
}

function installDebianPackages() {
  const missing = Object.entries(DEBIAN_PACKAGES).filter(([, file]) => !existsSync(file)).map(([name]) => name);
  if (missing.length === 0) return;
  const command = `apt-get install --yes --no-install-recommends ${missing.join(" ")}`;
  if (process.getuid() !== 0) fail(`These Debian packages are missing: ${missing.join(", ")}.`, `Run as root: ${command}`);
  if (read("apt-get", ["--version"]) === null) {
    fail(
      `These packages are missing, and there is no apt-get to install them: ${missing.join(", ")}.`,
      "Install them by your system's own means.",
    );
  }
  say(`installing the Debian packages ${missing.join(", ")}`);
  const options = { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  const install = () => run("apt-get", command.split(" ").slice(1), options);
  if (install()) return;
  say("once more, with a fresh package list");
  if (!run("apt-get", ["update"], options) || !install()) {
    fail("The Debian packages could not be installed.", `Run as root and read what it says: apt-get update && ${command}`);
  }
}

async function installNpmPackages() {
  const wanted = fingerprint();
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return;
  say("installing the npm packages and building the native ones (better-sqlite3, pcap); about a minute the first time");
  // Not `npm ci`: it refuses a lock file that was written where the registry had not every other platform's binary.
  if (!run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"], { stdio: ["ignore", 2, 2] })) {
    fail("The npm packages could not be installed.", "Run it alone and read what it says: npm install --no-save");
  }
  await Promise.all([buildNative("better-sqlite3"), buildOthers()]);
  for (const name of ["better-sqlite3", "pcap"]) {
    if (!loads(name)) fail(`The native package ${name} could not be built.`, `Run it alone and read what it says: npm rebuild ${name} --foreground-scripts`);
  }
  writeFileSync(STAMP, wanted);
}

/** What one core does while the other compiles SQLite, which is one file and takes longer than all of these. */
async function buildOthers() {
  await runInstallScript("esbuild");
  await buildNative("pcap");
  // The next step of every command but `lab`, which then says what is wrong.
  await start(process.execPath, [`${root}packages/toolchain/src/build.mjs`], { stdio: "ignore" });
}

async function buildNative(name) {
  if (!loads(name)) await runInstallScript(name);
}

function runInstallScript(name) {
  // SQLite's own makefiles optimize so. The `-O3` of better-sqlite3 takes half as long again to compile, and is no faster in use.
  const env = { ...process.env, CFLAGS: process.env["CFLAGS"] ?? "-O2" };
  return start("npm", ["rebuild", name, "--loglevel=error"], { stdio: ["ignore", "ignore", 2], env });
}

function loads(name) {
  const program = `const m = require(${JSON.stringify(name)}); if (${JSON.stringify(name)} === "better-sqlite3") new m(":memory:")`;
  return read(process.execPath, ["-e", program]) !== null;
}

/** What the installed packages depend on: the lock file, and the Node that the native ones were built for. */
function fingerprint() {
  const lock = readFileSync(`${root}package-lock.json`);
  return `${createHash("sha256").update(lock).digest("hex")} node-abi-${process.versions.modules} ${process.arch}\n`;
}
