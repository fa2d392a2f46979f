import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { LabError } from "./errors.ts";
import { withFileLock } from "./file-lock.ts";
import { runCommand, tryCommand } from "./run-command.ts";

/** Programs of Debian packages, lying in a folder of their own. */
export interface DebianRoot {
  /** Absolute path of the folder that takes the place of `/`; it holds only what the machine itself lacks. */
  readonly root: string;
  /** What programs below `root` need over the environment they are run with. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * How to run a program by its name: the unpacked one, else the machine's own.
   * `env` belongs over the environment it is run with.
   * @throws LabError `packages` when there is none of that name.
   */
  command(name: string): { readonly path: string; readonly env: Readonly<Record<string, string>> };
}

export interface UnpackOptions {
  /** Where packages are kept; the repository's ignored `.cache/debian` unless given. */
  readonly cacheFolder?: string;
  /** Told, in a sentence, what is being fetched; standard error unless given. */
  readonly say?: Say;
}

type Say = (line: string) => void;

interface PackageVersion {
  readonly name: string;
  readonly version: string;
}

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM_FOLDERS = ["usr/sbin", "usr/bin", "sbin", "bin", "usr/lib/systemd", "lib/systemd"];

/** In the cache folder, in place of /etc/apt/sources.list; that of the machine stays as it is. */
const SOURCES = "sources.list";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** Programs that look for their data under `/usr` unless an environment variable says otherwise. */
const DATA_FOLDERS = { NMAPDIR: "usr/share/nmap", WIRESHARK_DATA_DIR: "usr/share/wireshark", MIBDIRS: "usr/share/snmp/mibs" };

/**
 * Unpacks Debian packages, and those they depend on that the machine lacks, without installing any: nothing starts and nothing outside the
 * cache folder changes. What was unpacked before is used again without the network; runs at the same time wait for each other.
 * @param names Packages of the machine's own Debian release, or else of its backports.
 * @throws LabError `packages` when this is no Debian machine, a package does not exist, or it cannot be fetched.
 */
export async function unpackDebianPackages(names: readonly string[], options: UnpackOptions = {}): Promise<DebianRoot> {
  const cache = options.cacheFolder ?? join(REPOSITORY, ".cache/debian");
  const say = options.say ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const wrong = names.find((name) => !/^[a-z0-9][a-z0-9+.-]+$/.test(name));
  if (wrong !== undefined) throw new LabError("packages", `"${wrong}" is not the name of a Debian package`);
  /** What must be fetched depends on what the machine has, so a change there asks apt again. */
  const request = join(cache, "requests", hash([...new Set(names)].toSorted().join(" "), await stampOfMachine()));
  const known = await readFile(request, "utf8").catch(() => "");
  if (known !== "" && existsSync(join(cache, known))) return openRoot(join(cache, known));
  return withFileLock({ file: join(cache, "lock"), waitSeconds: 600 }, async () => {
    const packages = await resolvePackages(names, cache, say);
    const folder = `root-${hash(...packages.map((one) => `${one.name}=${one.version}`).toSorted())}`;
    if (!existsSync(join(cache, folder))) await buildRoot(packages, cache, folder, say);
    await mkdir(dirname(request), { recursive: true });
    await writeFile(request, folder);
    return openRoot(join(cache, folder));
  });
}

function hash(...parts: readonly string[]): string {
  return createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 16);
}

async function stampOfMachine(): Promise<string> {
  const status = await stat("/var/lib/dpkg/status").catch((cause: unknown) => {
    throw new LabError("packages", "this machine has no dpkg: the lab's programs come from Debian packages", { cause });
  });
  return `${status.mtimeMs} ${status.size}`;
}

/** Which packages of which version would be installed, had apt to install `names`. */
async function resolvePackages(names: readonly string[], cache: string, say: Say): Promise<readonly PackageVersion[]> {
  const simulate = ["install", "--simulate", "--no-install-recommends", "-o", "Debug::NoLocking=1", ...names];
  let answer = await tryCommand("apt-get", [...(await listOptions(cache)), ...simulate]);
  if (answer.code !== 0) answer = await tryCommand("apt-get", [...(await updateLists(cache, say)), ...simulate]);
  const backports = answer.code === 0 ? null : await addBackports(cache);
  if (backports !== null) answer = await tryCommand("apt-get", [...(await updateLists(cache, say)), "--target-release", backports, ...simulate]);
  if (answer.code !== 0) throw new LabError("packages", `apt cannot find ${names.join(" ")}: ${answer.stderr.trim()}`);
  const packages = answer.stdout.matchAll(/^Inst (\S+) (?:\[\S+\] )?\((\S+) /gm);
  return [...packages].map(([, name = "", version = ""]) => ({ name, version }));
}

/** Options that point apt at package lists of our own, once there are any; the machine's lists otherwise. */
async function listOptions(cache: string): Promise<readonly string[]> {
  const lists = join(cache, "lists");
  const sources = join(cache, SOURCES);
  return [
    ...(existsSync(join(lists, "partial")) ? ["-o", `Dir::State::Lists=${lists}`, "-o", `Dir::Cache=${join(cache, "apt")}`] : []),
    ...(existsSync(sources) ? ["-o", `Dir::Etc::SourceList=${sources}`] : []),
  ];
}

/** Lays the backports of the machine's release beside its sources; apt takes from them only what is nowhere else, or when it is told to. @returns Their name; null where the machine's sources do not say where Debian is. */
async function addBackports(cache: string): Promise<string | null> {
  const { stdout } = await tryCommand("apt-get", [...(await listOptions(cache)), "indextargets", "--format", "$(ORIGIN) $(COMPONENT) $(SITE) $(CODENAME)", "Created-By: Packages"]);
  const [, site = "", release = ""] = /^Debian main (\S+) ([a-z]+)$/m.exec(stdout) ?? [];
  if (site === "") return null;
  const own = await readFile("/etc/apt/sources.list", "utf8").catch(() => "");
  const signed = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : "";
  await writeFile(join(cache, SOURCES), `${own}\ndeb ${signed}${site} ${release}-backports main\n`);
  return `${release}-backports`;
}

/** Fetches package lists into the cache folder: for a machine that has none, or whose lists name packages that are gone. */
async function updateLists(cache: string, say: Say): Promise<readonly string[]> {
  say("fetching Debian's package lists");
  await mkdir(join(cache, "lists/partial"), { recursive: true });
  await mkdir(join(cache, "apt/archives/partial"), { recursive: true });
  const options = [...(await listOptions(cache)), "-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User="];
  const result = await tryCommand("apt-get", [...options, "update"], { timeoutMs: 180_000 });
  if (result.code === 0) return options;
  for (const made of ["lists", SOURCES]) await rm(join(cache, made), { recursive: true, force: true });
  throw new LabError("packages", `apt-get update failed; look at /etc/apt/sources.list and the network: ${result.stderr.trim()}`);
}

async function buildRoot(packages: readonly PackageVersion[], cache: string, folder: string, say: Say): Promise<void> {
  await mkdir(join(cache, "archives"), { recursive: true });
  const unfinished = await mkdtemp(join(cache, "unfinished-"));
  try {
    const archives = await fetchArchives(packages, cache, say);
    for (const archive of archives) await runCommand("dpkg-deb", ["--extract", archive, unfinished]);
    await keepLinksInside(unfinished, unfinished);
    await rename(unfinished, join(cache, folder));
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function fetchArchives(packages: readonly PackageVersion[], cache: string, say: Say): Promise<readonly string[]> {
  const folder = join(cache, "archives");
  const present = await readdir(folder);
  const wanted = packages.filter((one) => archiveOf(one, present) === undefined);
  if (wanted.length > 0) {
    say(`fetching Debian packages: ${wanted.map((one) => one.name).join(" ")}`);
    await download(wanted, cache, say);
  }
  const fetched = await readdir(folder);
  return packages.map((one) => {
    const archive = archiveOf(one, fetched);
    if (archive === undefined) throw new LabError("packages", `apt-get download brought no archive of ${one.name} ${one.version}`);
    return join(folder, archive);
  });
}

/** apt names an archive `name_version_architecture.deb`, with the version's colon escaped. */
function archiveOf(one: PackageVersion, files: readonly string[]): string | undefined {
  const start = `${one.name.replace(/:.*/, "")}_${one.version.replaceAll(":", "%3a")}_`;
  return files.find((file) => file.startsWith(start) && file.endsWith(".deb"));
}

async function download(wanted: readonly PackageVersion[], cache: string, say: Say): Promise<void> {
  const folder = await mkdtemp(join(cache, "unfinished-"));
  try {
    const args = [
      "-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User=", "download", ...wanted.map((one) => `${one.name}=${one.version}`),
    ];
    const options = { cwd: folder, timeoutMs: 300_000 };
    const first = await tryCommand("apt-get", [...(await listOptions(cache)), ...args], options);
    /** Lists that are older than the last point release name archives that are no longer there. */
    if (first.code !== 0) await runCommand("apt-get", [...(await updateLists(cache, say)), ...args], options);
    for (const file of await readdir(folder)) await rename(join(folder, file), join(cache, "archives", file));
  } catch (cause) {
    throw new LabError("packages", "Debian packages cannot be fetched", { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A link to `/bin/busybox` means the unpacked one, not the machine's. */
async function keepLinksInside(root: string, folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await keepLinksInside(root, path);
    if (!entry.isSymbolicLink()) continue;
    const target = await readlink(path);
    const inside = join(root, target);
    if (!target.startsWith("/") || !(await lstat(inside).catch(() => null))) continue;
    await rm(path);
    await symlink(relative(folder, inside), path);
  }
}

async function openRoot(root: string): Promise<DebianRoot> {
  const libraries = (await Promise.all(["usr/lib", "lib"].map((folder) => libraryFolders(join(root, folder))))).flat();
  const env: Record<string, string> = libraries.length > 0 ? { LD_LIBRARY_PATH: libraries.join(":") } : {};
  for (const [variable, folder] of Object.entries(DATA_FOLDERS)) {
    if (existsSync(join(root, folder))) env[variable] = join(root, folder);
  }
  return {
    root,
    env,
    command(name) {
      const inRoot = PROGRAM_FOLDERS.map((folder) => join(root, folder, name)).find((path) => existsSync(path));
      if (inRoot !== undefined) return { path: inRoot, env };
      const onMachine = PROGRAM_FOLDERS.map((folder) => join("/", folder, name)).find((path) => existsSync(path));
      if (onMachine === undefined) throw new LabError("packages", `no program "${name}" in ${root} nor on this machine`);
      return { path: onMachine, env: {} };
    },
  };
}

/**
 * Inside a triplet's folder: libraries that a package's installation script would have linked from there (nmap needs `blas`), or that
 * others name by a path below `/usr` (Chromium's `pulseaudio`, Samba's own).
 */
const ALTERNATIVES = ["blas", "pulseaudio", "samba"];

/** The loader's folders: one for each multiarch triplet (`x86_64-linux-gnu`, `aarch64-linux-gnu`), what lies in it, then the plain one. */
async function libraryFolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const triplets = entries.filter((entry) => entry.isDirectory() && /-linux-gnu/.test(entry.name)).map((entry) => join(folder, entry.name));
  const plain = entries.some((entry) => /\.so(\.|$)/.test(entry.name)) ? [folder] : [];
  const inside = triplets.flatMap((triplet) => ALTERNATIVES.map((name) => join(triplet, name))).filter((path) => existsSync(path));
  return [...triplets, ...inside, ...plain];
}
