/** What a small machine says to the commands that intruders give first. Nothing is done: each answer is a text. */
import type { BaitDocument } from "../../documents/bait-documents.ts";
import { type Peer, type Stage, withName } from "../service.ts";

/** Who is in the shell, and where. */
export interface ShellState {
  readonly username: string;
  directory: string;
  readonly stage: Stage;
  /** A document was shown. */
  readonly onRead: (document: BaitDocument) => void;
}

/** @returns The state of a shell, or of a file transfer, that begins in the home of who was let in. */
export function createShellState({ peer, stage, username }: { readonly peer: Pick<Peer, "took">; readonly stage: Stage; readonly username: string }): ShellState {
  return { username, directory: homeOf(username), stage, onRead: (document) => peer.took(document, username) };
}

/** What a file says. */
export interface FoundFile {
  readonly content: Buffer;
  /** Milliseconds since the epoch. */
  readonly modifiedMs: number;
  /** Null for a text of the system's. */
  readonly document: BaitDocument | null;
}

type Answer = (words: readonly string[], state: ShellState) => string;

const FILES: Readonly<Record<string, (state: ShellState) => string>> = {
  "/etc/passwd": ({ username }) => `root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\nbin:x:2:2:bin:/bin:/usr/sbin/nologin\nsys:x:3:3:sys:/dev:/usr/sbin/nologin\nwww-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\nsshd:x:105:65534::/run/sshd:/usr/sbin/nologin\n${isRoot(username) ? "" : `${username}:x:1000:1000:,,,:/home/${username}:/bin/bash\n`}`,
  "/etc/os-release": () => "PRETTY_NAME=\"Debian GNU/Linux 11 (bullseye)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"11\"\nVERSION=\"11 (bullseye)\"\nVERSION_CODENAME=bullseye\nID=debian\nHOME_URL=\"https://www.debian.org/\"\n",
  "/etc/issue": () => "Debian GNU/Linux 11 \\n \\l\n\n",
  "/etc/debian_version": () => "11.11\n",
  "/etc/host.conf": () => "multi on\n",
  "/etc/ld.so.conf": () => "include /etc/ld.so.conf.d/*.conf\n\n",
  "/etc/nsswitch.conf": () => "passwd:         files systemd\ngroup:          files systemd\nshadow:         files\ngshadow:        files\n\nhosts:          files dns\nnetworks:       files\n\nprotocols:      db files\nservices:       db files\nethers:         db files\nrpc:            db files\n",
  "/etc/hostname": ({ stage }) => `${stage.hostname}\n`,
  "/proc/version": () => "Linux version 5.10.0-33-amd64 (debian-kernel@lists.debian.org) (gcc-10 (Debian 10.2.1-6) 10.2.1 20210110, GNU ld (GNU Binutils for Debian) 2.35.2) #1 SMP Debian 5.10.226-1 (2024-10-03)\n",
  "/proc/cpuinfo": () => "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 158\nmodel name\t: Intel(R) Core(TM) i3-8100 CPU @ 3.60GHz\nstepping\t: 11\ncpu MHz\t\t: 3600.000\ncache size\t: 6144 KB\n\n",
};
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "/": ["bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"], "/tmp": [], "/root": [], "/opt": [], "/srv": [], "/var/tmp": [], "/dev/shm": [],
  "/etc": ["debian_version", "host.conf", "hostname", "issue", "ld.so.conf", "nsswitch.conf", "os-release", "passwd", "shadow", "ssh"], "/var": ["backups", "cache", "lib", "log", "tmp", "www"], "/home": [],
};
const KERNEL = "Linux %h 5.10.0-33-amd64 #1 SMP Debian 5.10.226-1 (2024-10-03) x86_64 GNU/Linux";

function isRoot(username: string): boolean {
  return username === "root";
}

/** @returns Its folder. */
export function homeOf(username: string): string {
  return isRoot(username) ? "/root" : `/home/${username}`;
}

/** @returns The whole path, without dots. */
export function resolvePath(path: string, { directory, username }: Pick<ShellState, "directory" | "username">): string {
  const from = path.startsWith("~") ? homeOf(username) + path.slice(1) : path.startsWith("/") ? path : `${directory}/${path}`;
  const parts: string[] = [];
  for (const part of from.split("/").slice(0, 64)) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function isFolder(path: string, { username }: ShellState): boolean {
  return Object.hasOwn(FOLDERS, path) || path === homeOf(username);
}

/** @param path A whole one. @returns The names in a folder; null where there is none. */
export function namesAt(path: string, state: ShellState): readonly string[] | null {
  if (!isFolder(path, state)) return null;
  const own = path === homeOf(state.username) ? state.stage.documents.map(({ name }) => name) : [];
  return [...(path === "/home" && !isRoot(state.username) ? [state.username] : FOLDERS[path] ?? []), ...own];
}

/** Whether the folder above shows it. @param path A whole one. */
export function isListed(path: string, state: ShellState): boolean {
  const slash = path.lastIndexOf("/");
  return namesAt(path.slice(0, slash) || "/", state)?.includes(path.slice(slash + 1)) === true;
}

/** @param path A whole one. @returns Null where there is no file that may be read. */
export function contentAt(path: string, state: ShellState): FoundFile | null {
  const document = state.stage.documents.find(({ name }) => path === `${homeOf(state.username)}/${name}`);
  if (document) return { content: document.content, modifiedMs: document.modifiedMs, document };
  const text = Object.hasOwn(FILES, path) ? FILES[path]?.(state) : undefined;
  return text === undefined ? null : { content: Buffer.from(text), modifiedMs: state.stage.startedMs, document: null };
}

const unresolved: Answer = ([name = "", ...rest]) => {
  const target = rest.findLast((word) => !word.startsWith("-")) ?? "";
  const host = /^(?:\w+:\/\/)?([^/:@]{1,255})/.exec(target)?.[1] ?? target;
  if (host === "") return `${name}: missing operand\n`;
  if (name === "wget") return `--  ${target}\nResolving ${host} (${host})... failed: Temporary failure in name resolution.\nwget: unable to resolve host address ‘${host}’\n`;
  if (name === "curl") return `curl: (6) Could not resolve host: ${host}\n`;
  if (name === "ssh" || name === "scp") return `ssh: Could not resolve hostname ${host}: Temporary failure in name resolution\n`;
  return `${name}: ${host}: Temporary failure in name resolution\n`;
};

const ANSWERS: Readonly<Record<string, Answer>> = {
  whoami: (_, { username }) => `${username}\n`,
  id: (_, { username }) => (isRoot(username) ? "uid=0(root) gid=0(root) groups=0(root)\n" : `uid=1000(${username}) gid=1000(${username}) groups=1000(${username}),100(users)\n`),
  uname: ([, flag = ""], { stage }) => `${flag.includes("a") ? withName(KERNEL, stage) : flag.includes("r") ? "5.10.0-33-amd64" : flag.includes("m") ? "x86_64" : flag.includes("n") ? stage.hostname : "Linux"}\n`,
  hostname: (_, { stage }) => `${stage.hostname}\n`,
  pwd: (_, { directory }) => `${directory}\n`,
  cd([, target = "~"], state) {
    const path = resolvePath(target, state);
    if (!isFolder(path, state)) return `-bash: cd: ${target}: No such file or directory\n`;
    state.directory = path;
    return "";
  },
  ls([, ...rest], state) {
    const target = rest.find((word) => !word.startsWith("-"));
    const names = namesAt(resolvePath(target ?? ".", state), state);
    if (names === null) return `ls: cannot access '${target}': No such file or directory\n`;
    return names.length === 0 ? "" : `${names.join("  ")}\n`;
  },
  cat([, ...rest], state) {
    return rest.map((name) => {
      const path = resolvePath(name, state);
      if (path === "/etc/shadow" && !isRoot(state.username)) return "cat: /etc/shadow: Permission denied\n";
      const found = contentAt(path, state);
      if (found?.document) state.onRead(found.document);
      return found?.content.toString("utf8") ?? `cat: ${name}: ${isFolder(path, state) ? "Is a directory" : "No such file or directory"}\n`;
    }).join("");
  },
  echo: ([, ...rest]) => `${rest.filter((word, index) => index > 0 || !/^-[en]+$/.test(word)).join(" ")}\n`,
  printf: ([, ...rest]) => rest.join(" "),
  ps: () => "    PID TTY          TIME CMD\n   1312 pts/0    00:00:00 bash\n   1340 pts/0    00:00:00 ps\n",
  w: (_, { username }) => `USER     TTY      FROM             LOGIN@   IDLE   JCPU   PCPU WHAT\n${username.slice(0, 8).padEnd(8)} pts/0    -                 0.00s  0.01s  0.00s w\n`,
  free: () => "               total        used        free      shared  buff/cache   available\nMem:         2025260      281644     1329012        3016      414604     1599184\nSwap:         999420           0      999420\n",
  df: () => "Filesystem     1K-blocks    Used Available Use% Mounted on\nudev              993652       0    993652   0% /dev\ntmpfs             202528     664    201864   1% /run\n/dev/sda1       19480400 2110316  16355224  12% /\n",
  nproc: () => "1\n",
  history: () => "",
  crontab: (_, { username }) => `no crontab for ${username}\n`,
  sudo: (_, { username }) => (isRoot(username) ? "" : `${username} is not in the sudoers file.  This incident will be reported.\n`),
  which: ([, name = ""]) => (Object.hasOwn(ANSWERS, name) ? `/usr/bin/${name}\n` : ""),
  chmod: () => "", touch: () => "", mkdir: () => "", rm: () => "", mv: () => "", cp: () => "", export: () => "", unset: () => "", kill: () => "", sync: () => "", sleep: () => "", true: () => "", clear: () => "",
  wget: unresolved, curl: unresolved, ping: unresolved, ftp: unresolved, tftp: unresolved, ssh: unresolved, scp: unresolved, nc: unresolved, telnet: unresolved,
};

/** @param words Of one command, at least its name. @returns Lines that end with LF. */
export function answerCommand(words: readonly string[], state: ShellState): string {
  const [name = ""] = words;
  const plain = name.replace(/^\/(?:usr\/)?s?bin\//, "");
  return Object.hasOwn(ANSWERS, plain) ? ANSWERS[plain]?.([plain, ...words.slice(1)], state) ?? "" : `-bash: ${name.slice(0, 255)}: ${name.includes("/") ? "No such file or directory" : "command not found"}\n`;
}
